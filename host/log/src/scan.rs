//! Walks the frames of one segment and finds the way back after damage.
//!
//! Invariant: what is returned as a frame passed its checksum; every byte that belongs to no frame and is not part of the
//! zeros at the end is returned as damage. Decides nothing: what a gap means is recovery's matter.

use std::io;

use crate::disk::DiskFile;
use crate::frame::{
    ALIGNMENT, Checksum, Frame, HEADER_BYTES as FRAME_HEADER, Parsed, claimed_sequence, parse, parse_own,
};

/// Read at once.
const BLOCK_BYTES: usize = 1 << 20;
/// A header that claims a sequence further than this from the segment's first is not looked at twice.
const SEQUENCES_MAX: u64 = 1 << 32;

/// What stands at an offset.
#[derive(Debug)]
pub(crate) enum Found<'w> {
    Frame { offset: u64, frame: Frame<'w> },
    Damage { offset: u64, bytes: u64 },
    End,
}

/// A walk through one segment from front to back.
pub(crate) struct Scanner<'f> {
    window: Window<'f>,
    checksum: Checksum,
    offset: u64,
    end: u64,
    /// No sequence in the segment is below; resynchronising relies on it.
    after: u64,
}

impl<'f> Scanner<'f> {
    /// Walks `file` from the offset `span.0` to `span.1`. No sequence in it is below `after`.
    pub(crate) fn new(file: &'f dyn DiskFile, checksum: Checksum, span: (u64, u64), after: u64) -> Self {
        Self {
            window: Window::new(file, BLOCK_BYTES),
            checksum,
            offset: span.0,
            end: span.1,
            after,
        }
    }

    /// Reads `bytes` at once, for a short walk.
    pub(crate) fn reading(mut self, bytes: usize) -> Self {
        self.window.block = bytes;
        self
    }

    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Goes on from `offset`, where a frame begins.
    pub(crate) fn seek(&mut self, offset: u64) {
        self.offset = offset;
    }

    pub(crate) fn next(&mut self) -> io::Result<Found<'_>> {
        let offset = self.offset;
        match frame_size(&mut self.window, self.checksum, offset, self.end)? {
            Some(size) => {
                self.offset += size as u64;
                // The very bytes that were checked a moment ago, still in the window.
                let frame = parse_own(self.window.at(offset, size)?);
                let frame = frame.ok_or(io::ErrorKind::UnexpectedEof)?;
                Ok(Found::Frame { offset, frame })
            }
            None => self.resynchronise(),
        }
    }

    /// Looks for the next frame behind bytes that are none.
    fn resynchronise(&mut self) -> io::Result<Found<'_>> {
        let from = self.offset;
        let mut nonzero_end = from;
        let mut offset = from;
        while offset < self.end {
            let bytes = self.window.at(offset, FRAME_HEADER)?;
            let bytes = bytes
                .get(..(self.end - offset).min(bytes.len() as u64) as usize)
                .unwrap_or(bytes);
            let word = bytes.get(..ALIGNMENT.min(bytes.len())).unwrap_or(bytes);
            if word.is_empty() {
                break;
            }
            // What was reserved and not used is zeros, mostly tens of megabytes of them.
            let blank = bytes
                .chunks_exact(ALIGNMENT)
                .take_while(|word| is_blank(word))
                .count()
                * ALIGNMENT;
            if blank > 0 {
                offset += blank as u64;
                continue;
            }
            let blank = is_blank(word);
            let plausible = claimed_sequence(bytes)
                .is_some_and(|claimed| claimed >= self.after && claimed - self.after < SEQUENCES_MAX);
            if offset > from && !blank && plausible {
                let found = frame_size(&mut self.window, self.checksum, offset, self.end)?;
                if found.is_some() {
                    self.offset = offset;
                    return Ok(Found::Damage {
                        offset: from,
                        bytes: offset - from,
                    });
                }
            }
            offset += ALIGNMENT as u64;
            if !blank {
                nonzero_end = offset.min(self.end);
            }
        }
        self.offset = self.end;
        match nonzero_end - from {
            0 => Ok(Found::End),
            bytes => Ok(Found::Damage { offset: from, bytes }),
        }
    }
}

fn is_blank(word: &[u8]) -> bool {
    word.iter().all(|byte| *byte == 0)
}

/// Bytes of the frame at `offset`, if there is one that ends before `end`.
fn frame_size(
    window: &mut Window<'_>,
    checksum: Checksum,
    offset: u64,
    end: u64,
) -> io::Result<Option<usize>> {
    let mut wanted = FRAME_HEADER;
    loop {
        if offset + wanted as u64 > end {
            return Ok(None);
        }
        let bytes = window.at(offset, wanted)?;
        if bytes.len() < wanted {
            return Ok(None);
        }
        match parse(bytes, checksum) {
            // The window may see further than the segment goes.
            Parsed::Frame(frame) if offset + frame.size as u64 > end => return Ok(None),
            Parsed::Frame(frame) => return Ok(Some(frame.size)),
            Parsed::Incomplete(size) => wanted = size,
            Parsed::Invalid => return Ok(None),
        }
    }
}

/// The bytes of a file around the place that is being looked at.
pub(crate) struct Window<'f> {
    file: &'f dyn DiskFile,
    bytes: Vec<u8>,
    start: u64,
    block: usize,
}

impl<'f> Window<'f> {
    /// Reads `block` bytes at once.
    pub(crate) fn new(file: &'f dyn DiskFile, block: usize) -> Self {
        Self {
            file,
            bytes: Vec::new(),
            start: 0,
            block,
        }
    }

    /// The bytes from `offset` on: at least `wanted` of them unless the file ends before.
    pub(crate) fn at(&mut self, offset: u64, wanted: usize) -> io::Result<&[u8]> {
        let held = offset.checked_sub(self.start).map(|skipped| skipped as usize);
        let held = held.filter(|skipped| self.bytes.len().saturating_sub(*skipped) >= wanted);
        let skipped = match held {
            Some(skipped) => skipped,
            None => {
                self.load(offset, wanted)?;
                0
            }
        };
        Ok(self.bytes.get(skipped..).unwrap_or(&[]))
    }

    fn load(&mut self, offset: u64, wanted: usize) -> io::Result<()> {
        let size = wanted.max(self.block);
        let kept = match offset.checked_sub(self.start) {
            Some(skipped) if (skipped as usize) < self.bytes.len() => {
                self.bytes.drain(..skipped as usize);
                self.bytes.len()
            }
            _ => 0,
        };
        self.start = offset;
        self.bytes.resize(size.max(kept), 0);
        let rest = self.bytes.get_mut(kept..).unwrap_or_default();
        let read = match self.file.read_at(offset + kept as u64, rest) {
            Ok(read) => read,
            Err(error) => {
                self.bytes.clear();
                return Err(error);
            }
        };
        self.bytes.truncate(kept + read);
        Ok(())
    }
}
