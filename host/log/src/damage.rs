//! Damage found while reading segments: where it lies and what it costs.

use std::fmt;

use crate::id::Sequence;

/// Bytes of a segment that hold no valid frame although they should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The segment's number.
    pub segment: u64,
    /// Byte offset of the first bad byte in the segment's file.
    pub offset: u64,
    /// How many bytes no valid frame could be found in; 0 when whole frames are missing without a trace.
    pub bytes: u64,
    /// Sequences lost, first and last, where that is known.
    pub lost: Option<(Sequence, Sequence)>,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "segment {} at offset {}: {} damaged bytes",
            self.segment, self.offset, self.bytes
        )?;
        match self.lost {
            Some((first, last)) => write!(f, ", sequences {first} to {last} lost"),
            None => Ok(()),
        }
    }
}

/// The end of the log as a crash left it: frames beyond were never reported as committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TornTail {
    /// The segment's number.
    pub segment: u64,
    /// Byte offset from which the segment was cut.
    pub offset: u64,
}
