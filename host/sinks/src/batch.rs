//! The records a lane has taken from its queue: the batch being offered, in pieces, and what did not fit into it.
//!
//! Invariant: the pieces in their order, then the rest, are the order of submission; splitting never reorders.
//! Deliberately does not: know why a piece is split.

use std::collections::VecDeque;
use std::time::Duration;
use std::vec::IntoIter;

use crate::Record;
use crate::queue::Chunk;

/// A chunk that is being used up.
struct Rest {
    records: IntoIter<Record>,
    bytes: usize,
    at: Duration,
}

/// A lane's records.
pub(crate) struct Batch {
    pieces: VecDeque<Vec<Record>>,
    rest: VecDeque<Rest>,
    expired: (usize, usize),
    records_max: usize,
    bytes_max: usize,
    expire_after: Option<Duration>,
}

impl Batch {
    pub(crate) fn new(records_max: usize, bytes_max: usize, expire_after: Option<Duration>) -> Self {
        Self {
            pieces: VecDeque::new(),
            rest: VecDeque::new(),
            expired: (0, 0),
            records_max,
            bytes_max,
            expire_after,
        }
    }

    /// Whether there is nothing to offer. The rest is not counted.
    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// When the oldest record of the rest was submitted.
    pub(crate) fn rest_since(&self) -> Option<Duration> {
        self.rest.front().map(|rest| rest.at)
    }

    /// Makes one batch of the rest and `chunks`, leaving a new rest. What is too old goes into the expired.
    pub(crate) fn refill(&mut self, chunks: Vec<Chunk>, now: Duration) {
        for Chunk { records, bytes, at } in chunks {
            self.rest.push_back(Rest {
                records: records.into_iter(),
                bytes,
                at,
            });
        }
        let mut batch: Vec<Record> = Vec::new();
        let mut room = self.bytes_max;
        while let Some(rest) = self.rest.front_mut() {
            if self.expire_after.is_some_and(|age| rest.at + age <= now) {
                self.expired.0 += rest.records.len();
                self.expired.1 += rest.bytes;
                self.rest.pop_front();
                continue;
            }
            if rest.bytes <= room && batch.len() + rest.records.len() <= self.records_max {
                room -= rest.bytes;
                match batch.is_empty() {
                    // Collecting an untouched `IntoIter` gives its buffer back without a copy.
                    true => batch = std::mem::take(&mut rest.records).collect(),
                    false => batch.extend(&mut rest.records),
                }
                self.rest.pop_front();
                continue;
            }
            rest.fill(&mut batch, &mut room, self.records_max);
            break;
        }
        if !batch.is_empty() {
            self.pieces.push_back(batch);
        }
    }

    /// Records and bytes that expired since the last call.
    pub(crate) fn take_expired(&mut self) -> (usize, usize) {
        std::mem::take(&mut self.expired)
    }

    /// The piece to offer.
    pub(crate) fn first(&self) -> Option<&[Record]> {
        self.pieces.front().map(Vec::as_slice)
    }

    /// The piece is done with.
    pub(crate) fn take_first(&mut self) -> Vec<Record> {
        self.pieces.pop_front().unwrap_or_default()
    }

    /// Makes two pieces of the first.
    pub(crate) fn halve_first(&mut self) {
        let Some(mut first) = self.pieces.pop_front() else {
            return;
        };
        let second = first.split_off(first.len() / 2);
        for half in [second, first] {
            if !half.is_empty() {
                self.pieces.push_front(half);
            }
        }
    }

    /// Takes one record out of the first piece.
    pub(crate) fn remove(&mut self, position: usize) -> Option<Record> {
        let first = self.pieces.front_mut()?;
        let record = (position < first.len()).then(|| first.remove(position));
        if first.is_empty() {
            self.pieces.pop_front();
        }
        record
    }
}

impl Rest {
    /// Moves records into `batch` as long as they fit; a batch takes at least one, however large.
    fn fill(&mut self, batch: &mut Vec<Record>, room: &mut usize, records_max: usize) {
        while let Some(cost) = self.records.as_slice().first().map(Record::cost) {
            if batch.len() >= records_max || (cost > *room && !batch.is_empty()) {
                break;
            }
            *room = room.saturating_sub(cost);
            self.bytes -= cost;
            batch.extend(self.records.next());
        }
    }
}
