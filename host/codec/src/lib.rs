//! Bytes to MQTT 3.1.1 and 5.0 control packets and back, without copying what a packet carries.
//!
//! Owns: the packet types, their decoding with every check that needs no session, and their encoding.
//! Invariant: what decodes is well formed, and what is encoded decodes to the same packet.
//! Deliberately does not: read sockets, hold state between packets, or know what a session is.

#[cfg(any(test, feature = "cases"))]
pub mod cases;
mod topic;
mod types;
mod varint;

pub mod decode;
pub mod encode;
pub mod packet;
pub mod properties;
pub mod reason;

pub use decode::{DecodeError, Decoder, connect_version, frame_length};
pub use encode::{EncodeError, encode};
pub use packet::{
    Ack, Auth, ConnAck, Connect, Credentials, Delivery, Disconnect, EncodedPublish, Message, Packet,
    PacketType, Publish, RetainHandling, SubAck, Subscribe, SubscribeOptions, Subscription, UnsubAck,
    Unsubscribe, Will, encode_publish,
};
pub use properties::{Properties, PropertiesBuilder, Property, PropertyId};
pub use reason::ReasonCode;
pub use topic::{InvalidTopic, TopicFilter, TopicName};
pub use types::{ClientId, PacketId, QoS, Version};
