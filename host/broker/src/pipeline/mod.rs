//! From an admitted message to what must happen before its publisher is acknowledged.
//!
//! ```text
//!  arrivals of a tick ─► hold? ─► rules chain (one guest call per module) ─► records to sinks ─► admitted
//!                          │                                                                       │
//!                          └── no room: wait, push back            routed, settled at once or ◄────┘
//!                                                                   by the last receipt (pending)
//! ```
//!
//! Owns: the chain with this worker's instances, record ids, who waits for which receipts, messages on hold.
//! Invariant: room is asked for before a rule runs, so what a rule has caused is never refused afterwards; order per
//! publisher is kept, also across a hold.
//! Deliberately does not: touch sessions, sockets or tries; it hands [`Admitted`] messages back to the worker.

mod admit;
mod arrival;
mod chain;
mod effects;
mod guest;
mod hold;
mod outlet;
mod pending;

pub use admit::{Now, Pipeline};
pub use arrival::{Admitted, Arrival, Fate, Origin};
pub use chain::{Link, RuleCounts};
pub use guest::Guest;
pub use outlet::{Outlet, RecordIds};
pub use pending::Settled;
