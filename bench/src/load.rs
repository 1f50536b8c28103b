//! The load generator: a plan, threads that carry it out, and what they saw.
//!
//! ```text
//!   LoadPlan -> run() -+-> Generator thread (mio loop, its share of the clients) --Report, every second--+
//!                      +-> Generator thread ...                                                          v
//!                      +<------------------------------- Outcome: seconds, totals, reconciliation -------+
//! ```

pub mod plan;
pub mod template;

pub mod sequence;
pub mod tally;
pub mod window;

mod alarm;
mod client;
mod generator;
mod link;
mod outcome;
mod pace;
mod phase;
mod publisher;
mod roster;
mod run;
mod subscriber;

pub use outcome::{Connected, Outcome, Percentiles, Published, Second, Totals};
pub use phase::Phase;
pub use plan::{ConnectPlan, LoadPlan, Pace, PlanError, PublishPlan, SubscribePlan};
pub use run::{LoadError, run};
