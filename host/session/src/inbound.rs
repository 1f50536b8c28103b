//! Messages from the client: PUBLISH, PUBREL, and the acknowledgements that answer them.
//!
//! Invariants: PUBACK and PUBREC leave in the order of the PUBLISHes of their QoS; a QoS 2 message is admitted once
//! and routed at most once; not more than the Receive Maximum are in hand.
//! Deliberately does not: look at topics, rights or payloads.

use tidegate_codec::{Ack, Message, Packet, PacketId, PacketType, QoS, ReasonCode, Version};

use crate::ack_window::AckWindow;
use crate::reason::allowed;
use crate::received_ids::{ReceivedIds, Stage};
use crate::{Limits, Output, Settlement, Slot};

/// State of the messages the client sends; allocated with its first QoS 1 or 2 PUBLISH.
#[derive(Debug)]
pub(crate) struct Inbound {
    qos1: AckWindow<ReasonCode>,
    qos2: AckWindow<Held>,
    ids: ReceivedIds,
}

/// Outcome of a QoS 2 message that waits for its turn. Boxed because hardly any does.
#[derive(Debug)]
enum Held {
    Accepted(Option<Box<Message>>),
    Refused(ReasonCode),
}

/// What a QoS 1 or 2 PUBLISH turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// A message for the pipeline.
    New(Slot),
    /// Sent again while the first is in hand: the one acknowledgement to come answers both.
    Repeated,
    /// Sent again after it was received: answer with PUBREC.
    Received,
    /// Over the Receive Maximum.
    TooMany,
}

impl Inbound {
    /// `first` is the number of the first slot of either window.
    pub(crate) fn new(limits: &Limits, first: u32) -> Self {
        Self {
            qos1: AckWindow::new(limits.ack_order, first),
            qos2: AckWindow::new(limits.ack_order, first),
            ids: ReceivedIds::default(),
        }
    }

    /// Messages that count against the Receive Maximum: QoS 1 until PUBACK, QoS 2 until PUBCOMP or failing PUBREC
    /// (4.9).
    pub(crate) fn len(&self) -> usize {
        self.qos1.len() + self.ids.len()
    }

    /// A PUBLISH of QoS 1 with identifier `packet_id`; at most `max` messages may be in hand.
    pub(crate) fn at_least_once(&mut self, packet_id: PacketId, dup: bool, max: u16) -> Arrival {
        // Only a client that resends within one link sets DUP on an identifier that is still in hand.
        if dup && self.qos1.contains(packet_id) {
            return Arrival::Repeated;
        }
        if self.len() >= usize::from(max) {
            return Arrival::TooMany;
        }
        let number = self.qos1.push(packet_id);
        Arrival::New(Slot {
            qos: QoS::AtLeastOnce,
            number,
            packet_id,
        })
    }

    /// A PUBLISH of QoS 2 with identifier `packet_id`. DUP plays no part: the identifier decides [MQTT-4.3.3-10].
    pub(crate) fn exactly_once(&mut self, packet_id: PacketId, max: u16) -> Arrival {
        match self.ids.get(packet_id) {
            Some(Stage::Received) => return Arrival::Received,
            Some(Stage::Pending { .. }) => {
                self.ids.set(packet_id, Stage::Pending { due: true });
                return Arrival::Repeated;
            }
            None => {}
        }
        if self.len() >= usize::from(max) {
            return Arrival::TooMany;
        }
        self.ids.set(packet_id, Stage::Pending { due: true });
        let number = self.qos2.push(packet_id);
        Arrival::New(Slot {
            qos: QoS::ExactlyOnce,
            number,
            packet_id,
        })
    }

    /// The pipeline is done with `slot`; appends what may leave now. `version` is that of the current link.
    pub(crate) fn settle(
        &mut self,
        slot: Slot,
        outcome: Settlement,
        version: Option<Version>,
        out: &mut Vec<Output>,
    ) {
        match slot.qos {
            QoS::AtMostOnce => {}
            QoS::AtLeastOnce => self.settle_at_least_once(slot.number, &outcome, version, out),
            QoS::ExactlyOnce => self.settle_exactly_once(slot.number, outcome, version, out),
        }
    }

    fn settle_at_least_once(
        &mut self,
        number: u32,
        outcome: &Settlement,
        version: Option<Version>,
        out: &mut Vec<Output>,
    ) {
        let reason = match outcome {
            Settlement::Accepted { .. } => ReasonCode::Success,
            Settlement::Refused(reason) => allowed(*reason, PacketType::PubAck),
        };
        match self.qos1.leave(number) {
            Some(packet_id) => out.push(puback(packet_id, reason, version)),
            None => self.qos1.hold(number, reason),
        }
        while let Some((packet_id, reason)) = self.qos1.next_settled() {
            out.push(puback(packet_id, reason, version));
        }
    }

    fn settle_exactly_once(
        &mut self,
        number: u32,
        outcome: Settlement,
        version: Option<Version>,
        out: &mut Vec<Output>,
    ) {
        match (self.qos2.leave(number), outcome) {
            (Some(packet_id), outcome) => self.release(packet_id, outcome, version, out),
            (None, Settlement::Accepted { route }) => {
                self.qos2.hold(number, Held::Accepted(route.map(Box::new)));
            }
            (None, Settlement::Refused(reason)) => self.qos2.hold(number, Held::Refused(reason)),
        }
        while let Some((packet_id, held)) = self.qos2.next_settled() {
            let outcome = match held {
                Held::Accepted(route) => Settlement::Accepted {
                    route: route.map(|message| *message),
                },
                Held::Refused(reason) => Settlement::Refused(reason),
            };
            self.release(packet_id, outcome, version, out);
        }
    }

    /// A QoS 2 message has left its window: route it, then PUBREC [MQTT-4.3.3-8].
    fn release(
        &mut self,
        packet_id: PacketId,
        outcome: Settlement,
        version: Option<Version>,
        out: &mut Vec<Output>,
    ) {
        let due = self.ids.get(packet_id) == Some(Stage::Pending { due: true });
        let reason = match outcome {
            Settlement::Accepted { route } => {
                out.extend(route.map(Output::Route));
                ReasonCode::Success
            }
            Settlement::Refused(reason) => allowed(reason, PacketType::PubRec),
        };
        // A failing PUBREC ends the exchange [MQTT-4.3.3-9]. Version 3.1.1 has none: there the exchange goes on and
        // nothing is routed. Without a link the identifier is free, and the PUBLISH sent again is tried again.
        if reason.is_error() && !(due && version == Some(Version::V311)) {
            self.ids.remove(packet_id);
        } else {
            self.ids.set(packet_id, Stage::Received);
        }
        if due {
            out.push(Output::Send(Packet::PubRec(ack(packet_id, reason, version))));
        }
    }

    /// A PUBREL; the answer, or the reason to close the link.
    pub(crate) fn pubrel(&mut self, packet_id: PacketId, version: Version) -> Result<Ack, ReasonCode> {
        match self.ids.get(packet_id) {
            // Answering a PUBREL that precedes its PUBREC would let the client use the identifier again too early.
            Some(Stage::Pending { .. }) => Err(ReasonCode::ProtocolError),
            Some(Stage::Received) => {
                self.ids.remove(packet_id);
                // [MQTT-4.3.3-11]
                Ok(Ack::success(packet_id))
            }
            None => Ok(ack(
                packet_id,
                ReasonCode::PacketIdentifierNotFound,
                Some(version),
            )), // 3.7.2.1
        }
    }

    /// After a restart: the message of `packet_id` was received and is in the log.
    pub(crate) fn restore(&mut self, packet_id: PacketId) {
        self.ids.set(packet_id, Stage::Received);
    }

    /// The link is gone. QoS 1 messages will be sent again by the client as new ones; QoS 2 messages keep their slots.
    /// `true` if nothing is left to remember.
    pub(crate) fn unlink(&mut self) -> bool {
        self.qos1.clear();
        self.ids.unlink();
        self.ids.is_empty()
    }
}

fn puback(packet_id: PacketId, reason: ReasonCode, version: Option<Version>) -> Output {
    Output::Send(Packet::PubAck(ack(packet_id, reason, version)))
}

/// Version 3.1.1 acknowledges without a reason code.
fn ack(packet_id: PacketId, reason: ReasonCode, version: Option<Version>) -> Ack {
    match version {
        Some(Version::V5) => Ack::with_reason(packet_id, reason),
        _ => Ack::success(packet_id),
    }
}
