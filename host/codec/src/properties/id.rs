//! Property identifiers and which packet may carry which (table 2-4).

use crate::PacketType;

/// Identifier of a property (table 2-4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[allow(missing_docs)] // the names are the standard's own
pub enum PropertyId {
    PayloadFormatIndicator = 0x01,
    MessageExpiryInterval = 0x02,
    ContentType = 0x03,
    ResponseTopic = 0x08,
    CorrelationData = 0x09,
    SubscriptionIdentifier = 0x0B,
    SessionExpiryInterval = 0x11,
    AssignedClientIdentifier = 0x12,
    ServerKeepAlive = 0x13,
    AuthenticationMethod = 0x15,
    AuthenticationData = 0x16,
    RequestProblemInformation = 0x17,
    WillDelayInterval = 0x18,
    RequestResponseInformation = 0x19,
    ResponseInformation = 0x1A,
    ServerReference = 0x1C,
    ReasonString = 0x1F,
    ReceiveMaximum = 0x21,
    TopicAliasMaximum = 0x22,
    TopicAlias = 0x23,
    MaximumQoS = 0x24,
    RetainAvailable = 0x25,
    UserProperty = 0x26,
    MaximumPacketSize = 0x27,
    WildcardSubscriptionAvailable = 0x28,
    SubscriptionIdentifierAvailable = 0x29,
    SharedSubscriptionAvailable = 0x2A,
}

impl PropertyId {
    /// Every identifier, in the order of their numbers.
    pub const ALL: [Self; 27] = [
        Self::PayloadFormatIndicator,
        Self::MessageExpiryInterval,
        Self::ContentType,
        Self::ResponseTopic,
        Self::CorrelationData,
        Self::SubscriptionIdentifier,
        Self::SessionExpiryInterval,
        Self::AssignedClientIdentifier,
        Self::ServerKeepAlive,
        Self::AuthenticationMethod,
        Self::AuthenticationData,
        Self::RequestProblemInformation,
        Self::WillDelayInterval,
        Self::RequestResponseInformation,
        Self::ResponseInformation,
        Self::ServerReference,
        Self::ReasonString,
        Self::ReceiveMaximum,
        Self::TopicAliasMaximum,
        Self::TopicAlias,
        Self::MaximumQoS,
        Self::RetainAvailable,
        Self::UserProperty,
        Self::MaximumPacketSize,
        Self::WildcardSubscriptionAvailable,
        Self::SubscriptionIdentifierAvailable,
        Self::SharedSubscriptionAvailable,
    ];

    /// The identifier that stands on the wire as `byte`.
    pub const fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            0x01 => Self::PayloadFormatIndicator,
            0x02 => Self::MessageExpiryInterval,
            0x03 => Self::ContentType,
            0x08 => Self::ResponseTopic,
            0x09 => Self::CorrelationData,
            0x0B => Self::SubscriptionIdentifier,
            0x11 => Self::SessionExpiryInterval,
            0x12 => Self::AssignedClientIdentifier,
            0x13 => Self::ServerKeepAlive,
            0x15 => Self::AuthenticationMethod,
            0x16 => Self::AuthenticationData,
            0x17 => Self::RequestProblemInformation,
            0x18 => Self::WillDelayInterval,
            0x19 => Self::RequestResponseInformation,
            0x1A => Self::ResponseInformation,
            0x1C => Self::ServerReference,
            0x1F => Self::ReasonString,
            0x21 => Self::ReceiveMaximum,
            0x22 => Self::TopicAliasMaximum,
            0x23 => Self::TopicAlias,
            0x24 => Self::MaximumQoS,
            0x25 => Self::RetainAvailable,
            0x26 => Self::UserProperty,
            0x27 => Self::MaximumPacketSize,
            0x28 => Self::WildcardSubscriptionAvailable,
            0x29 => Self::SubscriptionIdentifierAvailable,
            0x2A => Self::SharedSubscriptionAvailable,
            _ => return None,
        })
    }

    /// Its bit in a set of identifiers.
    pub(crate) const fn bit(self) -> u64 {
        1 << self as u8
    }

    const fn set<const N: usize>(ids: [Self; N]) -> u64 {
        let mut set = 0;
        let mut rest = ids.as_slice();
        while let [id, more @ ..] = rest {
            set |= id.bit();
            rest = more;
        }
        set
    }
}

/// What carries a property block: a packet, or the will within CONNECT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Carrier {
    Packet(PacketType),
    Will,
}

impl Carrier {
    /// The properties it may carry, a bit each.
    #[inline]
    pub(crate) const fn allowed(self) -> u64 {
        match self {
            Self::Packet(PacketType::Publish) => PUBLISH,
            Self::Packet(PacketType::Connect) => CONNECT,
            Self::Packet(PacketType::ConnAck) => CONNACK,
            Self::Packet(PacketType::Subscribe) => SUBSCRIBE,
            Self::Packet(PacketType::Unsubscribe) => PropertyId::UserProperty.bit(),
            Self::Packet(PacketType::Disconnect) => DISCONNECT,
            Self::Packet(PacketType::Auth) => AUTH,
            Self::Packet(PacketType::PingReq | PacketType::PingResp) => 0,
            Self::Packet(_) => ACKNOWLEDGEMENT,
            Self::Will => WILL,
        }
    }

    /// Whether it may carry more than one subscription identifier (3.3.2.3.8, 3.8.2.1.2).
    pub(crate) const fn repeats_subscription_id(self) -> bool {
        matches!(self, Self::Packet(PacketType::Publish))
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Packet(PacketType::Publish) => "PUBLISH",
            Self::Packet(PacketType::Connect) => "CONNECT",
            Self::Packet(PacketType::ConnAck) => "CONNACK",
            Self::Packet(PacketType::Subscribe) => "SUBSCRIBE",
            Self::Packet(PacketType::Unsubscribe) => "UNSUBSCRIBE",
            Self::Packet(PacketType::Disconnect) => "DISCONNECT",
            Self::Packet(PacketType::Auth) => "AUTH",
            Self::Packet(_) => "an acknowledgement",
            Self::Will => "a will",
        }
    }
}

const MESSAGE: u64 = PropertyId::set([
    PropertyId::PayloadFormatIndicator,
    PropertyId::MessageExpiryInterval,
    PropertyId::ContentType,
    PropertyId::ResponseTopic,
    PropertyId::CorrelationData,
    PropertyId::UserProperty,
]);
const PUBLISH: u64 = MESSAGE | PropertyId::set([PropertyId::TopicAlias, PropertyId::SubscriptionIdentifier]);
const WILL: u64 = MESSAGE | PropertyId::WillDelayInterval.bit();
const ACKNOWLEDGEMENT: u64 = PropertyId::set([PropertyId::ReasonString, PropertyId::UserProperty]);
const SUBSCRIBE: u64 = PropertyId::set([PropertyId::SubscriptionIdentifier, PropertyId::UserProperty]);
const AUTH: u64 =
    ACKNOWLEDGEMENT | PropertyId::set([PropertyId::AuthenticationMethod, PropertyId::AuthenticationData]);
const DISCONNECT: u64 =
    ACKNOWLEDGEMENT | PropertyId::set([PropertyId::SessionExpiryInterval, PropertyId::ServerReference]);
/// What both sides say when they connect.
const EITHER_SIDE: u64 = PropertyId::set([
    PropertyId::SessionExpiryInterval,
    PropertyId::AuthenticationMethod,
    PropertyId::AuthenticationData,
    PropertyId::ReceiveMaximum,
    PropertyId::TopicAliasMaximum,
    PropertyId::UserProperty,
    PropertyId::MaximumPacketSize,
]);
const CONNECT: u64 = EITHER_SIDE
    | PropertyId::set([
        PropertyId::RequestProblemInformation,
        PropertyId::RequestResponseInformation,
    ]);
const CONNACK: u64 = EITHER_SIDE
    | PropertyId::set([
        PropertyId::AssignedClientIdentifier,
        PropertyId::ServerKeepAlive,
        PropertyId::ResponseInformation,
        PropertyId::ServerReference,
        PropertyId::ReasonString,
        PropertyId::MaximumQoS,
        PropertyId::RetainAvailable,
        PropertyId::WildcardSubscriptionAvailable,
        PropertyId::SubscriptionIdentifierAvailable,
        PropertyId::SharedSubscriptionAvailable,
    ]);
