//! What the log knows of its entries in memory: the cursors, and the segments with their counts.
//!
//! Invariant: a segment's live count is the number of pending (entry, lane) pairs in it. Frames are applied in the order
//! of their sequences, in recovery and at run time by the same code.

use std::sync::Arc;

use crate::cursor::{Cursors, Pending};
use crate::disk::DiskFile;
use crate::frame::{ACK_BYTES, AckRange, Frame, Kind};
use crate::id::{CursorId, EntryId};
use crate::segment::Segment;

/// Acknowledgements kept for logging while the log takes none. Beyond it they hold until the process ends only.
const UNLOGGED_MAX: usize = 1 << 16;

/// Cursors and segments of a log.
#[derive(Default)]
pub(crate) struct Index {
    pub cursors: Cursors,
    /// In order; the last one is being written.
    pub segments: Vec<Segment>,
    /// Sequence of the last frame applied.
    pub applied: u64,
    /// Acknowledgements that took effect but are in no frame yet.
    unlogged: Vec<AckRange>,
}

impl Index {
    /// Takes `segment` as the one that the next frames stand in.
    pub(crate) fn begin(&mut self, mut segment: Segment) {
        // Prepared ahead, it may have been meant for earlier sequences.
        segment.after = segment
            .after
            .max(self.segments.last().map_or(0, |before| before.last));
        segment.last = segment.after;
        self.segments.push(segment);
    }

    /// Applies `frame`, which stands at `offset` of the last segment.
    pub(crate) fn apply(&mut self, frame: &Frame<'_>, offset: u64) {
        let Some(segment) = self.segments.last_mut() else {
            return;
        };
        segment.end = offset + frame.size as u64;
        if frame.kind == Kind::Mark {
            return;
        }
        segment.note(frame.sequence, frame.at, offset);
        for entry in frame.entries() {
            let id = EntryId::new(frame.sequence, entry.index);
            for lane in entry.lanes() {
                segment.postings += 1;
                segment.live += u64::from(self.cursors.push(lane, id, entry.body.len()));
            }
        }
        self.applied = self.applied.max(frame.sequence);
        if frame.ack_count() > 0 {
            for range in frame.acks().filter(|range| !range.is_nothing()) {
                segment.acks_from = segment.acks_from.min(range.first.sequence.0);
                segment.ack_bytes += ACK_BYTES as u64;
            }
            for range in frame.acks() {
                self.acknowledge(&range);
            }
        }
    }

    /// Takes what `range` covers from its cursor.
    pub(crate) fn acknowledge(&mut self, range: &AckRange) -> Pending {
        let segments = &mut self.segments;
        self.cursors
            .remove(range.cursor, (range.first, range.last), |first, count| {
                forget(segments, first, u64::from(count));
            })
    }

    /// `range` narrowed to the entries it covers now, so that it never covers one that comes later, and so that the
    /// cleaner sees which segments it is about.
    pub(crate) fn narrow(&self, range: AckRange) -> AckRange {
        match self.cursors.bounds(range.cursor, (range.first, range.last)) {
            Some((first, last)) => AckRange {
                cursor: range.cursor,
                first,
                last,
            },
            None => AckRange::nothing(range.cursor),
        }
    }

    /// Keeps acknowledgements that took effect until they can be logged.
    pub(crate) fn keep_unlogged(&mut self, ranges: impl IntoIterator<Item = AckRange>) {
        let room = UNLOGGED_MAX.saturating_sub(self.unlogged.len());
        self.unlogged.extend(ranges.into_iter().take(room));
    }

    pub(crate) fn take_unlogged(&mut self) -> Vec<AckRange> {
        std::mem::take(&mut self.unlogged)
    }

    #[cfg(test)]
    pub(crate) fn has_unlogged(&self) -> bool {
        !self.unlogged.is_empty()
    }

    /// Position of the segment that holds `sequence`, if it was not removed.
    pub(crate) fn segment_of(&self, sequence: u64) -> Option<usize> {
        let at = self.segments.partition_point(|segment| segment.last < sequence);
        self.segments
            .get(at)
            .filter(|segment| segment.after < sequence)
            .map(|_| at)
    }

    /// Where to look for the entries of `cursor` after `entry`, up to `count` of them.
    pub(crate) fn locate(&self, cursor: CursorId, entry: EntryId, count: usize) -> Vec<Place> {
        let mut places: Vec<Place> = Vec::new();
        let mut at = None;
        for entry in self.cursors.after(cursor, entry).take(count) {
            let sequence = entry.sequence.0;
            let known: Option<&Segment> = at.and_then(|at: usize| self.segments.get(at));
            if known.is_none_or(|segment| segment.last < sequence) {
                at = self.segment_of(sequence);
            }
            let Some(segment) = at.and_then(|at| self.segments.get(at)) else {
                continue;
            };
            places.push(Place {
                entry,
                segment: segment.number,
                from: segment.offset_before(sequence),
                end: segment.end,
                file: Arc::clone(&segment.file),
            });
        }
        places
    }

    /// Bytes of all segments on the disk.
    pub(crate) fn file_bytes(&self) -> u64 {
        self.segments.iter().map(|segment| segment.file_bytes).sum()
    }

    /// Bytes of memory taken by cursors and segments.
    pub(crate) fn memory(&self) -> (usize, usize) {
        (
            self.cursors.memory(),
            self.segments.iter().map(Segment::memory).sum(),
        )
    }
}

/// Where an entry is to be looked for.
pub(crate) struct Place {
    pub entry: EntryId,
    pub segment: u64,
    /// The entry's frame is here or a little further.
    pub from: u64,
    /// Frames end here.
    pub end: u64,
    pub file: Arc<dyn DiskFile>,
}

/// Counts `count` entries from sequence `first` on as no longer live in their segments.
fn forget(segments: &mut [Segment], first: u64, count: u64) {
    let (mut first, end) = (first, first + count);
    let from = segments.partition_point(|segment| segment.last < first);
    for segment in segments.get_mut(from..).unwrap_or_default() {
        if first >= end {
            return;
        }
        let here = (segment.last + 1).min(end).saturating_sub(first);
        segment.live = segment.live.saturating_sub(here);
        first += here;
    }
}
