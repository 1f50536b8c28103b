//! A published message, seen where the host put it: nothing is copied or parsed until it is asked for.
//!
//! Deliberately does not: own bytes, or check again what the host has checked.

use std::str;

use serde::Deserialize;

use crate::Error;
use crate::wire::{MessageWords, Span, payload_kind};

/// A message on its way through the broker.
#[derive(Clone, Copy)]
pub struct Message<'a> {
    words: &'a MessageWords,
    arena: &'a [u8],
}

/// Quality of service: how often a message may arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum QoS {
    /// QoS 0.
    #[default]
    AtMostOnce,
    /// QoS 1.
    AtLeastOnce,
    /// QoS 2.
    ExactlyOnce,
}

/// The broker's number for the connection a message came from; zero for messages of the broker's own.
/// It tells connections apart cheaply, and means nothing after they end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Client(pub u32);

impl<'a> Message<'a> {
    pub(crate) fn view(words: &'a MessageWords, arena: &'a [u8]) -> Self {
        Self { words, arena }
    }

    /// Topic the message goes to: never empty, no wildcards.
    #[inline]
    pub fn topic(&self) -> &'a str {
        self.text(self.words[0], self.words[1])
    }

    /// The payload; empty if the manifest sets `payload = "none"`.
    #[inline]
    pub fn payload(&self) -> &'a [u8] {
        self.part(self.words[2], self.words[3])
    }

    /// The payload as a JSON value, which may borrow from it: `message.json::<Reading<'_>>()?`.
    ///
    /// # Errors
    /// [`Error::Payload`] with line and column if it is something else, [`Error::PayloadOmitted`] if the manifest
    /// keeps it from the rule.
    pub fn json<T: Deserialize<'a>>(&self) -> Result<T, Error> {
        if (self.words[4] >> 4) & 0b111 == payload_kind::OMITTED {
            return Err(Error::PayloadOmitted);
        }
        // One look at all of it, and serde_json need not look at each string for itself: a sixth of the time in a guest.
        match str::from_utf8(self.payload()) {
            Ok(text) => serde_json::from_str(text),
            Err(_) => serde_json::from_slice(self.payload()),
        }
        .map_err(Error::Payload)
    }

    /// QoS it was published with.
    #[inline]
    pub fn qos(&self) -> QoS {
        QoS::from_bits(self.words[4])
    }

    /// Whether the publisher set the retain flag.
    #[inline]
    pub fn retain(&self) -> bool {
        self.words[4] & 0b100 != 0
    }

    /// Which connection it came from.
    #[inline]
    pub fn client(&self) -> Client {
        Client(self.words[5])
    }

    /// When the broker received it, in milliseconds since the Unix epoch.
    #[inline]
    pub fn received_at_ms(&self) -> u64 {
        u64::from(self.words[6]) | u64::from(self.words[7]) << 32
    }

    /// Client identifier of the publisher, if the manifest asks for it with `client_id = true`.
    #[inline]
    pub fn client_id(&self) -> Option<&'a str> {
        Some(self.text(self.words[8], self.words[9])).filter(|text| !text.is_empty())
    }

    /// User name of the publisher, if it has one and the manifest asks for it with `username = true`.
    #[inline]
    pub fn username(&self) -> Option<&'a str> {
        Some(self.text(self.words[10], self.words[11])).filter(|text| !text.is_empty())
    }

    /// The MQTT 5.0 property block of the PUBLISH as on the wire (2.2.2.2), without its length in front; empty
    /// unless the manifest asks for it with `properties = true`.
    #[inline]
    pub fn properties(&self) -> &'a [u8] {
        self.part(self.words[12], self.words[13])
    }

    #[inline]
    fn part(&self, offset: u32, length: u32) -> &'a [u8] {
        Span { offset, length }.of(self.arena)
    }

    #[inline]
    fn text(&self, offset: u32, length: u32) -> &'a str {
        // The host has checked it ([MQTT-1.5.4-1]), so the fallback is never seen.
        str::from_utf8(self.part(offset, length)).unwrap_or_default()
    }
}

impl QoS {
    /// From the two low bits; 3 does not occur.
    #[inline]
    pub(crate) fn from_bits(bits: u32) -> Self {
        match bits & 0b11 {
            0 => Self::AtMostOnce,
            1 => Self::AtLeastOnce,
            _ => Self::ExactlyOnce,
        }
    }

    #[inline]
    pub(crate) fn bits(self) -> u32 {
        self as u32
    }
}
