//! Which workers hold a filter, and how many times each.
//!
//! Invariant: a worker is counted only while its count is above 0, and [`Holders::set`] names exactly those counted.
//! A single holder, the usual case, needs no memory of its own.

use std::sync::Arc;

use crate::worker_set::{WorkerId, WorkerSet};

/// A count per worker. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) enum Holders {
    #[default]
    None,
    One(WorkerId, u32),
    Many(Arc<Counts>),
}

/// Two or more workers, with the set of them for readers.
#[derive(Clone)]
pub(crate) struct Counts {
    set: WorkerSet,
    counts: Vec<(WorkerId, u32)>,
}

/// What taking one hold away did.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Released {
    NotHeld,
    StillHeld,
    Last,
}

impl Holders {
    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Self::None)
    }

    pub(crate) fn set(&self) -> WorkerSet {
        match self {
            Self::None => WorkerSet::EMPTY,
            Self::One(worker, _) => WorkerSet::of(*worker),
            Self::Many(many) => many.set,
        }
    }

    /// Counts `worker` once more; true if for the first time.
    pub(crate) fn add(&mut self, worker: WorkerId) -> bool {
        match self {
            Self::None => {
                *self = Self::One(worker, 1);
                true
            }
            Self::One(own, count) if *own == worker => {
                *count += 1;
                false
            }
            Self::One(own, count) => {
                *self = Self::Many(Arc::new(Counts {
                    set: WorkerSet::of(*own).with(worker),
                    counts: vec![(*own, *count), (worker, 1)],
                }));
                true
            }
            Self::Many(many) => {
                let many = Arc::make_mut(many);
                if let Some((_, count)) = many.counts.iter_mut().find(|(own, _)| *own == worker) {
                    *count += 1;
                    return false;
                }
                many.counts.push((worker, 1));
                many.set = many.set.with(worker);
                true
            }
        }
    }

    /// Counts `worker` once less.
    pub(crate) fn release(&mut self, worker: WorkerId) -> Released {
        if !self.set().contains(worker) {
            return Released::NotHeld;
        }
        match self {
            Self::None => Released::NotHeld,
            Self::One(_, count) => {
                *count -= 1;
                if *count > 0 {
                    return Released::StillHeld;
                }
                *self = Self::None;
                Released::Last
            }
            Self::Many(many) => {
                let many = Arc::make_mut(many);
                if let Some((_, count)) = many.counts.iter_mut().find(|(own, _)| *own == worker) {
                    *count -= 1;
                    if *count > 0 {
                        return Released::StillHeld;
                    }
                }
                many.counts.retain(|(_, count)| *count > 0);
                many.set = many.set.without(worker);
                if let [(own, count)] = *many.counts {
                    *self = Self::One(own, count);
                }
                Released::Last
            }
        }
    }
}
