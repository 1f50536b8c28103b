//! Taking batches and acknowledgements from the workers.
//!
//! Invariant: never waits for the disk. An acknowledgement is narrowed to what its cursor can read at that moment, so that
//! replaying it never touches an entry that came later.

use crate::batch::{Ack, Batch};
use crate::core::{Core, lock};
use crate::error::AppendError;
use crate::frame::{ACK_BYTES, AckRange, prepare, resolve_acks};
use crate::id::Timestamp;
use crate::segment::HEADER_BYTES;
use crate::staging::Appended;

/// Acknowledgements in one frame.
const ACKS_IN_FRAME_MAX: usize = 4096;

impl Core {
    /// Hands `batch` over and empties it; on an error it stays as it was.
    pub(crate) fn append(&self, batch: &mut Batch) -> Result<Appended, AppendError> {
        if batch.has_acks {
            let index = lock(&self.index);
            batch.for_each_frame(|frame| resolve_acks(frame, |range| index.narrow(range)));
        }
        self.hand_over(batch, false)
    }

    /// Takes what `acks` cover from their cursors at once; durable with a later commit. Returns how many entries it was.
    pub(crate) fn ack(&self, acks: &[Ack]) -> u64 {
        let mut ranges = Vec::with_capacity(acks.len());
        let mut entries = 0;
        {
            let mut index = lock(&self.index);
            for ack in acks {
                let range = index.narrow(ack.0);
                if !range.is_nothing() {
                    entries += index.acknowledge(&range).entries;
                    ranges.push(range);
                }
            }
        }
        self.log_acks(ranges);
        entries
    }

    /// Logs acknowledgements that took effect already, now or as soon as the log takes them.
    pub(crate) fn log_acks(&self, ranges: Vec<AckRange>) {
        let mut waiting = lock(&self.index).take_unlogged();
        waiting.extend(ranges);
        let in_frame = (self.options.segment_bytes as usize - HEADER_BYTES) / 2 / ACK_BYTES;
        let mut batch = Batch::default();
        let mut rest = waiting.as_slice();
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(in_frame).min(ACKS_IN_FRAME_MAX));
            let acks: Vec<Ack> = now.iter().copied().map(Ack).collect();
            let at = Timestamp(lock(&self.staging).last_at());
            let logged = batch.push(at, &[], &acks).is_ok() && self.hand_over(&mut batch, true).is_ok();
            if !logged {
                lock(&self.index).keep_unlogged(rest.iter().copied());
                return;
            }
            rest = later;
        }
    }

    fn hand_over(&self, batch: &mut Batch, only_acks: bool) -> Result<Appended, AppendError> {
        let checksum = self.checksum;
        batch.for_each_frame(|frame| prepare(frame, checksum));
        let (appended, wake) = {
            let mut staging = lock(&self.staging);
            let appended = staging.append(batch, only_acks)?;
            let wake = staging.wake_at.is_some_and(|bytes| staging.queued >= bytes);
            if wake {
                staging.wake_at = None;
            }
            (appended, wake)
        };
        if wake {
            self.staged.notify_one();
        }
        batch.clear();
        Ok(appended)
    }
}
