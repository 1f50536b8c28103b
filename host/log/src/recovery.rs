//! Opening: what a crash, a power cut or a bad disk left is read, judged and made whole.
//!
//! ```text
//!  segment 7            segment 8                      segment 9
//!  frames mark frames   frames mark frames ~~~ frames  frames
//!                                   ^      ^ missing, beyond the last mark: torn here, cut here
//!                                   '- last mark: everything up to it was fsynced
//! ```
//!
//! Invariant: frames that were reported as committed stay, whatever else is missing; what was not is kept only as far as it
//! follows without a gap. Missing frames that a mark says were fsynced are damage: reported, and passed over.

use std::io;
use std::sync::Arc;

use crate::damage::{Damage, TornTail};
use crate::disk::{Disk, DiskFile};
use crate::error::OpenError;
use crate::frame::{Checksum, Kind, MARK_BYTES, mark};
use crate::index::Index;
use crate::pass::{Content, Pass};
use crate::scan::{Found, Scanner};
use crate::segment::{BadHeader, CLEANED_NAME, HEADER_BYTES, Header, Segment, VERSION, name, number};
use crate::step::{Omitted, Step};

/// What opening found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovery {
    /// How often the log was opened, this time included. With sequence and index it names an entry for ever.
    pub epoch: u64,
    /// Segments read.
    pub segments: u64,
    /// Appends read.
    pub frames: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Damage, the first 10,000 places.
    pub damage: Vec<Damage>,
    /// Places of damage beyond those.
    pub damage_more: u64,
    /// Where the end was cut.
    pub torn: Option<TornTail>,
}

/// A log as it was recovered.
pub(crate) struct Recovered {
    pub index: Index,
    /// Sequence of the next frame.
    pub next: u64,
    pub last_at: u64,
    pub next_number: u64,
    /// The log's own seed; `None` for a new log.
    pub seed: Option<u32>,
    pub report: Recovery,
}

/// A file whose header was looked at.
pub(crate) struct Opened {
    pub header: Header,
    pub file: Arc<dyn DiskFile>,
    pub size: u64,
    /// Only one of the header's copies, or none, was intact.
    pub header_damaged: bool,
}

/// Recovers the log on `disk`.
pub(crate) fn recover(
    disk: &dyn Disk,
    checksum: impl Fn(u32) -> Checksum,
    omitted: Omitted,
) -> Result<Recovered, OpenError> {
    // What a killed process did to the names may be in the system's memory only, and what follows builds on it.
    if !omitted.omits(Step::SyncNamesFirst) {
        disk.sync_names().map_err(disk_error("sync", "the directory"))?;
    }
    let names = disk.names().map_err(disk_error("list", "the directory"))?;
    if names.iter().any(|name| name == CLEANED_NAME) {
        remove(disk, CLEANED_NAME)?;
    }
    let opened = open_segments(disk)?;
    let seed = opened
        .iter()
        .map(|segment| segment.header.seed)
        .find(|seed| *seed != 0);
    let numbers = opened
        .iter()
        .map(|one| one.header.cleaned.map_or(one.header.number, |c| c.covers_through));
    let next_number = numbers.max().map_or(1, |number| number + 1);
    let epoch = opened.iter().map(|one| one.header.epoch).max().unwrap_or(0) + 1;
    let (kept, superseded) = split_superseded(opened);
    for segment in &superseded {
        remove(disk, &name(segment.header.number))?;
    }
    let floor = kept.iter().map(|one| one.header.after).max().unwrap_or(0);
    let committed = committed_through(&kept, checksum(seed.unwrap_or(0)))?;
    let mut pass = Pass::new(checksum(seed.unwrap_or(0)), committed, epoch);
    pass.omitted = omitted;
    let mut unused = Vec::new();
    let mut segments = kept.into_iter();
    for one in segments.by_ref() {
        let number = one.header.number;
        match pass.read(&one).map_err(disk_error("read", &name(number)))? {
            Content::Frames => {}
            Content::Nothing => unused.push(number),
            Content::Unreadable => set_aside(disk, number)?,
        }
        if pass.torn() {
            break;
        }
    }
    // Everything behind a torn frame goes.
    unused.extend(segments.map(|one| one.header.number));
    pass.finish();
    make_whole(&mut pass, omitted)?;
    // Durable with the name of the first segment prepared, before which nothing is appended.
    for number in &unused {
        remove(disk, &name(*number))?;
    }
    // A segment prepared for sequences that were never committed says nothing where there are frames.
    let next = pass.expected.unwrap_or(floor + 1).max(committed + 1);
    let last_at = pass
        .index
        .segments
        .iter()
        .map(|segment| segment.last_at)
        .max()
        .unwrap_or(0);
    Ok(Recovered {
        index: pass.index,
        next,
        last_at,
        next_number,
        seed,
        report: pass.report,
    })
}

/// Opens all segments in order.
pub(crate) fn open_segments(disk: &dyn Disk) -> Result<Vec<Opened>, OpenError> {
    let mut names = disk.names().map_err(disk_error("list", "the directory"))?;
    names.sort_unstable();
    let mut opened: Vec<Opened> = Vec::new();
    for file_name in names {
        let Some(number) = number(&file_name) else {
            continue;
        };
        let before = opened.last().map(|one| one.header);
        let one = open_segment(disk, &file_name, number, before)?;
        opened.push(one);
    }
    Ok(opened)
}

fn open_segment(
    disk: &dyn Disk,
    name: &str,
    number: u64,
    before: Option<Header>,
) -> Result<Opened, OpenError> {
    let file = disk.open(name).map_err(disk_error("open", name))?;
    let size = file.size().map_err(disk_error("measure", name))?;
    let mut block = vec![0; HEADER_BYTES];
    let read = file.read_at(0, &mut block).map_err(disk_error("read", name))?;
    block.truncate(read);
    let (header, header_damaged) = match Header::decode(&block) {
        Ok((header, one_damaged)) => (header, one_damaged),
        Err(BadHeader::Version(found)) => {
            return Err(OpenError::Version {
                name: name.to_owned(),
                found,
                supported: VERSION,
            });
        }
        // Its frames can still be read by what the other segments say of the log.
        Err(BadHeader::Damaged) => {
            let (seed, after) = before.map_or((0, 0), |before| (before.seed, before.after));
            (
                Header {
                    number,
                    seed,
                    epoch: 0,
                    after,
                    begun: false,
                    cleaned: None,
                },
                true,
            )
        }
    };
    Ok(Opened {
        header: Header { number, ..header },
        file,
        size,
        header_damaged,
    })
}

/// Parts segments from those that a cleaned one has replaced.
pub(crate) fn split_superseded(opened: Vec<Opened>) -> (Vec<Opened>, Vec<Opened>) {
    let mut covered = 0;
    opened.into_iter().partition(|one| {
        let current = one.header.number > covered;
        if let Some(cleaned) = one.header.cleaned.filter(|_| current) {
            covered = cleaned.covers_through;
        }
        current
    })
}

/// The last sequence that is known to have been fsynced.
pub(crate) fn committed_through(opened: &[Opened], checksum: Checksum) -> Result<u64, OpenError> {
    let cleaned = opened
        .iter()
        .filter_map(|one| one.header.cleaned)
        .map(|cleaned| cleaned.last.max(cleaned.at));
    let mut committed = cleaned.max().unwrap_or(0);
    for one in opened.iter().rev().filter(|one| one.header.cleaned.is_none()) {
        let failed = disk_error("read", &name(one.header.number));
        let mark = last_mark(one, checksum).map_err(failed)?;
        if let Some(mark) = mark {
            committed = committed.max(mark);
            break;
        }
    }
    Ok(committed)
}

fn last_mark(one: &Opened, checksum: Checksum) -> io::Result<Option<u64>> {
    let span = (HEADER_BYTES as u64, one.size);
    let mut scanner = Scanner::new(&*one.file, checksum, span, one.header.after);
    let mut last = None;
    loop {
        match scanner.next()? {
            Found::Frame { frame, .. } if frame.kind == Kind::Mark => last = last.max(Some(frame.sequence)),
            Found::Frame { .. } | Found::Damage { .. } => {}
            Found::End => return Ok(last),
        }
    }
}

/// Cuts the last segment behind its last frame, so that what is torn or reserved never meets a sequence given again, and
/// makes durable what is kept: a process that was killed leaves frames that only the system's memory holds.
fn make_whole(pass: &mut Pass, omitted: Omitted) -> Result<(), OpenError> {
    let find = |number| {
        pass.index
            .segments
            .iter()
            .find(|one: &&Segment| one.number == number)
    };
    for (damage, through) in &pass.torn_marks {
        let Some(segment) = find(damage.segment) else {
            continue;
        };
        // Of one torn at the end of a segment, only the part that is there was seen.
        let marks = damage.bytes.div_ceil(MARK_BYTES as u64) as usize;
        let marks = mark(*through, segment.first_at, pass.checksum).repeat(marks);
        let failed = disk_error("write", &name(segment.number));
        segment.file.write_at(damage.offset, &marks).map_err(failed)?;
    }
    for header in &pass.torn_headers {
        let Some(segment) = find(header.number) else {
            continue;
        };
        let failed = disk_error("write", &name(segment.number));
        segment.file.write_at(0, &header.encode()).map_err(failed)?;
    }
    if let Some(last) = pass.index.segments.last_mut() {
        let failed = disk_error("cut", &name(last.number));
        last.file.set_size(last.end).map_err(failed)?;
        last.file_bytes = last.end;
    }
    if omitted.omits(Step::SyncRecovered) {
        return Ok(());
    }
    let latest = || pass.index.segments.iter().rev();
    let uncommitted = latest()
        .take_while(|segment| segment.last > pass.committed)
        .count();
    // And the one before those: its last mark may not be durable.
    for segment in latest().take(uncommitted + 1) {
        let failed = disk_error("sync", &name(segment.number));
        segment.file.sync().map_err(failed)?;
    }
    Ok(())
}

/// Keeps a file that cannot be read out of the way, for whoever wants to look at it.
fn set_aside(disk: &dyn Disk, number: u64) -> Result<(), OpenError> {
    let name = name(number);
    disk.rename(&name, &format!("{name}.unreadable"))
        .map_err(disk_error("rename", &name))
}

fn remove(disk: &dyn Disk, name: &str) -> Result<(), OpenError> {
    disk.remove(name).map_err(disk_error("remove", name))
}

fn disk_error(action: &'static str, name: &str) -> impl FnOnce(io::Error) -> OpenError + use<> {
    let name = name.to_owned();
    move |source| OpenError::Disk { action, name, source }
}
