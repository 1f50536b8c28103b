//! From a PUBLISH of the client to the message it carries.
//!
//! Deliberately does not: count, acknowledge or route.

use tidegate_codec::{Message, PropertyId, Publish, ReasonCode};

use crate::Limits;
use crate::link::Link;

/// The message of `publish`, its topic alias resolved; or the reason to close the link.
pub(crate) fn message(mut publish: Publish, link: &mut Link, limits: &Limits) -> Result<Message, ReasonCode> {
    // [MQTT-3.2.2-11]
    if publish.qos > limits.maximum_qos {
        return Err(ReasonCode::QoSNotSupported);
    }
    // [MQTT-3.2.2-14]
    if publish.retain && !limits.retain_available {
        return Err(ReasonCode::RetainNotSupported);
    }
    // [MQTT-3.3.4-6]
    if publish.properties.contains(PropertyId::SubscriptionIdentifier) {
        return Err(ReasonCode::ProtocolError);
    }
    if let Some(alias) = publish.properties.topic_alias() {
        let aliases = link.aliases.get_or_insert_default();
        let topic = aliases.resolve(alias, publish.topic.take(), limits.topic_alias_maximum)?;
        return Ok(publish.into_message(topic));
    }
    // 3.3.2.3.4: neither a topic nor an alias.
    let topic = publish.topic.take().ok_or(ReasonCode::ProtocolError)?;
    Ok(publish.into_message(topic))
}
