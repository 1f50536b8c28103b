//! `tidegate log inspect DIR`: what the segments of a log hold, and what is wrong with them. Changes nothing.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use crate::disk::{Disk, RealDisk};
use crate::error::OpenError;
use crate::frame::Checksum;
use crate::pass::Pass;
use crate::recovery::{Opened, Recovery, committed_through, open_segments, split_superseded};
use crate::segment::Segment;

/// Why a log cannot be inspected.
#[derive(Debug, thiserror::Error)]
pub enum InspectError {
    /// The segments cannot be read.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A segment cannot be read to its end.
    #[error("log segment {number}: cannot read: {source}")]
    Read {
        /// The segment's number.
        number: u64,
        /// What the file system said.
        source: io::Error,
    },
    /// The report cannot be written.
    #[error("cannot write the report: {0}")]
    Write(#[from] io::Error),
}

/// Writes what the log in `directory` holds to `out`: a line for each segment, then the cursors, then the damage. Returns
/// what opening it would find. The log may be open elsewhere; what is being written then looks torn.
pub fn inspect(directory: &Path, out: &mut dyn Write) -> Result<Recovery, InspectError> {
    inspect_disk(Arc::new(RealDisk::existing(directory)), out)
}

/// As [`inspect`], for a log on `disk`.
#[allow(clippy::needless_pass_by_value, reason = "the same handle that opens a log")]
pub fn inspect_disk(disk: Arc<dyn Disk>, out: &mut dyn Write) -> Result<Recovery, InspectError> {
    let (kept, superseded) = split_superseded(open_segments(&*disk)?);
    let seed = kept
        .iter()
        .map(|one| one.header.seed)
        .find(|seed| *seed != 0)
        .unwrap_or(0);
    let checksum = Checksum::new(seed);
    let committed = committed_through(&kept, checksum)?;
    let epoch = kept.iter().map(|one| one.header.epoch).max().unwrap_or(0);
    let headers: Vec<_> = kept.iter().map(|one| one.header).collect();
    let mut pass = Pass::new(checksum, committed, epoch);
    for one in kept {
        let number = one.header.number;
        pass.read(&one)
            .map_err(|source| InspectError::Read { number, source })?;
    }
    pass.finish();
    writeln!(
        out,
        "log opened {epoch} times, committed through sequence {committed}"
    )?;
    writeln!(
        out,
        "segment           sequences                 bytes      used   entries      live  epoch"
    )?;
    for header in headers {
        let segment = pass
            .index
            .segments
            .iter()
            .find(|segment| segment.number == header.number);
        let range = header.cleaned.map_or_else(String::new, |cleaned| {
            format!(
                "  cleaned, stands for {} to {}",
                header.number, cleaned.covers_through
            )
        });
        let line = segment.map_or_else(|| "nothing".to_owned(), segment_line);
        writeln!(out, "{:016x}  {line}  {:>5}{range}", header.number, header.epoch)?;
    }
    for Opened { header, .. } in superseded {
        writeln!(
            out,
            "{:016x}  replaced by a cleaned segment, will be removed",
            header.number
        )?;
    }
    write_cursors(&pass, out)?;
    write_damage(&pass.report, out)?;
    Ok(pass.report)
}

fn segment_line(segment: &Segment) -> String {
    format!(
        "{:>10} to {:<10} {:>9} {:>9} {:>9} {:>9}",
        segment.after + 1,
        segment.last,
        segment.file_bytes,
        segment.end,
        segment.postings,
        segment.live
    )
}

fn write_cursors(pass: &Pass, out: &mut dyn Write) -> io::Result<()> {
    let mut oldest: Vec<_> = pass.index.cursors.oldest().collect();
    oldest.sort_unstable();
    writeln!(out, "cursors with pending entries: {}", oldest.len())?;
    for (cursor, entry) in oldest {
        let pending = pass.index.cursors.pending(cursor);
        let (entries, bytes) = (pending.entries, pending.bytes);
        writeln!(
            out,
            "  {:>10}: {entries} entries, {bytes} bytes, oldest {entry}",
            cursor.0
        )?;
    }
    Ok(())
}

fn write_damage(report: &Recovery, out: &mut dyn Write) -> io::Result<()> {
    for damage in &report.damage {
        writeln!(out, "damage: {damage}")?;
    }
    if report.damage_more > 0 {
        writeln!(out, "damage: {} more places", report.damage_more)?;
    }
    if let Some(torn) = report.torn {
        writeln!(
            out,
            "torn tail: segment {} from offset {}, never committed",
            torn.segment, torn.offset
        )?;
    }
    match (report.damage.is_empty(), report.torn) {
        (true, None) => writeln!(out, "no damage"),
        _ => Ok(()),
    }
}
