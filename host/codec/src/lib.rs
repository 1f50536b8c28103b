//! Bytes to MQTT 3.1.1 and 5.0 control packets and back, without copying what a packet carries.
//!
//! Owns: the packet types, their decoding with every check that needs no session, and their encoding.
//! Invariant: a value of a packet type is well formed; [`decode`] is the only way from bytes to one.
//! Deliberately does not: read sockets, hold state between packets, or know what a session is.

mod types;

pub mod decode;
pub mod encode;
pub mod packet;
pub mod properties;
pub mod reason;

pub use decode::{DecodeError, Decoder};
pub use packet::{
    Ack, Auth, ConnAck, Connect, Credentials, Disconnect, Message, Packet, Publish, RetainHandling, SubAck,
    Subscribe, SubscribeOptions, Subscription, UnsubAck, Unsubscribe, Will,
};
pub use properties::{Properties, PropertiesBuilder, Property};
pub use reason::ReasonCode;
pub use types::{ClientId, InvalidTopic, PacketId, QoS, TopicFilter, TopicName, Version};
