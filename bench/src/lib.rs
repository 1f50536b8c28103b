//! Tidegate's yardstick: load generator, floor server, scenarios, peers and reports.
//!
//! Owns: everything that measures a broker from outside, through MQTT and /proc. Invariant: latency counts from the
//! intended send time, and a figure never stands without the reconciliation of the run it came from.
//! Deliberately does not: link against the broker, or know anything of it that a user could not see.

pub mod clock;
pub mod stream;
pub mod wire;

pub mod floor;
pub mod load;
pub mod measure;
pub mod peers;
pub mod report;
pub mod scenario;

pub mod cli;
