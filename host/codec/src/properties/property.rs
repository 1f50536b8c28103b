//! One property: reading it off a block with every check its section asks for, and writing it.

use bytes::{BufMut, BytesMut};

use super::PropertyId as Id;
use crate::decode::Fields;
use crate::encode::{put_binary, put_text};
use crate::{DecodeError, EncodeError, varint};

/// One property, borrowed from its block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // names and types are table 2-4 of the standard
pub enum Property<'a> {
    PayloadFormatIndicator(u8),
    MessageExpiryInterval(u32),
    ContentType(&'a str),
    ResponseTopic(&'a str),
    CorrelationData(&'a [u8]),
    SubscriptionIdentifier(u32),
    SessionExpiryInterval(u32),
    AssignedClientIdentifier(&'a str),
    ServerKeepAlive(u16),
    AuthenticationMethod(&'a str),
    AuthenticationData(&'a [u8]),
    RequestProblemInformation(u8),
    WillDelayInterval(u32),
    RequestResponseInformation(u8),
    ResponseInformation(&'a str),
    ServerReference(&'a str),
    ReasonString(&'a str),
    ReceiveMaximum(u16),
    TopicAliasMaximum(u16),
    TopicAlias(u16),
    MaximumQoS(u8),
    RetainAvailable(u8),
    UserProperty(&'a str, &'a str),
    MaximumPacketSize(u32),
    WildcardSubscriptionAvailable(u8),
    SubscriptionIdentifierAvailable(u8),
    SharedSubscriptionAvailable(u8),
}

/// The value types of table 2-4. Identifiers are below 128, so that they take one byte each.
enum Wire<'a> {
    Byte(u8),
    TwoBytes(u16),
    FourBytes(u32),
    Variable(u32),
    Text(&'a str),
    Binary(&'a [u8]),
    Pair(&'a str, &'a str),
}

impl<'a> Property<'a> {
    /// Which property it is.
    pub const fn id(&self) -> Id {
        self.parts().0
    }

    /// Identifier and value as they stand on the wire.
    const fn parts(&self) -> (Id, Wire<'a>) {
        match *self {
            Self::PayloadFormatIndicator(value) => (Id::PayloadFormatIndicator, Wire::Byte(value)),
            Self::MessageExpiryInterval(value) => (Id::MessageExpiryInterval, Wire::FourBytes(value)),
            Self::ContentType(text) => (Id::ContentType, Wire::Text(text)),
            Self::ResponseTopic(text) => (Id::ResponseTopic, Wire::Text(text)),
            Self::CorrelationData(bytes) => (Id::CorrelationData, Wire::Binary(bytes)),
            Self::SubscriptionIdentifier(value) => (Id::SubscriptionIdentifier, Wire::Variable(value)),
            Self::SessionExpiryInterval(value) => (Id::SessionExpiryInterval, Wire::FourBytes(value)),
            Self::AssignedClientIdentifier(text) => (Id::AssignedClientIdentifier, Wire::Text(text)),
            Self::ServerKeepAlive(value) => (Id::ServerKeepAlive, Wire::TwoBytes(value)),
            Self::AuthenticationMethod(text) => (Id::AuthenticationMethod, Wire::Text(text)),
            Self::AuthenticationData(bytes) => (Id::AuthenticationData, Wire::Binary(bytes)),
            Self::RequestProblemInformation(value) => (Id::RequestProblemInformation, Wire::Byte(value)),
            Self::WillDelayInterval(value) => (Id::WillDelayInterval, Wire::FourBytes(value)),
            Self::RequestResponseInformation(value) => (Id::RequestResponseInformation, Wire::Byte(value)),
            Self::ResponseInformation(text) => (Id::ResponseInformation, Wire::Text(text)),
            Self::ServerReference(text) => (Id::ServerReference, Wire::Text(text)),
            Self::ReasonString(text) => (Id::ReasonString, Wire::Text(text)),
            Self::ReceiveMaximum(value) => (Id::ReceiveMaximum, Wire::TwoBytes(value)),
            Self::TopicAliasMaximum(value) => (Id::TopicAliasMaximum, Wire::TwoBytes(value)),
            Self::TopicAlias(value) => (Id::TopicAlias, Wire::TwoBytes(value)),
            Self::MaximumQoS(value) => (Id::MaximumQoS, Wire::Byte(value)),
            Self::RetainAvailable(value) => (Id::RetainAvailable, Wire::Byte(value)),
            Self::UserProperty(name, value) => (Id::UserProperty, Wire::Pair(name, value)),
            Self::MaximumPacketSize(value) => (Id::MaximumPacketSize, Wire::FourBytes(value)),
            Self::WildcardSubscriptionAvailable(v) => (Id::WildcardSubscriptionAvailable, Wire::Byte(v)),
            Self::SubscriptionIdentifierAvailable(v) => (Id::SubscriptionIdentifierAvailable, Wire::Byte(v)),
            Self::SharedSubscriptionAvailable(v) => (Id::SharedSubscriptionAvailable, Wire::Byte(v)),
        }
    }

    /// Takes one property off `fields` and checks it.
    pub(crate) fn read(fields: &mut Fields<'a>) -> Result<Self, DecodeError> {
        let property = match read_id(fields)? {
            Id::PayloadFormatIndicator => Self::PayloadFormatIndicator(fields.byte()?),
            Id::MessageExpiryInterval => Self::MessageExpiryInterval(fields.four_bytes()?),
            Id::ContentType => Self::ContentType(fields.text()?), // [MQTT-3.3.2-19]
            Id::ResponseTopic => Self::ResponseTopic(fields.text()?), // [MQTT-3.3.2-13]
            Id::CorrelationData => Self::CorrelationData(fields.binary()?),
            Id::SubscriptionIdentifier => Self::SubscriptionIdentifier(fields.variable()?),
            Id::SessionExpiryInterval => Self::SessionExpiryInterval(fields.four_bytes()?),
            Id::AssignedClientIdentifier => Self::AssignedClientIdentifier(fields.text()?),
            Id::ServerKeepAlive => Self::ServerKeepAlive(fields.two_bytes()?),
            Id::AuthenticationMethod => Self::AuthenticationMethod(fields.text()?),
            Id::AuthenticationData => Self::AuthenticationData(fields.binary()?),
            Id::RequestProblemInformation => Self::RequestProblemInformation(fields.byte()?),
            Id::WillDelayInterval => Self::WillDelayInterval(fields.four_bytes()?),
            Id::RequestResponseInformation => Self::RequestResponseInformation(fields.byte()?),
            Id::ResponseInformation => Self::ResponseInformation(fields.text()?),
            Id::ServerReference => Self::ServerReference(fields.text()?),
            Id::ReasonString => Self::ReasonString(fields.text()?),
            Id::ReceiveMaximum => Self::ReceiveMaximum(fields.two_bytes()?),
            Id::TopicAliasMaximum => Self::TopicAliasMaximum(fields.two_bytes()?),
            Id::TopicAlias => Self::TopicAlias(fields.two_bytes()?),
            Id::MaximumQoS => Self::MaximumQoS(fields.byte()?),
            Id::RetainAvailable => Self::RetainAvailable(fields.byte()?),
            Id::UserProperty => Self::UserProperty(fields.text()?, fields.text()?), // [MQTT-1.5.7-1]
            Id::MaximumPacketSize => Self::MaximumPacketSize(fields.four_bytes()?),
            Id::WildcardSubscriptionAvailable => Self::WildcardSubscriptionAvailable(fields.byte()?),
            Id::SubscriptionIdentifierAvailable => Self::SubscriptionIdentifierAvailable(fields.byte()?),
            Id::SharedSubscriptionAvailable => Self::SharedSubscriptionAvailable(fields.byte()?),
        };
        match property {
            Self::TopicAlias(0) => Err(DecodeError::TopicAliasZero), // [MQTT-3.3.2-8]
            property if property.has_forbidden_value() => Err(DecodeError::PropertyValue(property.id())),
            property => Ok(property),
        }
    }

    /// Passes over one property of a checked block.
    pub(crate) fn skip(fields: &mut Fields<'a>) -> Result<(), DecodeError> {
        match read_id(fields)? {
            Id::PayloadFormatIndicator
            | Id::RequestProblemInformation
            | Id::RequestResponseInformation
            | Id::MaximumQoS
            | Id::RetainAvailable
            | Id::WildcardSubscriptionAvailable
            | Id::SubscriptionIdentifierAvailable
            | Id::SharedSubscriptionAvailable => fields.take(1).map(drop),
            Id::ServerKeepAlive | Id::ReceiveMaximum | Id::TopicAliasMaximum | Id::TopicAlias => {
                fields.take(2).map(drop)
            }
            Id::MessageExpiryInterval
            | Id::SessionExpiryInterval
            | Id::WillDelayInterval
            | Id::MaximumPacketSize => fields.take(4).map(drop),
            Id::SubscriptionIdentifier => fields.variable().map(drop),
            Id::UserProperty => fields.binary().and_then(|_| fields.binary()).map(drop),
            _ => fields.binary().map(drop),
        }
    }

    /// Appends it, if it has an encoding.
    pub(crate) fn write(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        let (id, wire) = self.parts();
        if self.has_forbidden_value() {
            return Err(EncodeError::PropertyValue(id));
        }
        out.put_u8(id as u8);
        match wire {
            Wire::Byte(value) => out.put_u8(value),
            Wire::TwoBytes(value) => out.put_u16(value),
            Wire::FourBytes(value) => out.put_u32(value),
            Wire::Variable(value) => varint::put(value, out),
            Wire::Binary(bytes) => put_binary(bytes, out)?,
            Wire::Text(text) => put_text(text, out)?,
            Wire::Pair(name, value) => {
                put_text(name, out)?;
                put_text(value, out)?;
            }
        }
        Ok(())
    }

    /// Whether its own section forbids the value, each a Protocol Error.
    fn has_forbidden_value(&self) -> bool {
        match *self {
            Self::PayloadFormatIndicator(value) // 3.3.2.3.2
            | Self::RequestProblemInformation(value) // 3.1.2.11.7
            | Self::RequestResponseInformation(value) // 3.1.2.11.6
            | Self::MaximumQoS(value) // 3.2.2.3.4
            | Self::RetainAvailable(value) // 3.2.2.3.5
            | Self::WildcardSubscriptionAvailable(value) // 3.2.2.3.11
            | Self::SubscriptionIdentifierAvailable(value) // 3.2.2.3.12
            | Self::SharedSubscriptionAvailable(value) => value > 1, // 3.2.2.3.13
            Self::ReceiveMaximum(value) | Self::TopicAlias(value) => value == 0, // 3.1.2.11.3, [MQTT-3.3.2-8]
            Self::MaximumPacketSize(value) => value == 0, // 3.1.2.11.4
            Self::SubscriptionIdentifier(value) => value == 0 || value > varint::MAX, // 3.8.2.1.2
            // [MQTT-3.3.2-14], and a topic name is never empty [MQTT-4.7.3-1].
            Self::ResponseTopic(topic) => topic.is_empty() || topic.contains(['+', '#']),
            _ => false,
        }
    }
}

fn read_id(fields: &mut Fields<'_>) -> Result<Id, DecodeError> {
    let byte = fields.byte()?;
    Id::from_byte(byte).ok_or(DecodeError::UnknownProperty(byte))
}
