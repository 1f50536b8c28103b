//! What the log may keep, by bytes and by age, and the expiry of what is beyond.
//!
//! Invariant: nothing expires but by a limit that was configured, everything that expires is returned once, by cursor, and
//! keyed state never expires. Time is an argument; an entry expires at most a second late, never early.

use std::collections::HashMap;
use std::time::Duration;

use crate::core::{Core, lock};
use crate::frame::AckRange;
use crate::id::{CursorId, EntryId, Timestamp};
use crate::index::Index;
use crate::segment::Segment;

/// What may be kept. `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Bytes: of a cursor's bodies, or of the whole log's pending entries as they stand on the disk. The disk holds up to
    /// twice as much, and the segments prepared ahead.
    pub bytes_max: Option<u64>,
    /// Age of an entry since its append.
    pub age_max: Option<Duration>,
}

/// Limits of single cursors, in place of the log's own.
#[derive(Debug, Default)]
pub(crate) struct LimitTable {
    cursors: HashMap<CursorId, Limits>,
}

/// Why entries expired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// [`Limits::bytes_max`].
    Bytes,
    /// [`Limits::age_max`].
    Age,
}

/// Entries that a cursor lost to a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expired {
    /// Whose entries they were.
    pub cursor: CursorId,
    /// How many. If the process dies before the expiry is durable, they are back after the restart and expire again.
    pub entries: u64,
    /// Bytes of their bodies, as [`crate::Pending::bytes`] counts.
    pub bytes: u64,
    /// The last of them: what the owner holds of the cursor up to here is gone.
    pub through: EntryId,
    /// By which limit.
    pub cause: Cause,
}

impl Core {
    /// Sets the limits of `cursor`, or gives it back to the log's own.
    pub(crate) fn set_limits(&self, cursor: CursorId, limits: Option<Limits>) {
        let mut table = lock(&self.limits);
        match limits {
            Some(limits) => table.cursors.insert(cursor, limits),
            None => table.cursors.remove(&cursor),
        };
    }

    /// Expires what is beyond a limit at `now`, and logs acknowledgements that could not be logged before.
    pub(crate) fn maintain(&self, now: Timestamp) -> Vec<Expired> {
        let limits = self.options.limits;
        let mut expiry = Expiry::default();
        {
            let table = lock(&self.limits);
            let mut index = lock(&self.index);
            let own = |cursor: CursorId| cursor == CursorId::KEYED || table.cursors.contains_key(&cursor);
            for (cursor, limits) in table
                .cursors
                .iter()
                .filter(|(cursor, _)| **cursor != CursorId::KEYED)
            {
                expiry.apply_to_cursor(&mut index, *cursor, limits, now);
            }
            if let Some(age) = limits.age_max {
                let until = index.sequence_until(before(now, age));
                expiry.drop_all(&mut index, until, Cause::Age, own);
            }
            if let Some(bytes) = limits.bytes_max {
                expiry.drop_oldest_segments(&mut index, bytes, |cursor| cursor == CursorId::KEYED);
            }
        }
        self.log_acks(expiry.ranges);
        expiry.expired
    }
}

/// What expired so far.
#[derive(Default)]
struct Expiry {
    expired: Vec<Expired>,
    ranges: Vec<AckRange>,
}

impl Expiry {
    fn apply_to_cursor(&mut self, index: &mut Index, cursor: CursorId, limits: &Limits, now: Timestamp) {
        if let Some(age) = limits.age_max {
            let until = index.sequence_until(before(now, age));
            self.drop(index, cursor, EntryId::new(until, u16::MAX), Cause::Age);
        }
        let pending = index.cursors.pending(cursor);
        let excess = limits
            .bytes_max
            .and_then(|max| pending.bytes.checked_sub(max))
            .unwrap_or(0);
        if excess > 0
            && let Some(last) = index.cursors.first_bytes(cursor, excess)
        {
            self.drop(index, cursor, last, Cause::Bytes);
        }
    }

    /// Drops what lies in the oldest segments until no more than `bytes` are pending.
    fn drop_oldest_segments(&mut self, index: &mut Index, bytes: u64, spared: impl Fn(CursorId) -> bool) {
        let mut at = 0;
        while index.live_bytes() > bytes {
            let Some(segment) = index.segments.get(at) else {
                return;
            };
            at += 1;
            if segment.live > 0 {
                let last = segment.last;
                self.drop_all(index, last, Cause::Bytes, &spared);
            }
        }
    }

    /// Drops what every cursor but the spared has up to sequence `until`.
    fn drop_all(&mut self, index: &mut Index, until: u64, cause: Cause, spared: impl Fn(CursorId) -> bool) {
        let behind = |(cursor, oldest): &(CursorId, EntryId)| oldest.sequence.0 <= until && !spared(*cursor);
        let cursors: Vec<CursorId> = index
            .cursors
            .oldest()
            .filter(behind)
            .map(|(cursor, _)| cursor)
            .collect();
        for cursor in cursors {
            self.drop(index, cursor, EntryId::new(until, u16::MAX), cause);
        }
    }

    fn drop(&mut self, index: &mut Index, cursor: CursorId, last: EntryId, cause: Cause) {
        let range = index.narrow(AckRange {
            cursor,
            first: EntryId::START,
            last,
        });
        if range.is_nothing() {
            return;
        }
        let removed = index.acknowledge(&range);
        let through = range.last;
        self.expired.push(Expired {
            cursor,
            entries: removed.entries,
            bytes: removed.bytes,
            through,
            cause,
        });
        self.ranges.push(range);
    }
}

impl Index {
    /// All sequences up to the one returned were made at `at` or before.
    fn sequence_until(&self, at: u64) -> u64 {
        let begun = |segment: &&Segment| !segment.is_empty() && segment.first_at <= at;
        self.segments
            .iter()
            .rev()
            .find(begun)
            .map_or(0, |segment| segment.sequence_until(at))
    }

    /// Bytes of the pending entries as they stand on the disk, by each segment's average.
    fn live_bytes(&self) -> u64 {
        let share = |segment: &Segment| segment.end.saturating_mul(segment.live) / segment.postings.max(1);
        self.segments.iter().map(share).sum()
    }
}

fn before(now: Timestamp, age: Duration) -> u64 {
    now.0
        .saturating_sub(u64::try_from(age.as_millis()).unwrap_or(u64::MAX))
        .saturating_sub(1)
}
