//! The one place of the broker that asks what time it is; everything else takes time as an argument.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tidegate_session::Time;

/// Time of the process: milliseconds since it started, and since the Unix epoch.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    start: Instant,
}

#[allow(clippy::disallowed_methods)] // the shell's own clock
impl Clock {
    /// Starts counting now.
    pub fn start() -> Self {
        Self {
            start: Instant::now(),
        }
    }

    /// Time since the start.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// The same as sessions count it.
    pub fn time(&self) -> Time {
        Time(u64::try_from(self.elapsed().as_millis()).unwrap_or(u64::MAX))
    }
}

impl tidegate_sinks::Clock for Clock {
    fn now(&self) -> Duration {
        self.elapsed()
    }

    #[allow(clippy::disallowed_methods)] // the shell's own clock
    fn unix_ms(&self) -> u64 {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX)
    }
}
