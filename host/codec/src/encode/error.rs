//! Why a value has no encoding.

use crate::{PacketType, PropertyId, ReasonCode};

/// Why a packet cannot be written in the version asked for. Nothing of it has been written then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum EncodeError {
    /// 1.5.4, 1.5.6: the length of a field is two bytes.
    #[error("a field of {bytes} bytes is over the 65,535 bytes that MQTT can carry")]
    FieldTooLong {
        /// Length of the text or binary data.
        bytes: usize,
    },
    /// 2.1.4: the Remaining Length is at most 268,435,455.
    #[error("a packet of {bytes} bytes is over the 268,435,455 bytes that MQTT can carry")]
    PacketTooLong {
        /// What the Remaining Length would be.
        bytes: usize,
    },
    /// [MQTT-1.5.4-2]
    #[error("a text field holds U+0000")]
    NullCharacter,
    /// 2.2.2.2: the packet must not carry it.
    #[error("property {property:?} is not valid in {carrier}")]
    MisplacedProperty {
        /// The packet, or the will.
        carrier: &'static str,
        /// The first such property.
        property: PropertyId,
    },
    /// "It is a Protocol Error to include ... more than once", in the section of each property.
    #[error("property {0:?} stands more than once")]
    RepeatedProperty(PropertyId),
    /// The value is one that the property's section forbids, such as Receive Maximum 0.
    #[error("property {0:?} must not have this value")]
    PropertyValue(PropertyId),
    /// The packet's own table does not list the code.
    #[error("{packet:?} must not carry reason code {reason:?}")]
    ReasonCode {
        /// The packet.
        packet: PacketType,
        /// The code.
        reason: ReasonCode,
    },
    /// [MQTT-3.2.2-6] (3.1.1): the connection is to be closed without a CONNACK.
    #[error("MQTT 3.1.1 has no CONNACK return code for {0:?}: close the connection without one")]
    NoReturnCode(ReasonCode),
    /// [MQTT-3.8.3-2], [MQTT-3.10.3-2]
    #[error("{0:?} needs at least one entry")]
    NoEntry(PacketType),
    /// [MQTT-3.8.3-4]
    #[error("No Local is not permitted on a shared subscription")]
    NoLocalOnShared,
    /// 3.3.2.1: 3.1.1 needs the topic, version 5 the topic or an alias.
    #[error("PUBLISH needs a topic name, or in version 5 a topic alias")]
    NoTopic,
    /// [MQTT-2.2.1-2], [MQTT-2.2.1-3]
    #[error("PUBLISH has a packet identifier exactly when its QoS is above 0")]
    PacketIdAgainstQoS,
    /// [MQTT-3.3.1-2]
    #[error("PUBLISH with DUP at QoS 0")]
    DupAtQoS0,
    /// [MQTT-3.1.2-22] (3.1.1)
    #[error("MQTT 3.1.1 allows a password only with a user name")]
    PasswordWithoutUserName,
    /// [MQTT-3.1.3-7] (3.1.1)
    #[error("MQTT 3.1.1 allows an empty client identifier only with Clean Session")]
    EmptyClientId,
    /// 3.15 is new in version 5.
    #[error("MQTT 3.1.1 has no AUTH")]
    AuthInV311,
    /// 3.15.2.2.2
    #[error("AUTH needs an authentication method")]
    NoAuthenticationMethod,
    /// 3.1.2.11.10, 3.2.2.3.18
    #[error("authentication data needs an authentication method")]
    AuthenticationDataAlone,
}
