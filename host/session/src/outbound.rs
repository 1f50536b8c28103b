//! Messages to the client: PUBLISH, PUBREL, the client's acknowledgements, and the order among them.
//!
//! Invariants: messages of one QoS leave in the order they were delivered [MQTT-4.6.0-5]; never more unacknowledged
//! PUBLISHes than the client's Receive Maximum [MQTT-3.3.4-9]; nothing is sent twice over one link [MQTT-4.4.0-1].
//! Between two inputs, either the queue is empty or the window is full.

use tidegate_codec::{Ack, Packet, PacketId, Publish, QoS, ReasonCode, Version};

use crate::inflight::{Inflight, Stage};
use crate::link::Peer;
use crate::outgoing::{expired, packet_bytes, publish};
use crate::queue::Queue;
use crate::session::{Phase, Session};
use crate::turn::Turn;
use crate::{Delivery, DropReason, Limits, Output, Time};

/// State of the messages on their way to the client; allocated with the first of QoS 1 or 2.
#[derive(Debug, Default)]
pub(crate) struct Outbound {
    inflight: Inflight,
    queue: Queue,
}

impl Session {
    /// A message was routed to this session.
    pub(crate) fn deliver(&mut self, delivery: Delivery, now: Time, out: &mut Vec<Output>) {
        let mut turn = Turn {
            now,
            limits: &self.limits,
            out,
        };
        match (delivery.qos, &self.phase) {
            (QoS::AtMostOnce, phase) => deliver_at_most_once(delivery, phase.peer(), &mut turn),
            (_, Phase::Fresh) => turn.drop(&delivery, DropReason::Offline),
            (_, phase) => {
                let outbound = self.outbound.get_or_insert_default();
                outbound.deliver(delivery, phase.peer(), &mut turn);
            }
        }
    }

    /// The client came back to its session.
    pub(crate) fn resume(&mut self, peer: &Peer, now: Time, out: &mut Vec<Output>) {
        if let Some(outbound) = &mut self.outbound {
            outbound.resume(
                peer,
                &mut Turn {
                    now,
                    limits: &self.limits,
                    out,
                },
            );
        }
    }
}

/// QoS 0 needs no state: sent if there is a link and it fits, else dropped.
fn deliver_at_most_once(delivery: Delivery, peer: Option<&Peer>, turn: &mut Turn<'_>) {
    let Some(peer) = peer else {
        return turn.drop(&delivery, DropReason::Offline);
    };
    if expired(&delivery, turn.now) {
        return turn.drop(&delivery, DropReason::Expired);
    }
    let log_entry = delivery.log_entry;
    let publish = publish(delivery, None, peer.version, turn.now);
    if too_large(&publish, peer) {
        turn.out.push(Output::Dropped {
            qos: QoS::AtMostOnce,
            reason: DropReason::PacketTooLarge,
        });
    } else {
        turn.send(Packet::Publish(publish));
    }
    turn.out.extend(log_entry.map(Output::Finished));
}

impl Outbound {
    /// After a restart: what was in flight, in the order of its first sending, and what waited behind it.
    pub(crate) fn restore(
        in_flight: Vec<(PacketId, Stage)>,
        queued: Vec<Delivery>,
        turn: &mut Turn<'_>,
    ) -> Self {
        let mut outbound = Self {
            inflight: Inflight::restore(in_flight),
            queue: Queue::default(),
        };
        for delivery in queued {
            outbound.queue.push(delivery, turn);
        }
        outbound
    }

    /// Whether there is nothing to remember.
    pub(crate) fn is_empty(&self) -> bool {
        self.inflight.len() == 0 && self.queue.is_empty()
    }

    /// Messages waiting, and messages in flight.
    pub(crate) fn lens(&self) -> (usize, usize) {
        (self.queue.len(), usize::from(self.inflight.len()))
    }

    /// A message of QoS 1 or 2: sent at once if nothing is before it, else queued.
    pub(crate) fn deliver(&mut self, delivery: Delivery, peer: Option<&Peer>, turn: &mut Turn<'_>) {
        match peer {
            Some(peer) if self.queue.is_empty() && self.has_room(peer, turn.limits) => {
                self.send(delivery, peer, turn);
            }
            _ => self.queue.push(delivery, turn),
        }
    }

    /// The client came back to its session: unacknowledged PUBLISH and PUBREL first, with their identifiers and in
    /// their order [MQTT-4.4.0-1], [MQTT-4.6.0-1], then the queue.
    pub(crate) fn resume(&mut self, peer: &Peer, turn: &mut Turn<'_>) {
        self.inflight.restart();
        self.pump(peer, turn);
    }

    /// PUBACK.
    pub(crate) fn puback(&mut self, ack: &Ack, peer: &Peer, turn: &mut Turn<'_>) -> Result<(), ReasonCode> {
        match self.inflight.stage(ack.packet_id) {
            // The exchange ended without the client's knowledge; there is nothing to tell it.
            None | Some(Stage::Free) => Ok(()),
            Some(Stage::Published { delivery, .. }) if delivery.qos == QoS::AtLeastOnce => {
                self.complete(ack.packet_id, peer, turn);
                Ok(())
            }
            Some(_) => Err(ReasonCode::ProtocolError),
        }
    }

    /// PUBREC, answered with PUBREL [MQTT-4.3.3-4], or the end of the exchange if it fails [MQTT-4.4.0-2].
    pub(crate) fn pubrec(&mut self, ack: &Ack, peer: &Peer, turn: &mut Turn<'_>) -> Result<(), ReasonCode> {
        match self.inflight.stage(ack.packet_id) {
            Some(Stage::Published { delivery, .. }) if delivery.qos != QoS::ExactlyOnce => {
                return Err(ReasonCode::ProtocolError);
            }
            None | Some(Stage::Free) => {
                turn.send(unknown_pubrec(ack.packet_id, peer.version));
                return Ok(());
            }
            Some(_) => {}
        }
        if ack.reason.is_error() {
            self.complete(ack.packet_id, peer, turn);
        } else {
            turn.out
                .extend(self.inflight.release(ack.packet_id).map(Output::Releasing));
            turn.send(Packet::PubRel(Ack::success(ack.packet_id)));
        }
        Ok(())
    }

    /// PUBCOMP.
    pub(crate) fn pubcomp(&mut self, ack: &Ack, peer: &Peer, turn: &mut Turn<'_>) -> Result<(), ReasonCode> {
        match self.inflight.stage(ack.packet_id) {
            None | Some(Stage::Free) => Ok(()),
            Some(Stage::Released { .. }) => {
                self.complete(ack.packet_id, peer, turn);
                Ok(())
            }
            // PUBCOMP answers a PUBREL, and none was sent [MQTT-4.3.3-5].
            Some(Stage::Published { .. }) => Err(ReasonCode::ProtocolError),
        }
    }

    /// The session ends. What another member of a shared subscription may still get is handed back.
    pub(crate) fn discard(&mut self, turn: &mut Turn<'_>) {
        while let Some(stage) = self.inflight.pop() {
            match stage {
                // A QoS 2 message that was sent once goes to nobody else [MQTT-4.8.2-5].
                Stage::Published { delivery, .. } if delivery.qos == QoS::AtLeastOnce => {
                    hand_back(delivery, turn);
                }
                stage => finish(&stage, turn),
            }
        }
        while let Some(delivery) = self.queue.pop() {
            hand_back(delivery, turn);
        }
    }

    /// An exchange is over: its place goes to the next message (4.9).
    fn complete(&mut self, packet_id: PacketId, peer: &Peer, turn: &mut Turn<'_>) {
        if let Some(stage) = self.inflight.remove(packet_id) {
            finish(&stage, turn);
        }
        self.pump(peer, turn);
    }

    /// Sends what the window has room for.
    fn pump(&mut self, peer: &Peer, turn: &mut Turn<'_>) {
        while self.resend(peer, turn) {}
        while self.has_room(peer, turn.limits)
            && let Some(delivery) = self.queue.pop()
        {
            self.send(delivery, peer, turn);
        }
    }

    /// Sends the next message that was in flight when the last link was lost, if there is one and it has room.
    fn resend(&mut self, peer: &Peer, turn: &mut Turn<'_>) -> bool {
        let in_window = self.inflight.counted() < window(peer, turn.limits);
        let (packet_id, delivery) = match self.inflight.unsent() {
            Some((packet_id, Stage::Published { delivery, .. })) if in_window => {
                (packet_id, delivery.clone())
            }
            Some((packet_id, Stage::Released { .. })) => {
                turn.send(Packet::PubRel(Ack::success(packet_id)));
                self.inflight.resent();
                return true;
            }
            _ => return false,
        };
        let mut publish = publish(delivery, Some(packet_id), peer.version, turn.now);
        if too_large(&publish, peer) {
            self.drop_too_large(packet_id, turn);
            return true;
        }
        publish.dup = true; // [MQTT-3.3.1-1]; its expiry plays no part any more [MQTT-4.3.3-7].
        turn.send(Packet::Publish(publish));
        self.inflight.resent();
        true
    }

    /// The client came back with a smaller Maximum Packet Size than the message needs.
    fn drop_too_large(&mut self, packet_id: PacketId, turn: &mut Turn<'_>) {
        if let Some(Stage::Published { delivery, .. }) = self.inflight.remove(packet_id) {
            turn.drop(&delivery, DropReason::PacketTooLarge);
        }
    }

    /// Sends a message for the first time. The window has room.
    fn send(&mut self, delivery: Delivery, peer: &Peer, turn: &mut Turn<'_>) {
        if expired(&delivery, turn.now) {
            return turn.drop(&delivery, DropReason::Expired);
        }
        let mut publish = publish(delivery.clone(), None, peer.version, turn.now);
        // [MQTT-3.1.2-24], and then as if it had been delivered [MQTT-3.1.2-25].
        if too_large(&publish, peer) {
            return turn.drop(&delivery, DropReason::PacketTooLarge);
        }
        let exchange = delivery.log_entry.filter(|_| delivery.qos == QoS::ExactlyOnce);
        publish.packet_id = self.inflight.push(delivery);
        if let (Some(log_entry), Some(packet_id)) = (exchange, publish.packet_id) {
            turn.out.push(Output::Sending { log_entry, packet_id });
        }
        turn.send(Packet::Publish(publish));
    }

    /// Whether a message may be sent for the first time. What is still to be sent again waits for this window as well,
    /// so that nothing passes it.
    fn has_room(&self, peer: &Peer, limits: &Limits) -> bool {
        self.inflight.counted() < window(peer, limits) && self.inflight.len() < limits.inflight_maximum.get()
    }
}

fn window(peer: &Peer, limits: &Limits) -> u16 {
    peer.receive_maximum.min(limits.inflight_maximum.get())
}

fn too_large(publish: &Publish, peer: &Peer) -> bool {
    u32::try_from(packet_bytes(publish, peer.version)).map_or(true, |bytes| bytes > peer.packet_bytes_max)
}

fn finish(stage: &Stage, turn: &mut Turn<'_>) {
    match stage {
        Stage::Free => {}
        Stage::Published { delivery, .. } => turn.finish(delivery),
        Stage::Released { log_entry, .. } => turn.out.extend(log_entry.map(Output::Finished)),
    }
}

fn hand_back(delivery: Delivery, turn: &mut Turn<'_>) {
    match delivery.group {
        Some(_) => turn.out.push(Output::Return(delivery)),
        None => turn.finish(&delivery),
    }
}

/// PUBREL for an identifier the server does not know: "not found" where the version can say so (3.6.2.1).
fn unknown_pubrec(packet_id: PacketId, version: Version) -> Packet {
    Packet::PubRel(match version {
        Version::V311 => Ack::success(packet_id),
        Version::V5 => Ack::with_reason(packet_id, ReasonCode::PacketIdentifierNotFound),
    })
}
