//! The one place that asks what time it is, and how much processor time was used.
//!
//! All instants are nanoseconds of the machine's monotonic clock, so that processes of one machine agree on them
//! and an instant fits into the eight bytes of a message's stamp. Deliberately does not sleep or set timers.

use std::time::SystemTime;

use rustix::time::{ClockId, Timespec, clock_gettime};

/// Nanoseconds in a second.
pub const SECOND: u64 = 1_000_000_000;
/// Nanoseconds in a millisecond.
pub const MILLISECOND: u64 = 1_000_000;

/// Now, in nanoseconds of the monotonic clock.
pub fn now() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

/// Processor time (user and system) of the calling thread so far, in nanoseconds.
pub fn thread_cpu() -> u64 {
    nanoseconds(clock_gettime(ClockId::ThreadCPUTime))
}

/// Date and time of day in UTC, to the second: `2026-01-31T12:00:00Z`.
#[allow(clippy::disallowed_methods)] // a report carries the date of its run, and this crate is shell
pub fn date() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

/// An instant of [`now`] as the kernel takes it.
pub fn timespec(instant: u64) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(instant / SECOND).unwrap_or(i64::MAX),
        tv_nsec: (instant % SECOND) as _,
    }
}

fn nanoseconds(time: Timespec) -> u64 {
    u64::try_from(time.tv_sec).unwrap_or(0) * SECOND + u64::try_from(time.tv_nsec).unwrap_or(0)
}
