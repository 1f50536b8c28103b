//! An application message, apart from any packet. Knows neither packet identifiers nor deliveries.

use bytes::{Bytes, BytesMut};

use crate::{Properties, QoS, TopicName};

/// An application message: what a PUBLISH carries from publisher to subscribers. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Where it is published.
    pub topic: TopicName,
    /// The publisher's bytes, opaque to the broker.
    pub payload: Bytes,
    /// Properties as they stand in the packet.
    pub properties: Properties,
    /// QoS the publisher chose.
    pub qos: QoS,
    /// RETAIN flag of the packet.
    pub retain: bool,
}

impl Message {
    /// A copy in memory of its own, one buffer for all parts, so that what is kept does not keep a read buffer alive.
    #[must_use]
    pub fn detached(&self) -> Self {
        let (topic, properties) = (self.topic.bytes(), self.properties.block());
        let mut own = BytesMut::with_capacity(topic.len() + properties.len() + self.payload.len());
        own.extend_from_slice(topic);
        own.extend_from_slice(properties);
        own.extend_from_slice(&self.payload);
        let mut own = own.freeze();
        let topic_bytes = own.split_to(topic.len());
        let properties = self.properties.moved_to(own.split_to(properties.len()));
        // The bytes are those of a topic, so that the other branch is never taken.
        let topic = TopicName::from_bytes(topic_bytes).unwrap_or_else(|_| self.topic.detached());
        Self {
            topic,
            payload: own,
            properties,
            qos: self.qos,
            retain: self.retain,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PropertiesBuilder, Property};

    #[test]
    fn detached_is_the_same_message_in_other_memory() {
        let mut properties = PropertiesBuilder::default();
        properties.push(Property::UserProperty("k", "v"));
        let message = Message {
            topic: TopicName::new("a/é").unwrap(),
            payload: Bytes::from(vec![7; 100]),
            properties: properties.build().unwrap(),
            qos: QoS::AtLeastOnce,
            retain: true,
        };
        let own = message.detached();
        assert_eq!(own, message);
        assert_ne!(own.payload.as_ptr(), message.payload.as_ptr());
        assert_ne!(own.topic.bytes().as_ptr(), message.topic.bytes().as_ptr());
        assert_ne!(
            own.properties.block().as_ptr(),
            message.properties.block().as_ptr()
        );
        // One buffer: topic, properties and payload follow each other.
        assert_eq!(
            own.topic.bytes().as_ptr_range().end,
            own.properties.block().as_ptr()
        );
        assert_eq!(own.properties.block().as_ptr_range().end, own.payload.as_ptr());
    }
}
