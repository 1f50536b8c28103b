//! The fifteen control packets as values, a file each: its type, its decoding and its encoding.
//!
//! Field meanings follow section 3 of both standards. A packet of MQTT 3.1.1 has empty [`crate::Properties`]; what
//! only version 5 carries is `None` or the default there. PINGREQ and PINGRESP carry nothing and have no file.

mod ack;
mod auth;
mod connack;
mod connect;
mod delivery;
mod disconnect;
mod encoded_publish;
mod message;
mod packet_type;
mod publish;
mod suback;
mod subscribe;
mod unsuback;
mod unsubscribe;

pub use ack::Ack;
pub use auth::Auth;
pub use connack::ConnAck;
pub use connect::{Connect, Credentials, Will};
pub use delivery::{Delivery, encode_publish};
pub use disconnect::Disconnect;
pub use encoded_publish::EncodedPublish;
pub use message::Message;
pub use packet_type::PacketType;
pub use publish::Publish;
pub use suback::SubAck;
pub use subscribe::{RetainHandling, Subscribe, SubscribeOptions, Subscription};
pub use unsuback::UnsubAck;
pub use unsubscribe::Unsubscribe;

/// Any control packet. The rare and large ones are boxed, so that a packet stays small on the hot path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Packet {
    /// 3.1, client to server.
    Connect(Box<Connect>),
    /// 3.2, server to client.
    ConnAck(Box<ConnAck>),
    /// 3.3, both ways.
    Publish(Publish),
    /// 3.4, both ways: QoS 1 done.
    PubAck(Ack),
    /// 3.5, both ways: QoS 2 received.
    PubRec(Ack),
    /// 3.6, both ways: QoS 2 released.
    PubRel(Ack),
    /// 3.7, both ways: QoS 2 done.
    PubComp(Ack),
    /// 3.8, client to server.
    Subscribe(Box<Subscribe>),
    /// 3.9, server to client.
    SubAck(Box<SubAck>),
    /// 3.10, client to server.
    Unsubscribe(Box<Unsubscribe>),
    /// 3.11, server to client.
    UnsubAck(Box<UnsubAck>),
    /// 3.12, client to server.
    PingReq,
    /// 3.13, server to client.
    PingResp,
    /// 3.14, both ways in version 5, client to server in 3.1.1.
    Disconnect(Box<Disconnect>),
    /// 3.15, version 5 only, both ways.
    Auth(Box<Auth>),
}

impl Packet {
    /// Which packet it is.
    pub const fn packet_type(&self) -> PacketType {
        match self {
            Self::Connect(_) => PacketType::Connect,
            Self::ConnAck(_) => PacketType::ConnAck,
            Self::Publish(_) => PacketType::Publish,
            Self::PubAck(_) => PacketType::PubAck,
            Self::PubRec(_) => PacketType::PubRec,
            Self::PubRel(_) => PacketType::PubRel,
            Self::PubComp(_) => PacketType::PubComp,
            Self::Subscribe(_) => PacketType::Subscribe,
            Self::SubAck(_) => PacketType::SubAck,
            Self::Unsubscribe(_) => PacketType::Unsubscribe,
            Self::UnsubAck(_) => PacketType::UnsubAck,
            Self::PingReq => PacketType::PingReq,
            Self::PingResp => PacketType::PingResp,
            Self::Disconnect(_) => PacketType::Disconnect,
            Self::Auth(_) => PacketType::Auth,
        }
    }
}
