//! What a sink is: records, receipts, the trait, and the lane that drives it. `CONTRACT.md` is the law here.
//!
//! Owns: queueing, batching, retry, isolation of bad records, dead letters and accounting, the same for all sinks.
//! Invariant: accepted = delivered + dead-lettered + dropped + expired + pending, in every snapshot.
//! Deliberately does not: know any outside system, MQTT sessions or sockets.

mod record;
mod sink;

pub use record::{Gate, Outcome, Receipt, Record, RecordId, Token};
pub use sink::{Sink, SinkError};
