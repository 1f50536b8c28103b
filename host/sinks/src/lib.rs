//! What a sink is: records, receipts, the trait, and the lane that drives it. `CONTRACT.md` is the law here.
//!
//! Owns: queueing, batching, retry, isolation of bad records, dead letters and accounting, the same for all sinks.
//! Invariant: accepted = delivered + dead-lettered + refused + dropped + expired + pending, in every snapshot.
//! Deliberately does not: know any outside system, MQTT sessions or sockets.
#![deny(missing_docs)]

mod record;
mod sink;

mod port;
mod settings;
mod snapshot;

mod handle;
mod room;

mod fields;
mod scan;
mod template;

mod back_off;
mod batch;
mod lane;
mod queue;
mod receipts;
mod thread;

#[cfg(feature = "suite")]
pub mod fake;
#[cfg(feature = "suite")]
pub mod suite;

#[cfg(test)]
mod model;
#[cfg(test)]
mod scenarios;

pub use fields::{BindError, Value};
pub use handle::{SinkHandle, StartError, start};
pub use port::{Clock, Connect, ReceiptPort, Wiring};
pub use record::{Death, Gate, Outcome, Receipt, Record, RecordId, Token};
pub use scan::{Dialect, TemplateError};
pub use settings::{BackOff, DropPolicy, OnRejected, SettingsError, SinkSettings};
pub use sink::{Sink, SinkError};
pub use snapshot::{Counts, Drained, LastError, Pause, SinkSnapshot, SinkState};
pub use template::{Param, Template};
