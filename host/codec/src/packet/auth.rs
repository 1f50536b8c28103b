//! AUTH (3.15), which only version 5 has.

use bytes::{BufMut, Bytes, BytesMut};

use crate::decode::Fields;
use crate::encode::{frame, put_properties};
use crate::properties::Carrier;
use crate::{DecodeError, EncodeError, PacketType, Properties, PropertyId, ReasonCode, Version};

const PACKET: PacketType = PacketType::Auth;

/// AUTH.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Auth {
    /// Success, continue or re-authenticate.
    pub reason: ReasonCode,
    /// Authentication method and data.
    pub properties: Properties,
}

impl Auth {
    pub(crate) fn decode(frame: &Bytes, mut fields: Fields<'_>) -> Result<Self, DecodeError> {
        if fields.is_empty() {
            // 3.15.2.1: success without properties has a Remaining Length of 0.
            return Ok(Self {
                reason: ReasonCode::Success,
                properties: Properties::empty(),
            });
        }
        let reason = ReasonCode::decode(PACKET, &mut fields)?; // [MQTT-3.15.2-1]
        let properties = Properties::decode(Carrier::Packet(PACKET), frame, &mut fields)?;
        fields.end()?;
        match properties.contains(PropertyId::AuthenticationMethod) {
            true => Ok(Self { reason, properties }),
            false => Err(DecodeError::NoAuthenticationMethod), // 3.15.2.2.2
        }
    }

    pub(crate) fn encode(&self, version: Version, out: &mut BytesMut) -> Result<(), EncodeError> {
        if version == Version::V311 {
            return Err(EncodeError::AuthInV311);
        }
        if self.reason == ReasonCode::Success && self.properties.is_empty() {
            out.put_slice(&[PACKET.first_byte(), 0]);
            return Ok(());
        }
        if !self.properties.contains(PropertyId::AuthenticationMethod) {
            return Err(EncodeError::NoAuthenticationMethod);
        }
        let reason = self.reason.encode(PACKET)?;
        frame(PACKET, out, |out| {
            out.put_u8(reason);
            put_properties(&self.properties, Carrier::Packet(PACKET), out)
        })
    }
}
