//! What a rule says about a message.
//!
//! Deliberately does not: pack itself; `effects.rs` does.

use std::borrow::Cow;

use serde::Serialize;

use crate::Error;

/// What becomes of a message. One per message; the effects a rule produced beside it stay in every case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It goes on as it is.
    Pass,
    /// It ends here, and its publisher is acknowledged as if it had gone on.
    Drop,
    /// It goes on with another topic or payload: [`Verdict::rewrite`].
    Rewrite(Rewrite),
    /// It ends here, and an MQTT 5.0 publisher at QoS 1 or 2 is told why: [`Verdict::reject`].
    Reject(ReasonCode, Cow<'static, str>),
    /// It is kept as a dead letter with this reason, and acknowledged: [`Verdict::dead_letter`].
    DeadLetter(Cow<'static, str>),
}

impl Verdict {
    /// Starts a rewrite: `Verdict::rewrite().topic("clean/a").json(&value)?`, `.payload(bytes)`, then `.into()`.
    pub fn rewrite() -> Rewrite {
        Rewrite::default()
    }

    /// Refuses the message with a reason code, and a text for people.
    pub fn reject(code: ReasonCode, text: impl Into<Cow<'static, str>>) -> Self {
        Self::Reject(code, text.into())
    }

    /// Sets the message aside, because it will never be right.
    pub fn dead_letter(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::DeadLetter(reason.into())
    }
}

/// A message's new topic, payload or both; what is not set stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use]
pub struct Rewrite {
    /// New topic.
    pub topic: Option<Cow<'static, str>>,
    /// New payload, which may be empty.
    pub payload: Option<Vec<u8>>,
    /// New property block.
    pub properties: Option<Vec<u8>>,
}

impl Rewrite {
    /// Sends it to another topic, which must be covered by `publish` in the manifest.
    pub fn topic(mut self, topic: impl Into<Cow<'static, str>>) -> Self {
        self.topic = Some(topic.into());
        self
    }

    /// Replaces the payload.
    pub fn payload(mut self, payload: impl Into<Vec<u8>>) -> Self {
        self.payload = Some(payload.into());
        self
    }

    /// Replaces the payload by a value written as JSON.
    ///
    /// # Errors
    /// [`Error::Serialize`] if the value has no JSON form.
    pub fn json<T: Serialize + ?Sized>(mut self, value: &T) -> Result<Self, Error> {
        self.payload = Some(serde_json::to_vec(value).map_err(Error::Serialize)?);
        Ok(self)
    }

    /// The new payload as set so far, for storing the same bytes; empty if there is none.
    pub fn body(&self) -> &[u8] {
        self.payload.as_deref().unwrap_or_default()
    }

    /// Replaces the MQTT 5.0 property block, given as on the wire (2.2.2.2) without its length in front.
    pub fn properties(mut self, block: impl Into<Vec<u8>>) -> Self {
        self.properties = Some(block.into());
        self
    }
}

impl From<Rewrite> for Verdict {
    fn from(rewrite: Rewrite) -> Self {
        Self::Rewrite(rewrite)
    }
}

/// Reason codes with which a PUBACK or PUBREC can refuse a message (MQTT 5.0, table 2-6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ReasonCode {
    /// The server does not say why.
    UnspecifiedError = 0x80,
    /// Valid, but not accepted by this server.
    ImplementationSpecificError = 0x83,
    /// The publisher may not do this.
    NotAuthorized = 0x87,
    /// The topic name is well formed and not accepted.
    TopicNameInvalid = 0x90,
    /// A limit set by the administrator has been passed.
    QuotaExceeded = 0x97,
    /// The payload is not what its format indicator says.
    PayloadFormatInvalid = 0x99,
}
