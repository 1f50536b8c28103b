//! PUBLISH (3.3). The hot path: decoding allocates nothing, the parts are views of the read buffer.

use bytes::{Bytes, BytesMut};

use super::{Delivery, Message, encode_publish};
use crate::decode::{Fields, share};
use crate::properties::Carrier;
use crate::{
    DecodeError, EncodeError, PacketId, PacketType, Properties, PropertyId, QoS, TopicName, Version,
};

/// PUBLISH. `topic` of its message is checked; a version 5 packet may instead name it by alias.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Publish {
    /// The topic; `None` when version 5 gives an empty one and a topic alias (3.3.2.3.4).
    pub topic: Option<TopicName>,
    /// The publisher's bytes.
    pub payload: Bytes,
    /// Topic alias, message expiry, user properties and the rest.
    pub properties: Properties,
    /// QoS of this delivery.
    pub qos: QoS,
    /// Identifier, present exactly when QoS is above 0 [MQTT-2.2.1-2].
    pub packet_id: Option<PacketId>,
    /// RETAIN flag.
    pub retain: bool,
    /// DUP flag; false at QoS 0 [MQTT-3.3.1-2].
    pub dup: bool,
}

impl Publish {
    /// The message on `topic`, which is the packet's own or the one its alias stands for. The topic alias ends here:
    /// it belongs to the connection, not to the message.
    pub fn into_message(self, topic: TopicName) -> Message {
        let properties = match self.properties.contains(PropertyId::TopicAlias) {
            true => self.properties.without(&[PropertyId::TopicAlias]),
            false => self.properties,
        };
        Message {
            topic,
            payload: self.payload,
            properties,
            qos: self.qos,
            retain: self.retain,
        }
    }

    #[inline]
    pub(crate) fn decode(
        flags: u8,
        frame: &Bytes,
        mut fields: Fields<'_>,
        version: Version,
    ) -> Result<Self, DecodeError> {
        let qos = QoS::from_bits(flags >> 1 & 0b11).ok_or(DecodeError::PublishQoS3)?; // [MQTT-3.3.1-4]
        let dup = flags & 0b1000 != 0;
        if dup && qos == QoS::AtMostOnce {
            return Err(DecodeError::DupAtQoS0); // [MQTT-3.3.1-2]
        }
        let topic = fields.binary()?;
        let packet_id = match qos {
            QoS::AtMostOnce => None, // [MQTT-2.2.1-2]
            QoS::AtLeastOnce | QoS::ExactlyOnce => Some(fields.packet_id()?),
        };
        let properties = match version {
            Version::V311 => Properties::empty(),
            Version::V5 => Properties::decode(Carrier::Packet(PacketType::Publish), frame, &mut fields)?,
        };
        let topic = match topic.is_empty() {
            // 3.3.2.1: version 5 may give an empty name with an alias.
            true if properties.contains(PropertyId::TopicAlias) => None,
            true if version == Version::V5 => return Err(DecodeError::NoTopic),
            // [MQTT-3.3.2-1], [MQTT-3.3.2-2], [MQTT-4.7.3-1]
            _ => Some(TopicName::from_bytes(share(frame, topic)).map_err(DecodeError::TopicName)?),
        };
        let payload = share(frame, fields.rest());
        Ok(Self {
            topic,
            payload,
            properties,
            qos,
            packet_id,
            retain: flags & 1 != 0,
            dup,
        })
    }

    pub(crate) fn encode(&self, version: Version, out: &mut BytesMut) -> Result<(), EncodeError> {
        encode_publish(&Delivery::from(self), version, out).map(drop)
    }
}
