//! DISCONNECT (3.14).

use bytes::{BufMut, Bytes, BytesMut};

use crate::decode::Fields;
use crate::encode::{frame, put_properties};
use crate::properties::Carrier;
use crate::{DecodeError, EncodeError, PacketType, Properties, ReasonCode, Version};

const PACKET: PacketType = PacketType::Disconnect;

/// DISCONNECT.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disconnect {
    /// `Success` is a normal disconnection; always that in 3.1.1.
    pub reason: ReasonCode,
    /// Session expiry, reason string, server reference, user properties.
    pub properties: Properties,
}

impl Disconnect {
    /// A DISCONNECT that says no more than `reason`.
    pub const fn with_reason(reason: ReasonCode) -> Self {
        Self {
            reason,
            properties: Properties::empty(),
        }
    }

    pub(crate) fn decode(
        frame: &Bytes,
        mut fields: Fields<'_>,
        version: Version,
    ) -> Result<Self, DecodeError> {
        if version == Version::V311 || fields.is_empty() {
            return fields.end().map(|()| Self::with_reason(ReasonCode::Success));
        }
        let reason = ReasonCode::decode(PACKET, &mut fields)?; // [MQTT-3.14.2-1]
        if fields.is_empty() {
            return Ok(Self::with_reason(reason)); // 3.14.2.2.1: no property length, no properties.
        }
        let properties = Properties::decode(Carrier::Packet(PACKET), frame, &mut fields)?;
        fields.end()?;
        Ok(Self { reason, properties })
    }

    pub(crate) fn encode(&self, version: Version, out: &mut BytesMut) -> Result<(), EncodeError> {
        let plain = self.reason == ReasonCode::Success && self.properties.is_empty();
        if plain || version == Version::V311 {
            out.put_slice(&[PACKET.first_byte(), 0]);
            return Ok(());
        }
        let reason = self.reason.encode(PACKET)?;
        frame(PACKET, out, |out| {
            out.put_u8(reason);
            match self.properties.is_empty() {
                true => Ok(()),
                false => put_properties(&self.properties, Carrier::Packet(PACKET), out),
            }
        })
    }
}
