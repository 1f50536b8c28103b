//! Group commit: writes what waits, fsyncs it once, shows it to the cursors and reports it.
//!
//! ```text
//! staged -> written -> fsynced -> visible -> reported -> mark written (durable with the next fsync)
//! ```
//!
//! Invariant: a sequence is visible and reported only after the fsync that covers it and everything before it. A failed
//! fsync or write is never repeated: the log is poisoned. A disk that is full in spite of the reservation is waited for.

use std::io;
use std::sync::Arc;

use crate::core::{Core, lock};
use crate::disk::DiskFile;
use crate::frame::{MARK_BYTES, claimed_sequence, mark, parse_own};
use crate::id::Sequence;
use crate::segment::{HEADER_BYTES, Header, Segment};
use crate::staging::Piece;
use crate::step::Step;

/// Frames shown to the cursors before readers get their turn.
const SHOWN_AT_ONCE: usize = 512;

/// What the commit thread has to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Commit {
    /// Everything up to here is durable and can be read.
    Durable {
        /// The last sequence covered.
        through: Sequence,
    },
    /// A write or fsync failed: nothing after the last `Durable` is known to be on the disk, and nothing more will be.
    Poisoned {
        /// What the file system said.
        reason: Arc<str>,
    },
}

/// Who is told about commits. Called on the commit thread, so it must not block.
pub type OnCommit = Box<dyn FnMut(Commit) + Send>;

/// What one step of the commit came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    Nothing,
    Committed,
    /// The disk is full; what was taken is kept and tried again.
    Held,
    Poisoned,
}

/// The writing end of the log.
pub(crate) struct Committer {
    pub on_commit: OnCommit,
    /// The segment being written and where the next frame goes.
    active: Option<Active>,
    /// Taken from the staging and not committed yet.
    group: Group,
}

struct Active {
    file: Arc<dyn DiskFile>,
    end: u64,
    /// A mark was written that no fsync has covered.
    marked: bool,
}

#[derive(Default)]
struct Group {
    pieces: Vec<Piece>,
    through: u64,
    /// Where the pieces written so far begin, and the segment that each of them began.
    written: Vec<(u64, Option<Segment>)>,
    unsynced: Vec<Arc<dyn DiskFile>>,
}

impl Committer {
    pub(crate) fn new(on_commit: OnCommit) -> Self {
        Self {
            on_commit,
            active: None,
            group: Group::default(),
        }
    }

    /// Whether frames wait here for room on the disk.
    pub(crate) fn holds(&self) -> bool {
        !self.group.pieces.is_empty()
    }
}

impl Core {
    /// Commits what waits.
    pub(crate) fn commit(&self) -> Outcome {
        let mut committer = lock(&self.committer);
        if !committer.holds() {
            let mut staging = lock(&self.staging);
            if staging.poisoned.is_some() {
                return Outcome::Poisoned;
            }
            let (pieces, through) = staging.take();
            committer.group = Group {
                pieces,
                through,
                ..Group::default()
            };
        }
        if !committer.holds() {
            return Outcome::Nothing;
        }
        if let Err(error) = self.write(&mut committer) {
            return match is_full(&error) {
                true => {
                    lock(&self.staging).no_room = Some(Arc::from(error.to_string()));
                    Outcome::Held
                }
                false => self.poison(&mut committer, &error),
            };
        }
        let group = std::mem::take(&mut committer.group);
        if self.omitted.omits(Step::ReportAfterSync) {
            (committer.on_commit)(Commit::Durable {
                through: Sequence(group.through),
            });
        }
        if !self.omitted.omits(Step::SyncFrames) {
            for file in &group.unsynced {
                if let Err(error) = file.sync() {
                    return self.poison(&mut committer, &error);
                }
            }
        }
        let through = group.through;
        self.show(group);
        self.durable.advance(through);
        (committer.on_commit)(Commit::Durable {
            through: Sequence(through),
        });
        match self.write_mark(&mut committer, through) {
            Ok(()) => Outcome::Committed,
            Err(error) => self.poison(&mut committer, &error),
        }
    }

    /// Makes the last mark durable, so that the next recovery knows that nothing is torn.
    pub(crate) fn close(&self) {
        while self.commit() == Outcome::Committed {}
        let committer = lock(&self.committer);
        if let Some(active) = committer
            .active
            .as_ref()
            .filter(|_| lock(&self.staging).poisoned.is_none())
        {
            // Everything that was promised is durable already; without the mark the end merely counts as uncertain.
            let _ = active.file.sync();
        }
        lock(&self.staging).closed = true;
    }

    fn write(&self, committer: &mut Committer) -> io::Result<()> {
        let Committer { active, group, .. } = committer;
        for piece in group.pieces.iter_mut().skip(group.written.len()) {
            let mut begun = None;
            if piece.rotate || active.is_none() {
                begun = Some(self.begin_segment(active, &mut group.unsynced)?);
            }
            let Some(active) = active.as_mut() else { break };
            let mut result = Ok(());
            if let Some(segment) = &mut begun {
                segment.after = claimed_sequence(&piece.bytes).unwrap_or(1) - 1;
                result = active
                    .file
                    .write_at(0, &self.header_begun(segment).encode_first());
            }
            if let Err(error) = result.and_then(|()| active.file.write_at(active.end, &piece.bytes)) {
                if let Some(segment) = begun {
                    // Its turn comes again with the same piece.
                    lock(&self.spares).ready.push_front(segment);
                }
                return Err(error);
            }
            if group
                .unsynced
                .last()
                .is_none_or(|last| !Arc::ptr_eq(last, &active.file))
            {
                group.unsynced.push(Arc::clone(&active.file));
            }
            group.written.push((active.end, begun));
            active.end += piece.bytes.len() as u64;
            active.marked = false;
        }
        Ok(())
    }

    /// Takes the next prepared segment into use.
    fn begin_segment(
        &self,
        active: &mut Option<Active>,
        unsynced: &mut Vec<Arc<dyn DiskFile>>,
    ) -> io::Result<Segment> {
        let segment = lock(&self.spares).ready.pop_front();
        let segment = segment.ok_or_else(|| io::Error::other("no segment was prepared"))?;
        let file = Arc::clone(&segment.file);
        let end = HEADER_BYTES as u64;
        let left = active.replace(Active {
            file,
            end,
            marked: false,
        });
        if !self.omitted.omits(Step::SyncLeftMark) {
            unsynced.extend(left.filter(|left| left.marked).map(|left| left.file));
        }
        self.housekeeping.raise();
        Ok(segment)
    }

    fn header_begun(&self, segment: &Segment) -> Header {
        let (seed, epoch) = (self.checksum.seed, self.epoch);
        Header {
            number: segment.number,
            seed,
            epoch,
            after: segment.after,
            begun: true,
            cleaned: None,
        }
    }

    /// Shows the committed frames to the cursors.
    fn show(&self, group: Group) {
        for (piece, (offset, begun)) in group.pieces.into_iter().zip(group.written) {
            let mut offset = offset;
            let mut rest = piece.bytes.as_slice();
            if let Some(segment) = begun {
                lock(&self.index).begin(segment);
            }
            while !rest.is_empty() {
                let mut index = lock(&self.index);
                for _ in 0..SHOWN_AT_ONCE {
                    let Some(frame) = parse_own(rest) else {
                        rest = &[];
                        break;
                    };
                    index.apply(&frame, offset);
                    offset += frame.size as u64;
                    rest = rest.get(frame.size..).unwrap_or(&[]);
                }
            }
            lock(&self.staging).recycle(piece.bytes);
        }
    }

    fn write_mark(&self, committer: &mut Committer, through: u64) -> io::Result<()> {
        let Some(active) = committer.active.as_mut() else {
            return Ok(());
        };
        let Some(at) = lock(&self.staging).reserve_mark() else {
            return Ok(());
        };
        match active
            .file
            .write_at(active.end, &mark(through, at, self.checksum))
        {
            Ok(()) => {
                active.end += MARK_BYTES as u64;
                active.marked = true;
            }
            // The next frame goes where the mark would have stood.
            Err(error) if is_full(&error) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn poison(&self, committer: &mut Committer, error: &io::Error) -> Outcome {
        let reason: Arc<str> = Arc::from(error.to_string());
        lock(&self.staging).poisoned = Some(Arc::clone(&reason));
        committer.group = Group::default();
        (committer.on_commit)(Commit::Poisoned { reason });
        self.durable.interrupt();
        Outcome::Poisoned
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    )
}
