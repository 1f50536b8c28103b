//! The worker: one thread per core that owns its connections, sessions, subscriptions and rule instances.
//!
//! The loop is the architecture:
//!
//! ```text
//!  poll ─► read + decode ready sockets ─► one batch ─► rules ─► admit ─► settle what is in ─► one write per socket ─┐
//!    ▲                                                                                                            │
//!    └────────────────────────────────────────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! A client belongs to worker `hash(client id)`: its session, takeover and queue are single-threaded.
//! Invariant: nothing here is shared with another thread but rings, mailbox and the filter snapshot.

mod clients;
mod clock;
mod connection;
mod control;
mod delayed;
mod goodbye;
mod listener;
mod mailbox;
mod members;
mod net;
mod outputs;
mod pace;
mod reading;
mod replay;
mod replays;
mod retain;
mod retained;
mod rings;
mod routes;
mod routing;
mod settling;
mod shares;
mod sys;
mod tick;
mod timers;

pub use clients::{ClientKey, Publisher};
pub use clock::Clock;
pub use listener::listen;
pub use mailbox::{Letter, Mailbox};
pub use rings::Rings;
pub use routes::{Routes, SharedFilters};
pub use tick::{WAKER, Worker, WorkerParts};
