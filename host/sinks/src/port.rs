//! The edges of a sink that the broker supplies: where receipts go, what time it is, how to connect.
//!
//! Deliberately does not: implement any of them; `fake.rs` has the ones tests use.

use std::sync::Arc;
use std::time::Duration;

use crate::{Receipt, Sink, SinkError, SinkHandle};

/// A worker's mailbox for what comes back from sinks. Called from lane threads, so it must not block for long.
pub trait ReceiptPort: Send + Sync {
    /// Receipts for this worker, in the order in which their records ended. Never empty.
    fn deliver(&self, receipts: Vec<Receipt>);

    /// A sink that answered `has_room` with no has room again: parked messages can be tried once more.
    fn room(&self);
}

/// The time, from the shell.
pub trait Clock: Send + Sync {
    /// Time since an origin of the clock's own; never goes back.
    fn now(&self) -> Duration;

    /// Milliseconds since the Unix epoch.
    fn unix_ms(&self) -> u64;
}

/// Makes the connection of a lane, whose index is the argument. Called on that lane's thread, again after an
/// operator error, so the outside system may be down when the broker starts.
pub type Connect = Arc<dyn Fn(usize) -> Result<Box<dyn Sink>, SinkError> + Send + Sync>;

/// What a sink is wired to when it starts.
#[derive(Clone)]
pub struct Wiring {
    /// Makes connections.
    pub connect: Connect,
    /// One port per worker; [`crate::Token::worker`] is the index.
    pub ports: Vec<Arc<dyn ReceiptPort>>,
    /// Where records go that can never be stored. Without one, a rejected record pauses its lane.
    pub dead_letters: Option<SinkHandle>,
    /// The time.
    pub clock: Arc<dyn Clock>,
}
