//! What travels to a sink and what comes back: a record, who waits for it, and its receipt.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use tidegate_codec::{ClientId, QoS, TopicName};

use crate::queue::LaneQueue;

/// When a publisher's acknowledgement may leave, seen from one record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Gate {
    /// At once: the record is queued in memory and lost if the process ends before the sink took it.
    None,
    /// When the node's log holds it, fsynced.
    Buffered,
    /// When the outside system has confirmed that it is stored.
    #[default]
    Durable,
}

/// Identity of a record, unique for the life of a data directory: it makes a retry recognisable outside.
/// Never built from packet identifiers, which are reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordId {
    /// Which life of the log (or, without a log, of the process) gave the sequence.
    pub epoch: u64,
    /// Position of the message that caused the record.
    pub sequence: u64,
    /// Which of that message's records.
    pub index: u32,
}

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}-{:x}-{:x}", self.epoch, self.sequence, self.index)
    }
}

/// Who waits for a record: a worker and its own name for the message. Opaque to sinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Token {
    /// Index of the worker that admitted the message.
    pub worker: u16,
    /// That worker's key for the message.
    pub message: u64,
}

/// One record for one sink.
#[derive(Debug, Clone)]
pub struct Record {
    /// Its identity outside.
    pub id: RecordId,
    /// Whom to tell; `None` where nobody waits (gate `none`).
    pub token: Option<Token>,
    /// Topic of the message that caused it.
    pub topic: TopicName,
    /// Client that published the message; `None` for messages of the broker's own.
    pub client_id: Option<ClientId>,
    /// QoS at which the message was published.
    pub qos: QoS,
    /// When the broker received the message, in milliseconds since the Unix epoch.
    pub received_at_ms: u64,
    /// Partition key: records of one key stay in order. `None`: the client id is the key.
    pub key: Option<Bytes>,
    /// What to store.
    pub body: Bytes,
    /// Name and value pairs for sinks that have headers, packed as the module wrote them; mostly empty.
    pub headers: Bytes,
    /// Whether the publisher can be told no: MQTT 5 with a token. Others are only ever acknowledged.
    pub refusable: bool,
    /// Why it is a dead letter; `None` for every record that still has a chance.
    pub death: Option<Box<Death>>,
}

/// Why and where a record was refused for good.
#[derive(Debug, Clone)]
pub struct Death {
    /// The sink that refused it, or the rule.
    pub origin: Arc<str>,
    /// What the outside system, or the rule, said.
    pub reason: Box<str>,
    /// When, in milliseconds since the Unix epoch.
    pub dead_at_ms: u64,
    /// Where the record is still accounted as pending.
    pub(crate) account: Option<Arc<LaneQueue>>,
}

impl Record {
    /// This record as a dead letter of a rule (`origin`) that refuses it: submit it to the dead-letter sink.
    /// Its receipt will be [`Outcome::DeadLettered`].
    #[must_use]
    pub fn dead_letter(mut self, origin: Arc<str>, reason: &str, dead_at_ms: u64) -> Self {
        self.death = Some(Box::new(Death {
            origin,
            reason: reason.into(),
            dead_at_ms,
            account: None,
        }));
        self
    }

    /// Bytes this record counts for in every bound: what it carries and a flat share for the rest.
    pub fn cost(&self) -> usize {
        const FLAT: usize = 128;
        let key = self.key.as_ref().map_or(0, Bytes::len);
        FLAT + self.topic.as_str().len() + key + self.body.len() + self.headers.len()
    }
}

/// What became of a record somebody waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// Who waits.
    pub token: Token,
    /// How it ended.
    pub outcome: Outcome,
}

/// The two ways in which a record is off the broker's hands, and the one in which the publisher is told no.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The sink's system has confirmed it.
    Stored,
    /// The sink's system refuses it for good; it is kept as a dead letter with this reason.
    DeadLettered(Box<str>),
    /// Refused for good, and by policy the publisher is told.
    Refused(Box<str>),
}
