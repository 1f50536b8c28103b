//! A message on its way through the pipeline.

use std::sync::Arc;

use tidegate_codec::{Message, ReasonCode};
use tidegate_session::{Slot, Time};

use crate::worker::{ClientKey, Publisher};

/// Whose session waits for a message to be settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The publishing session.
    pub client: ClientKey,
    /// Its place in the ack window; `None` for QoS 0, which nobody waits for.
    pub slot: Option<Slot>,
}

/// A message that enters the pipeline: published, a will, or caused by a rule.
#[derive(Debug)]
pub struct Arrival {
    /// `None` for messages of the broker's own and of rules.
    pub origin: Option<Origin>,
    /// What was published.
    pub message: Message,
    /// Who published it or caused it.
    pub publisher: Option<Arc<Publisher>>,
    /// When it was received.
    pub received: Time,
    /// The same, in milliseconds since the Unix epoch.
    pub received_at_ms: u64,
}

impl Arrival {
    /// Bytes it counts for while it is on hold.
    pub fn cost(&self) -> usize {
        const FLAT: usize = 256;
        FLAT + self.message.topic.as_str().len() + self.message.payload.len()
    }
}

/// What the chain decided about a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// To be routed to its subscribers.
    Route,
    /// It ended in the chain; its publisher is acknowledged.
    Ended,
    /// It ended in the chain and its publisher is told why.
    Refused(ReasonCode),
}

/// A message that the chain is done with.
#[derive(Debug)]
pub struct Admitted {
    /// As the rules left it.
    pub arrival: Arrival,
    /// What to do with it.
    pub fate: Fate,
    /// Key of the receipts it waits for; `None`: settle it now.
    pub pending: Option<u64>,
}
