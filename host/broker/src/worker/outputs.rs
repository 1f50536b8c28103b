//! Carries out what sessions want done.

use tidegate_codec::{Packet, QoS, ReasonCode, Subscribe, TopicFilter, Unsubscribe};
use tidegate_session::{DropReason, Input, Output};

use super::clients::ClientKey;
use super::routes::Subscribed;
use super::tick::Worker;
use crate::pipeline::{Arrival, Origin};

impl Worker {
    /// Gives a session one input and carries out what it answers.
    pub(super) fn input(&mut self, key: ClientKey, input: Input) {
        let Some(client) = self.clients.get_mut(key) else {
            return;
        };
        let mut outputs = self.spare_outputs.pop().unwrap_or_default();
        client.session.on(input, self.now, &mut outputs);
        for output in outputs.drain(..) {
            self.carry_out(key, output);
        }
        self.spare_outputs.push(outputs);
    }

    fn carry_out(&mut self, key: ClientKey, output: Output) {
        match output {
            Output::Send(packet) => self.send(key, &packet),
            Output::Admit { slot, message } => {
                let publisher = self.clients.get(key).map(|client| client.publisher.clone());
                self.arrivals.push(Arrival {
                    origin: Some(Origin { client: key, slot }),
                    message,
                    publisher,
                    received: self.now,
                    received_at_ms: self.unix_ms,
                });
            }
            Output::Route(message) => {
                let publisher = self.clients.get(key).map(|client| client.publisher.clone());
                self.route(&message, publisher.as_deref(), self.now);
            }
            Output::Subscribe(request) => self.subscribe(key, request),
            Output::Unsubscribe(request) => self.unsubscribe(key, request),
            Output::Will(message) => {
                let publisher = self.clients.get(key).map(|client| client.publisher.clone());
                self.arrivals.push(Arrival {
                    origin: None,
                    message,
                    publisher,
                    received: self.now,
                    received_at_ms: self.unix_ms,
                });
            }
            Output::Close => self.close_link(key),
            Output::Dropped { reason, .. } => match reason {
                DropReason::QueueFull => self.counters.dropped_queue_full += 1,
                DropReason::Expired => self.counters.dropped_expired += 1,
                DropReason::PacketTooLarge => self.counters.dropped_too_large += 1,
                DropReason::Offline => self.counters.dropped_qos0 += 1,
            },
            // Without a log no delivery has an entry, and without shared groups none has to be returned.
            Output::Sending { .. } | Output::Releasing(_) | Output::Finished(_) | Output::Return(_) => {}
            Output::Discarded { filters } => self.forget_filters(key, &filters),
            Output::End => self.end(key),
        }
    }

    fn send(&mut self, key: ClientKey, packet: &Packet) {
        if let Packet::Publish(publish) = packet
            && let Some(count) = self.counters.sent.get_mut(publish.qos as usize)
        {
            *count += 1;
        }
        if let Some(connection) = self.clients.get(key).and_then(|client| client.connection) {
            self.net.send(connection, packet);
        }
    }

    fn subscribe(&mut self, key: ClientKey, request: Box<Subscribe>) {
        let identifier = request.properties.subscription_identifiers().next().unwrap_or(0);
        let mut reasons = Vec::with_capacity(request.subscriptions.len());
        for subscription in &request.subscriptions {
            if subscription.filter.shared().is_some() {
                reasons.push(ReasonCode::SharedSubscriptionsNotSupported);
                continue;
            }
            let subscribed = Subscribed {
                options: subscription.options,
                identifier,
            };
            self.routes.subscribe(&subscription.filter, key, subscribed);
            reasons.push(granted(subscription.options.qos));
        }
        if let Some(epoch) = self.clients.get(key).map(|client| client.session.epoch()) {
            self.input(
                key,
                Input::Subscribed {
                    epoch,
                    request,
                    reasons,
                },
            );
        }
    }

    fn unsubscribe(&mut self, key: ClientKey, request: Box<Unsubscribe>) {
        let removed = |filter: &TopicFilter| match self.routes.unsubscribe(filter, key) {
            true => ReasonCode::Success,
            false => ReasonCode::NoSubscriptionExisted,
        };
        let reasons = request.filters.iter().map(removed).collect();
        if let Some(epoch) = self.clients.get(key).map(|client| client.session.epoch()) {
            self.input(
                key,
                Input::Unsubscribed {
                    epoch,
                    request,
                    reasons,
                },
            );
        }
    }

    fn forget_filters(&mut self, key: ClientKey, filters: &[TopicFilter]) {
        for filter in filters {
            self.routes.unsubscribe(filter, key);
        }
    }

    /// The session is over. A session that is about to be connected anew is kept: its next CONNECT starts it afresh.
    fn end(&mut self, key: ClientKey) {
        let Some(client) = self.clients.get(key) else {
            return;
        };
        let filters: Vec<TopicFilter> = client
            .session
            .subscriptions()
            .map(|(filter, ..)| filter.clone())
            .collect();
        self.forget_filters(key, &filters);
        self.clients.remove(key);
    }

    /// The session has let go of its link: close the socket once everything is written.
    fn close_link(&mut self, key: ClientKey) {
        let Some(client) = self.clients.get_mut(key) else {
            return;
        };
        client.backlog = None;
        if let Some(connection) = client.connection.take() {
            self.close_after_flush(connection);
        }
        self.rearm(key);
    }
}

/// The SUBACK code that grants `qos` (3.9.3).
fn granted(qos: QoS) -> ReasonCode {
    match qos {
        QoS::AtMostOnce => ReasonCode::Success,
        QoS::AtLeastOnce => ReasonCode::GrantedQoS1,
        QoS::ExactlyOnce => ReasonCode::GrantedQoS2,
    }
}
