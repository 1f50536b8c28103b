//! From a delivery to the PUBLISH that carries it.
//!
//! Invariant: properties are those the publisher sent, in its order [MQTT-3.3.2-17], [MQTT-3.3.2-18], but for the expiry, which is
//! counted down, and the subscription identifiers, which are the subscriber's own.

use std::time::Duration;

use tidegate_codec::{PacketId, Properties, PropertiesBuilder, Property, Publish, QoS, Version};

use crate::{Delivery, Time};

/// The PUBLISH of `delivery` for a client of `version`.
pub(crate) fn publish(
    delivery: Delivery,
    packet_id: Option<PacketId>,
    version: Version,
    now: Time,
) -> Publish {
    let properties = match version {
        Version::V311 => Properties::empty(),
        Version::V5 => properties(&delivery, now),
    };
    Publish {
        topic: Some(delivery.message.topic),
        payload: delivery.message.payload,
        properties,
        qos: delivery.qos,
        packet_id,
        retain: delivery.retain,
        dup: false,
    }
}

/// Whether the message has waited longer than its publisher allows [MQTT-3.3.2-5].
pub(crate) fn expired(delivery: &Delivery, now: Time) -> bool {
    let interval = delivery.message.properties.message_expiry_interval();
    interval.is_some_and(|seconds| waited(delivery, now) > Duration::from_secs(u64::from(seconds)))
}

/// Length of `publish` on the wire, fixed header included, in bytes.
pub(crate) fn packet_bytes(publish: &Publish, version: Version) -> usize {
    let topic = publish.topic.as_ref().map_or(0, |topic| topic.as_str().len());
    let packet_id = if publish.qos == QoS::AtMostOnce { 0 } else { 2 };
    let properties = match version {
        Version::V311 => 0,
        Version::V5 => with_length(publish.properties.block().len()),
    };
    1 + with_length(2 + topic + packet_id + properties + publish.payload.len())
}

/// `length` bytes and the variable byte integer before them (1.5.5).
fn with_length(length: usize) -> usize {
    let prefix = match length {
        0..0x80 => 1,
        0x80..0x4000 => 2,
        0x4000..0x20_0000 => 3,
        _ => 4,
    };
    prefix + length
}

fn waited(delivery: &Delivery, now: Time) -> Duration {
    now.since(delivery.received)
}

fn properties(delivery: &Delivery, now: Time) -> Properties {
    let source = &delivery.message.properties;
    // [MQTT-3.3.2-6]
    let properties = match source.message_expiry_interval() {
        None => source.clone(),
        Some(seconds) => {
            let waited = u32::try_from(waited(delivery, now).as_secs()).unwrap_or(u32::MAX);
            source.with_message_expiry_interval(seconds.saturating_sub(waited))
        }
    };
    if delivery.identifiers.is_empty() {
        return properties;
    }
    // [MQTT-3.3.4-3], [MQTT-3.3.4-4]
    let mut builder = PropertiesBuilder::from_properties(&properties);
    for &identifier in &delivery.identifiers {
        builder.push(Property::SubscriptionIdentifier(identifier));
    }
    // Identifiers come from SUBSCRIBE packets, whose decoding has checked them.
    builder.build().unwrap_or(properties)
}
