//! From a published message with RETAIN to the owner of its topic, and back to its acknowledgement.
//!
//! Invariant: the acknowledgement of a retained message leaves after its owner has set it. So a client that knows of
//! the PUBACK and subscribes anywhere finds it: its query reaches the owner after the set was applied. For QoS 0 this
//! holds for the publisher's own later subscriptions: set and query go by the same ring, which keeps their order.
//!
//! A message that is published while a subscription is made comes live, or by the replay, or both. Were it routed by a
//! snapshot without the subscription and set behind its query, it would come by neither; so its worker looks at the
//! newest snapshot once more when the set is in the owner's ring ([`Worker::route_to_latecomers`]). Either the
//! subscription stands in it by then, or its query is younger than the set and is answered after it; also by the
//! subscriber's own worker, which answers itself in the tick after the one that published the subscription.
//!
//! Full: the publisher of version 5 is told 0x97, having been routed (QoS 1) or not (QoS 2). Who cannot be told has
//! published all the same; then the topic has no retained message, because the one it had is out of date.
//! Deliberately does not: touch messages without RETAIN.

use std::sync::atomic::{Ordering, fence};

use tidegate_codec::{ClientId, Message, QoS, ReasonCode};
use tidegate_router::WorkerSet;
use tidegate_session::Time;

use super::rings::Parcel;
use super::tick::Worker;
use crate::pipeline::{Arrival, Fate, Origin};

/// A message on its way to the owner of its topic.
pub struct Keep {
    /// In memory of its own.
    pub message: Message,
    /// When it was received.
    pub received: Time,
    /// `None`: nobody waits.
    pub waits: Option<Waits>,
}

/// Who waits for a message to be retained.
#[derive(Debug, Clone, Copy)]
pub struct Waits {
    /// Its publisher's worker.
    pub worker: u16,
    /// What it waits by there.
    pub key: u64,
    /// Whether the publisher can be told that there is no room.
    pub is_v5: bool,
}

/// A message that has been routed and sent to the owner of its topic.
pub struct Sent {
    message: Message,
    publisher: Option<ClientId>,
    received: Time,
    /// The workers that it was routed to.
    routed: WorkerSet,
}

impl Worker {
    /// Routes a message that is to be retained too; its acknowledgement waits for the owner of its topic.
    pub(super) fn conclude_retained(&mut self, arrival: Arrival, pending: Option<u64>) {
        match arrival.origin.filter(|origin| origin.slot.is_some()) {
            None => {
                self.route_and_note(&arrival);
                self.retain(&arrival.message, arrival.received, None);
            }
            Some(origin) if arrival.message.qos == QoS::ExactlyOnce => match pending {
                // Its sinks first: one of them may refuse it.
                Some(key) => self.pipeline.conclude(key, Some(arrival.message), Fate::Route),
                None => self.retain_exactly_once(origin, &arrival.message, arrival.received),
            },
            Some(origin) => {
                self.route_and_note(&arrival);
                let key = self.pipeline.expect_answer(pending, origin);
                self.retain(&arrival.message, arrival.received, Some((key, origin)));
            }
        }
    }

    fn route_and_note(&mut self, arrival: &Arrival) {
        self.route_arrival(arrival);
        let topic = &arrival.message.topic;
        if self.retained.owner_of(topic) != usize::from(self.number) {
            self.retained.sent.push(Sent {
                message: arrival.message.detached(),
                publisher: arrival
                    .publisher
                    .as_ref()
                    .map(|publisher| publisher.client_id.clone()),
                received: arrival.received,
                routed: self.routes.other_workers(topic),
            });
        }
    }

    /// Routes what was sent to other owners to workers that have subscribed meanwhile. Call when the rings are flushed.
    pub(super) fn route_to_latecomers(&mut self) {
        if self.retained.sent.is_empty() || self.rings.is_backed_up() {
            return;
        }
        // Pairs with the one of `Retention::ask`: the sets are in their rings before the snapshot is read.
        fence(Ordering::SeqCst);
        self.routes.refresh();
        for sent in std::mem::take(&mut self.retained.sent) {
            for worker in self.routes.other_workers(&sent.message.topic).iter() {
                if !sent.routed.contains(worker) {
                    let parcel = Parcel::Forward {
                        message: sent.message.clone(),
                        publisher: sent.publisher.clone(),
                        received: sent.received,
                    };
                    self.rings.send(worker.index(), parcel);
                }
            }
        }
        self.rings.flush();
    }

    /// Retains a QoS 2 message that nothing but a lack of room can refuse any more; then its turn may come.
    pub(super) fn retain_exactly_once(&mut self, origin: Origin, message: &Message, received: Time) {
        let key = self.pipeline.expect_answer(None, origin);
        self.pipeline.conclude(key, Some(message.clone()), Fate::Route);
        self.retain(message, received, Some((key, origin)));
    }

    /// Hands `message` to the owner of its topic.
    fn retain(&mut self, message: &Message, received: Time, waits: Option<(u64, Origin)>) {
        let waits = waits.map(|(key, origin)| Waits {
            worker: self.number,
            key,
            is_v5: self
                .clients
                .get(origin.client)
                .is_some_and(|client| client.publisher.is_v5),
        });
        let keep = Keep {
            message: message.detached(),
            received,
            waits,
        };
        let owner = self.retained.owner_of(&message.topic);
        if owner == usize::from(self.number) {
            self.keep(keep);
        } else {
            self.rings.send(owner, Parcel::Keep(Box::new(keep)));
        }
    }

    /// The owner of the topic has answered.
    pub(super) fn kept(&mut self, key: u64, refused: Option<ReasonCode>) {
        if let Some(settled) = self.pipeline.answer(key, refused) {
            // QoS 2 is routed now, by a snapshot that is younger than the set.
            self.routes.refresh();
            self.settle_with(settled.origin, settled.outcome);
        }
    }
}
