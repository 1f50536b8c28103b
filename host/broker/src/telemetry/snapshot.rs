//! What is counted.

use tidegate_sinks::SinkSnapshot;

use crate::pipeline::RuleCounts;

/// Counters of one worker, written by that worker only.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counters {
    /// Connections accepted on this worker.
    pub accepted: u64,
    /// Connections closed because a limit was reached or nobody said CONNECT in time.
    pub turned_away: u64,
    /// PUBLISH packets received, by QoS.
    pub received: [u64; 3],
    /// PUBLISH packets sent, by QoS.
    pub sent: [u64; 3],
    /// Messages that came from or went to another worker.
    pub forwarded: u64,
    /// Deliveries that did not reach a subscriber, by cause.
    pub dropped_queue_full: u64,
    /// Message Expiry Interval passed.
    pub dropped_expired: u64,
    /// Longer than the client's Maximum Packet Size.
    pub dropped_too_large: u64,
    /// QoS 0 for a client that is away or reads too slowly.
    pub dropped_qos0: u64,
    /// Messages of shared subscriptions that no member was left for.
    pub dropped_no_member: u64,
    /// Messages published to topics of the broker's own, or on `$delayed/…` in a wrong form or without room.
    pub refused_topics: u64,
    /// Messages that were to be retained and found the store full.
    pub retained_refused: u64,
    /// Packets that were none.
    pub malformed: u64,
    /// Ticks of the loop.
    pub ticks: u64,
    /// Reads that brought bytes.
    pub reads: u64,
}

/// One worker at one moment.
#[derive(Debug, Clone, Default)]
pub struct WorkerSnapshot {
    /// Its counters.
    pub counters: Counters,
    /// Open connections.
    pub connections: usize,
    /// Sessions, connected or not.
    pub sessions: usize,
    /// Subscriptions of its sessions.
    pub subscriptions: usize,
    /// Messages that wait for receipts of sinks.
    pub pending: usize,
    /// Messages on hold until a sink has room or a module is there.
    pub held: usize,
    /// Messages on `$delayed/…` that are not due.
    pub delayed: usize,
    /// Retained messages of the topics it owns, and their bytes.
    pub retained: usize,
    /// See above.
    pub retained_bytes: usize,
    /// By place in the chain.
    pub rules: Vec<RuleCounts>,
}

/// One rule over all workers.
#[derive(Debug, Clone)]
pub struct RuleSnapshot {
    /// Its name.
    pub name: String,
    /// `NAME@VERSION` of what serves; `None` without a module.
    pub module: Option<String>,
    /// Sum over the workers.
    pub counts: RuleCounts,
}

/// The node at (nearly) one moment: each worker's and each sink's part adds up by itself.
#[derive(Debug, Clone, Default)]
pub struct NodeSnapshot {
    /// By worker.
    pub workers: Vec<WorkerSnapshot>,
    /// In chain order.
    pub rules: Vec<RuleSnapshot>,
    /// In config order, the dead letters last.
    pub sinks: Vec<(String, SinkSnapshot)>,
}

impl RuleCounts {
    /// Adds another worker's counts.
    pub fn add(&mut self, other: &Self) {
        self.matched += other.matched;
        self.passed += other.passed;
        self.dropped += other.dropped;
        self.rejected += other.rejected;
        self.dead_lettered += other.dead_lettered;
        self.failed += other.failed;
        self.calls += other.calls;
        self.published += other.published;
        self.emitted += other.emitted;
    }
}
