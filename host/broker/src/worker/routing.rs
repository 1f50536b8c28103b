//! From a message to its subscribers: this worker's sessions at once, other workers by ring.

use std::num::NonZeroU32;

use tidegate_codec::{ClientId, Message, QoS};
use tidegate_session::{Delivery, Input, Time};

use super::clients::Publisher;
use super::rings::Parcel;
use super::routes::Recipient;
use super::shares::Routed;
use super::tick::Worker;

impl Worker {
    /// Routes `message` everywhere. Slow subscribers never hold it up: their sessions queue, their sockets shed.
    pub(super) fn route(&mut self, message: &Message, publisher: Option<&Publisher>, received: Time) {
        let others = self.routes.other_workers(&message.topic);
        if !others.is_empty() {
            let message = message.detached();
            for worker in others.iter() {
                self.counters.forwarded += 1;
                let parcel = Parcel::Forward {
                    message: message.clone(),
                    publisher: publisher.map(|publisher| publisher.client_id.clone()),
                    received,
                };
                self.rings.send(worker.index(), parcel);
            }
        }
        self.route_here(message, publisher.map(|publisher| &publisher.client_id), received);
    }

    /// Routes `message` to the sessions of this worker.
    pub(super) fn route_here(&mut self, message: &Message, publisher: Option<&ClientId>, received: Time) {
        if !self.shares.is_empty() {
            self.share_out(Routed {
                message,
                publisher,
                received,
            });
        }
        let mut recipients = std::mem::take(&mut self.recipients);
        self.routes.recipients(&message.topic, &mut recipients);
        let mut detached = None;
        for recipient in recipients.drain(..) {
            let shared = Routed {
                message,
                publisher,
                received,
            };
            self.deliver(recipient, shared, &mut detached);
        }
        self.recipients = recipients;
    }

    fn deliver(&mut self, recipient: Recipient, routed: Routed<'_>, detached: &mut Option<Message>) {
        let Routed {
            message,
            publisher,
            received,
        } = routed;
        let Some(client) = self.clients.get(recipient.client) else {
            return;
        };
        // [MQTT-3.8.3-3] not back to the connection that published it.
        if recipient.options.no_local && publisher == Some(&client.publisher.client_id) {
            return;
        }
        let qos = message.qos.min(recipient.options.qos);
        if qos == QoS::AtMostOnce && self.is_slow(client.connection) {
            self.counters.dropped_qos0 += 1;
            return;
        }
        // What a session keeps until it is acknowledged must not keep a read buffer alive with it.
        let message = match qos {
            QoS::AtMostOnce => message.clone(),
            QoS::AtLeastOnce | QoS::ExactlyOnce => detached.get_or_insert_with(|| message.detached()).clone(),
        };
        if message.retain && !self.replays.is_empty() {
            self.replays.supersede(recipient.client, &message.topic);
        }
        // [MQTT-3.3.1-12], [MQTT-3.3.1-13]
        let retain = message.retain && recipient.options.retain_as_published;
        let delivery = Delivery {
            message,
            qos,
            retain,
            identifiers: recipient.identifiers.into_boxed_slice(),
            received,
            log_entry: None,
            group: None::<NonZeroU32>,
        };
        self.input(recipient.client, Input::Deliver(delivery));
    }

    /// Whether so much waits for the client's socket that QoS 0 is shed.
    pub(super) fn is_slow(&self, connection: Option<usize>) -> bool {
        let connection = connection.and_then(|key| self.net.connections.get(key));
        connection.is_some_and(|connection| connection.outbox.len() > self.settings.outbox_bytes_max)
    }
}
