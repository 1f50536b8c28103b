//! A message of the rule's own, on its way out.
//!
//! Deliberately does not: check grants. The broker does, against the manifest's `publish` and its own configuration.

use serde::Serialize;

use crate::effects::Draft;
use crate::wire::flag;
use crate::{Error, QoS};

/// Started by [`Effects::publish`](crate::Effects::publish); nothing is published until it is finished.
#[must_use = "finish it with `.json(…)`, `.payload(…)` or `.original()`"]
pub struct Publication<'e> {
    draft: Draft<'e>,
    qos: QoS,
}

impl<'e> Publication<'e> {
    #[inline]
    pub(crate) fn new(mut draft: Draft<'e>, topic: &str, qos: QoS) -> Self {
        draft.topic(topic);
        Self { draft, qos }
    }

    /// QoS to publish with. Default: that of the message that caused it.
    #[inline]
    pub fn qos(mut self, qos: QoS) -> Self {
        self.qos = qos;
        self
    }

    /// Whether the broker keeps it for later subscribers. Default: no.
    #[inline]
    pub fn retain(mut self, retain: bool) -> Self {
        let flags = &mut self.draft.record.flags;
        *flags = if retain {
            *flags | flag::RETAIN
        } else {
            *flags & !flag::RETAIN
        };
        self
    }

    /// MQTT 5.0 property block, as on the wire (2.2.2.2) without its length in front. Default: none.
    pub fn properties(mut self, block: &[u8]) -> Self {
        self.draft.record.extra = self.draft.append(block);
        self
    }

    /// Publishes these bytes.
    ///
    /// # Errors
    /// [`Error::Topic`] if the topic cannot be published to.
    #[inline]
    pub fn payload(self, payload: impl AsRef<[u8]>) -> Result<(), Error> {
        self.ready().finish(payload.as_ref())
    }

    /// Publishes a value as JSON.
    ///
    /// # Errors
    /// As [`payload`](Self::payload), and [`Error::Serialize`] if the value has no JSON form.
    #[inline]
    pub fn json<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        self.ready().finish_json(value)
    }

    /// Publishes the payload of the message being decided, without copying it.
    ///
    /// # Errors
    /// As [`payload`](Self::payload).
    #[inline]
    pub fn original(self) -> Result<(), Error> {
        self.ready().finish_original()
    }

    #[inline]
    fn ready(mut self) -> Draft<'e> {
        self.draft.record.flags |= self.qos.bits() << flag::QOS_SHIFT;
        self.draft
    }
}
