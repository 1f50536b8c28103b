//! What a module decided: one code per message, and effects in the order of the messages. Checked, not yet applied.
//!
//! Invariant: an [`Outcome`] of a call that returned ok holds only what the module may do; one of a failed call is empty.

use bytes::Bytes;
use tidegate_codec::{QoS, ReasonCode, TopicName};
use tidegate_sinks::Gate;

use crate::SinkIndex;

/// What becomes of one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// It goes on as it is.
    Pass,
    /// It ends here; its publisher is acknowledged.
    Drop,
    /// See its effects. It goes on, rewritten if one of them says so, unless one of them rejects or dead-letters it.
    Effects,
    /// It ends here as with `Drop`, and has effects: publications and records.
    DropWithEffects,
    /// The module could not decide: its failure is reported beside the outcome. Only from [`crate::IsolatedRule`].
    Failed,
}

/// One effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// Position in the batch of the message that caused it.
    pub message: u32,
    /// What to do.
    pub action: Action,
}

/// What to do. A message has at most one rewrite, reject or dead-letter, and any number of the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// The message goes on changed; what is `None` stays as it is.
    Rewrite {
        /// New topic; the module may publish there.
        topic: Option<TopicName>,
        /// New payload.
        payload: Option<Bytes>,
        /// New MQTT 5.0 property block, checked, without its length in front.
        properties: Option<Bytes>,
    },
    /// The message ends here and its publisher is told.
    Reject {
        /// One of the codes of table 3-4 of the standard, 0x80 or above.
        reason: ReasonCode,
        /// Why; may be empty.
        text: Box<str>,
    },
    /// The message is kept as a dead letter and acknowledged.
    DeadLetter {
        /// Why; may be empty.
        reason: Box<str>,
    },
    /// A new message.
    Publish {
        /// The module may publish there.
        topic: TopicName,
        /// Its payload.
        body: Body,
        /// Its QoS.
        qos: QoS,
        /// Its retain flag.
        retain: bool,
        /// MQTT 5.0 property block, checked, without its length in front; mostly empty.
        properties: Bytes,
    },
    /// A record for a sink that is granted.
    Emit {
        /// Which sink.
        sink: SinkIndex,
        /// When the publisher may be acknowledged; `None`: as the sink is configured.
        gate: Option<Gate>,
        /// Partition key; `None`: the publisher's client id.
        key: Option<Bytes>,
        /// What to store.
        body: Body,
        /// Pairs of name and value, checked: each a two-byte big-endian length and that many bytes.
        headers: Bytes,
    },
}

/// Bytes of a new message or record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// The publisher's own payload, which never left the host.
    Original,
    /// Bytes that the module wrote. All bodies of one call share one buffer.
    Bytes(Bytes),
}

/// Codes and effects of one call. Meant to be used again and again: its memory is kept.
#[derive(Debug, Default)]
pub struct Outcome {
    pub(crate) codes: Vec<Code>,
    pub(crate) effects: Vec<Effect>,
}

impl Outcome {
    /// An empty outcome.
    pub const fn new() -> Self {
        Self {
            codes: Vec::new(),
            effects: Vec::new(),
        }
    }

    /// One code per message of the batch.
    pub fn codes(&self) -> &[Code] {
        &self.codes
    }

    /// All effects, sorted by message.
    pub fn effects(&self) -> &[Effect] {
        &self.effects
    }

    /// Takes the effects out one by one, sorted by message.
    pub fn drain_effects(&mut self) -> impl Iterator<Item = Effect> + '_ {
        self.effects.drain(..)
    }

    /// Forgets everything, keeps the memory.
    pub fn clear(&mut self) {
        self.codes.clear();
        self.effects.clear();
    }
}
