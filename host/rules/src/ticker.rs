//! The clock of the deadlines: a thread that moves the engine's epoch once a millisecond.
//!
//! Invariant: it ticks while any call may be running, and sleeps when nothing has been called for a while, so that an
//! idle broker does not wake a thousand times a second. Knows nothing of calls but that one began.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// After this long without a call, on top of the longest deadline, the thread sleeps. A call whose thread gets no CPU at
/// all for that long would be looked at again only when the next one begins.
const QUIET: Duration = Duration::from_secs(30);

/// One epoch.
pub(crate) const TICK: Duration = Duration::from_millis(1);

/// Epochs that take at least `time` from now: one more than fit, because the current one is under way.
pub(crate) fn ticks(time: Duration) -> u64 {
    u64::try_from(time.as_micros().div_ceil(TICK.as_micros()))
        .unwrap_or(u64::MAX - 1)
        .saturating_add(1)
}

/// Owns the thread; dropping it ends the thread.
pub(crate) struct Ticker {
    flags: Arc<Flags>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Flags {
    /// A call began since the thread last looked.
    called: AtomicBool,
    stop: AtomicBool,
}

impl Ticker {
    /// Starts ticking for `engine`. No call may have a deadline longer than `deadline_max`.
    pub(crate) fn start(engine: wasmtime::Engine, deadline_max: Duration) -> std::io::Result<Self> {
        let flags = Arc::new(Flags::default());
        let seen = Arc::clone(&flags);
        let thread = thread::Builder::new()
            .name("tidegate-epoch".to_owned())
            .spawn(move || run(&engine, &seen, ticks(deadline_max.saturating_add(QUIET))))?;
        Ok(Self {
            flags,
            thread: Some(thread),
        })
    }

    /// A call begins, or still runs. Costs one load of a line that all workers share, and a wake-up after an idle time.
    pub(crate) fn arm(&self) {
        if !self.flags.called.load(Ordering::Relaxed) {
            self.flags.called.store(true, Ordering::Release);
            if let Some(thread) = &self.thread {
                thread.thread().unpark();
            }
        }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.flags.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

/// Sleeping after `quiet_ticks` without a call is safe: one that still ran would have been looked at and have armed again.
fn run(engine: &wasmtime::Engine, flags: &Flags, quiet_ticks: u64) {
    loop {
        for _ in 0..quiet_ticks {
            if flags.stop.load(Ordering::Acquire) {
                return;
            }
            thread::sleep(TICK);
            engine.increment_epoch();
        }
        if !flags.called.swap(false, Ordering::AcqRel) {
            while !flags.called.load(Ordering::Acquire) && !flags.stop.load(Ordering::Acquire) {
                thread::park();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_never_cut_short() {
        assert_eq!(ticks(Duration::from_millis(5)), 6);
        assert_eq!(ticks(Duration::from_micros(1)), 2);
        assert_eq!(ticks(Duration::MAX), u64::MAX);
    }
}
