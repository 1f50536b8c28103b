//! SUBSCRIBE (3.8).

use bytes::{BufMut, Bytes, BytesMut};

use crate::decode::{Fields, share};
use crate::encode::{frame, put_binary, put_properties};
use crate::properties::Carrier;
use crate::{DecodeError, EncodeError, PacketId, PacketType, Properties, QoS, TopicFilter, Version};

const PACKET: PacketType = PacketType::Subscribe;

/// SUBSCRIBE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscribe {
    /// Answered by a SUBACK with the same one.
    pub packet_id: PacketId,
    /// At least one [MQTT-3.8.3-2].
    pub subscriptions: Vec<Subscription>,
    /// Subscription identifier, user properties.
    pub properties: Properties,
}

/// One filter of a SUBSCRIBE with its options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    /// What to match.
    pub filter: TopicFilter,
    /// How to deliver.
    pub options: SubscribeOptions,
}

/// Subscription options (3.8.3.1); 3.1.1 has the QoS alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SubscribeOptions {
    /// Highest QoS at which to deliver.
    pub qos: QoS,
    /// Not to the connection that published [MQTT-3.8.3-3].
    pub no_local: bool,
    /// Keep the publisher's RETAIN flag when forwarding.
    pub retain_as_published: bool,
    /// Whether retained messages are sent on subscribing.
    pub retain_handling: RetainHandling,
}

/// When retained messages are sent (3.8.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum RetainHandling {
    /// At every subscribe.
    #[default]
    Send = 0,
    /// Only if the subscription is new.
    SendIfNew = 1,
    /// Never.
    DoNotSend = 2,
}

impl Subscribe {
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
            return Err(DecodeError::NoEntry(PACKET)); // [MQTT-3.8.3-2]
        }
        let mut subscriptions = Vec::new();
        while !fields.is_empty() {
            subscriptions.push(Subscription::decode(frame, &mut fields, version)?);
        }
        Ok(Self {
            packet_id,
            subscriptions,
            properties,
        })
    }

    pub(crate) fn encode(&self, version: Version, out: &mut BytesMut) -> Result<(), EncodeError> {
        if self.subscriptions.is_empty() {
            return Err(EncodeError::NoEntry(PACKET));
        }
        frame(PACKET, out, |out| {
            out.put_u16(self.packet_id.get());
            if version == Version::V5 {
                put_properties(&self.properties, Carrier::Packet(PACKET), out)?;
            }
            for Subscription { filter, options } in &self.subscriptions {
                if options.no_local && filter.shared().is_some() {
                    return Err(EncodeError::NoLocalOnShared); // [MQTT-3.8.3-4]
                }
                put_binary(filter.bytes(), out)?;
                out.put_u8(options.to_bits(version));
            }
            Ok(())
        })
    }
}

impl Subscription {
    fn decode(frame: &Bytes, fields: &mut Fields<'_>, version: Version) -> Result<Self, DecodeError> {
        // [MQTT-3.8.3-1]
        let filter =
            TopicFilter::from_bytes(share(frame, fields.binary()?)).map_err(DecodeError::TopicFilter)?;
        let options = SubscribeOptions::from_bits(fields.byte()?, version)?;
        match options.no_local && filter.shared().is_some() {
            true => Err(DecodeError::NoLocalOnShared), // [MQTT-3.8.3-4]
            false => Ok(Self { filter, options }),
        }
    }
}

impl SubscribeOptions {
    const NO_LOCAL: u8 = 0x04;
    const RETAIN_AS_PUBLISHED: u8 = 0x08;

    fn from_bits(bits: u8, version: Version) -> Result<Self, DecodeError> {
        let reserved = match version {
            Version::V311 => 0xFC, // [MQTT-3-8.3-4] (3.1.1)
            Version::V5 => 0xC0,   // [MQTT-3.8.3-5]
        };
        if bits & reserved != 0 {
            return Err(DecodeError::ReservedSubscribeOption(bits));
        }
        Ok(Self {
            qos: QoS::from_bits(bits & 0x03).ok_or(DecodeError::SubscribeQoS3)?,
            no_local: bits & Self::NO_LOCAL != 0,
            retain_as_published: bits & Self::RETAIN_AS_PUBLISHED != 0,
            retain_handling: match bits >> 4 & 0x03 {
                0 => RetainHandling::Send,
                1 => RetainHandling::SendIfNew,
                2 => RetainHandling::DoNotSend,
                _ => return Err(DecodeError::RetainHandling3),
            },
        })
    }

    const fn to_bits(self, version: Version) -> u8 {
        let no_local = if self.no_local { Self::NO_LOCAL } else { 0 };
        let retain_as_published = if self.retain_as_published {
            Self::RETAIN_AS_PUBLISHED
        } else {
            0
        };
        match version {
            Version::V311 => self.qos as u8,
            Version::V5 => {
                self.qos as u8 | no_local | retain_as_published | (self.retain_handling as u8) << 4
            }
        }
    }
}
