//! A record for a sink, on its way out.
//!
//! Deliberately does not: wait for the sink. The publisher's acknowledgement waits instead, as the gate says.

use serde::Serialize;

use crate::Error;
use crate::effects::Draft;
use crate::wire::{Span, flag};

/// When the publisher's acknowledgement may leave, seen from one record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Gate {
    /// At once: the record is lost if the broker ends before the sink took it.
    None = 1,
    /// When the broker's log holds it, on disk.
    Buffered = 2,
    /// When the sink's system has confirmed that it is stored.
    Durable = 3,
}

/// Started by [`Effects::emit`](crate::Effects::emit); nothing is stored until it is finished.
#[must_use = "finish it with `.json(…)`, `.body(…)` or `.original()`"]
pub struct Emission<'e> {
    draft: Draft<'e>,
    headers: Vec<u8>,
}

impl<'e> Emission<'e> {
    #[inline]
    pub(crate) fn new(draft: Draft<'e>) -> Self {
        Self {
            draft,
            headers: Vec::new(),
        }
    }

    /// Partition key: records of one key stay in order. Default: the publisher's client identifier.
    #[inline]
    pub fn key(mut self, key: impl AsRef<[u8]>) -> Self {
        self.draft.record.key = self.draft.append(key.as_ref());
        self
    }

    /// Gate of this record. Default: the sink's own, from the broker's configuration.
    #[inline]
    pub fn gate(mut self, gate: Gate) -> Self {
        let flags = &mut self.draft.record.flags;
        *flags = *flags & !flag::GATE_MASK | gate as u32;
        self
    }

    /// Adds a header, for sinks that have them.
    pub fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        let value = value.as_ref();
        match (u16::try_from(name.len()), u16::try_from(value.len())) {
            (Ok(name_length), Ok(value_length)) => {
                self.headers.extend_from_slice(&name_length.to_be_bytes());
                self.headers.extend_from_slice(name.as_bytes());
                self.headers.extend_from_slice(&value_length.to_be_bytes());
                self.headers.extend_from_slice(value);
            }
            _ => self.draft.fail(Error::HeaderTooLong {
                name: name.chars().take(64).collect(),
            }),
        }
        self
    }

    /// Stores these bytes.
    ///
    /// # Errors
    /// [`Error::Sink`] if the sink is not in the manifest or not granted, [`Error::HeaderTooLong`].
    #[inline]
    pub fn body(self, body: impl AsRef<[u8]>) -> Result<(), Error> {
        self.ready().finish(body.as_ref())
    }

    /// Stores a value as JSON.
    ///
    /// # Errors
    /// As [`body`](Self::body), and [`Error::Serialize`] if the value has no JSON form.
    #[inline]
    pub fn json<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        self.ready().finish_json(value)
    }

    /// Stores the payload of the message being decided, without copying it.
    ///
    /// # Errors
    /// As [`body`](Self::body).
    #[inline]
    pub fn original(self) -> Result<(), Error> {
        self.ready().finish_original()
    }

    #[inline]
    fn ready(mut self) -> Draft<'e> {
        if !self.headers.is_empty() {
            let span: Span = self.draft.append(&self.headers);
            self.draft.record.extra = span;
        }
        self.draft
    }
}
