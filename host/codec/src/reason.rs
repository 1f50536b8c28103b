//! Reason codes of MQTT 5.0 (table 2-6): which packets may carry which, and the return codes of MQTT 3.1.1.
//!
//! Invariant: decode yields and encode writes a code only in a packet whose own table lists it.
//! Deliberately does not: choose a code; that is the session's and the broker's part.

mod tables;

use crate::decode::Fields;
use crate::{DecodeError, EncodeError, PacketType};

/// A reason code. Which packet may carry which says [`ReasonCode::allowed_in`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs)] // the names are the standard's own
pub enum ReasonCode {
    /// Also "normal disconnection" and "granted QoS 0".
    Success = 0x00,
    GrantedQoS1 = 0x01,
    GrantedQoS2 = 0x02,
    DisconnectWithWill = 0x04,
    NoMatchingSubscribers = 0x10,
    NoSubscriptionExisted = 0x11,
    ContinueAuthentication = 0x18,
    ReAuthenticate = 0x19,
    UnspecifiedError = 0x80,
    MalformedPacket = 0x81,
    ProtocolError = 0x82,
    ImplementationSpecificError = 0x83,
    UnsupportedProtocolVersion = 0x84,
    ClientIdentifierNotValid = 0x85,
    BadUserNameOrPassword = 0x86,
    NotAuthorized = 0x87,
    ServerUnavailable = 0x88,
    ServerBusy = 0x89,
    Banned = 0x8A,
    ServerShuttingDown = 0x8B,
    BadAuthenticationMethod = 0x8C,
    KeepAliveTimeout = 0x8D,
    SessionTakenOver = 0x8E,
    TopicFilterInvalid = 0x8F,
    TopicNameInvalid = 0x90,
    PacketIdentifierInUse = 0x91,
    PacketIdentifierNotFound = 0x92,
    ReceiveMaximumExceeded = 0x93,
    TopicAliasInvalid = 0x94,
    PacketTooLarge = 0x95,
    MessageRateTooHigh = 0x96,
    QuotaExceeded = 0x97,
    AdministrativeAction = 0x98,
    PayloadFormatInvalid = 0x99,
    RetainNotSupported = 0x9A,
    QoSNotSupported = 0x9B,
    UseAnotherServer = 0x9C,
    ServerMoved = 0x9D,
    SharedSubscriptionsNotSupported = 0x9E,
    ConnectionRateExceeded = 0x9F,
    MaximumConnectTime = 0xA0,
    SubscriptionIdentifiersNotSupported = 0xA1,
    WildcardSubscriptionsNotSupported = 0xA2,
}

impl ReasonCode {
    /// Codes from 0x80 on are failures (2.4).
    pub const fn is_error(self) -> bool {
        self as u8 >= 0x80
    }

    /// The code that stands on the wire as `byte`.
    pub const fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            0x00 => Self::Success,
            0x01 => Self::GrantedQoS1,
            0x02 => Self::GrantedQoS2,
            0x04 => Self::DisconnectWithWill,
            0x10 => Self::NoMatchingSubscribers,
            0x11 => Self::NoSubscriptionExisted,
            0x18 => Self::ContinueAuthentication,
            0x19 => Self::ReAuthenticate,
            0x80 => Self::UnspecifiedError,
            0x81 => Self::MalformedPacket,
            0x82 => Self::ProtocolError,
            0x83 => Self::ImplementationSpecificError,
            0x84 => Self::UnsupportedProtocolVersion,
            0x85 => Self::ClientIdentifierNotValid,
            0x86 => Self::BadUserNameOrPassword,
            0x87 => Self::NotAuthorized,
            0x88 => Self::ServerUnavailable,
            0x89 => Self::ServerBusy,
            0x8A => Self::Banned,
            0x8B => Self::ServerShuttingDown,
            0x8C => Self::BadAuthenticationMethod,
            0x8D => Self::KeepAliveTimeout,
            0x8E => Self::SessionTakenOver,
            0x8F => Self::TopicFilterInvalid,
            0x90 => Self::TopicNameInvalid,
            0x91 => Self::PacketIdentifierInUse,
            0x92 => Self::PacketIdentifierNotFound,
            0x93 => Self::ReceiveMaximumExceeded,
            0x94 => Self::TopicAliasInvalid,
            0x95 => Self::PacketTooLarge,
            0x96 => Self::MessageRateTooHigh,
            0x97 => Self::QuotaExceeded,
            0x98 => Self::AdministrativeAction,
            0x99 => Self::PayloadFormatInvalid,
            0x9A => Self::RetainNotSupported,
            0x9B => Self::QoSNotSupported,
            0x9C => Self::UseAnotherServer,
            0x9D => Self::ServerMoved,
            0x9E => Self::SharedSubscriptionsNotSupported,
            0x9F => Self::ConnectionRateExceeded,
            0xA0 => Self::MaximumConnectTime,
            0xA1 => Self::SubscriptionIdentifiersNotSupported,
            0xA2 => Self::WildcardSubscriptionsNotSupported,
            _ => return None,
        })
    }

    /// Whether the table of `packet` lists this code. DISCONNECT and AUTH go both ways and share one table here:
    /// which side may send which code is known to the session.
    pub fn allowed_in(self, packet: PacketType) -> bool {
        tables::of(packet).contains(&self)
    }

    /// The CONNACK return code of MQTT 3.1.1 that says the same (table 3.1 there). `None` where there is none:
    /// then the connection is closed without a CONNACK [MQTT-3.2.2-6] (3.1.1).
    pub const fn return_code(self) -> Option<u8> {
        match self {
            Self::Success => Some(0),
            Self::UnsupportedProtocolVersion => Some(1),
            Self::ClientIdentifierNotValid => Some(2),
            Self::ServerUnavailable
            | Self::ServerBusy
            | Self::UseAnotherServer
            | Self::ServerMoved
            | Self::QuotaExceeded
            | Self::ConnectionRateExceeded
            | Self::UnspecifiedError
            | Self::ImplementationSpecificError => Some(3),
            Self::BadUserNameOrPassword => Some(4),
            Self::NotAuthorized | Self::Banned | Self::BadAuthenticationMethod => Some(5),
            _ => None,
        }
    }

    /// The reason that the CONNACK return code `code` of MQTT 3.1.1 gives; codes above 5 are reserved.
    pub const fn from_return_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Success),
            1 => Some(Self::UnsupportedProtocolVersion),
            2 => Some(Self::ClientIdentifierNotValid),
            3 => Some(Self::ServerUnavailable),
            4 => Some(Self::BadUserNameOrPassword),
            5 => Some(Self::NotAuthorized),
            _ => None,
        }
    }

    /// The next byte of `packet` as a code that its table lists.
    pub(crate) fn decode(packet: PacketType, fields: &mut Fields<'_>) -> Result<Self, DecodeError> {
        let code = fields.byte()?;
        let reason = Self::from_byte(code).filter(|reason| reason.allowed_in(packet));
        reason.ok_or(DecodeError::ReasonCode { packet, code })
    }

    /// The rest of `packet`: one code or more.
    pub(crate) fn decode_list(packet: PacketType, mut fields: Fields<'_>) -> Result<Vec<Self>, DecodeError> {
        if fields.is_empty() {
            return Err(DecodeError::NoEntry(packet));
        }
        let mut reasons = Vec::with_capacity(fields.0.len());
        while !fields.is_empty() {
            reasons.push(Self::decode(packet, &mut fields)?);
        }
        Ok(reasons)
    }

    /// The code's byte, if the table of `packet` lists it.
    pub(crate) fn encode(self, packet: PacketType) -> Result<u8, EncodeError> {
        match self.allowed_in(packet) {
            true => Ok(self as u8),
            false => Err(EncodeError::ReasonCode { packet, reason: self }),
        }
    }
}
