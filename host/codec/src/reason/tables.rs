//! Which packet may carry which reason code: the tables of sections 3.2.2.2 to 3.15.2.1.
//!
//! DISCONNECT and AUTH go both ways and have one table each here: which side may send which is known to the session.

use super::ReasonCode as R;
use crate::PacketType;

/// The codes `packet` may carry; none for the packets that have no reason code.
pub(super) const fn of(packet: PacketType) -> &'static [R] {
    match packet {
        PacketType::ConnAck => CONNACK,
        PacketType::PubAck | PacketType::PubRec => PUBACK,
        PacketType::PubRel | PacketType::PubComp => PUBREL,
        PacketType::SubAck => SUBACK,
        PacketType::UnsubAck => UNSUBACK,
        PacketType::Disconnect => DISCONNECT,
        PacketType::Auth => AUTH,
        _ => &[],
    }
}

/// 3.2.2.2
const CONNACK: &[R] = &[
    R::Success,
    R::UnspecifiedError,
    R::MalformedPacket,
    R::ProtocolError,
    R::ImplementationSpecificError,
    R::UnsupportedProtocolVersion,
    R::ClientIdentifierNotValid,
    R::BadUserNameOrPassword,
    R::NotAuthorized,
    R::ServerUnavailable,
    R::ServerBusy,
    R::Banned,
    R::BadAuthenticationMethod,
    R::TopicNameInvalid,
    R::PacketTooLarge,
    R::QuotaExceeded,
    R::PayloadFormatInvalid,
    R::RetainNotSupported,
    R::QoSNotSupported,
    R::UseAnotherServer,
    R::ServerMoved,
    R::ConnectionRateExceeded,
];

/// 3.4.2.1, 3.5.2.1
const PUBACK: &[R] = &[
    R::Success,
    R::NoMatchingSubscribers,
    R::UnspecifiedError,
    R::ImplementationSpecificError,
    R::NotAuthorized,
    R::TopicNameInvalid,
    R::PacketIdentifierInUse,
    R::QuotaExceeded,
    R::PayloadFormatInvalid,
];

/// 3.6.2.1, 3.7.2.1
const PUBREL: &[R] = &[R::Success, R::PacketIdentifierNotFound];

/// 3.9.3
const SUBACK: &[R] = &[
    R::Success,
    R::GrantedQoS1,
    R::GrantedQoS2,
    R::UnspecifiedError,
    R::ImplementationSpecificError,
    R::NotAuthorized,
    R::TopicFilterInvalid,
    R::PacketIdentifierInUse,
    R::QuotaExceeded,
    R::SharedSubscriptionsNotSupported,
    R::SubscriptionIdentifiersNotSupported,
    R::WildcardSubscriptionsNotSupported,
];

/// 3.11.3
const UNSUBACK: &[R] = &[
    R::Success,
    R::NoSubscriptionExisted,
    R::UnspecifiedError,
    R::ImplementationSpecificError,
    R::NotAuthorized,
    R::TopicFilterInvalid,
    R::PacketIdentifierInUse,
];

/// 3.14.2.1, and by table 2-6 also "bad authentication method"
const DISCONNECT: &[R] = &[
    R::Success,
    R::DisconnectWithWill,
    R::UnspecifiedError,
    R::MalformedPacket,
    R::ProtocolError,
    R::ImplementationSpecificError,
    R::NotAuthorized,
    R::ServerBusy,
    R::ServerShuttingDown,
    R::BadAuthenticationMethod,
    R::KeepAliveTimeout,
    R::SessionTakenOver,
    R::TopicFilterInvalid,
    R::TopicNameInvalid,
    R::ReceiveMaximumExceeded,
    R::TopicAliasInvalid,
    R::PacketTooLarge,
    R::MessageRateTooHigh,
    R::QuotaExceeded,
    R::AdministrativeAction,
    R::PayloadFormatInvalid,
    R::RetainNotSupported,
    R::QoSNotSupported,
    R::UseAnotherServer,
    R::ServerMoved,
    R::SharedSubscriptionsNotSupported,
    R::ConnectionRateExceeded,
    R::MaximumConnectTime,
    R::SubscriptionIdentifiersNotSupported,
    R::WildcardSubscriptionsNotSupported,
];

/// 3.15.2.1
const AUTH: &[R] = &[R::Success, R::ContinueAuthentication, R::ReAuthenticate];
