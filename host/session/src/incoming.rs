//! What the client publishes, from the packet to the pipeline and back.
//!
//! Deliberately does not: decide what is a repetition, or what may be acknowledged; that is `inbound.rs`.

use tidegate_codec::{Ack, Message, Packet, PacketId, PropertyId, Publish, QoS, ReasonCode, Version};

use crate::inbound::{Arrival, Inbound};
use crate::link::Link;
use crate::session::{Phase, Session};
use crate::{Limits, Output, Settlement, Slot};

impl Session {
    /// A PUBLISH of the current link; the error is the reason to close it.
    pub(crate) fn publish(&mut self, publish: Publish, out: &mut Vec<Output>) -> Result<(), ReasonCode> {
        let Phase::Linked(link) = &mut self.phase else {
            return Ok(());
        };
        let version = link.peer.version;
        let (qos, packet_id, dup) = (publish.qos, publish.packet_id, publish.dup);
        let message = message(publish, link, &self.limits)?;
        let Some(packet_id) = packet_id else {
            out.push(Output::Admit { slot: None, message });
            return Ok(());
        };
        // 3.1.1 knows no Receive Maximum; what bounds it is the number of identifiers, and the broker that parks.
        let max = match version {
            Version::V5 => self.limits.receive_maximum.get(),
            Version::V311 => u16::MAX,
        };
        let arrival = match qos {
            QoS::ExactlyOnce => self.inbound().exactly_once(packet_id, max),
            _ => self.inbound().at_least_once(packet_id, dup, max),
        };
        match arrival {
            Arrival::New(slot) => {
                self.slots = self.slots.wrapping_add(1);
                out.push(Output::Admit {
                    slot: Some(slot),
                    message,
                });
            }
            Arrival::Repeated => {}
            Arrival::Received => out.push(Output::Send(Packet::PubRec(Ack::success(packet_id)))),
            Arrival::TooMany => return Err(ReasonCode::ReceiveMaximumExceeded), // [MQTT-3.3.4-7]
        }
        Ok(())
    }

    /// A PUBREL of the current link.
    pub(crate) fn pubrel(
        &mut self,
        packet_id: PacketId,
        version: Version,
        out: &mut Vec<Output>,
    ) -> Result<(), ReasonCode> {
        let pubcomp = self.inbound().pubrel(packet_id, version)?;
        out.push(Output::Send(Packet::PubComp(pubcomp)));
        Ok(())
    }

    /// The pipeline is done with `slot`.
    pub(crate) fn settled(&mut self, slot: Slot, outcome: Settlement, out: &mut Vec<Output>) {
        let version = self.version();
        if let Some(inbound) = &mut self.inbound {
            inbound.settle(slot, outcome, version, out);
        }
    }

    fn inbound(&mut self) -> &mut Inbound {
        self.inbound
            .get_or_insert_with(|| Box::new(Inbound::new(&self.limits, self.slots)))
    }
}

/// The message of `publish`, its topic alias resolved; or the reason to close the link.
fn message(mut publish: Publish, link: &mut Link, limits: &Limits) -> Result<Message, ReasonCode> {
    // [MQTT-3.2.2-11]
    if publish.qos > limits.maximum_qos {
        return Err(ReasonCode::QoSNotSupported);
    }
    // [MQTT-3.2.2-14]
    if publish.retain && !limits.retain_available {
        return Err(ReasonCode::RetainNotSupported);
    }
    // [MQTT-3.3.4-6]
    if publish.properties.contains(PropertyId::SubscriptionIdentifier) {
        return Err(ReasonCode::ProtocolError);
    }
    if let Some(alias) = publish.properties.topic_alias() {
        let aliases = link.aliases.get_or_insert_default();
        let topic = aliases.resolve(alias, publish.topic.take(), limits.topic_alias_maximum)?;
        return Ok(publish.into_message(topic));
    }
    // 3.3.2.3.4: neither a topic nor an alias.
    let topic = publish.topic.take().ok_or(ReasonCode::ProtocolError)?;
    Ok(publish.into_message(topic))
}
