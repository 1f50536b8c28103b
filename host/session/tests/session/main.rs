//! A session and its client at both ends of a link, in virtual time.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod pair;

mod client;
mod closing;
mod connecting;
mod delivering;
mod memory;
mod model;
mod publishing;
mod restoring;
mod resuming;
mod subscribing;
mod takeover;
mod wills;
