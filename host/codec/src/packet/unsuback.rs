//! UNSUBACK (3.11).

use bytes::{BufMut, Bytes, BytesMut};

use crate::decode::Fields;
use crate::encode::{frame, put_properties};
use crate::properties::Carrier;
use crate::{DecodeError, EncodeError, PacketId, PacketType, Properties, ReasonCode, Version};

const PACKET: PacketType = PacketType::UnsubAck;

/// UNSUBACK.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsubAck {
    /// Of the UNSUBSCRIBE.
    pub packet_id: PacketId,
    /// One per filter, same order [MQTT-3.11.3-1]; not encoded in 3.1.1.
    pub reasons: Vec<ReasonCode>,
    /// Reason string and user properties.
    pub properties: Properties,
}

impl UnsubAck {
    pub(crate) fn decode(
        frame: &Bytes,
        mut fields: Fields<'_>,
        version: Version,
    ) -> Result<Self, DecodeError> {
        let packet_id = fields.packet_id()?;
        if version == Version::V311 {
            fields.end()?;
            return Ok(Self {
                packet_id,
                reasons: Vec::new(),
                properties: Properties::empty(),
            });
        }
        let properties = Properties::decode(Carrier::Packet(PACKET), frame, &mut fields)?;
        let reasons = ReasonCode::decode_list(PACKET, fields)?; // [MQTT-3.11.3-2]
        Ok(Self {
            packet_id,
            reasons,
            properties,
        })
    }

    pub(crate) fn encode(&self, version: Version, out: &mut BytesMut) -> Result<(), EncodeError> {
        if version == Version::V311 {
            let [high, low] = self.packet_id.get().to_be_bytes();
            out.put_slice(&[PACKET.first_byte(), 2, high, low]);
            return Ok(());
        }
        if self.reasons.is_empty() {
            return Err(EncodeError::NoEntry(PACKET));
        }
        frame(PACKET, out, |out| {
            out.put_u16(self.packet_id.get());
            put_properties(&self.properties, Carrier::Packet(PACKET), out)?;
            for reason in &self.reasons {
                out.put_u8(reason.encode(PACKET)?);
            }
            Ok(())
        })
    }
}
