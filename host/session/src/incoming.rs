//! From a PUBLISH of the client to the message it carries.
//!
//! Deliberately does not: count, acknowledge or route.

use tidegate_codec::{Message, Property, Publish, ReasonCode, Version};

use crate::Limits;
use crate::link::Link;
use crate::properties::without;

/// The message of `publish`, its topic alias resolved; or the reason to close the link.
pub(crate) fn message(publish: Publish, link: &mut Link, limits: &Limits) -> Result<Message, ReasonCode> {
    // [MQTT-3.2.2-11]
    if publish.qos > limits.maximum_qos {
        return Err(ReasonCode::QoSNotSupported);
    }
    // [MQTT-3.2.2-14]
    if publish.retain && !limits.retain_available {
        return Err(ReasonCode::RetainNotSupported);
    }
    let mut properties = publish.properties;
    let mut topic = publish.topic;
    if link.peer.version == Version::V5 && !properties.is_empty() {
        // [MQTT-3.3.4-6]
        if properties.subscription_identifiers().next().is_some() {
            return Err(ReasonCode::ProtocolError);
        }
        if let Some(alias) = properties.topic_alias() {
            let aliases = link.aliases.get_or_insert_default();
            topic = Some(aliases.resolve(alias, topic, limits.topic_alias_maximum)?);
            // An alias means something on this link alone (3.3.2.3.4).
            properties = without(&properties, |property| matches!(property, Property::TopicAlias(_)));
        }
    }
    Ok(Message {
        // 3.3.2.3.4: neither a topic nor an alias.
        topic: topic.ok_or(ReasonCode::ProtocolError)?,
        payload: publish.payload,
        properties,
        qos: publish.qos,
        retain: publish.retain,
    })
}
