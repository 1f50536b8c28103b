//! Which reason codes a server's packet may carry, and which a client's may not.
//!
//! Reasons reach a session from rules, sinks and operators; a packet with one its table lacks would be malformed.

use tidegate_codec::{PacketType, ReasonCode};

/// `reason` as a failure that `packet` may carry.
pub(crate) fn allowed(reason: ReasonCode, packet: PacketType) -> ReasonCode {
    match reason.is_error() && reason.allowed_in(packet) {
        true => reason,
        false => ReasonCode::UnspecifiedError,
    }
}

/// Whether table 3-10 gives this DISCONNECT reason code to servers only.
pub(crate) fn server_only(reason: ReasonCode) -> bool {
    matches!(
        reason,
        ReasonCode::NotAuthorized
            | ReasonCode::ServerBusy
            | ReasonCode::ServerShuttingDown
            | ReasonCode::KeepAliveTimeout
            | ReasonCode::SessionTakenOver
            | ReasonCode::TopicFilterInvalid
            | ReasonCode::RetainNotSupported
            | ReasonCode::QoSNotSupported
            | ReasonCode::UseAnotherServer
            | ReasonCode::ServerMoved
            | ReasonCode::SharedSubscriptionsNotSupported
            | ReasonCode::ConnectionRateExceeded
            | ReasonCode::MaximumConnectTime
            | ReasonCode::SubscriptionIdentifiersNotSupported
            | ReasonCode::WildcardSubscriptionsNotSupported
    )
}
