//! PUBACK, PUBREC, PUBREL and PUBCOMP (3.4 to 3.7): four packets of one shape.

use bytes::{BufMut, Bytes, BytesMut};

use crate::decode::Fields;
use crate::encode::{frame, put_properties};
use crate::properties::Carrier;
use crate::{DecodeError, EncodeError, PacketId, PacketType, Properties, ReasonCode, Version};

/// PUBACK, PUBREC, PUBREL or PUBCOMP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ack {
    /// The PUBLISH it answers.
    pub packet_id: PacketId,
    /// Always `Success` in 3.1.1.
    pub reason: ReasonCode,
    /// Reason string and user properties.
    pub properties: Properties,
}

impl Ack {
    /// A success without properties: the form that nearly every acknowledgement has.
    pub const fn success(packet_id: PacketId) -> Self {
        Self::with_reason(packet_id, ReasonCode::Success)
    }

    /// An acknowledgement with `reason` and without properties.
    pub const fn with_reason(packet_id: PacketId, reason: ReasonCode) -> Self {
        Self {
            packet_id,
            reason,
            properties: Properties::empty(),
        }
    }

    #[inline]
    pub(crate) fn decode(
        packet: PacketType,
        frame: &Bytes,
        mut fields: Fields<'_>,
        version: Version,
    ) -> Result<Self, DecodeError> {
        let packet_id = fields.packet_id()?;
        if fields.is_empty() {
            return Ok(Self::success(packet_id)); // The whole packet in 3.1.1, the short form of success in 5.
        }
        if version == Version::V311 {
            return fields.end().map(|()| Self::success(packet_id));
        }
        // [MQTT-3.4.2-1], [MQTT-3.5.2-1], [MQTT-3.6.2-1], [MQTT-3.7.2-1]
        let reason = ReasonCode::decode(packet, &mut fields)?;
        if fields.is_empty() {
            return Ok(Self::with_reason(packet_id, reason)); // 3.4.2.2.1: no property length, no properties.
        }
        let properties = Properties::decode(Carrier::Packet(packet), frame, &mut fields)?;
        fields.end()?;
        Ok(Self {
            packet_id,
            reason,
            properties,
        })
    }

    #[inline]
    pub(crate) fn encode(
        &self,
        packet: PacketType,
        version: Version,
        out: &mut BytesMut,
    ) -> Result<(), EncodeError> {
        let plain = self.reason == ReasonCode::Success && self.properties.is_empty();
        if plain || version == Version::V311 {
            let [high, low] = self.packet_id.get().to_be_bytes();
            out.put_slice(&[packet.first_byte(), 2, high, low]);
            return Ok(());
        }
        let reason = self.reason.encode(packet)?;
        frame(packet, out, |out| {
            out.put_u16(self.packet_id.get());
            out.put_u8(reason);
            match self.properties.is_empty() {
                true => Ok(()),
                false => put_properties(&self.properties, Carrier::Packet(packet), out),
            }
        })
    }
}
