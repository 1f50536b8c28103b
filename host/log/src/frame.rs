//! Frames: one append each, as bytes. The figure stands in the crate's documentation.
//!
//! Invariant: every byte of a frame, padding included, is under its checksum, and the checksum is seeded with a secret of
//! the log, so that bytes inside a body can never pass for a frame. Knows nothing of files.

use crate::id::{CursorId, EntryId};

/// Frames begin at multiples of this, so that the search for the next one after damage is short.
pub(crate) const ALIGNMENT: usize = 8;
/// length, checksum, sequence, stamp.
pub(crate) const HEADER_BYTES: usize = 24;
/// A mark is a bare header.
pub(crate) const MARK_BYTES: usize = HEADER_BYTES;
/// entries, reserved, acknowledgements.
const COUNTS_BYTES: usize = 8;
/// index, reserved, lanes, length.
const ENTRY_BYTES: usize = 12;
/// cursor, both indexes, both sequences.
pub(crate) const ACK_BYTES: usize = 24;
const TIME_BITS: u32 = 48;

/// How the frames of one log are checked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Checksum {
    /// The log's secret.
    pub seed: u32,
    /// Only the proofs that checking matters set this.
    #[cfg(test)]
    pub ignored: bool,
}

impl Checksum {
    pub(crate) const fn new(seed: u32) -> Self {
        Self {
            seed,
            #[cfg(test)]
            ignored: false,
        }
    }

    /// Checksum of a frame's content, which does not need the sequence yet.
    pub(crate) fn of_content(self, content: &[u8]) -> u32 {
        crc32c::crc32c_append(self.seed, content)
    }

    fn matches(self, stored: u32, header: &[u8], content: &[u8]) -> bool {
        #[cfg(test)]
        if self.ignored {
            return true;
        }
        stored == seal(self.of_content(content), header)
    }
}

/// Checksum of a frame, from that of its content and its `header` with the checksum's place empty.
fn seal(content: u32, header: &[u8]) -> u32 {
    let (length, rest) = header.split_at_checked(4).unwrap_or((header, &[]));
    crc32c::crc32c_append(
        crc32c::crc32c_append(content, length),
        rest.get(4..).unwrap_or(&[]),
    )
}

/// What a frame is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Entries and acknowledgements.
    Append = 1,
    /// States that everything up to its sequence was fsynced. Carries nothing and counts as no append.
    Mark = 2,
}

/// A frame as it stands in a buffer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame<'a> {
    pub sequence: u64,
    /// Milliseconds since the Unix epoch.
    pub at: u64,
    pub kind: Kind,
    /// Bytes it takes in the file, padding included.
    pub size: usize,
    payload: &'a [u8],
}

/// One entry of a frame.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EntryView<'a> {
    pub index: u16,
    lanes: &'a [u8],
    pub body: &'a [u8],
}

impl<'a> EntryView<'a> {
    pub(crate) fn lanes(&self) -> impl ExactSizeIterator<Item = CursorId> + use<'a> {
        self.lanes.chunks_exact(4).map(|lane| CursorId(u32_at(lane, 0)))
    }
}

/// All pending entries of `cursor` from `first` to `last` are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AckRange {
    pub cursor: CursorId,
    pub first: EntryId,
    pub last: EntryId,
}

impl AckRange {
    /// Covers nothing.
    pub(crate) const fn nothing(cursor: CursorId) -> Self {
        Self {
            cursor,
            first: EntryId::END,
            last: EntryId::START,
        }
    }

    pub(crate) fn is_nothing(&self) -> bool {
        self.first > self.last
    }
}

/// What stands at the beginning of a buffer.
#[derive(Debug)]
pub(crate) enum Parsed<'a> {
    Frame(Frame<'a>),
    /// It may be a frame, of this size; the buffer ends before it.
    Incomplete(usize),
    Invalid,
}

/// Reads the frame at the beginning of `bytes`.
pub(crate) fn parse(bytes: &[u8], checksum: Checksum) -> Parsed<'_> {
    parse_if(bytes, |header, content| {
        checksum.matches(u32_at(header, 4), header, content)
    })
}

/// Reads the frame at the beginning of `bytes`, which never left this process.
pub(crate) fn parse_own(bytes: &[u8]) -> Option<Frame<'_>> {
    match parse_if(bytes, |_, _| true) {
        Parsed::Frame(frame) => Some(frame),
        Parsed::Incomplete(_) | Parsed::Invalid => None,
    }
}

fn parse_if(bytes: &[u8], intact: impl FnOnce(&[u8], &[u8]) -> bool) -> Parsed<'_> {
    let Some((header, rest)) = bytes.split_at_checked(HEADER_BYTES) else {
        return Parsed::Incomplete(HEADER_BYTES);
    };
    let length = u32_at(header, 0) as usize;
    let stamp = u64_at(header, 16);
    let kind = match stamp >> TIME_BITS {
        1 if length >= COUNTS_BYTES => Kind::Append,
        2 if length == 0 => Kind::Mark,
        _ => return Parsed::Invalid,
    };
    let content = padded(length);
    let Some(content) = rest.get(..content) else {
        return Parsed::Incomplete(HEADER_BYTES + content);
    };
    if !intact(header, content) {
        return Parsed::Invalid;
    }
    Parsed::Frame(Frame {
        sequence: u64_at(header, 8),
        at: stamp & ((1 << TIME_BITS) - 1),
        kind,
        size: HEADER_BYTES + content.len(),
        payload: content.get(..length).unwrap_or(content),
    })
}

/// The sequence that a header at the beginning of `bytes` claims, unchecked.
pub(crate) fn claimed_sequence(bytes: &[u8]) -> Option<u64> {
    bytes.get(8..16).map(|field| u64_at(field, 0))
}

impl<'a> Frame<'a> {
    /// The entries, in order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = EntryView<'a>> + use<'a> {
        let mut left = self.entry_count();
        let mut rest = self.payload.get(COUNTS_BYTES..).unwrap_or(&[]);
        std::iter::from_fn(move || {
            left = left.checked_sub(1)?;
            let (entry, after) = split_entry(rest)?;
            rest = after;
            Some(entry)
        })
    }

    /// The acknowledgements, in order. They stand at the end of the payload.
    pub(crate) fn acks(&self) -> impl Iterator<Item = AckRange> + use<'a> {
        let bytes = self.ack_count() * ACK_BYTES;
        let from = self.payload.len().saturating_sub(bytes);
        self.payload
            .get(from..)
            .unwrap_or(&[])
            .chunks_exact(ACK_BYTES)
            .map(read_ack)
    }

    pub(crate) fn entry_count(&self) -> usize {
        if self.payload.is_empty() {
            0
        } else {
            usize::from(u16_at(self.payload, 0))
        }
    }

    pub(crate) fn ack_count(&self) -> usize {
        if self.payload.is_empty() {
            0
        } else {
            u32_at(self.payload, 4) as usize
        }
    }
}

fn split_entry(bytes: &[u8]) -> Option<(EntryView<'_>, &[u8])> {
    let (header, rest) = bytes.split_at_checked(ENTRY_BYTES)?;
    let (lanes, rest) = rest.split_at_checked((u32_at(header, 4) as usize).checked_mul(4)?)?;
    let (body, rest) = rest.split_at_checked(u32_at(header, 8) as usize)?;
    Some((
        EntryView {
            index: u16_at(header, 0),
            lanes,
            body,
        },
        rest,
    ))
}

fn read_ack(bytes: &[u8]) -> AckRange {
    AckRange {
        cursor: CursorId(u32_at(bytes, 0)),
        first: EntryId::new(u64_at(bytes, 8), u16_at(bytes, 4)),
        last: EntryId::new(u64_at(bytes, 16), u16_at(bytes, 6)),
    }
}

/// Writes one frame at the end of a buffer, piece by piece. The sequence and checksum come last, by [`finish`].
pub(crate) struct FrameWriter<'b> {
    buffer: &'b mut Vec<u8>,
    start: usize,
    entries: u16,
    acks: u32,
}

impl<'b> FrameWriter<'b> {
    pub(crate) fn new(buffer: &'b mut Vec<u8>, at: u64) -> Self {
        let start = buffer.len();
        let time = at & ((1 << TIME_BITS) - 1);
        let stamp = ((Kind::Append as u64) << TIME_BITS) | time;
        buffer.extend_from_slice(&[0; HEADER_BYTES - 8]);
        buffer.extend_from_slice(&stamp.to_le_bytes());
        buffer.extend_from_slice(&[0; COUNTS_BYTES]);
        Self {
            buffer,
            start,
            entries: 0,
            acks: 0,
        }
    }

    /// All entries come before the first acknowledgement.
    pub(crate) fn entry(&mut self, index: u16, lanes: impl ExactSizeIterator<Item = CursorId>, body: &[u8]) {
        self.entries += 1;
        self.buffer.extend_from_slice(&u32::from(index).to_le_bytes());
        self.buffer.extend_from_slice(&(lanes.len() as u32).to_le_bytes());
        self.buffer.extend_from_slice(&(body.len() as u32).to_le_bytes());
        for lane in lanes {
            self.buffer.extend_from_slice(&lane.0.to_le_bytes());
        }
        self.buffer.extend_from_slice(body);
    }

    pub(crate) fn ack(&mut self, range: &AckRange) {
        self.acks += 1;
        self.buffer.extend_from_slice(&ack_bytes(range));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries == 0 && self.acks == 0
    }

    /// Drops what was written of this frame.
    pub(crate) fn abandon(self) {
        self.buffer.truncate(self.start);
    }

    /// Ends the payload and returns the bytes the frame takes.
    pub(crate) fn end(self) -> usize {
        let length = self.buffer.len() - self.start - HEADER_BYTES;
        self.buffer.resize(self.start + HEADER_BYTES + padded(length), 0);
        let frame = self.buffer.get_mut(self.start..).unwrap_or_default();
        put(frame, 0, &(length as u32).to_le_bytes());
        put(frame, HEADER_BYTES, &self.entries.to_le_bytes());
        put(frame, HEADER_BYTES + 4, &self.acks.to_le_bytes());
        frame.len()
    }
}

/// Puts the checksum of the content into its place, to be completed by [`finish`] once the sequence is known.
pub(crate) fn prepare(frame: &mut [u8], checksum: Checksum) {
    let content = checksum.of_content(frame.get(HEADER_BYTES..).unwrap_or(&[]));
    put(frame, 4, &content.to_le_bytes());
}

/// Gives a prepared frame its sequence; a time before `not_before` is raised to it. Returns the frame's time.
pub(crate) fn finish(frame: &mut [u8], sequence: u64, not_before: u64) -> u64 {
    let stamp = u64_at(frame, 16);
    let time = (stamp & ((1 << TIME_BITS) - 1)).max(not_before);
    put(frame, 8, &sequence.to_le_bytes());
    put(
        frame,
        16,
        &((stamp >> TIME_BITS << TIME_BITS) | time).to_le_bytes(),
    );
    let checksum = seal(u32_at(frame, 4), frame.get(..HEADER_BYTES).unwrap_or(frame));
    put(frame, 4, &checksum.to_le_bytes());
    time
}

/// The mark that everything up to `through` was fsynced.
pub(crate) fn mark(through: u64, at: u64, checksum: Checksum) -> [u8; MARK_BYTES] {
    let mut frame = [0; MARK_BYTES];
    put(
        &mut frame,
        16,
        &(((Kind::Mark as u64) << TIME_BITS) | at).to_le_bytes(),
    );
    prepare(&mut frame, checksum);
    finish(&mut frame, through, 0);
    frame
}

/// The acknowledgements of an unfinished frame, each to be replaced by what `resolve` makes of it.
pub(crate) fn resolve_acks(frame: &mut [u8], mut resolve: impl FnMut(AckRange) -> AckRange) {
    let length = u32_at(frame, 0) as usize;
    let count = u32_at(frame, HEADER_BYTES + 4) as usize;
    let end = HEADER_BYTES + length;
    let acks = frame
        .get_mut(end.saturating_sub(count * ACK_BYTES)..end)
        .unwrap_or_default();
    for ack in acks.chunks_exact_mut(ACK_BYTES) {
        let resolved = resolve(read_ack(ack));
        ack.copy_from_slice(&ack_bytes(&resolved));
    }
}

fn ack_bytes(range: &AckRange) -> [u8; ACK_BYTES] {
    let mut bytes = [0; ACK_BYTES];
    put(&mut bytes, 0, &range.cursor.0.to_le_bytes());
    put(&mut bytes, 4, &range.first.index.to_le_bytes());
    put(&mut bytes, 6, &range.last.index.to_le_bytes());
    put(&mut bytes, 8, &range.first.sequence.0.to_le_bytes());
    put(&mut bytes, 16, &range.last.sequence.0.to_le_bytes());
    bytes
}

/// Bytes one entry adds to a frame.
pub(crate) const fn entry_bytes(lanes: usize, body: usize) -> usize {
    ENTRY_BYTES + lanes * 4 + body
}

const fn padded(length: usize) -> usize {
    length.next_multiple_of(ALIGNMENT)
}

pub(crate) fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    if let Some(place) = bytes.get_mut(at..at + value.len()) {
        place.copy_from_slice(value);
    }
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes
        .get(at..)
        .and_then(|rest| rest.first_chunk())
        .map_or(0, |field| u16::from_le_bytes(*field))
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes
        .get(at..)
        .and_then(|rest| rest.first_chunk())
        .map_or(0, |field| u32::from_le_bytes(*field))
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes
        .get(at..)
        .and_then(|rest| rest.first_chunk())
        .map_or(0, |field| u64::from_le_bytes(*field))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHECKSUM: Checksum = Checksum::new(7);

    fn sample() -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = FrameWriter::new(&mut bytes, 1_000);
        writer.entry(0, [CursorId(3), CursorId(9)].into_iter(), b"both");
        writer.entry(4, [CursorId(5)].into_iter(), b"");
        let ack = AckRange {
            cursor: CursorId(2),
            first: EntryId::new(1, 2),
            last: EntryId::new(8, 9),
        };
        writer.ack(&ack);
        writer.end();
        prepare(&mut bytes, CHECKSUM);
        finish(&mut bytes, 42, 0);
        bytes
    }

    #[test]
    fn a_frame_reads_back_as_written() {
        let bytes = sample();
        let Parsed::Frame(frame) = parse(&bytes, CHECKSUM) else {
            panic!("no frame")
        };
        assert_eq!(
            (frame.sequence, frame.at, frame.kind, frame.size),
            (42, 1_000, Kind::Append, bytes.len())
        );
        let entries: Vec<_> = frame
            .entries()
            .map(|e| (e.index, e.lanes().map(|l| l.0).collect::<Vec<_>>(), e.body))
            .collect();
        assert_eq!(entries, [(0, vec![3, 9], &b"both"[..]), (4, vec![5], &b""[..])]);
        let acks: Vec<_> = frame.acks().collect();
        assert_eq!(acks.len(), 1);
        assert_eq!(
            (acks[0].first, acks[0].last),
            (EntryId::new(1, 2), EntryId::new(8, 9))
        );
    }

    #[test]
    fn every_changed_bit_is_noticed() {
        let bytes = sample();
        for bit in 0..bytes.len() * 8 {
            let mut bad = bytes.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(!matches!(parse(&bad, CHECKSUM), Parsed::Frame(_)), "bit {bit}");
        }
    }

    #[test]
    fn a_frame_of_another_log_is_no_frame() {
        assert!(matches!(parse(&sample(), Checksum::new(8)), Parsed::Invalid));
    }

    #[test]
    fn a_cut_frame_is_incomplete() {
        let bytes = sample();
        for end in 0..bytes.len() {
            assert!(
                matches!(parse(&bytes[..end], CHECKSUM), Parsed::Incomplete(_)),
                "cut at {end}"
            );
        }
    }
}
