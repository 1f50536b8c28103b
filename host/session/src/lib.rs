//! The MQTT session state machine: no sockets, no clock.
//!
//! Owns: what one client and the server remember about each other, for MQTT 3.1.1 and 5.0 (section 4.1 of both
//! standards), and every packet that follows from it. [`Session::on`] takes an [`Input`] and the time and appends
//! [`Output`]s; nothing else changes a session.
//! Invariant: whatever a session holds is bounded by its [`Limits`].
//! Deliberately does not: read sockets or clocks, match topics, keep retained messages, run rules, write logs, or
//! decide who may do what.

mod io;
mod limits;
mod time;

mod session;
mod stored;
mod turn;

mod connect;
mod disconnect;
mod expiry;
mod keepalive;
mod link;
mod reason;
mod will;

mod ack_window;
mod alias;
mod inbound;
mod incoming;
mod number_hash;
mod received_ids;

mod inflight;
mod outbound;
mod outgoing;
mod queue;

mod subscribe;
mod subscriptions;

pub use connect::{check, refusal};
pub use io::{Delivery, DropReason, Input, Output, Settlement, Slot};
pub use limits::{AckOrder, Limits};
pub use session::Session;
pub use stored::{Exchange, Stored};
pub use subscriptions::Granted;
pub use time::Time;
