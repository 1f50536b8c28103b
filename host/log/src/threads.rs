//! The two threads of a log: one commits, one prepares and cleans segments.
//!
//! Invariant: all writes of frames and their fsyncs happen on the commit thread. A commit begins at once after a pause,
//! otherwise once the interval since the last begin is over or enough bytes wait, whichever is first.

use std::sync::{Arc, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use crate::cleaner::Cleaned;
use crate::commit::Outcome;
use crate::core::{Core, lock};
use crate::error::OpenError;

/// How long a full disk is left alone before the next try, and how often dead segments are looked for at least.
const PAUSE: Duration = Duration::from_millis(100);

/// The threads of an open log.
pub(crate) struct Threads {
    commit: Option<JoinHandle<()>>,
    housekeeping: Option<JoinHandle<()>>,
}

impl Threads {
    pub(crate) fn start(core: &Arc<Core>) -> Result<Self, OpenError> {
        let mut threads = Self {
            commit: None,
            housekeeping: None,
        };
        threads.commit = Some(start("log-commit", core, commit_loop)?);
        match start("log-clean", core, housekeeping_loop) {
            Ok(thread) => threads.housekeeping = Some(thread),
            Err(error) => {
                threads.stop(core);
                return Err(error);
            }
        }
        Ok(threads)
    }

    /// Ends the threads once everything that waits is committed.
    pub(crate) fn stop(&mut self, core: &Core) {
        lock(&core.staging).closed = true;
        core.staged.notify_all();
        core.housekeeping.raise();
        for thread in [self.commit.take(), self.housekeeping.take()]
            .into_iter()
            .flatten()
        {
            // A thread that panicked has nothing left to do either.
            let _ = thread.join();
        }
        core.durable.interrupt();
    }
}

fn start(name: &'static str, core: &Arc<Core>, run: fn(&Core)) -> Result<JoinHandle<()>, OpenError> {
    let core = Arc::clone(core);
    let thread = Builder::new().name(name.to_owned()).spawn(move || run(&core));
    thread.map_err(|source| OpenError::Thread { name, source })
}

fn commit_loop(core: &Core) {
    let mut begun: Option<Instant> = None;
    loop {
        if !wait_for_frames(core, begun) {
            core.close();
            return;
        }
        begun = Some(now());
        match core.commit() {
            Outcome::Committed | Outcome::Nothing => {}
            Outcome::Held if lock(&core.staging).closed => return,
            Outcome::Held => core.housekeeping.wait(PAUSE),
            Outcome::Poisoned => return,
        }
    }
}

/// Waits until it is time to commit. False when the log is closed and nothing waits.
fn wait_for_frames(core: &Core, begun: Option<Instant>) -> bool {
    if lock(&core.committer).holds() {
        return true;
    }
    let mut staging = lock(&core.staging);
    // Idle: the first frame is committed at once, unless the last commit began just now.
    while staging.queued == 0 {
        if staging.closed {
            return false;
        }
        staging.wake_at = Some(1);
        staging = core.staged.wait(staging).unwrap_or_else(PoisonError::into_inner);
    }
    let until = begun.map(|begun| begun + core.options.commit_interval);
    while staging.queued < core.options.commit_bytes && !staging.closed {
        let left = until.map_or(Duration::ZERO, |until| until.saturating_duration_since(now()));
        if left.is_zero() {
            break;
        }
        staging.wake_at = Some(core.options.commit_bytes);
        (staging, _) = core
            .staged
            .wait_timeout(staging, left)
            .unwrap_or_else(PoisonError::into_inner);
    }
    staging.wake_at = None;
    true
}

fn housekeeping_loop(core: &Core) {
    while !lock(&core.staging).closed {
        core.prepare();
        match core.clean() {
            Ok(Cleaned::Removed | Cleaned::Replaced) => {}
            // A disk that cannot be cleaned now is tried again after the pause; appends say when there is no room.
            Ok(Cleaned::Nothing) | Err(_) => core.housekeeping.wait(PAUSE),
        }
    }
}

/// The one place where the log asks for the time: only to pace commits.
#[allow(
    clippy::disallowed_methods,
    reason = "the commit thread is the shell; pacing needs a clock"
)]
fn now() -> Instant {
    Instant::now()
}
