//! SUBACK (3.9).

use bytes::{BufMut, Bytes, BytesMut};

use crate::decode::Fields;
use crate::encode::{frame, put_properties};
use crate::properties::Carrier;
use crate::{DecodeError, EncodeError, PacketId, PacketType, Properties, ReasonCode, Version};

const PACKET: PacketType = PacketType::SubAck;
/// The one failure of MQTT 3.1.1.
const FAILURE: u8 = 0x80;

/// SUBACK.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubAck {
    /// Of the SUBSCRIBE.
    pub packet_id: PacketId,
    /// One per filter, same order [MQTT-3.9.3-1]. In 3.1.1 every failure is encoded as 0x80.
    pub reasons: Vec<ReasonCode>,
    /// Reason string and user properties.
    pub properties: Properties,
}

impl SubAck {
    pub(crate) fn decode(
        frame: &Bytes,
        mut fields: Fields<'_>,
        version: Version,
    ) -> Result<Self, DecodeError> {
        let packet_id = fields.packet_id()?;
        let properties = match version {
            Version::V311 => Properties::empty(),
            Version::V5 => Properties::decode(Carrier::Packet(PACKET), frame, &mut fields)?,
        };
        let reasons = ReasonCode::decode_list(PACKET, fields)?; // [MQTT-3.9.3-2]
        // [MQTT-3.9.3-2] (3.1.1) has no other failure.
        let unknown = |reason: &&ReasonCode| reason.is_error() && **reason as u8 != FAILURE;
        match reasons.iter().find(unknown) {
            Some(&code) if version == Version::V311 => Err(DecodeError::ReasonCode {
                packet: PACKET,
                code: code as u8,
            }),
            _ => Ok(Self {
                packet_id,
                reasons,
                properties,
            }),
        }
    }

    pub(crate) fn encode(&self, version: Version, out: &mut BytesMut) -> Result<(), EncodeError> {
        if self.reasons.is_empty() {
            return Err(EncodeError::NoEntry(PACKET));
        }
        frame(PACKET, out, |out| {
            out.put_u16(self.packet_id.get());
            if version == Version::V5 {
                put_properties(&self.properties, Carrier::Packet(PACKET), out)?;
            }
            for reason in &self.reasons {
                let code = reason.encode(PACKET)?;
                out.put_u8(if version == Version::V311 {
                    code.min(FAILURE)
                } else {
                    code
                });
            }
            Ok(())
        })
    }
}
