//! What can go wrong, one enum per call. Full is a value here, never a wait.

use std::io;
use std::sync::Arc;

use crate::damage::Damage;
use crate::id::EntryId;

/// Why an append was not taken. Nothing of the batch was taken, and the batch is left as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// The disk is behind. Try again after the next commit.
    #[error(
        "the log's hand-over is full: {queued} of {limit} bytes wait for the disk; try again after the next commit"
    )]
    Full {
        /// Bytes waiting for the commit thread.
        queued: usize,
        /// The bound, [`crate::Options::queue_bytes_max`].
        limit: usize,
    },
    /// The disk has no room for another segment. Try again once there is room.
    #[error(
        "no room for another segment of the log: {reason}; free room on its disk, appends then resume by themselves"
    )]
    NoRoom {
        /// What the file system said.
        reason: Arc<str>,
    },
    /// An append is larger than a segment, or the batch than the hand-over. Never succeeds: split it.
    #[error("an append of {size} bytes is over the limit of {max}; split it")]
    TooLarge {
        /// Bytes of the append.
        size: usize,
        /// Bytes it may have.
        max: usize,
    },
    /// A write or fsync failed, so what the disk holds is unknown. Only opening the log again ends this state.
    #[error(
        "the log is poisoned by a failed write or fsync ({reason}); restart to recover what is on the disk"
    )]
    Poisoned {
        /// The first failure.
        reason: Arc<str>,
    },
    /// The log was closed.
    #[error("the log is closed")]
    Closed,
}

/// Why an entry cannot be put into a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    /// A frame holds at most 65,535 entries.
    #[error("an append of {0} entries is over the limit of 65,535; split it")]
    TooManyEntries(usize),
    /// A frame has at most 4 GiB.
    #[error("an append is over the limit of 4 GiB; split it")]
    TooLarge,
}

/// Why the log cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The file system refused.
    #[error("log: cannot {action} {name}: {source}")]
    Disk {
        /// What was being done.
        action: &'static str,
        /// The file's name within the log's directory.
        name: String,
        /// What the file system said.
        source: io::Error,
    },
    /// A segment of another format version.
    #[error("log segment {name} has format version {found}, this program reads version {supported}")]
    Version {
        /// The file's name within the log's directory.
        name: String,
        /// The version found.
        found: u32,
        /// The version this crate reads and writes.
        supported: u32,
    },
    /// The segment size cannot hold a useful frame.
    #[error("log segments of {0} bytes are too small; at least 8 KiB are needed")]
    SegmentTooSmall(u64),
    /// Offsets within a segment have 32 bits.
    #[error("log segments of {0} bytes are too large; at most 4 GiB less 64 KiB are possible")]
    SegmentTooLarge(u64),
    /// A thread of the log could not be started.
    #[error("log: cannot start the thread {name}: {source}")]
    Thread {
        /// The thread's name.
        name: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

/// Why entries cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file system refused.
    #[error("log segment {segment}: cannot read at {offset}: {source}")]
    Disk {
        /// The segment's number.
        segment: u64,
        /// Byte offset in its file.
        offset: u64,
        /// What the file system said.
        source: io::Error,
    },
}

/// An entry whose frame no longer passes its checksum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// The entry that cannot be delivered: acknowledge it to go on, and count it.
    pub entry: EntryId,
    /// Where the damage lies.
    pub damage: Damage,
}
