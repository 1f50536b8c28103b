//! Reading a cursor's entries, oldest first.
//!
//! Invariant: every entry returned passed its checksum; one that does not is returned as lost, never left out. No lock is
//! held while the disk works. Keeps no position: the reader does.

use std::io;
use std::sync::Arc;

use bytes::Bytes;

use crate::core::{Core, lock};
use crate::damage::Damage;
use crate::error::{Lost, ReadError};
use crate::frame::{Checksum, EntryView};
use crate::id::{CursorId, EntryId, Sequence, Timestamp};
use crate::index::Place;
use crate::scan::{Found, Scanner};

/// Read at once for a single entry: one mark's distance and a frame.
const SINGLE_BYTES: usize = 24 << 10;
/// Read at once for several entries.
const MANY_BYTES: usize = 256 << 10;

/// An entry as its cursor's owner gets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Its identity, the same at every reading.
    pub entry: EntryId,
    /// When it was appended.
    pub at: Timestamp,
    /// Its bytes, in memory of their own.
    pub body: Bytes,
}

/// How much to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadLimit {
    /// At most so many entries.
    pub entries: usize,
    /// No further entry once the bodies have so many bytes.
    pub bytes: usize,
}

/// What was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadBatch {
    /// Entries in order.
    pub deliveries: Vec<Delivery>,
    /// Entries among them that are damaged on the disk.
    pub lost: Vec<Lost>,
}

impl ReadBatch {
    /// The last entry of either kind: where to read on.
    pub fn last(&self) -> Option<EntryId> {
        let delivered = self.deliveries.last().map(|delivery| delivery.entry);
        delivered.max(self.lost.last().map(|lost| lost.entry))
    }
}

impl Core {
    /// Reads the pending entries of `cursor` after `after`.
    pub(crate) fn read(
        &self,
        cursor: CursorId,
        after: EntryId,
        limit: ReadLimit,
    ) -> Result<ReadBatch, ReadError> {
        let places = lock(&self.index).locate(cursor, after, limit.entries);
        let mut batch = ReadBatch::default();
        let mut left = limit.bytes;
        for places in places.chunk_by(|one, next| one.segment == next.segment) {
            if left == 0 {
                break;
            }
            read_segment(places, self.checksum, &mut left, &mut batch)?;
        }
        Ok(batch)
    }
}

/// Reads `places`, all of one segment, until `left` bytes are used up.
fn read_segment(
    places: &[Place],
    checksum: Checksum,
    left: &mut usize,
    batch: &mut ReadBatch,
) -> Result<(), ReadError> {
    let Some(first) = places.first() else {
        return Ok(());
    };
    let file = Arc::clone(&first.file);
    let block = if places.len() == 1 {
        SINGLE_BYTES
    } else {
        MANY_BYTES
    };
    let mut scanner = Scanner::new(&*file, checksum, (first.from, first.end), 0).reading(block);
    // Where the last entry's frame begins: the next entry may stand in the same one.
    let mut frame = (Sequence(0), 0);
    for place in places {
        if *left == 0 {
            return Ok(());
        }
        if frame.0 == place.entry.sequence {
            scanner.seek(frame.1);
        }
        if place.from > scanner.offset() {
            scanner.seek(place.from);
        }
        match find(&mut scanner, place) {
            Ok(Ok((delivery, offset))) => {
                frame = (place.entry.sequence, offset);
                *left = left.saturating_sub(delivery.body.len().max(1));
                batch.deliveries.push(delivery);
            }
            Ok(Err(damage)) => batch.lost.push(Lost {
                entry: place.entry,
                damage,
            }),
            Err(source) => {
                let (segment, offset) = (place.segment, scanner.offset());
                return Err(ReadError::Disk {
                    segment,
                    offset,
                    source,
                });
            }
        }
    }
    Ok(())
}

/// The entry of `place` and where its frame begins, or the damage that stands there instead. Leaves the scanner behind that
/// frame, or at the first one that comes after the place.
fn find(scanner: &mut Scanner<'_>, place: &Place) -> io::Result<Result<(Delivery, u64), Damage>> {
    let sequence = place.entry.sequence;
    let lost = Some((sequence, sequence));
    let mut damage = Damage {
        segment: place.segment,
        offset: place.from,
        bytes: 0,
        lost,
    };
    loop {
        let before = scanner.offset();
        match scanner.next()? {
            Found::Frame { frame, .. } if Sequence(frame.sequence) < sequence => {}
            // A mark bears the sequence of the append before it.
            Found::Frame { frame, .. }
                if frame.entry_count() == 0 && Sequence(frame.sequence) == sequence => {}
            Found::Frame { offset, frame } => {
                let same = Sequence(frame.sequence) == sequence;
                let entry = frame
                    .entries()
                    .find(|entry| same && entry.index == place.entry.index);
                let found = entry.map(|entry| (delivery(place.entry, frame.at, &entry), offset));
                if found.is_none() {
                    scanner.seek(before);
                }
                return Ok(found.ok_or(damage));
            }
            Found::Damage { offset, bytes } => (damage.offset, damage.bytes) = (offset, bytes),
            Found::End => {
                scanner.seek(before);
                return Ok(Err(damage));
            }
        }
    }
}

fn delivery(entry: EntryId, at: u64, view: &EntryView<'_>) -> Delivery {
    Delivery {
        entry,
        at: Timestamp(at),
        body: Bytes::copy_from_slice(view.body),
    }
}
