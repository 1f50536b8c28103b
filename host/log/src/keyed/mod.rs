//! Keyed state: changes that travel in the log's appends, and a checkpoint of them in `fjall` behind the log.
//!
//! ```text
//! append { entry for a sink, entry for CursorId::KEYED: put k v }   one frame: both or neither
//!                             '-> applied to fjall later, with its position in the same fjall batch
//!                                 '-> fjall synced -> acknowledged in the log
//! ```
//!
//! Nothing waits for the checkpoint. What it has not applied is still in the log, so opening replays from its position.

mod applier;
mod change;
mod state;

pub use change::{Change, Malformed};
pub use state::{KeyedError, KeyedState};
