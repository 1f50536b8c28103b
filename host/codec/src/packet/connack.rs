//! CONNACK (3.2).

use bytes::{BufMut, Bytes, BytesMut};

use crate::decode::Fields;
use crate::encode::{frame, put_properties};
use crate::properties::Carrier;
use crate::{DecodeError, EncodeError, PacketType, Properties, ReasonCode, Version};

const PACKET: PacketType = PacketType::ConnAck;

/// CONNACK. In 3.1.1 the reason becomes a return code (0 to 5) when encoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnAck {
    /// Whether the server had state of this client [MQTT-3.2.2-3]; false unless the reason is success.
    pub session_present: bool,
    /// `Success` or why not.
    pub reason: ReasonCode,
    /// What the server changes or limits.
    pub properties: Properties,
}

impl ConnAck {
    pub(crate) fn decode(
        frame: &Bytes,
        mut fields: Fields<'_>,
        version: Version,
    ) -> Result<Self, DecodeError> {
        let flags = fields.byte()?;
        if flags > 1 {
            return Err(DecodeError::ConnAckFlags(flags)); // [MQTT-3.2.2-1]
        }
        let (reason, properties) = match version {
            Version::V311 => {
                let code = fields.byte()?;
                let reason = ReasonCode::from_return_code(code);
                let refused = DecodeError::ReasonCode { packet: PACKET, code };
                (reason.ok_or(refused)?, Properties::empty())
            }
            Version::V5 => {
                let reason = ReasonCode::decode(PACKET, &mut fields)?; // [MQTT-3.2.2-8]
                (
                    reason,
                    Properties::decode(Carrier::Packet(PACKET), frame, &mut fields)?,
                )
            }
        };
        fields.end()?;
        let session_present = flags == 1;
        if session_present && reason != ReasonCode::Success {
            return Err(DecodeError::SessionPresentWithError); // [MQTT-3.2.2-6]
        }
        Ok(Self {
            session_present,
            reason,
            properties,
        })
    }

    pub(crate) fn encode(&self, version: Version, out: &mut BytesMut) -> Result<(), EncodeError> {
        // [MQTT-3.2.2-6]; [MQTT-3.2.2-4] (3.1.1)
        let flags = u8::from(self.session_present && self.reason == ReasonCode::Success);
        match version {
            Version::V311 => {
                let code = self
                    .reason
                    .return_code()
                    .ok_or(EncodeError::NoReturnCode(self.reason))?;
                out.put_slice(&[PACKET.first_byte(), 2, flags, code]);
                Ok(())
            }
            Version::V5 => {
                let reason = self.reason.encode(PACKET)?;
                frame(PACKET, out, |out| {
                    out.put_slice(&[flags, reason]);
                    put_properties(&self.properties, Carrier::Packet(PACKET), out)
                })
            }
        }
    }
}
