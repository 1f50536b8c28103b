//! The small types every layer shares: parsed once, valid ever after. Topics have a file of their own.
//!
//! Invariant: no value of these types is one that the protocol forbids. Knows nothing of packets.

use std::fmt;
use std::num::NonZeroU16;
use std::sync::Arc;

/// Protocol version of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Version {
    /// MQTT 3.1.1, protocol level 4.
    V311,
    /// MQTT 5.0, protocol level 5.
    V5,
}

impl Version {
    /// The version whose protocol level in a CONNECT is `level` (3.1.2.2).
    pub const fn from_level(level: u8) -> Option<Self> {
        match level {
            4 => Some(Self::V311),
            5 => Some(Self::V5),
            _ => None,
        }
    }

    /// The protocol level as it stands in a CONNECT.
    pub const fn level(self) -> u8 {
        match self {
            Self::V311 => 4,
            Self::V5 => 5,
        }
    }
}

/// Quality of service of a message or a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(u8)]
pub enum QoS {
    /// At most once: no acknowledgement.
    #[default]
    AtMostOnce = 0,
    /// At least once: PUBACK.
    AtLeastOnce = 1,
    /// Exactly once: PUBREC, PUBREL, PUBCOMP.
    ExactlyOnce = 2,
}

impl QoS {
    /// The QoS of the two bits `bits`; 3 is malformed [MQTT-3.3.1-4].
    pub const fn from_bits(bits: u8) -> Option<Self> {
        match bits {
            0 => Some(Self::AtMostOnce),
            1 => Some(Self::AtLeastOnce),
            2 => Some(Self::ExactlyOnce),
            _ => None,
        }
    }
}

/// Packet identifier: never zero [MQTT-2.2.1-3].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PacketId(pub NonZeroU16);

impl PacketId {
    /// `None` for zero, which the protocol reserves.
    pub const fn new(value: u16) -> Option<Self> {
        match NonZeroU16::new(value) {
            Some(value) => Some(Self(value)),
            None => None,
        }
    }

    /// The identifier as it stands on the wire.
    pub const fn get(self) -> u16 {
        self.0.get()
    }
}

/// Client identifier, 1 to 65,535 bytes of UTF-8. Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(Arc<str>);

impl ClientId {
    /// Takes any text that the wire can carry and that is not empty: what a server accepts is its own policy
    /// [MQTT-3.1.3-5].
    pub fn new(text: &str) -> Option<Self> {
        let fits = !text.is_empty() && text.len() <= usize::from(u16::MAX) && !text.contains('\0');
        fits.then(|| Self(Arc::from(text)))
    }

    /// The identifier's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ClientId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for ClientId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
