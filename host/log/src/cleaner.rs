//! The cleaner: gives back the room of acknowledged entries, so that a slow cursor pins only its own entries.
//!
//! ```text
//! segments   3: mostly dead   4: dead   5: mostly live   6: mostly dead   7: being written
//!            '------ run -----'
//! written    cleaned.unfinished: survivors of 3 and 4, each with its sequence and index; "stands for 3 to 4"
//! fsynced, renamed to 3, directory fsynced; only then 4 is removed
//! ```
//!
//! Survivors are copied into a segment that takes the place of those they come from: order by sequence is kept, and cursors,
//! which know sequences and not offsets, notice nothing. Invariant: at every moment each pending entry is durable in a
//! segment that recovery reads, and each acknowledgement outlives the segments it is about. Never touches the commit.

use std::io;
use std::sync::Arc;

use crate::core::{Core, lock};
use crate::index::Index;
use crate::rewrite::{Older, Plan, Source};
use crate::segment::{CLEANED_NAME, HEADER_BYTES, Segment, name};
use crate::step::Step;

/// What one step of the cleaner did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cleaned {
    Nothing,
    /// The oldest segment, which held nothing any more, was removed.
    Removed,
    /// A run of segments was replaced by its survivors.
    Replaced,
}

impl Core {
    /// Takes one step, if there is one worth taking.
    pub(crate) fn clean(&self) -> io::Result<Cleaned> {
        if lock(&self.staging).poisoned.is_some() {
            return Ok(Cleaned::Nothing);
        }
        self.remove_replaced()?;
        let oldest_dead = {
            let index = lock(&self.index);
            // The last segment carries the sequence on, so one with a frame has to stay.
            let last_begun = index.segments.last().is_some_and(|last| !last.is_empty());
            let oldest = index
                .segments
                .first()
                .filter(|_| index.segments.len() > 1 && last_begun);
            oldest
                .filter(|oldest| oldest.live == 0)
                .map(|oldest| oldest.number)
        };
        if let Some(number) = oldest_dead {
            self.remove_oldest(number)?;
            return Ok(Cleaned::Removed);
        }
        let Some(plan) = self.plan() else {
            return Ok(Cleaned::Nothing);
        };
        match self.replace(&plan) {
            Ok(()) => Ok(Cleaned::Replaced),
            Err(error) => {
                let _ = self.disk.remove(CLEANED_NAME);
                Err(error)
            }
        }
    }

    fn remove_oldest(&self, number: u64) -> io::Result<()> {
        self.disk.remove(&name(number))?;
        lock(&self.index)
            .segments
            .retain(|segment| segment.number != number);
        match self.omitted.omits(Step::SyncRemoved) {
            true => Ok(()),
            false => self.disk.sync_names(),
        }
    }

    fn plan(&self) -> Option<Plan> {
        let index = lock(&self.index);
        let capacity = self.options.segment_bytes - HEADER_BYTES as u64;
        let (from, to) = worst_run(&index, capacity)?;
        let source = |segment: &Segment| Source {
            number: segment.number,
            file: Arc::clone(&segment.file),
            end: segment.end,
            after: segment.after,
            dead: segment.live == 0 && !acks_needed(&index, segment),
        };
        let run = index.segments.get(from..to)?;
        let older = index.segments.get(..from)?.iter();
        Some(Plan {
            sources: run.iter().map(source).collect(),
            older: older
                .map(|one| Older {
                    after: one.after,
                    last: one.last,
                    at: one.cleaned_at,
                })
                .collect(),
            last: run.last()?.last,
            // All acknowledgements up to here are in effect, so nothing they cover will be copied.
            at: index.applied,
        })
    }

    fn replace(&self, plan: &Plan) -> io::Result<()> {
        let (Some(first), Some(last)) = (plan.sources.first(), plan.sources.last()) else {
            return Ok(());
        };
        let mut segment = self.rewrite(plan)?;
        if !self.omitted.omits(Step::SyncCleaned) {
            segment.file.sync()?;
        }
        self.disk.rename(CLEANED_NAME, &name(first.number))?;
        if !self.omitted.omits(Step::SyncCleanedName) {
            self.disk.sync_names()?;
        }
        {
            let mut index = lock(&self.index);
            let from = index.segments.partition_point(|one| one.number < first.number);
            let to = index.segments.partition_point(|one| one.number <= last.number);
            let replaced = index.segments.get(from..to).unwrap_or_default();
            // What was acknowledged during the copying was counted there.
            segment.live = replaced.iter().map(|one| one.live).sum();
            index.segments.splice(from..to, [segment]);
        }
        let replaced = plan.sources.iter().skip(1).map(|source| source.number);
        lock(&self.spares).replaced.extend(replaced);
        self.remove_replaced()
    }

    /// Removes the files of replaced segments. Before that is done no other segment may go: the acknowledgements of what
    /// they hold could go with it.
    fn remove_replaced(&self) -> io::Result<()> {
        // Only the cleaner adds to the list, and a commit must not wait for the disk here.
        while let Some(number) = self.replaced() {
            match self.disk.remove(&name(number)) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
            lock(&self.spares).replaced.pop();
        }
        Ok(())
    }

    fn replaced(&self) -> Option<u64> {
        lock(&self.spares).replaced.last().copied()
    }
}

/// The run of neighbouring segments whose survivors fit into one and whose cleaning frees the most.
fn worst_run(index: &Index, capacity: u64) -> Option<(usize, usize)> {
    let sealed = index.segments.len().saturating_sub(1);
    let sealed = index.segments.get(..sealed)?;
    let mut best: Option<(u64, usize, usize)> = None;
    let (mut from, mut kept, mut freed) = (0, 0, 0);
    for (at, segment) in sealed.iter().enumerate() {
        let survivors = survivors(index, segment);
        if survivors > capacity / 2 {
            (from, kept, freed) = (at + 1, 0, 0);
            continue;
        }
        // A fully used segment leaves some room, since copies of partly dead frames do not fill it the same way.
        if kept + survivors > capacity - capacity / 8 {
            (from, kept, freed) = (at, 0, 0);
        }
        kept += survivors;
        freed += (segment.end - HEADER_BYTES as u64).saturating_sub(survivors);
        let several = at > from;
        let worth = several || freed >= kept.max(1);
        if worth && best.is_none_or(|(most, ..)| freed + u64::from(several) > most) {
            best = Some((freed + u64::from(several), from, at + 1));
        }
    }
    best.map(|(_, from, to)| (from, to))
}

/// Bytes of `segment` that have to be copied.
fn survivors(index: &Index, segment: &Segment) -> u64 {
    let used = segment.end.saturating_sub(HEADER_BYTES as u64);
    let entries = used.saturating_sub(segment.ack_bytes);
    let live = (u128::from(entries) * u128::from(segment.live)).div_ceil(u128::from(segment.postings.max(1)));
    let acks = if acks_needed(index, segment) {
        segment.ack_bytes
    } else {
        0
    };
    live as u64 + acks
}

/// Whether an older segment still holds entries that acknowledgements in `segment` may be about.
fn acks_needed(index: &Index, segment: &Segment) -> bool {
    let mut older = index
        .segments
        .iter()
        .take_while(|one| one.number < segment.number);
    older.any(|one| one.last >= segment.acks_from && one.cleaned_at < segment.last)
}
