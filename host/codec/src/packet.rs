//! The fifteen control packets as values. Field meanings follow section 3 of both standards.
//!
//! A packet of MQTT 3.1.1 has empty [`Properties`]; what only version 5 carries is `None` or the default there.

use bytes::Bytes;

use crate::{ClientId, PacketId, Properties, QoS, ReasonCode, TopicFilter, TopicName, Version};

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

/// PUBLISH. `topic` of its message is checked; a version 5 packet may instead name it by alias.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Publish {
    /// The topic; `None` when version 5 gives an empty one and a topic alias [MQTT-3.3.2-8].
    pub topic: Option<TopicName>,
    /// The publisher's bytes.
    pub payload: Bytes,
    /// Topic alias, message expiry, user properties and the rest.
    pub properties: Properties,
    /// QoS of this delivery.
    pub qos: QoS,
    /// Identifier, present exactly when QoS is above 0 [MQTT-2.2.1-2].
    pub packet_id: Option<PacketId>,
    /// RETAIN flag.
    pub retain: bool,
    /// DUP flag; false at QoS 0 [MQTT-3.3.1-2].
    pub dup: bool,
}

/// PUBACK, PUBREC, PUBREL or PUBCOMP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ack {
    /// The PUBLISH it answers.
    pub packet_id: PacketId,
    /// Always `Success` in 3.1.1.
    pub reason: ReasonCode,
    /// Reason string and user properties.
    pub properties: Properties,
}

impl Ack {
    /// A success without properties: the form that nearly every acknowledgement has.
    pub fn success(packet_id: PacketId) -> Self {
        Self {
            packet_id,
            reason: ReasonCode::Success,
            properties: Properties::empty(),
        }
    }
}

/// CONNECT.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connect {
    /// Level 4 or 5; any other is [`crate::DecodeError::UnsupportedVersion`].
    pub version: Version,
    /// `None` when the client sends an empty one and asks the server to assign it [MQTT-3.1.3-6].
    pub client_id: Option<ClientId>,
    /// Clean Session (3.1.1) or Clean Start (5.0).
    pub clean_start: bool,
    /// Seconds; 0 turns keep-alive off.
    pub keep_alive: u16,
    /// Message to publish when the connection is lost.
    pub will: Option<Will>,
    /// User name and password, either may be absent.
    pub credentials: Credentials,
    /// Session expiry, Receive Maximum and the rest.
    pub properties: Properties,
}

/// User name and password of a CONNECT.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Credentials {
    /// UTF-8, checked.
    pub username: Option<Box<str>>,
    /// Any bytes.
    pub password: Option<Bytes>,
}

/// Will of a CONNECT. Its properties are those of the will, with the Will Delay Interval among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Will {
    /// Topic, payload, QoS, retain and properties.
    pub message: Message,
}

/// CONNACK. In 3.1.1 the reason becomes a return code (0 to 5) when encoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnAck {
    /// Whether the server had state of this client [MQTT-3.2.2-2].
    pub session_present: bool,
    /// `Success` or why not.
    pub reason: ReasonCode,
    /// What the server changes or limits.
    pub properties: Properties,
}

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

/// SUBACK.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubAck {
    /// Of the SUBSCRIBE.
    pub packet_id: PacketId,
    /// One per filter, same order [MQTT-3.9.3-1]. In 3.1.1 every failure is encoded as 0x80.
    pub reasons: Vec<ReasonCode>,
    /// Reason string and user properties.
    pub properties: Properties,
}

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

/// UNSUBACK.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsubAck {
    /// Of the UNSUBSCRIBE.
    pub packet_id: PacketId,
    /// One per filter, same order; not encoded in 3.1.1.
    pub reasons: Vec<ReasonCode>,
    /// Reason string and user properties.
    pub properties: Properties,
}

/// DISCONNECT.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disconnect {
    /// `Success` is a normal disconnection; always that in 3.1.1.
    pub reason: ReasonCode,
    /// Session expiry, reason string, server reference, user properties.
    pub properties: Properties,
}

/// AUTH.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Auth {
    /// Success, continue or re-authenticate.
    pub reason: ReasonCode,
    /// Authentication method and data.
    pub properties: Properties,
}
