//! Copies the survivors of a run of segments into one.
//!
//! Invariant: an entry that is pending for a lane is copied with its sequence, index and time; an acknowledgement is left
//! out only when nothing on the disk can need it any more. Decides neither what to clean nor when it takes effect.

use std::io;
use std::sync::Arc;

use crate::core::{Core, lock};
use crate::disk::DiskFile;
use crate::frame::{ACK_BYTES, AckRange, Frame, FrameWriter, Kind, finish, parse_own, prepare};
use crate::id::{CursorId, EntryId};
use crate::scan::{Found, Scanner};
use crate::segment::{CLEANED_NAME, Cleaned, HEADER_BYTES, Header, Segment};

/// Written at once.
const BLOCK_BYTES: usize = 1 << 20;

/// What to clean.
pub(crate) struct Plan {
    /// The segments to be replaced, in order, without a gap.
    pub sources: Vec<Source>,
    /// All segments before them.
    pub older: Vec<Older>,
    /// Last sequence in the sources.
    pub last: u64,
    /// Acknowledgements up to this sequence are in effect.
    pub at: u64,
}

/// A segment to be replaced.
pub(crate) struct Source {
    pub number: u64,
    pub file: Arc<dyn DiskFile>,
    pub end: u64,
    pub after: u64,
    /// Nothing in it is needed, so it need not be read.
    pub dead: bool,
}

/// A segment that stays, as far as acknowledgements are concerned.
pub(crate) struct Older {
    pub after: u64,
    pub last: u64,
    /// Acknowledgements up to this sequence were taken into account when it was cleaned.
    pub at: u64,
}

/// The segment being written.
struct Copy {
    segment: Segment,
    pending: Vec<u8>,
    written: u64,
}

impl Core {
    /// Writes the survivors of `plan` to a file of the name [`CLEANED_NAME`], not yet synced.
    pub(crate) fn rewrite(&self, plan: &Plan) -> io::Result<Segment> {
        let (Some(first), Some(last)) = (plan.sources.first(), plan.sources.last()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let cleaned = Cleaned {
            covers_through: last.number,
            last: plan.last,
            at: plan.at,
        };
        let header = Header {
            number: first.number,
            seed: self.checksum.seed,
            epoch: self.epoch,
            after: first.after,
            begun: true,
            cleaned: Some(cleaned),
        };
        let file = self.disk.create(CLEANED_NAME, HEADER_BYTES as u64)?;
        file.write_at(0, &header.encode())?;
        let segment = Segment::new(&header, file, 0);
        let mut copy = Copy {
            segment,
            pending: Vec::new(),
            written: HEADER_BYTES as u64,
        };
        for source in plan.sources.iter().filter(|source| !source.dead) {
            let span = (HEADER_BYTES as u64, source.end);
            let mut scanner = Scanner::new(&*source.file, self.checksum, span, source.after);
            loop {
                match scanner.next()? {
                    Found::Frame { frame, .. } if frame.kind == Kind::Append => {
                        self.copy_survivors(&frame, plan, &mut copy)?;
                    }
                    // Recovery has reported it, or reading will: it cannot be copied.
                    Found::Frame { .. } | Found::Damage { .. } => {}
                    Found::End => break,
                }
            }
        }
        copy.flush()?;
        copy.segment.file_bytes = copy.written;
        copy.segment.end = copy.written;
        Ok(copy.segment)
    }

    fn copy_survivors(&self, frame: &Frame<'_>, plan: &Plan, copy: &mut Copy) -> io::Result<()> {
        let start = copy.pending.len();
        let mut writer = FrameWriter::new(&mut copy.pending, frame.at);
        {
            let index = lock(&self.index);
            let mut lanes: Vec<CursorId> = Vec::new();
            for entry in frame.entries() {
                let id = EntryId::new(frame.sequence, entry.index);
                lanes.clear();
                lanes.extend(entry.lanes().filter(|lane| index.cursors.contains(*lane, id)));
                if !lanes.is_empty() {
                    writer.entry(entry.index, lanes.iter().copied(), entry.body);
                }
            }
        }
        frame
            .acks()
            .filter(|range| plan.needs(frame.sequence, range))
            .for_each(|range| writer.ack(&range));
        if writer.is_empty() {
            writer.abandon();
            return Ok(());
        }
        writer.end();
        if let Some(bytes) = copy.pending.get_mut(start..) {
            prepare(bytes, self.checksum);
            finish(bytes, frame.sequence, 0);
        }
        copy.note(start);
        match copy.pending.len() >= BLOCK_BYTES {
            true => copy.flush(),
            false => Ok(()),
        }
    }
}

impl Plan {
    /// Whether the acknowledgement `range`, logged at `sequence`, is about entries that are still on the disk and were
    /// not left out already. Entries of the sources themselves are left out by the copying.
    fn needs(&self, sequence: u64, range: &AckRange) -> bool {
        let (first, last) = (range.first.sequence.0, range.last.sequence.0);
        let from = self.older.partition_point(|older| older.last < first);
        let met = self
            .older
            .iter()
            .skip(from)
            .take_while(|older| older.after < last);
        !range.is_nothing() && met.into_iter().any(|older| older.at < sequence)
    }
}

impl Copy {
    /// Notes the frame that begins at `start` of what is pending.
    fn note(&mut self, start: usize) {
        let Some(frame) = self.pending.get(start..).and_then(parse_own) else {
            return;
        };
        let segment = &mut self.segment;
        segment.note(frame.sequence, frame.at, self.written + start as u64);
        segment.postings += frame
            .entries()
            .map(|entry| entry.lanes().len() as u64)
            .sum::<u64>();
        segment.ack_bytes += (frame.ack_count() * ACK_BYTES) as u64;
        let lowest = frame.acks().map(|range| range.first.sequence.0).min();
        segment.acks_from = segment.acks_from.min(lowest.unwrap_or(u64::MAX));
    }

    fn flush(&mut self) -> io::Result<()> {
        self.segment.file.write_at(self.written, &self.pending)?;
        self.written += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }
}
