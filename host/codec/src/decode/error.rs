//! Why bytes are not a packet, and the reason code with which a connection is closed for it.

use crate::{InvalidTopic, PacketType, PropertyId, ReasonCode};

/// Why bytes are not a packet. Each variant is one fact about the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum DecodeError {
    /// The packet claims more bytes than this side accepts [MQTT-3.2.2-15].
    #[error("a packet of {bytes} bytes is over the limit of {bytes_max} bytes")]
    TooLarge {
        /// The length it claims, fixed header included.
        bytes: u32,
        /// [`crate::Decoder::packet_bytes_max`].
        bytes_max: u32,
    },
    /// [MQTT-1.5.5-1] and 1.5.5: over four bytes, or not the shortest form.
    #[error("a variable byte integer is longer than four bytes or than it need be")]
    VariableByteInteger,
    /// [MQTT-3.1.0-1]
    #[error("the first packet of a connection must be CONNECT, not {0:?}")]
    FirstNotConnect(PacketType),
    /// Table 2-1: type 0, and in MQTT 3.1.1 type 15.
    #[error("control packet type {0} is reserved")]
    ReservedType(u8),
    /// [MQTT-2.1.3-1]; [MQTT-2.2.2-2] (3.1.1).
    #[error("{packet:?} must not have fixed header flags {flags:#06b}")]
    FixedHeaderFlags {
        /// What the packet says it is.
        packet: PacketType,
        /// The four flag bits.
        flags: u8,
    },
    /// A length inside the packet points beyond it, or a field is missing.
    #[error("a field reaches past the end of its packet")]
    Truncated,
    /// Bytes are left after the last field.
    #[error("{0} bytes follow the last field of the packet")]
    TrailingBytes(usize),
    /// [MQTT-1.5.4-1]; [MQTT-1.5.3-1] (3.1.1).
    #[error("a text field is not well-formed UTF-8")]
    NotUtf8,
    /// [MQTT-1.5.4-2]; [MQTT-1.5.3-2] (3.1.1).
    #[error("a text field holds U+0000")]
    NullCharacter,
    /// [MQTT-2.2.1-3], [MQTT-2.2.1-4]; [MQTT-2.3.1-1] (3.1.1).
    #[error("packet identifier 0 is reserved")]
    PacketIdZero,
    /// The protocol name is neither "MQTT" nor the "MQIsdp" of older versions [MQTT-3.1.2-1].
    #[error("the protocol name is not MQTT")]
    ProtocolName,
    /// [MQTT-3.1.2-2]
    #[error("protocol level {0} is not supported: use 4 (MQTT 3.1.1) or 5 (MQTT 5.0)")]
    UnsupportedVersion(u8),
    /// [MQTT-3.1.2-3]
    #[error("the reserved flag of CONNECT is set")]
    ReservedConnectFlag,
    /// [MQTT-3.1.2-11], [MQTT-3.1.2-13]
    #[error("CONNECT has a will QoS or will retain flag without the will flag")]
    WillFlagsWithoutWill,
    /// [MQTT-3.1.2-12]
    #[error("will QoS 3 is reserved")]
    WillQoS3,
    /// [MQTT-3.1.2-22] (3.1.1): version 5 allows it.
    #[error("MQTT 3.1.1 allows a password only with a user name")]
    PasswordWithoutUserName,
    /// [MQTT-3.1.3-8] (3.1.1)
    #[error("MQTT 3.1.1 allows an empty client identifier only with Clean Session")]
    EmptyClientId,
    /// [MQTT-3.2.2-1]
    #[error("reserved bits of the CONNACK flags are set: {0:#010b}")]
    ConnAckFlags(u8),
    /// [MQTT-3.2.2-6]; [MQTT-3.2.2-4] (3.1.1).
    #[error("a CONNACK that refuses the connection says that a session is present")]
    SessionPresentWithError,
    /// [MQTT-3.3.1-4]
    #[error("PUBLISH with QoS 3")]
    PublishQoS3,
    /// [MQTT-3.3.1-2]
    #[error("PUBLISH with DUP at QoS 0")]
    DupAtQoS0,
    /// The topic of a PUBLISH or of a will [MQTT-3.3.2-2], [MQTT-4.7.3-1].
    #[error(transparent)]
    TopicName(InvalidTopic),
    /// 3.3.2.1: an empty topic name needs a topic alias.
    #[error("PUBLISH has neither a topic name nor a topic alias")]
    NoTopic,
    /// [MQTT-3.3.2-8]
    #[error("topic alias 0 is not permitted")]
    TopicAliasZero,
    /// A filter of SUBSCRIBE or UNSUBSCRIBE [MQTT-4.7.1-1], [MQTT-4.7.1-2], [MQTT-4.7.3-1], [MQTT-4.8.2-1].
    #[error(transparent)]
    TopicFilter(InvalidTopic),
    /// [MQTT-3.8.3-2], [MQTT-3.10.3-2]; an empty SUBACK or UNSUBACK answers no packet there can be.
    #[error("{0:?} without an entry")]
    NoEntry(PacketType),
    /// [MQTT-3.8.3-5]
    #[error("reserved bits of the subscription options are set: {0:#010b}")]
    ReservedSubscribeOption(u8),
    /// 3.8.3.1; [MQTT-3-8.3-4] (3.1.1).
    #[error("subscription with maximum QoS 3")]
    SubscribeQoS3,
    /// 3.8.3.1
    #[error("retain handling 3 is reserved")]
    RetainHandling3,
    /// [MQTT-3.8.3-4]
    #[error("No Local is not permitted on a shared subscription")]
    NoLocalOnShared,
    /// A code the packet's own table does not list: [MQTT-3.2.2-8], [MQTT-3.4.2-1], [MQTT-3.5.2-1], [MQTT-3.6.2-1],
    /// [MQTT-3.7.2-1], [MQTT-3.9.3-2], [MQTT-3.11.3-2], [MQTT-3.14.2-1], [MQTT-3.15.2-1].
    #[error("{packet:?} must not carry reason code {code:#04x}")]
    ReasonCode {
        /// The packet that carries it.
        packet: PacketType,
        /// The code.
        code: u8,
    },
    /// 2.2.2.2
    #[error("property identifier {0:#04x} does not exist")]
    UnknownProperty(u8),
    /// 2.2.2.2
    #[error("property {0:?} is not valid in this packet")]
    MisplacedProperty(PropertyId),
    /// "It is a Protocol Error to include ... more than once", in the section of each property.
    #[error("property {0:?} stands more than once")]
    RepeatedProperty(PropertyId),
    /// The value is one that the property's section forbids, such as Receive Maximum 0 or a flag of 2.
    #[error("property {0:?} must not have this value")]
    PropertyValue(PropertyId),
    /// 3.1.2.11.10, 3.2.2.3.18
    #[error("authentication data without an authentication method")]
    AuthenticationDataAlone,
    /// 3.15.2.2.2
    #[error("AUTH without an authentication method")]
    NoAuthenticationMethod,
}

impl DecodeError {
    /// The reason code with which a version 5 connection is closed: in a CONNACK before it is accepted, in a
    /// DISCONNECT after (4.13.1). A 3.1.1 connection just closes, but for [`Self::return_code`].
    pub const fn reason(&self) -> ReasonCode {
        match self {
            Self::TooLarge { .. } => ReasonCode::PacketTooLarge,
            Self::ProtocolName | Self::UnsupportedVersion(_) => ReasonCode::UnsupportedProtocolVersion,
            Self::EmptyClientId => ReasonCode::ClientIdentifierNotValid,
            Self::TopicName(InvalidTopic::NotText) | Self::TopicFilter(InvalidTopic::NotText) => {
                ReasonCode::MalformedPacket
            }
            Self::TopicName(_) => ReasonCode::TopicNameInvalid,
            Self::TopicFilter(_) => ReasonCode::TopicFilterInvalid,
            Self::TopicAliasZero => ReasonCode::TopicAliasInvalid,
            Self::FirstNotConnect(_)
            | Self::PacketIdZero
            | Self::SessionPresentWithError
            | Self::NoTopic
            | Self::NoEntry(_)
            | Self::SubscribeQoS3
            | Self::RetainHandling3
            | Self::NoLocalOnShared
            | Self::ReasonCode { .. }
            | Self::RepeatedProperty(_)
            | Self::PropertyValue(_)
            | Self::AuthenticationDataAlone
            | Self::NoAuthenticationMethod => ReasonCode::ProtocolError,
            Self::VariableByteInteger
            | Self::ReservedType(_)
            | Self::FixedHeaderFlags { .. }
            | Self::Truncated
            | Self::TrailingBytes(_)
            | Self::NotUtf8
            | Self::NullCharacter
            | Self::ReservedConnectFlag
            | Self::WillFlagsWithoutWill
            | Self::WillQoS3
            | Self::PasswordWithoutUserName
            | Self::ConnAckFlags(_)
            | Self::PublishQoS3
            | Self::DupAtQoS0
            | Self::ReservedSubscribeOption(_)
            | Self::UnknownProperty(_)
            | Self::MisplacedProperty(_) => ReasonCode::MalformedPacket,
        }
    }

    /// The return code of the CONNACK with which a server of MQTT 3.1.1 must answer before it closes
    /// [MQTT-3.1.2-2], [MQTT-3.1.3-8] (3.1.1). `None`: it closes without an answer [MQTT-3.1.4-1] (3.1.1).
    pub const fn return_code(&self) -> Option<u8> {
        match self {
            Self::UnsupportedVersion(_) => Some(1),
            Self::EmptyClientId => Some(2),
            _ => None,
        }
    }
}
