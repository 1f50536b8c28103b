//! The log as its users hold it: open, append, acknowledge, read, close. The shell around the core.
//!
//! Invariant: every call but [`Log::open`], [`Log::wait_past`] and [`Log::close`] returns without waiting for a write or
//! an fsync. This file and the threads beside it are the only ones that know time passes by itself.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::batch::{Ack, Batch};
use crate::commit::OnCommit;
use crate::core::{Core, lock};
use crate::cursor::Pending;
use crate::disk::{Disk, RealDisk};
use crate::error::{AppendError, OpenError, ReadError};
use crate::id::{CursorId, EntryId, Sequence, Timestamp};
use crate::limits::{Expired, Limits};
use crate::open::open_core;
use crate::options::Options;
use crate::read::{ReadBatch, ReadLimit};
use crate::recovery::Recovery;
use crate::staging::Appended;
use crate::step::Omitted;
use crate::threads::Threads;

/// An open log. Shared by all workers; every method takes `&self`.
pub struct Log {
    core: Arc<Core>,
    threads: Threads,
}

/// How large the log is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// Segments in use, the one being written included, prepared ones not.
    pub segments: u64,
    /// Bytes of those segments on the disk.
    pub disk_bytes: u64,
    /// Pending entries, each counted once for every cursor it is pending for.
    pub live_entries: u64,
    /// Bytes waiting for the commit thread.
    pub queued_bytes: u64,
    /// Memory of the cursors, in bytes.
    pub cursor_memory: u64,
    /// Memory of the segment table, in bytes.
    pub segment_memory: u64,
}

impl Log {
    /// Opens the log in `directory`, which is created if it is missing, and recovers what is there.
    pub fn open(
        directory: &Path,
        options: Options,
        on_commit: OnCommit,
    ) -> Result<(Self, Recovery), OpenError> {
        let disk = RealDisk::new(directory).map_err(|source| OpenError::Disk {
            action: "open",
            name: directory.display().to_string(),
            source,
        })?;
        Self::open_on(Arc::new(disk), options, on_commit)
    }

    /// Opens the log on `disk`.
    pub fn open_on(
        disk: Arc<dyn Disk>,
        options: Options,
        on_commit: OnCommit,
    ) -> Result<(Self, Recovery), OpenError> {
        let (core, report) = open_core(disk, options, on_commit, Omitted::default())?;
        let core = Arc::new(core);
        let threads = Threads::start(&core)?;
        Ok((Self { core, threads }, report))
    }

    /// Hands `batch` over to the commit thread and empties it. On an error the batch stays as it was.
    pub fn append(&self, batch: &mut Batch) -> Result<Appended, AppendError> {
        self.core.append(batch)
    }

    /// Takes what `acks` cover from their cursors, at once; it is durable with a later commit, and a crash before brings
    /// the entries back. Never fails: while the log takes nothing, up to 65,536 acknowledgements are kept for later, and
    /// beyond that they hold until the process ends. Returns how many entries it was.
    pub fn ack(&self, acks: &[Ack]) -> u64 {
        self.core.ack(acks)
    }

    /// Reads the pending entries of `cursor` after `after`, oldest first.
    pub fn read(&self, cursor: CursorId, after: EntryId, limit: ReadLimit) -> Result<ReadBatch, ReadError> {
        self.core.read(cursor, after, limit)
    }

    /// How much `cursor` has pending.
    pub fn pending(&self, cursor: CursorId) -> Pending {
        lock(&self.core.index).cursors.pending(cursor)
    }

    /// The cursors that have anything pending, in no order: after a restart, whose queues are to be taken up.
    pub fn cursors(&self) -> Vec<CursorId> {
        lock(&self.core.index)
            .cursors
            .oldest()
            .map(|(cursor, _)| cursor)
            .collect()
    }

    /// The last sequence that is durable and can be read.
    pub fn durable(&self) -> Sequence {
        Sequence(self.core.durable.get())
    }

    /// Waits until more than `after` is durable or `at_most` is over, and returns what is durable. For threads that live
    /// on the log, never for a worker.
    pub fn wait_past(&self, after: Sequence, at_most: Duration) -> Sequence {
        Sequence(self.core.durable.wait_past(after.0, at_most))
    }

    /// Sets limits for `cursor` in place of the log's; `None` gives it back to those. Not kept over a restart.
    pub fn set_limits(&self, cursor: CursorId, limits: Option<Limits>) {
        self.core.set_limits(cursor, limits);
    }

    /// Expires what is beyond a limit at `now`. To be called about once a second. What it returns is gone: count it.
    pub fn maintain(&self, now: Timestamp) -> Vec<Expired> {
        self.core.maintain(now)
    }

    /// How often the log has been opened, this time included.
    pub fn epoch(&self) -> u64 {
        self.core.epoch
    }

    /// How large the log is.
    pub fn stats(&self) -> Stats {
        let queued_bytes = lock(&self.core.staging).queued as u64;
        let index = lock(&self.core.index);
        let (cursor_memory, segment_memory) = index.memory();
        Stats {
            segments: index.segments.len() as u64,
            disk_bytes: index.file_bytes(),
            live_entries: index.segments.iter().map(|segment| segment.live).sum(),
            queued_bytes,
            cursor_memory: cursor_memory as u64,
            segment_memory: segment_memory as u64,
        }
    }

    /// Commits what waits and ends the threads. Dropping the log does the same.
    pub fn close(mut self) {
        self.threads.stop(&self.core);
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.threads.stop(&self.core);
    }
}
