//! Counters of the node and how they are told.
//!
//! Every worker owns plain counters and hands out copies between two ticks, so that each snapshot adds up without any
//! synchronisation on the message path.

mod exposition;
mod snapshot;

pub use exposition::{CONTENT_TYPE, expose};
pub use snapshot::{Counters, NodeSnapshot, RuleSnapshot, WorkerSnapshot};
