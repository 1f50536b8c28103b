//! Carries out what sessions want done.

use tidegate_codec::{
    Packet, QoS, ReasonCode, RetainHandling, Subscribe, SubscribeOptions, TopicFilter, Unsubscribe,
};
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
                self.arrive(Arrival {
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
                self.arrive(Arrival {
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
            Output::Return(delivery) => self.take_back(key, delivery),
            // Without a log no delivery has an entry.
            Output::Sending { .. } | Output::Releasing(_) | Output::Finished(_) => {}
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
        let mut has_shared = false;
        for subscription in &request.subscriptions {
            reasons.push(granted(subscription.options.qos));
            if subscription.filter.shared().is_none() {
                self.subscribe_one(key, &subscription.filter, subscription.options, identifier);
            } else {
                has_shared = true;
            }
        }
        if has_shared {
            return self.join_groups(key, request, reasons);
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

    /// An ordinary subscription: in force at once, its retained messages to follow.
    fn subscribe_one(
        &mut self,
        key: ClientKey,
        filter: &TopicFilter,
        options: SubscribeOptions,
        identifier: u32,
    ) {
        let existing = self.routes.subscription(filter, key).map(|found| found.replay);
        let replays = match options.retain_handling {
            RetainHandling::Send => true,                    // [MQTT-3.3.1-9]
            RetainHandling::SendIfNew => existing.is_none(), // [MQTT-3.3.1-10]
            RetainHandling::DoNotSend => false,              // [MQTT-3.3.1-11]
        };
        let replay = match existing {
            Some(running) if !replays => running,
            _ => self.replays.name(),
        };
        let subscribed = Subscribed {
            options,
            identifier,
            replay,
        };
        self.routes.subscribe(filter, key, subscribed);
        if replays {
            self.start_replay(key, filter, replay);
        }
    }

    fn unsubscribe(&mut self, key: ClientKey, request: Box<Unsubscribe>) {
        let removed = |filter: &TopicFilter| match self.remove_filter(filter, key) {
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
            self.remove_filter(filter, key);
        }
        self.replays.wake(key);
    }

    fn remove_filter(&mut self, filter: &TopicFilter, key: ClientKey) -> bool {
        match filter.shared() {
            Some(_) => self.leave_group(filter, key),
            None => self.routes.unsubscribe(filter, key),
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
            self.tell_presence(key, false);
        }
        self.counters.dropped_qos0 += self.pipeline.forget_held(key);
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
