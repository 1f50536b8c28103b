//! UNSUBSCRIBE (3.10).

use bytes::{BufMut, Bytes, BytesMut};

use crate::decode::{Fields, share};
use crate::encode::{frame, put_binary, put_properties};
use crate::properties::Carrier;
use crate::{DecodeError, EncodeError, PacketId, PacketType, Properties, TopicFilter, Version};

const PACKET: PacketType = PacketType::Unsubscribe;

/// UNSUBSCRIBE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsubscribe {
    /// Answered by an UNSUBACK with the same one.
    pub packet_id: PacketId,
    /// At least one [MQTT-3.10.3-2].
    pub filters: Vec<TopicFilter>,
    /// User properties.
    pub properties: Properties,
}

impl Unsubscribe {
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
        if fields.is_empty() {
            return Err(DecodeError::NoEntry(PACKET)); // [MQTT-3.10.3-2]
        }
        let mut filters = Vec::new();
        while !fields.is_empty() {
            let filter = share(frame, fields.binary()?);
            filters.push(TopicFilter::from_bytes(filter).map_err(DecodeError::TopicFilter)?); // [MQTT-3.10.3-1]
        }
        Ok(Self {
            packet_id,
            filters,
            properties,
        })
    }

    pub(crate) fn encode(&self, version: Version, out: &mut BytesMut) -> Result<(), EncodeError> {
        if self.filters.is_empty() {
            return Err(EncodeError::NoEntry(PACKET));
        }
        frame(PACKET, out, |out| {
            out.put_u16(self.packet_id.get());
            if version == Version::V5 {
                put_properties(&self.properties, Carrier::Packet(PACKET), out)?;
            }
            self.filters
                .iter()
                .try_for_each(|filter| put_binary(filter.bytes(), out))
        })
    }
}
