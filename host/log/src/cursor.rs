//! Cursors: for each, the identities of its own entries that are not yet acknowledged, and nothing else.
//!
//! Identities of entries that follow each other, as a sink that takes every message has them, are one [`Run`] however many
//! they are. A cursor with nothing or one run pending costs 32 bytes, every further run 24. Invariant: the runs of a
//! cursor are in order and do not overlap. Knows nothing of segments and offsets, so cleaning never touches it.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

use crate::id::{CursorId, EntryId};

const PAGE_CURSORS: u32 = 256;

/// Entries with the same index in frames that follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    first: u64,
    count: u32,
    /// Bytes of their bodies. Of a partly acknowledged run each entry is taken to have had an equal share.
    bytes: u32,
    index: u16,
}

/// The entries one cursor has pending.
#[derive(Debug, Default)]
enum Runs {
    #[default]
    None,
    One(Run),
    #[allow(
        clippy::box_collection,
        reason = "in place it would double the size of every cursor"
    )]
    Many(Box<VecDeque<Run>>),
}

/// How much a cursor has pending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pending {
    /// Entries not yet acknowledged.
    pub entries: u64,
    /// Bytes of their bodies; a partly acknowledged run of entries counts by its average.
    pub bytes: u64,
    /// The oldest of them.
    pub oldest: Option<EntryId>,
}

/// All cursors of a log.
#[derive(Debug, Default)]
pub(crate) struct Cursors {
    pages: HashMap<u32, Page, BuildHasherDefault<PageHasher>>,
}

/// Spreads page numbers, which nobody outside the node chooses, over the table.
#[derive(Default)]
struct PageHasher(u64);

impl Hasher for PageHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u32(u32::from(*byte)));
    }

    fn write_u32(&mut self, number: u32) {
        // Fibonacci hashing: the table looks at the highest and the lowest bits.
        let mixed = (self.0 ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[derive(Debug)]
struct Page {
    cursors: Box<[Runs]>,
    /// Cursors with anything pending: a page without any is given back.
    used: u32,
}

impl Cursors {
    /// Adds the newest entry of `cursor`. False if it is there already.
    pub(crate) fn push(&mut self, cursor: CursorId, entry: EntryId, bytes: usize) -> bool {
        let page = self
            .pages
            .entry(cursor.0 / PAGE_CURSORS)
            .or_insert_with(Page::new);
        let Some(runs) = page.cursors.get_mut((cursor.0 % PAGE_CURSORS) as usize) else {
            return false;
        };
        page.used += u32::from(matches!(runs, Runs::None));
        runs.push(entry, bytes)
    }

    /// Takes the entries of `cursor` from `first` to `last` away; `each` is told the sequences, as first and count.
    pub(crate) fn remove(
        &mut self,
        cursor: CursorId,
        range: (EntryId, EntryId),
        each: impl FnMut(u64, u32),
    ) -> Pending {
        let number = cursor.0 / PAGE_CURSORS;
        let Some(page) = self.pages.get_mut(&number) else {
            return Pending::default();
        };
        let Some(runs) = page.cursors.get_mut((cursor.0 % PAGE_CURSORS) as usize) else {
            return Pending::default();
        };
        let removed = runs.remove(range, each);
        if removed.entries > 0 && matches!(runs, Runs::None) {
            page.used -= 1;
            if page.used == 0 {
                self.pages.remove(&number);
            }
        }
        removed
    }

    /// The first and last pending entry of `cursor` within `range`.
    pub(crate) fn bounds(&self, cursor: CursorId, range: (EntryId, EntryId)) -> Option<(EntryId, EntryId)> {
        let runs = self.runs(cursor)?;
        let first = runs
            .after(range.0, true)
            .next()
            .filter(|first| *first <= range.1)?;
        Some((first, runs.last_until(range.1)?))
    }

    pub(crate) fn contains(&self, cursor: CursorId, entry: EntryId) -> bool {
        self.runs(cursor)
            .is_some_and(|runs| runs.after(entry, true).next() == Some(entry))
    }

    /// Pending entries of `cursor` after `entry`, oldest first.
    pub(crate) fn after(&self, cursor: CursorId, entry: EntryId) -> impl Iterator<Item = EntryId> + '_ {
        self.runs(cursor)
            .into_iter()
            .flat_map(move |runs| runs.after(entry, false))
    }

    pub(crate) fn pending(&self, cursor: CursorId) -> Pending {
        self.runs(cursor).map_or_else(Pending::default, Runs::pending)
    }

    /// The oldest pending entries of every cursor that has any, in no order.
    pub(crate) fn oldest(&self) -> impl Iterator<Item = (CursorId, EntryId)> + '_ {
        self.pages.iter().flat_map(|(number, page)| {
            let base = number * PAGE_CURSORS;
            let cursors = page.cursors.iter().zip(0..);
            cursors.filter_map(move |(runs, slot)| Some((CursorId(base + slot), runs.first()?.first_id())))
        })
    }

    /// Where the first entries of `cursor` that make up `bytes` end.
    pub(crate) fn first_bytes(&self, cursor: CursorId, bytes: u64) -> Option<EntryId> {
        let mut left = bytes;
        let mut last = None;
        for run in self.runs(cursor)?.iter() {
            if left == 0 {
                break;
            }
            let count = u64::from(run.count);
            let share = (left * count).div_ceil(u64::from(run.bytes.max(1))).min(count);
            last = Some(EntryId::new(run.first + share - 1, run.index));
            left = left.saturating_sub(u64::from(run.bytes));
        }
        last
    }

    /// Bytes of memory taken.
    pub(crate) fn memory(&self) -> usize {
        let page = PAGE_CURSORS as usize * size_of::<Runs>() + size_of::<(u32, Page)>() + 1;
        let runs: usize = self
            .pages
            .values()
            .flat_map(|page| page.cursors.iter())
            .map(Runs::heap)
            .sum();
        self.pages.len() * page + runs
    }

    fn runs(&self, cursor: CursorId) -> Option<&Runs> {
        self.pages
            .get(&(cursor.0 / PAGE_CURSORS))?
            .cursors
            .get((cursor.0 % PAGE_CURSORS) as usize)
    }
}

impl Page {
    fn new() -> Self {
        Self {
            cursors: (0..PAGE_CURSORS).map(|_| Runs::None).collect(),
            used: 0,
        }
    }
}

impl Runs {
    fn push(&mut self, entry: EntryId, bytes: usize) -> bool {
        if self.last().is_some_and(|last| last.last_id() >= entry) {
            return false;
        }
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        if self.last_mut().is_some_and(|last| last.extend(entry, bytes)) {
            return true;
        }
        let run = Run {
            first: entry.sequence.0,
            count: 1,
            bytes,
            index: entry.index,
        };
        match self {
            Self::None => *self = Self::One(run),
            Self::One(first) => *self = Self::Many(Box::new(VecDeque::from([*first, run]))),
            Self::Many(runs) => runs.push_back(run),
        }
        true
    }

    fn remove(&mut self, range: (EntryId, EntryId), mut each: impl FnMut(u64, u32)) -> Pending {
        let mut removed = Pending::default();
        let mut take = |part: Run| {
            removed.entries += u64::from(part.count);
            removed.bytes += u64::from(part.bytes);
            removed.oldest = removed.oldest.or(Some(part.first_id()));
            each(part.first, part.count);
        };
        match self {
            Self::None => {}
            Self::One(run) => {
                let [before, inside, after] = run.cut(range);
                inside.into_iter().for_each(&mut take);
                *self = match (before, after) {
                    (Some(before), Some(after)) => Self::Many(Box::new(VecDeque::from([before, after]))),
                    (Some(rest), None) | (None, Some(rest)) => Self::One(rest),
                    (None, None) => Self::None,
                };
            }
            Self::Many(runs) => {
                remove_many(runs, range, &mut take);
                match (runs.len(), runs.front()) {
                    (0, _) => *self = Self::None,
                    (1, Some(run)) => *self = Self::One(*run),
                    (len, _) if len < runs.capacity() / 4 => runs.shrink_to(len * 2),
                    _ => {}
                }
            }
        }
        removed
    }

    /// Entries after `entry`, or from it.
    fn after(&self, entry: EntryId, inclusive: bool) -> impl Iterator<Item = EntryId> + '_ {
        let skipped = match self {
            Self::Many(runs) => runs.partition_point(|run| run.last_id() < entry),
            Self::None | Self::One(_) => 0,
        };
        self.iter().skip(skipped).flat_map(move |run| {
            let from = run.position_from(entry, inclusive);
            (from..u64::from(run.count)).map(move |i| EntryId::new(run.first + i, run.index))
        })
    }

    fn last_until(&self, entry: EntryId) -> Option<EntryId> {
        let run = match self {
            Self::None => None,
            Self::One(run) => Some(run),
            Self::Many(runs) => runs.get(
                runs.partition_point(|run| run.first_id() <= entry)
                    .checked_sub(1)?,
            ),
        }?;
        let [before, inside, _] = run.cut((entry, EntryId::END));
        match inside.filter(|inside| inside.first_id() == entry) {
            Some(exact) => Some(exact.first_id()),
            None => before.map(Run::last_id),
        }
    }

    fn pending(&self) -> Pending {
        let mut pending = Pending {
            oldest: self.first().map(|run| run.first_id()),
            ..Pending::default()
        };
        for run in self.iter() {
            pending.entries += u64::from(run.count);
            pending.bytes += u64::from(run.bytes);
        }
        pending
    }

    fn iter(&self) -> impl Iterator<Item = &Run> + '_ {
        let (one, many) = match self {
            Self::None => (None, None),
            Self::One(run) => (Some(run), None),
            Self::Many(runs) => (None, Some(runs.iter())),
        };
        one.into_iter().chain(many.into_iter().flatten())
    }

    fn first(&self) -> Option<Run> {
        self.iter().next().copied()
    }

    fn last(&self) -> Option<&Run> {
        match self {
            Self::None => None,
            Self::One(run) => Some(run),
            Self::Many(runs) => runs.back(),
        }
    }

    fn last_mut(&mut self) -> Option<&mut Run> {
        match self {
            Self::None => None,
            Self::One(run) => Some(run),
            Self::Many(runs) => runs.back_mut(),
        }
    }

    fn heap(&self) -> usize {
        match self {
            Self::Many(runs) => size_of::<VecDeque<Run>>() + runs.capacity() * size_of::<Run>(),
            Self::None | Self::One(_) => 0,
        }
    }
}

/// Cuts `range` out of `runs`; only the first and last of the runs it meets can leave something behind.
fn remove_many(runs: &mut VecDeque<Run>, range: (EntryId, EntryId), mut take: impl FnMut(Run)) {
    let from = runs.partition_point(|run| run.last_id() < range.0);
    let to = runs.partition_point(|run| run.first_id() <= range.1);
    if from >= to {
        return;
    }
    let mut rest = [None, None];
    for run in runs.range(from..to) {
        let [before, inside, after] = run.cut(range);
        inside.into_iter().for_each(&mut take);
        rest = [rest[0].or(before), after.or(rest[1])];
    }
    runs.drain(from..to);
    for run in rest.into_iter().rev().flatten() {
        runs.insert(from, run);
    }
}

impl Run {
    fn first_id(self) -> EntryId {
        EntryId::new(self.first, self.index)
    }

    fn last_id(self) -> EntryId {
        EntryId::new(self.first + u64::from(self.count) - 1, self.index)
    }

    fn extend(&mut self, entry: EntryId, bytes: u32) -> bool {
        let follows = entry.index == self.index && entry.sequence.0 == self.first + u64::from(self.count);
        match (self.count.checked_add(1), self.bytes.checked_add(bytes)) {
            (Some(count), Some(bytes)) if follows => {
                (self.count, self.bytes) = (count, bytes);
                true
            }
            _ => false,
        }
    }

    /// Position of its first entry that is after `entry`, or not before it.
    fn position_from(self, entry: EntryId, inclusive: bool) -> u64 {
        if entry.sequence.0 < self.first {
            return 0;
        }
        let same_frame = self.index > entry.index || (inclusive && self.index == entry.index);
        let position = entry.sequence.0 - self.first;
        if same_frame {
            position
        } else {
            position.saturating_add(1)
        }
        .min(u64::from(self.count))
    }

    /// What lies before, within and after `range`.
    fn cut(self, range: (EntryId, EntryId)) -> [Option<Self>; 3] {
        let from = self.position_from(range.0, true);
        let to = self.position_from(range.1, false).max(from);
        [
            self.part(0, from),
            self.part(from, to),
            self.part(to, u64::from(self.count)),
        ]
    }

    fn part(self, from: u64, to: u64) -> Option<Self> {
        let share = |position: u64| (u64::from(self.bytes) * position / u64::from(self.count)) as u32;
        (from < to).then(|| Self {
            first: self.first + from,
            count: (to - from) as u32,
            bytes: share(to) - share(from),
            index: self.index,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const CURSOR: CursorId = CursorId(7);

    #[test]
    fn an_idle_cursor_and_one_with_a_run_cost_32_bytes() {
        assert_eq!(size_of::<Runs>(), 32);
    }

    #[test]
    fn a_page_without_pending_entries_is_given_back() {
        let mut cursors = Cursors::default();
        cursors.push(CURSOR, EntryId::new(1, 0), 10);
        cursors.remove(CURSOR, (EntryId::START, EntryId::END), |_, _| {});
        assert!(cursors.pages.is_empty());
    }

    proptest! {
        /// Runs are a set of identities: pushed in order, removed by ranges.
        #[test]
        fn runs_equal_a_set(steps in prop::collection::vec((0u64..3, 0u16..3, 0u64..40, 0u16..3, 0u64..6), 1..80)) {
            let (mut cursors, mut set) = (Cursors::default(), BTreeSet::new());
            let mut newest = EntryId::new(1, 0);
            for (ahead, index, from, from_index, length) in steps {
                let next = EntryId::new(newest.sequence.0 + ahead, index);
                if next > newest {
                    newest = next;
                    prop_assert!(cursors.push(CURSOR, next, 100));
                    set.insert(next);
                }
                let range = (EntryId::new(from, from_index), EntryId::new(from + length, index));
                let inside: Vec<_> = set.iter().copied().filter(|id| range.0 <= *id && *id <= range.1).collect();
                prop_assert_eq!(cursors.bounds(CURSOR, range), inside.first().copied().zip(inside.last().copied()));
                let mut told = 0;
                if length < 3 {
                    let removed = cursors.remove(CURSOR, range, |_, count| told += u64::from(count));
                    prop_assert_eq!((removed.entries, told), (inside.len() as u64, inside.len() as u64));
                    set.retain(|id| !inside.contains(id));
                }
                let after: Vec<_> = cursors.after(CURSOR, range.0).collect();
                prop_assert_eq!(after, set.iter().copied().filter(|id| *id > range.0).collect::<Vec<_>>());
                prop_assert_eq!(cursors.pending(CURSOR).entries, set.len() as u64);
                prop_assert!(set.iter().all(|id| cursors.contains(CURSOR, *id)));
            }
        }
    }
}
