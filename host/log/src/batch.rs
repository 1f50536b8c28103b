//! Batches of appends, encoded by the caller in memory of its own before any lock is taken.
//!
//! Invariant: each append is one frame, so its entries and acknowledgements become visible and durable together.

use crate::error::BatchError;
use crate::frame::{AckRange, FrameWriter, entry_bytes};
use crate::id::{CursorId, EntryId, Timestamp};

/// One entry of an append: opaque bytes for one or more cursors. The bytes are stored once however many lanes there are.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// The cursors that will read it, each number once.
    pub lanes: &'a [CursorId],
    /// What they read.
    pub body: &'a [u8],
}

/// Entries that a cursor is done with: delivered, dead-lettered, dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ack(pub(crate) AckRange);

impl Ack {
    /// The one entry `entry`.
    pub const fn one(cursor: CursorId, entry: EntryId) -> Self {
        Self(AckRange {
            cursor,
            first: entry,
            last: entry,
        })
    }

    /// Every entry up to and with `entry`.
    pub const fn through(cursor: CursorId, entry: EntryId) -> Self {
        Self(AckRange {
            cursor,
            first: EntryId::START,
            last: entry,
        })
    }

    /// Everything that `cursor` can read now, as when a session ends.
    pub const fn all(cursor: CursorId) -> Self {
        Self::through(cursor, EntryId::END)
    }
}

/// Appends to be handed over together. Kept and reused by its worker.
#[derive(Debug, Default)]
pub struct Batch {
    pub(crate) bytes: Vec<u8>,
    /// Bytes of each frame.
    pub(crate) frames: Vec<u32>,
    pub(crate) has_acks: bool,
}

impl Batch {
    /// Adds one append, made at `now`: `entries` get the indexes 0, 1, 2 and so on. Returns the append's place in the
    /// batch: its sequence will be [`crate::Appended::first`] plus that.
    ///
    /// An acknowledgement counts for what its cursor can read at the time of [`crate::Log::append`].
    pub fn push(&mut self, now: Timestamp, entries: &[Entry<'_>], acks: &[Ack]) -> Result<usize, BatchError> {
        if entries.len() > usize::from(u16::MAX) {
            return Err(BatchError::TooManyEntries(entries.len()));
        }
        let size: usize = entries
            .iter()
            .map(|entry| entry_bytes(entry.lanes.len(), entry.body.len()))
            .sum();
        if size.saturating_add(acks.len() * size_of::<AckRange>()) > (u32::MAX / 2) as usize {
            return Err(BatchError::TooLarge);
        }
        let mut frame = FrameWriter::new(&mut self.bytes, now.0);
        for (entry, index) in entries.iter().zip(0u16..) {
            frame.entry(index, entry.lanes.iter().copied(), entry.body);
        }
        for ack in acks {
            frame.ack(&ack.0);
        }
        self.frames.push(frame.end() as u32);
        self.has_acks |= !acks.is_empty();
        Ok(self.frames.len() - 1)
    }

    /// How many appends it holds.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Bytes it will take in the log.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Forgets what it holds, keeps its memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.frames.clear();
        self.has_acks = false;
    }

    pub(crate) fn for_each_frame(&mut self, mut visit: impl FnMut(&mut [u8])) {
        let mut rest = self.bytes.as_mut_slice();
        for &size in &self.frames {
            let Some((frame, after)) = std::mem::take(&mut rest).split_at_mut_checked(size as usize) else {
                return;
            };
            visit(frame);
            rest = after;
        }
    }

    /// Bytes of the largest frame.
    pub(crate) fn largest(&self) -> usize {
        self.frames.iter().copied().max().unwrap_or(0) as usize
    }
}
