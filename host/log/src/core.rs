//! The parts of an open log and who may touch which: the one place that names the locks.
//!
//! Lock order: committer, limits, spares, index, staging. Only the committer's is held while the
//! disk works. Nothing here starts a thread: the shell does, and the simulation takes the steps itself.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::commit::Committer;
use crate::disk::Disk;
use crate::frame::Checksum;
use crate::index::Index;
use crate::limits::LimitTable;
use crate::options::Options;
use crate::prepare::Spares;
use crate::staging::Staging;
use crate::step::Omitted;

/// An open log without threads.
pub(crate) struct Core {
    pub disk: Arc<dyn Disk>,
    pub options: Options,
    pub checksum: Checksum,
    /// How often the log was opened, this time included.
    pub epoch: u64,
    pub omitted: Omitted,
    pub staging: Mutex<Staging>,
    /// Told when something waits for the commit thread.
    pub staged: Condvar,
    pub index: Mutex<Index>,
    pub committer: Mutex<Committer>,
    pub spares: Mutex<Spares>,
    pub limits: Mutex<LimitTable>,
    pub durable: Durable,
    /// Told when a segment was used up or became worth cleaning.
    pub housekeeping: Signal,
}

/// A lock whose holder never leaves it half changed, so that a panic elsewhere does not spread.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The last sequence that is durable and visible, and whoever waits for it.
#[derive(Debug, Default)]
pub(crate) struct Durable {
    through: Mutex<u64>,
    moved: Condvar,
}

impl Durable {
    pub(crate) fn new(through: u64) -> Self {
        Self {
            through: Mutex::new(through),
            moved: Condvar::new(),
        }
    }

    pub(crate) fn get(&self) -> u64 {
        *lock(&self.through)
    }

    pub(crate) fn advance(&self, through: u64) {
        *lock(&self.through) = through;
        self.moved.notify_all();
    }

    /// Wakes everyone who waits, although nothing moved.
    pub(crate) fn interrupt(&self) {
        let _held = lock(&self.through);
        self.moved.notify_all();
    }

    /// Waits until more than `after` is durable, `interrupt` is called or the time is over.
    pub(crate) fn wait_past(&self, after: u64, at_most: std::time::Duration) -> u64 {
        let held = lock(&self.through);
        if *held > after {
            return *held;
        }
        let (held, _) = self
            .moved
            .wait_timeout(held, at_most)
            .unwrap_or_else(PoisonError::into_inner);
        *held
    }
}

/// Something to do, for a thread that waits for it.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    raised: Mutex<bool>,
    changed: Condvar,
}

impl Signal {
    pub(crate) fn raise(&self) {
        *lock(&self.raised) = true;
        self.changed.notify_all();
    }

    /// Waits for it, at most so long, and takes it down.
    pub(crate) fn wait(&self, at_most: std::time::Duration) {
        let mut raised = lock(&self.raised);
        if !*raised {
            (raised, _) = self
                .changed
                .wait_timeout(raised, at_most)
                .unwrap_or_else(PoisonError::into_inner);
        }
        *raised = false;
    }
}
