//! What a sink says about itself: counts that always add up, and its state.
//!
//! Invariant: [`Counts::balanced`] holds for every value handed out.
//! Deliberately does not: know metric names or the API's JSON.

use std::time::Duration;

/// Where every record ever submitted is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Records submitted.
    pub accepted: u64,
    /// Confirmed by the outside system.
    pub delivered: u64,
    /// Refused by it for good and kept as dead letters.
    pub dead_lettered: u64,
    /// Refused by it for good, and the publisher was told so.
    pub refused: u64,
    /// Given up because the queue was full.
    pub dropped: u64,
    /// Given up because they were too old.
    pub expired: u64,
    /// Queued, being offered, or on their way to the dead letters.
    pub pending: u64,
    /// Bytes of the pending records ([`crate::Record::cost`]).
    pub pending_bytes: u64,
    /// Batches the outside system confirmed.
    pub batches: u64,
    /// Attempts that failed and were, or will be, repeated.
    pub retries: u64,
}

impl Counts {
    /// The accounting identity: every record is in exactly one place.
    pub fn balanced(&self) -> bool {
        let ended = self.delivered + self.dead_lettered + self.refused + self.dropped + self.expired;
        self.accepted == ended + self.pending
    }

    /// Both together.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            accepted: self.accepted + other.accepted,
            delivered: self.delivered + other.delivered,
            dead_lettered: self.dead_lettered + other.dead_lettered,
            refused: self.refused + other.refused,
            dropped: self.dropped + other.dropped,
            expired: self.expired + other.expired,
            pending: self.pending + other.pending,
            pending_bytes: self.pending_bytes + other.pending_bytes,
            batches: self.batches + other.batches,
            retries: self.retries + other.retries,
        }
    }
}

/// Why nothing is being stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pause {
    /// Somebody asked for it; `resume` ends it.
    Requested,
    /// Only an operator can help; the lane looks again from time to time.
    Operator {
        /// When it began, in milliseconds since the Unix epoch.
        since_ms: u64,
        /// What is wrong and what to do.
        error: String,
    },
}

/// How a lane, or a sink as a whole, is doing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SinkState {
    /// Storing, or idle.
    #[default]
    Running,
    /// The last attempt failed; the same records are tried again, for ever.
    Retrying {
        /// When the first attempt of this series failed, in milliseconds since the Unix epoch.
        since_ms: u64,
        /// The last failure.
        error: String,
    },
    /// Nothing is tried.
    Paused(Pause),
    /// Drained or dropped: nothing will be stored again.
    Stopped,
}

impl SinkState {
    /// Whether records are being stored as they come.
    pub fn is_healthy(&self) -> bool {
        *self == Self::Running
    }

    /// The graver of two, so that a sink is as ill as its worst lane.
    pub(crate) fn worse(self, other: Self) -> Self {
        if other.gravity() > self.gravity() {
            other
        } else {
            self
        }
    }

    fn gravity(&self) -> u8 {
        match self {
            Self::Running => 0,
            Self::Stopped => 1,
            Self::Paused(Pause::Requested) => 2,
            Self::Retrying { .. } => 3,
            Self::Paused(Pause::Operator { .. }) => 4,
        }
    }
}

/// The last thing that went wrong, kept after it is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastError {
    /// When, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// What.
    pub text: String,
}

/// A sink at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SinkSnapshot {
    /// The accounting.
    pub counts: Counts,
    /// State of the worst lane.
    pub state: SinkState,
    /// How long the oldest record that is queued or being offered has been waiting.
    pub oldest_pending: Option<Duration>,
    /// The most recent failure of any lane.
    pub last_error: Option<LastError>,
}

/// What a drain achieved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drained {
    /// Records without an end; none of them was acknowledged unless its gate was `none`.
    pub left: u64,
    /// How the sink was doing when the drain ended: says why something is left.
    pub state: SinkState,
}
