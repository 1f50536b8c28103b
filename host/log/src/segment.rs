//! Segments: their names, their headers, and what is known of each in memory.
//!
//! Invariant: segments in the order of their numbers hold sequences in order, and a cleaned segment stands for all the
//! segments from its own number to [`Header::covers_through`]. Does not read frames.

use std::sync::Arc;

use crate::disk::DiskFile;
use crate::frame::{put, u32_at, u64_at};

/// Version of the format written and read.
pub(crate) const VERSION: u32 = 1;
/// Frames begin here.
pub(crate) const HEADER_BYTES: usize = 4096;
/// The header stands twice in its block.
const COPY_BYTES: usize = HEADER_BYTES / 2;
const MAGIC: &[u8; 8] = b"TIDEGLOG";
const SUFFIX: &str = ".segment";
/// Name under which a cleaned segment is written before it takes its place.
pub(crate) const CLEANED_NAME: &str = "cleaned.unfinished";

/// A segment has a mark at least every so many bytes, which bounds what reading one entry costs.
pub(crate) const MARK_EVERY_BYTES: u64 = 16 << 10;
/// And at least every so many milliseconds of the log's time, which bounds how late an entry expires.
pub(crate) const MARK_EVERY_MS: u64 = 1_000;

/// What a segment says of itself in its first block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub number: u64,
    /// Seed of the checksums of the log's frames.
    pub seed: u32,
    /// How often the log had been opened when the segment was made.
    pub epoch: u64,
    /// All sequences in the segment are greater.
    pub after: u64,
    /// `after` is the very sequence before the segment's first: stated when the first frame is written. Before that it is
    /// what was known when the segment was prepared.
    pub begun: bool,
    pub cleaned: Option<Cleaned>,
}

/// What a cleaned segment stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cleaned {
    /// Last number of the segments it replaces; the first is its own.
    pub covers_through: u64,
    /// Last sequence of the segments it replaces.
    pub last: u64,
    /// Acknowledgements up to this sequence were already taken into account: what they covered is not in it.
    pub at: u64,
}

/// Why a header was not read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BadHeader {
    /// Neither copy passes its checksum.
    Damaged,
    Version(u32),
}

impl Header {
    /// The whole block.
    pub(crate) fn encode(&self) -> Vec<u8> {
        self.encode_first().repeat(2)
    }

    /// The first copy alone: written over the one of a prepared segment, it leaves the second if it is torn.
    pub(crate) fn encode_first(&self) -> Vec<u8> {
        let mut copy = vec![0; COPY_BYTES];
        put(&mut copy, 0, MAGIC);
        put(&mut copy, 8, &VERSION.to_le_bytes());
        put(&mut copy, 12, &self.seed.to_le_bytes());
        put(&mut copy, 16, &self.number.to_le_bytes());
        put(&mut copy, 24, &self.epoch.to_le_bytes());
        put(&mut copy, 32, &self.after.to_le_bytes());
        if let Some(cleaned) = self.cleaned {
            put(&mut copy, 40, &1u64.to_le_bytes());
            put(&mut copy, 48, &cleaned.covers_through.to_le_bytes());
            put(&mut copy, 56, &cleaned.last.to_le_bytes());
            put(&mut copy, 64, &cleaned.at.to_le_bytes());
        }
        put(&mut copy, 72, &u64::from(self.begun).to_le_bytes());
        let checksum = crc32c::crc32c(copy.get(..COPY_BYTES - 4).unwrap_or(&[]));
        put(&mut copy, COPY_BYTES - 4, &checksum.to_le_bytes());
        copy
    }

    /// Reads the header from the first bytes of a segment. True if one of its two copies is damaged.
    pub(crate) fn decode(bytes: &[u8]) -> Result<(Self, bool), BadHeader> {
        let mut copies = bytes.chunks_exact(COPY_BYTES).take(2).map(Self::decode_copy);
        match (
            copies.next().unwrap_or(Err(BadHeader::Damaged)),
            copies.next().unwrap_or(Err(BadHeader::Damaged)),
        ) {
            (Ok(first), Ok(_)) => Ok((first, false)),
            (Ok(one), Err(_)) | (Err(_), Ok(one)) => Ok((one, true)),
            (Err(BadHeader::Version(version)), Err(_)) => Err(BadHeader::Version(version)),
            (Err(BadHeader::Damaged), Err(other)) => Err(other),
        }
    }

    fn decode_copy(copy: &[u8]) -> Result<Self, BadHeader> {
        let checked = copy.get(..COPY_BYTES - 4).unwrap_or(&[]);
        if !copy.starts_with(MAGIC) || crc32c::crc32c(checked) != u32_at(copy, COPY_BYTES - 4) {
            return Err(BadHeader::Damaged);
        }
        match u32_at(copy, 8) {
            VERSION => {}
            other => return Err(BadHeader::Version(other)),
        }
        let cleaned = Cleaned {
            covers_through: u64_at(copy, 48),
            last: u64_at(copy, 56),
            at: u64_at(copy, 64),
        };
        Ok(Self {
            number: u64_at(copy, 16),
            seed: u32_at(copy, 12),
            epoch: u64_at(copy, 24),
            after: u64_at(copy, 32),
            begun: u64_at(copy, 72) == 1,
            cleaned: (u64_at(copy, 40) == 1).then_some(cleaned),
        })
    }
}

/// File name of segment `number`.
pub(crate) fn name(number: u64) -> String {
    format!("{number:016x}{SUFFIX}")
}

/// Number of the segment that `name` names.
pub(crate) fn number(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(SUFFIX).filter(|digits| digits.len() == 16)?;
    u64::from_str_radix(digits, 16).ok()
}

/// A place in a segment from which reading may begin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    /// Sequence of the frame, less the segment's first.
    sequence: u32,
    offset: u32,
    /// Time of the frame in milliseconds, less the segment's first.
    at: u32,
}

/// What is known of a segment in memory: about 12 bytes for every 16 KiB of it.
pub(crate) struct Segment {
    pub number: u64,
    pub file: Arc<dyn DiskFile>,
    /// All sequences in the segment, or in those it replaces, are greater.
    pub after: u64,
    /// Last sequence in the segment, or in those it replaces.
    pub last: u64,
    /// Where the next frame goes.
    pub end: u64,
    /// Bytes it takes on the disk.
    pub file_bytes: u64,
    /// Entries times lanes: how many there are in the file, and how many of them are pending.
    pub postings: u64,
    pub live: u64,
    /// Bytes of the acknowledgements in it, and the lowest sequence they are about.
    pub ack_bytes: u64,
    pub acks_from: u64,
    /// As [`Cleaned::at`]; 0 for a segment that was never cleaned.
    pub cleaned_at: u64,
    /// Time of the first and last frame.
    pub first_at: u64,
    pub last_at: u64,
    marks: Vec<Mark>,
}

impl Segment {
    pub(crate) fn new(header: &Header, file: Arc<dyn DiskFile>, file_bytes: u64) -> Self {
        Self {
            number: header.number,
            file,
            after: header.after,
            last: header.cleaned.map_or(header.after, |cleaned| cleaned.last),
            end: HEADER_BYTES as u64,
            file_bytes,
            postings: 0,
            live: 0,
            ack_bytes: 0,
            acks_from: u64::MAX,
            cleaned_at: header.cleaned.map_or(0, |cleaned| cleaned.at),
            first_at: 0,
            last_at: 0,
            marks: Vec::new(),
        }
    }

    /// Whether it holds no frame.
    pub(crate) fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// Notes that the frame `sequence`, made at `at`, stands at `offset`. Frames come in order.
    pub(crate) fn note(&mut self, sequence: u64, at: u64, offset: u64) {
        if self.marks.is_empty() {
            self.first_at = at;
        }
        self.last = self.last.max(sequence);
        self.last_at = self.last_at.max(at);
        let due = self.marks.last().is_none_or(|mark| {
            offset >= u64::from(mark.offset) + MARK_EVERY_BYTES
                || at >= self.first_at + u64::from(mark.at) + MARK_EVERY_MS
        });
        if due {
            self.marks.push(Mark {
                sequence: u32::try_from(sequence.saturating_sub(self.after)).unwrap_or(u32::MAX),
                offset: u32::try_from(offset).unwrap_or(u32::MAX),
                at: u32::try_from(at.saturating_sub(self.first_at)).unwrap_or(u32::MAX),
            });
        }
    }

    /// Offset at or before the frame `sequence`, at most 16 KiB and one frame away from it.
    pub(crate) fn offset_before(&self, sequence: u64) -> u64 {
        let wanted = u32::try_from(sequence.saturating_sub(self.after)).unwrap_or(u32::MAX);
        let after = self.marks.partition_point(|mark| mark.sequence <= wanted);
        let mark = after.checked_sub(1).and_then(|before| self.marks.get(before));
        mark.map_or(HEADER_BYTES as u64, |mark| u64::from(mark.offset))
    }

    /// All sequences up to the one returned were made at `at` or before.
    pub(crate) fn sequence_until(&self, at: u64) -> u64 {
        if !self.marks.is_empty() && self.last_at <= at {
            return self.last;
        }
        let later = self
            .marks
            .partition_point(|mark| self.first_at + u64::from(mark.at) <= at);
        // Frames after the last mark in time may be younger than it.
        let mark = later.checked_sub(1).and_then(|last| self.marks.get(last));
        mark.map_or(self.after, |mark| self.after + u64::from(mark.sequence))
    }

    /// Bytes of memory taken.
    pub(crate) fn memory(&self) -> usize {
        size_of::<Self>() + self.marks.capacity() * size_of::<Mark>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        let cleaned = Some(Cleaned {
            covers_through: 9,
            last: 700,
            at: 650,
        });
        Header {
            number: 6,
            seed: 0xfeed,
            epoch: 3,
            after: 500,
            begun: true,
            cleaned,
        }
    }

    #[test]
    fn a_header_survives_damage_to_either_copy() {
        let bytes = header().encode();
        assert_eq!(bytes.len(), HEADER_BYTES);
        assert_eq!(Header::decode(&bytes), Ok((header(), false)));
        for at in 0..HEADER_BYTES {
            let mut bad = bytes.clone();
            bad[at] ^= 1;
            assert_eq!(Header::decode(&bad), Ok((header(), true)), "byte {at}");
        }
    }

    #[test]
    fn another_version_is_told_from_damage() {
        let mut copy = header().encode();
        copy.truncate(COPY_BYTES);
        put(&mut copy, 8, &2u32.to_le_bytes());
        let checksum = crc32c::crc32c(&copy[..COPY_BYTES - 4]);
        put(&mut copy, COPY_BYTES - 4, &checksum.to_le_bytes());
        assert_eq!(Header::decode(&copy.repeat(2)), Err(BadHeader::Version(2)));
        assert_eq!(Header::decode(&[0; HEADER_BYTES]), Err(BadHeader::Damaged));
    }

    #[test]
    fn names_carry_the_number() {
        assert_eq!(number(&name(0x2a)), Some(0x2a));
        assert_eq!(number("0000.segment"), None);
        assert_eq!(number("lock"), None);
    }
}
