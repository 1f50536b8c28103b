//! The names of things in the log: cursors, sequences, entries, moments.
//!
//! Invariant: a [`Sequence`] and with it an [`EntryId`] is given once and never reused within one epoch; copying an
//! entry to another place keeps it. Does not know where anything lies.

use std::fmt;

/// One list of entries waiting for their consumer: a session's queue, a sink.
///
/// Numbers are chosen by the owner of the log. Memory is taken in pages of 256 neighbouring numbers, so dense numbering
/// keeps a cursor at 32 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CursorId(pub u32);

impl CursorId {
    /// The cursor that carries changes of keyed state. The last number, so that dense numbering from 0 never meets it.
    pub const KEYED: Self = Self(u32::MAX);
}

/// Position of a frame in the order of the log. The first one is 1; 0 means "before everything". Acknowledgements that come
/// alone take sequences too, so those of appends have gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Sequence(pub u64);

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Identity of an entry: its frame's sequence and its index within the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId {
    /// Sequence of the frame.
    pub sequence: Sequence,
    /// Index within the frame, from 0.
    pub index: u16,
}

impl EntryId {
    /// Before every entry: reading after it begins at the oldest.
    pub const START: Self = Self::new(0, 0);
    /// After every entry.
    pub(crate) const END: Self = Self::new(u64::MAX, u16::MAX);

    /// Entry `index` of the frame `sequence`.
    pub const fn new(sequence: u64, index: u16) -> Self {
        Self {
            sequence: Sequence(sequence),
            index,
        }
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.sequence, self.index)
    }
}

/// Milliseconds since the Unix epoch, 48 bits of them. Given by the caller, never asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// The latest moment a frame can carry.
    pub const MAX: Self = Self((1 << 48) - 1);
}
