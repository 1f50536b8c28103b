//! Puts an open log together from what recovery found.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Condvar, Mutex};

use crate::commit::{Committer, OnCommit};
use crate::core::{Core, Durable, Signal};
use crate::disk::Disk;
use crate::error::OpenError;
use crate::frame::Checksum;
use crate::limits::LimitTable;
use crate::options::Options;
use crate::prepare::Spares;
use crate::recovery::{Recovery, recover};
use crate::staging::Staging;
use crate::step::Omitted;

/// Recovers the log on `disk` and prepares its first segments. A disk without room is no error: reading and
/// acknowledging work, and appending does once there is room.
pub(crate) fn open_core(
    disk: Arc<dyn Disk>,
    options: Options,
    on_commit: OnCommit,
    omitted: Omitted,
) -> Result<(Core, Recovery), OpenError> {
    open_checked(disk, options, on_commit, (omitted, Checksum::new))
}

/// As [`open_core`], with a choice of how checksums are checked.
pub(crate) fn open_checked(
    disk: Arc<dyn Disk>,
    options: Options,
    on_commit: OnCommit,
    proof: (Omitted, fn(u32) -> Checksum),
) -> Result<(Core, Recovery), OpenError> {
    options.check()?;
    let (omitted, checksum) = proof;
    let recovered = recover(&*disk, checksum, omitted)?;
    let seed = recovered.seed.or(options.seed).unwrap_or_else(random_seed);
    let staging = Staging::new(
        recovered.next,
        recovered.last_at,
        options.segment_bytes,
        options.queue_bytes_max,
    );
    let spares = Spares {
        ready: VecDeque::new(),
        next_number: recovered.next_number,
        replaced: Vec::new(),
    };
    let core = Core {
        disk,
        checksum: checksum(seed),
        epoch: recovered.report.epoch,
        omitted,
        staging: Mutex::new(staging),
        staged: Condvar::new(),
        index: Mutex::new(recovered.index),
        committer: Mutex::new(Committer::new(on_commit)),
        spares: Mutex::new(spares),
        limits: Mutex::new(LimitTable::default()),
        durable: Durable::new(recovered.next - 1),
        housekeeping: Signal::default(),
        options,
    };
    core.prepare();
    Ok((core, recovered.report))
}

/// A seed that nobody who sends messages can know. Never 0, which stands for an unknown one.
fn random_seed() -> u32 {
    let random = RandomState::new().hash_one(0u64);
    ((random >> 32) as u32 ^ random as u32).max(1)
}
