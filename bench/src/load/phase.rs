//! What a generator thread is told, and what it reports back.

use super::client::Client;
use super::tally::Tally;

/// What a load is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Clients connect and subscribe; then nothing.
    Connect,
    /// Publishers publish.
    Publish,
    /// Nothing new is sent; what is on its way arrives.
    Drain,
    /// Clients disconnect.
    Close,
}

/// What a thread is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Publish, on a schedule that starts at this instant.
    Publish {
        /// In nanoseconds of the clock.
        start: u64,
    },
    /// Stop publishing.
    Drain,
    /// Disconnect and end.
    Close,
}

/// What a thread saw since its last report.
#[derive(Debug)]
pub struct Report {
    /// Which phase it is about.
    pub phase: Phase,
    /// When it was made.
    pub at: u64,
    /// What was counted.
    pub tally: Tally,
    /// Processor time of the thread since its last report, in nanoseconds.
    pub cpu: u64,
    /// Whether every client of the thread is ready or gone.
    pub is_settled: bool,
    /// Whether the broker has answered for everything that the thread has sent.
    pub is_quiet: bool,
    /// Deliveries that the messages sent so far should cause.
    pub expected: u64,
}

/// What a thread leaves behind.
#[derive(Debug)]
pub struct Finished {
    /// Its clients, with the sequences that they sent or received.
    pub clients: Vec<Client>,
    /// What it had counted after its last report.
    pub tally: Tally,
}
