//! Workers by number, and sets of them: one bit each.
//!
//! Invariant: a [`WorkerId`] is below [`WorkerId::COUNT_MAX`], so that every set of them fits 128 bits.

use std::num::NonZeroU8;

/// A worker of this process, numbered from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkerId(u8);

impl WorkerId {
    /// One worker per core: 128 cores are beyond what one broker process is run on.
    pub const COUNT_MAX: u8 = 128;

    /// `None` from [`Self::COUNT_MAX`] on.
    pub const fn new(number: u8) -> Option<Self> {
        if number < Self::COUNT_MAX {
            Some(Self(number))
        } else {
            None
        }
    }

    /// One of the workers 0 to `workers` - 1, evenly by the 64 bits of `hash`. `workers` counts up to
    /// [`Self::COUNT_MAX`].
    #[must_use]
    pub const fn by_hash(hash: u64, workers: NonZeroU8) -> Self {
        let workers = if workers.get() > Self::COUNT_MAX {
            Self::COUNT_MAX
        } else {
            workers.get()
        };
        Self(((hash as u128 * workers as u128) >> 64) as u8)
    }

    /// Its number, for indexing per-worker arrays.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A set of workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct WorkerSet(u128);

impl WorkerSet {
    /// No worker.
    pub const EMPTY: Self = Self(0);

    /// `worker` alone.
    #[must_use]
    pub const fn of(worker: WorkerId) -> Self {
        Self(1 << worker.0)
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many there are.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether `worker` is in it.
    pub const fn contains(self, worker: WorkerId) -> bool {
        self.0 & Self::of(worker).0 != 0
    }

    /// The workers of either.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The same set with `worker`.
    #[must_use]
    pub const fn with(self, worker: WorkerId) -> Self {
        self.union(Self::of(worker))
    }

    /// The same set without `worker`.
    #[must_use]
    pub const fn without(self, worker: WorkerId) -> Self {
        Self(self.0 & !Self::of(worker).0)
    }

    /// The workers in it, lowest number first.
    pub fn iter(self) -> impl Iterator<Item = WorkerId> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let lowest = left.trailing_zeros() as u8;
            left &= left.wrapping_sub(1);
            WorkerId::new(lowest) // an empty set has 128 trailing zeros
        })
    }
}

impl FromIterator<WorkerId> for WorkerSet {
    fn from_iter<I: IntoIterator<Item = WorkerId>>(workers: I) -> Self {
        workers.into_iter().fold(Self::EMPTY, Self::with)
    }
}
