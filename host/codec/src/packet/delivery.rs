//! A message on its way out: encoding a PUBLISH from borrowed parts, with what the delivery adds to its properties.
//!
//! Invariant: nothing of the message is copied but into the output. Does not know who receives.

use std::num::NonZeroU16;

use bytes::{BufMut, BytesMut};

use super::{Message, Publish};
use crate::encode::remaining_length;
use crate::properties::{Carrier, put_seconds};
use crate::{EncodeError, PacketId, PacketType, Properties, PropertyId, QoS, TopicName, Version, varint};

/// DUP in the first byte (3.3.1.1).
pub(super) const DUP: u8 = 0b1000;

/// What a PUBLISH to a subscriber says. In 3.1.1 properties, alias, identifiers and expiry are left out.
#[derive(Debug, Clone, Copy)]
pub struct Delivery<'a> {
    /// `None` where the receiver knows the topic by its alias.
    pub topic: Option<&'a TopicName>,
    /// The message's payload.
    pub payload: &'a [u8],
    /// The message's properties.
    pub properties: &'a Properties,
    /// The lower of the message's and the subscription's QoS [MQTT-3.8.4-8].
    pub qos: QoS,
    /// Present exactly when QoS is above 0 [MQTT-2.2.1-2].
    pub packet_id: Option<PacketId>,
    /// RETAIN flag.
    pub retain: bool,
    /// Whether it was sent before [MQTT-3.3.1-1].
    pub dup: bool,
    /// Topic alias of this connection.
    pub topic_alias: Option<NonZeroU16>,
    /// Identifiers of the matching subscriptions [MQTT-3.3.4-3], each 1 to 268,435,455.
    pub subscription_identifiers: &'a [u32],
    /// Seconds that remain, in place of those in `properties` [MQTT-3.3.2-6].
    pub message_expiry_interval: Option<u32>,
}

impl<'a> Delivery<'a> {
    /// `message` at `qos`, without RETAIN, under the identifier that this QoS needs.
    pub fn of(message: &'a Message, qos: QoS, packet_id: Option<PacketId>) -> Self {
        Self {
            topic: Some(&message.topic),
            payload: &message.payload,
            properties: &message.properties,
            qos,
            packet_id,
            retain: false,
            dup: false,
            topic_alias: None,
            subscription_identifiers: &[],
            message_expiry_interval: None,
        }
    }
}

impl<'a> From<&'a Publish> for Delivery<'a> {
    fn from(publish: &'a Publish) -> Self {
        Self {
            topic: publish.topic.as_ref(),
            payload: &publish.payload,
            properties: &publish.properties,
            qos: publish.qos,
            packet_id: publish.packet_id,
            retain: publish.retain,
            dup: publish.dup,
            topic_alias: None,
            subscription_identifiers: &[],
            message_expiry_interval: None,
        }
    }
}

/// Appends a PUBLISH and says where in `out` its packet identifier stands, if it has one: two bytes, big-endian.
/// On an error `out` is as before.
#[inline]
pub fn encode_publish(
    delivery: &Delivery<'_>,
    version: Version,
    out: &mut BytesMut,
) -> Result<Option<usize>, EncodeError> {
    if delivery.packet_id.is_some() != (delivery.qos != QoS::AtMostOnce) {
        return Err(EncodeError::PacketIdAgainstQoS); // [MQTT-2.2.1-2]
    }
    if delivery.dup && delivery.qos == QoS::AtMostOnce {
        return Err(EncodeError::DupAtQoS0); // [MQTT-3.3.1-2]
    }
    let topic = delivery.topic.map_or(&[][..], |topic| topic.bytes());
    if topic.is_empty() && (version == Version::V311 || !delivery.has_alias()) {
        return Err(EncodeError::NoTopic); // 3.3.2.1
    }
    // A topic name is never longer than its length field.
    let topic_length =
        u16::try_from(topic.len()).map_err(|_| EncodeError::FieldTooLong { bytes: topic.len() })?;
    let added = match version {
        Version::V311 => Added::default(),
        Version::V5 => Added::check(delivery)?,
    };
    let properties_length = added.bytes + delivery.properties.block().len();
    let properties_bytes = match version {
        Version::V311 => 0,
        Version::V5 => varint::length(remaining_length(properties_length)?) + properties_length,
    };
    let id_bytes = if delivery.packet_id.is_some() { 2 } else { 0 };
    let remaining = remaining_length(2 + topic.len() + id_bytes + properties_bytes + delivery.payload.len())?;
    out.reserve(1 + varint::length(remaining) + remaining as usize);
    let dup = if delivery.dup { DUP } else { 0 };
    let first =
        PacketType::Publish.first_byte() | dup | (delivery.qos as u8) << 1 | u8::from(delivery.retain);
    // At most seven bytes before the topic: gathered in a word, they are one write.
    let head = Gathered::of(first).variable(remaining).two_bytes(topic_length);
    out.put_uint(head.value, head.bytes);
    out.put_slice(topic);
    let position = delivery.packet_id.map(|packet_id| {
        out.put_u16(packet_id.get());
        out.len() - 2
    });
    if version == Version::V5 {
        varint::put(properties_length as u32, out);
        if properties_length > 0 {
            added.put(delivery, out);
        }
    }
    out.put_slice(delivery.payload);
    Ok(position)
}

/// Bytes gathered in a word, first one highest.
struct Gathered {
    value: u64,
    bytes: usize,
}

impl Gathered {
    #[inline]
    const fn of(byte: u8) -> Self {
        Self {
            value: byte as u64,
            bytes: 1,
        }
    }

    #[inline]
    const fn variable(mut self, mut value: u32) -> Self {
        while value >= 0x80 {
            self = Self {
                value: self.value << 8 | (value & 0x7F) as u64 | 0x80,
                bytes: self.bytes + 1,
            };
            value >>= 7;
        }
        Self {
            value: self.value << 8 | value as u64,
            bytes: self.bytes + 1,
        }
    }

    #[inline]
    const fn two_bytes(self, value: u16) -> Self {
        Self {
            value: self.value << 16 | value as u64,
            bytes: self.bytes + 2,
        }
    }
}

impl Delivery<'_> {
    fn has_alias(&self) -> bool {
        self.topic_alias.is_some() || self.properties.contains(PropertyId::TopicAlias)
    }
}

/// What a delivery adds to the properties of its message.
#[derive(Default)]
struct Added {
    /// Length of what is appended.
    bytes: usize,
    /// Where in the message's block the expiry is to be overwritten.
    expiry_position: Option<usize>,
}

impl Added {
    #[inline]
    fn check(delivery: &Delivery<'_>) -> Result<Self, EncodeError> {
        let properties = delivery.properties;
        properties.check_for(Carrier::Packet(PacketType::Publish))?;
        let mut added = Self::default();
        if delivery.topic_alias.is_some() {
            if properties.contains(PropertyId::TopicAlias) {
                return Err(EncodeError::RepeatedProperty(PropertyId::TopicAlias));
            }
            added.bytes += 3;
        }
        if delivery.message_expiry_interval.is_some() {
            added.expiry_position = properties.message_expiry_position();
            added.bytes += if added.expiry_position.is_some() { 0 } else { 5 };
        }
        for &id in delivery.subscription_identifiers {
            if id == 0 || id > varint::MAX {
                return Err(EncodeError::PropertyValue(PropertyId::SubscriptionIdentifier));
            }
            added.bytes += 1 + varint::length(id);
        }
        Ok(added)
    }

    #[inline]
    fn put(&self, delivery: &Delivery<'_>, out: &mut BytesMut) {
        let block = out.len();
        out.put_slice(delivery.properties.block());
        match (delivery.message_expiry_interval, self.expiry_position) {
            (Some(seconds), Some(position)) => put_seconds(out, block + position, seconds),
            (Some(seconds), None) => {
                out.put_u8(PropertyId::MessageExpiryInterval as u8);
                out.put_u32(seconds);
            }
            (None, _) => {}
        }
        if let Some(alias) = delivery.topic_alias {
            out.put_u8(PropertyId::TopicAlias as u8);
            out.put_u16(alias.get());
        }
        for &id in delivery.subscription_identifiers {
            out.put_u8(PropertyId::SubscriptionIdentifier as u8);
            varint::put(id, out);
        }
    }
}

#[cfg(test)]
mod tests;
