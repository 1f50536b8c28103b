//! What can be chosen when a log is opened.

use std::time::Duration;

use crate::error::OpenError;
use crate::limits::Limits;
use crate::segment::HEADER_BYTES;

/// How a log works. The defaults are meant for a node; tests take tiny segments.
#[derive(Debug, Clone)]
pub struct Options {
    /// Bytes of a segment's file, reserved ahead. Default 64 MiB, at least 8 KiB, at most 4 GiB. An append has to fit.
    pub segment_bytes: u64,
    /// Bytes that may wait for the disk before [`crate::AppendError::Full`]. Default 16 MiB.
    pub queue_bytes_max: usize,
    /// Least time from one commit's begin to the next, so that a fast disk is not fsynced for every message. A commit
    /// after a pause begins at once. Default 1 ms.
    pub commit_interval: Duration,
    /// Bytes that begin a commit before the interval is over. Default 1 MiB.
    pub commit_bytes: usize,
    /// Segments prepared ahead. Default 2.
    pub spare_segments: usize,
    /// What the log may keep. Default: everything.
    pub limits: Limits,
    /// Seed of the checksums of a new log; `None` takes one from the system's randomness. An existing log keeps its own.
    /// It has to be unpredictable to whoever chooses the bodies.
    pub seed: Option<u32>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            segment_bytes: 64 << 20,
            queue_bytes_max: 16 << 20,
            commit_interval: Duration::from_millis(1),
            commit_bytes: 1 << 20,
            spare_segments: 2,
            limits: Limits::default(),
            seed: None,
        }
    }
}

impl Options {
    pub(crate) fn check(&self) -> Result<(), OpenError> {
        let least = HEADER_BYTES as u64 * 2;
        // Offsets within a segment are kept in 32 bits.
        let most = u64::from(u32::MAX) - (64 << 10);
        match self.segment_bytes {
            bytes if bytes < least => Err(OpenError::SegmentTooSmall(bytes)),
            bytes if bytes > most => Err(OpenError::SegmentTooLarge(bytes)),
            _ => Ok(()),
        }
    }
}
