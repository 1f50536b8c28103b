//! The scenarios: what is run, and how its outcomes become a report.

pub mod charts;
pub mod connections;
pub mod free;
pub mod latency;
pub mod peers;
pub mod published;
pub mod target;

pub use target::Target;
