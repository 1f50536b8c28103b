//! The bounded hand-over between the workers and the commit thread.
//!
//! Invariant: what is taken has its sequence and its room on the disk, so that it fails only if the disk does. Room is
//! counted here exactly as the commit thread will use it. Does not touch the disk.

use std::sync::Arc;

use crate::batch::Batch;
use crate::error::AppendError;
use crate::frame::{MARK_BYTES, finish};
use crate::segment::HEADER_BYTES;

/// Frames for one segment, in order.
#[derive(Debug, Default)]
pub(crate) struct Piece {
    /// The next prepared segment is to be taken into use first.
    pub rotate: bool,
    pub bytes: Vec<u8>,
}

/// What an append was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// Sequence of the batch's first append; the others follow one by one.
    pub first: crate::Sequence,
    /// Sequence of its last append.
    pub last: crate::Sequence,
}

/// Frames that wait for the commit thread, and the room they were promised.
#[derive(Debug)]
pub(crate) struct Staging {
    /// Sequence of the next frame.
    pub next: u64,
    last_at: u64,
    pieces: Vec<Piece>,
    /// Bytes that wait.
    pub queued: usize,
    queued_max: usize,
    segment_bytes: u64,
    /// Room left in the segment that will be written last, once all pieces are written.
    left: u64,
    /// Prepared segments not promised yet.
    pub spares: usize,
    /// Why no further segment could be prepared.
    pub no_room: Option<Arc<str>>,
    pub poisoned: Option<Arc<str>>,
    pub closed: bool,
    /// The commit thread waits and is to be woken at so many queued bytes.
    pub wake_at: Option<usize>,
    /// Kept for the next piece, so that a commit does not begin with page faults.
    recycled: Option<Vec<u8>>,
}

impl Staging {
    pub(crate) fn new(next: u64, last_at: u64, segment_bytes: u64, queued_max: usize) -> Self {
        Self {
            next,
            last_at,
            pieces: Vec::new(),
            queued: 0,
            queued_max,
            segment_bytes,
            left: 0,
            spares: 0,
            no_room: None,
            poisoned: None,
            closed: false,
            wake_at: None,
            recycled: None,
        }
    }

    /// Bytes of frames a segment has room for. The last mark always fits behind them.
    fn capacity(&self) -> u64 {
        self.segment_bytes - HEADER_BYTES as u64 - MARK_BYTES as u64
    }

    /// Room that only acknowledgements may use: they are what frees a full disk.
    fn reserve(&self) -> u64 {
        self.capacity() / 16
    }

    /// Takes all of `batch`, whose frames have the checksums of their content, or nothing.
    pub(crate) fn append(&mut self, batch: &mut Batch, only_acks: bool) -> Result<Appended, AppendError> {
        self.check(batch, only_acks)?;
        let first = self.next;
        let frames: &[u32] = &batch.frames;
        let mut rest = batch.bytes.as_mut_slice();
        for &size in frames {
            let Some((frame, after)) = std::mem::take(&mut rest).split_at_mut_checked(size as usize) else {
                break;
            };
            rest = after;
            self.last_at = finish(frame, self.next, self.last_at);
            self.next += 1;
            self.place(frame);
        }
        self.queued += batch.bytes.len();
        Ok(Appended {
            first: crate::Sequence(first),
            last: crate::Sequence(self.next - 1),
        })
    }

    fn check(&self, batch: &Batch, only_acks: bool) -> Result<(), AppendError> {
        if let Some(reason) = &self.poisoned {
            return Err(AppendError::Poisoned {
                reason: Arc::clone(reason),
            });
        }
        if self.closed {
            return Err(AppendError::Closed);
        }
        let max = self.capacity() - self.reserve();
        if batch.largest() as u64 > max {
            return Err(AppendError::TooLarge {
                size: batch.largest(),
                max: max as usize,
            });
        }
        if batch.size() > self.queued_max {
            return Err(AppendError::TooLarge {
                size: batch.size(),
                max: self.queued_max,
            });
        }
        let full = AppendError::Full {
            queued: self.queued,
            limit: self.queued_max,
        };
        if self.queued + batch.size() > self.queued_max {
            return Err(full);
        }
        let (mut left, mut spares) = (self.left, self.spares);
        for size in batch.frames.iter().map(|size| u64::from(*size)) {
            let kept = if only_acks || spares > 0 {
                0
            } else {
                self.reserve()
            };
            if left >= size + kept {
                left -= size;
            } else if spares > 0 {
                spares -= 1;
                left = self.capacity() - size;
            } else {
                // Without a reason, the next segment is only being prepared.
                return Err(self
                    .no_room
                    .clone()
                    .map_or(full, |reason| AppendError::NoRoom { reason }));
            }
        }
        Ok(())
    }

    fn place(&mut self, frame: &[u8]) {
        let size = frame.len() as u64;
        let rotate = self.left < size;
        if rotate {
            self.spares = self.spares.saturating_sub(1);
            self.left = self.capacity();
        }
        if rotate || self.pieces.is_empty() {
            self.pieces.push(Piece {
                rotate,
                bytes: self.recycled.take().unwrap_or_default(),
            });
        }
        if let Some(piece) = self.pieces.last_mut() {
            piece.bytes.extend_from_slice(frame);
        }
        self.left -= size;
    }

    /// Everything that waits, and the last sequence in it.
    pub(crate) fn take(&mut self) -> (Vec<Piece>, u64) {
        self.queued = 0;
        (std::mem::take(&mut self.pieces), self.next - 1)
    }

    /// Takes an emptied buffer back.
    pub(crate) fn recycle(&mut self, mut bytes: Vec<u8>) {
        bytes.clear();
        if bytes.capacity() <= self.queued_max && self.recycled.is_none() {
            self.recycled = Some(bytes);
        }
    }

    /// Room for a mark in the segment being written, unless what waits goes on in another. Returns the time it bears.
    pub(crate) fn reserve_mark(&mut self) -> Option<u64> {
        let moved_on = self.pieces.iter().any(|piece| piece.rotate);
        if moved_on || self.left < MARK_BYTES as u64 {
            return None;
        }
        self.left -= MARK_BYTES as u64;
        Some(self.last_at)
    }

    pub(crate) fn last_at(&self) -> u64 {
        self.last_at
    }
}
