//! Judges the frames of all segments, front to back: which stay, what is missing, where the log is torn.
//!
//! Invariant: a frame stays if it was committed, or if nothing is missing before it. Changes nothing on the disk.

use std::io;
use std::sync::Arc;

use crate::damage::{Damage, TornTail};
use crate::frame::{Checksum, Kind};
use crate::index::Index;
use crate::recovery::{Opened, Recovery};
use crate::scan::{Found, Scanner};
use crate::segment::{HEADER_BYTES, Header, Segment};
use crate::step::{Omitted, Step};

/// Damage reported place by place; beyond it only counted.
const DAMAGE_MAX: usize = 10_000;

/// What a segment held.
pub(crate) enum Content {
    Frames,
    /// Nothing that is kept.
    Nothing,
    /// Something, which cannot be checked without its header.
    Unreadable,
}

/// What a walk through a segment met.
#[derive(Default)]
struct Walked {
    /// Sequence of the first frame that stays.
    first: Option<u64>,
    damaged: bool,
}

/// One pass over all segments from front to back.
pub(crate) struct Pass {
    pub index: Index,
    pub report: Recovery,
    /// Left out by the proofs.
    pub omitted: Omitted,
    pub checksum: Checksum,
    pub committed: u64,
    /// What the first segment says comes before it.
    floor: Option<u64>,
    /// Sequence of the next frame; `None` while that is not known.
    pub expected: Option<u64>,
    /// Damage whose meaning the next frame tells.
    open_damage: Vec<Damage>,
    /// Where marks were torn although the frames behind them are whole, and through which sequence they were.
    pub torn_marks: Vec<(Damage, u64)>,
    /// Headers of which only one copy is left, in segments whose frames were never committed.
    pub torn_headers: Vec<Header>,
}

impl Pass {
    pub(crate) fn new(checksum: Checksum, committed: u64, epoch: u64) -> Self {
        let report = Recovery {
            epoch,
            ..Recovery::default()
        };
        let (index, floor, expected, open_damage) = (Index::default(), None, None, Vec::new());
        let (omitted, torn_marks, torn_headers) = (Omitted::default(), Vec::new(), Vec::new());
        Self {
            index,
            report,
            omitted,
            checksum,
            committed,
            floor,
            expected,
            open_damage,
            torn_marks,
            torn_headers,
        }
    }

    pub(crate) fn torn(&self) -> bool {
        self.report.torn.is_some()
    }

    /// Reads one segment.
    pub(crate) fn read(&mut self, one: &Opened) -> io::Result<Content> {
        let header = one.header;
        if self.floor.is_none() {
            self.floor = Some(header.after);
            self.expected = header.begun.then_some(header.after + 1);
        }
        let segment = Segment::new(&header, Arc::clone(&one.file), one.size);
        match header.cleaned {
            Some(_) => self.index.segments.push(segment),
            None => self.index.begin(segment),
        }
        let walked = self.walk(one)?;
        if let Some(cleaned) = header.cleaned {
            self.settle_damage(None);
            self.expected = Some(cleaned.last + 1);
            self.index.applied = self.index.applied.max(cleaned.last);
        }
        self.report.segments += 1;
        self.report.bytes += self.index.segments.last().map_or(0, |segment| segment.end);
        if walked.first.is_none() && header.cleaned.is_none() {
            self.index.segments.pop();
            return Ok(match walked.damaged && self.checksum.seed == 0 {
                true => Content::Unreadable,
                false => Content::Nothing,
            });
        }
        if one.header_damaged {
            self.judge_header(&header, walked.first);
        }
        Ok(Content::Frames)
    }

    /// Applies the frames of `one` up to its end, or to where the log is torn.
    fn walk(&mut self, one: &Opened) -> io::Result<Walked> {
        let header = &one.header;
        let span = (HEADER_BYTES as u64, one.size);
        let mut scanner = Scanner::new(&*one.file, self.checksum, span, header.after);
        let mut walked = Walked::default();
        while !self.torn() {
            match scanner.next()? {
                Found::Frame { offset, frame } => {
                    if frame.kind == Kind::Append {
                        if !self.judge(frame.sequence, header, offset) {
                            continue;
                        }
                        walked.first.get_or_insert(frame.sequence);
                        self.report.frames += 1;
                    }
                    self.index.apply(&frame, offset);
                }
                Found::Damage { offset, bytes } => {
                    walked.damaged = true;
                    let segment = header.number;
                    self.open_damage.push(Damage {
                        segment,
                        offset,
                        bytes,
                        lost: None,
                    });
                }
                Found::End => break,
            }
        }
        Ok(walked)
    }

    /// One copy of `header` or both are damaged: torn with frames that were never committed, or rotten.
    fn judge_header(&mut self, header: &Header, first: Option<u64>) {
        let uncommitted = first.filter(|first| *first > self.committed && header.cleaned.is_none());
        match uncommitted.zip(self.index.segments.last()) {
            Some((first, segment)) => {
                let (seed, after) = (self.checksum.seed, segment.after.max(first - 1));
                self.torn_headers.push(Header {
                    seed,
                    after,
                    begun: true,
                    ..*header
                });
            }
            None => {
                let (segment, bytes) = (header.number, HEADER_BYTES as u64);
                self.note(Damage {
                    segment,
                    offset: 0,
                    bytes,
                    lost: None,
                });
            }
        }
    }

    /// Whether the frame `sequence` at `offset` is to be kept, by what is missing before it.
    fn judge(&mut self, sequence: u64, header: &Header, offset: u64) -> bool {
        let unknown = self.expected.is_none() && header.cleaned.is_none();
        if unknown && sequence - 1 > self.committed.max(self.floor.unwrap_or(0)) {
            // What came before was never committed either, and cannot be told from what is missing.
            self.tear(sequence, header.number, offset);
            return false;
        }
        let expected = self.expected.unwrap_or(sequence);
        if sequence < expected {
            // A frame twice: the first one counts.
            return false;
        }
        if header.cleaned.is_some() {
            // Frames without survivors are missing rightly.
            self.settle_damage(None);
        } else if sequence > expected {
            if sequence - 1 > self.committed && !self.omitted.omits(Step::CutAtGap) {
                self.tear(expected, header.number, offset);
                return false;
            }
            if self.open_damage.is_empty() {
                self.open_damage.push(Damage {
                    segment: header.number,
                    offset,
                    bytes: 0,
                    lost: None,
                });
            }
            self.settle_damage(Some((expected, sequence - 1)));
        } else if sequence > self.committed {
            // Torn among frames that were never reported, and none is missing: it was a mark.
            self.torn_marks
                .extend(self.open_damage.drain(..).map(|damage| (damage, expected - 1)));
        } else {
            self.settle_damage(None);
        }
        self.expected = Some(sequence + 1);
        true
    }

    /// Everything from here on was never committed. What is missing before it may have been.
    fn tear(&mut self, expected: u64, segment: u64, offset: u64) {
        let none = Damage {
            segment,
            offset,
            bytes: 0,
            lost: None,
        };
        let from = self.open_damage.drain(..).next().unwrap_or(none);
        self.report.torn = Some(TornTail {
            segment: from.segment,
            offset: from.offset,
        });
        if expected <= self.committed {
            let lost = Some((crate::Sequence(expected), crate::Sequence(self.committed)));
            self.note(Damage { lost, ..from });
        }
    }

    /// The log ends here.
    pub(crate) fn finish(&mut self) {
        if self.torn() {
            return;
        }
        let expected = self.expected.unwrap_or(1);
        let end = self
            .index
            .segments
            .last()
            .map(|segment| (segment.number, segment.end));
        match end {
            Some((segment, offset)) if expected <= self.committed => {
                if self.open_damage.is_empty() {
                    self.open_damage.push(Damage {
                        segment,
                        offset,
                        bytes: 0,
                        lost: None,
                    });
                }
                self.settle_damage(Some((expected, self.committed)));
            }
            _ => {
                let torn = self.open_damage.drain(..).next();
                self.report.torn = torn.map(|one| TornTail {
                    segment: one.segment,
                    offset: one.offset,
                });
            }
        }
    }

    /// What was damaged is now known to have been committed, and `lost` with it.
    fn settle_damage(&mut self, lost: Option<(u64, u64)>) {
        let mut lost = lost.map(|(first, last)| (crate::Sequence(first), crate::Sequence(last)));
        for damage in std::mem::take(&mut self.open_damage) {
            self.note(Damage {
                lost: lost.take(),
                ..damage
            });
        }
    }

    fn note(&mut self, damage: Damage) {
        match self.report.damage.len() < DAMAGE_MAX {
            true => self.report.damage.push(damage),
            false => self.report.damage_more += 1,
        }
    }
}
