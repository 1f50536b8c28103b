//! When to stop calling a module that keeps failing, and when to try again. Pure: time is an argument, a duration since any fixed
//! point that never goes back.
//!
//! Invariant: between two openings at least one call is tried, so a module that recovers is noticed after one pause.

use std::time::Duration;

use crate::{Cause, Failure};

/// Messages in a row that may fail before the module is left alone.
pub(crate) const FAILURES_MAX: u32 = 8;

/// How long a failing module is left alone: the first pause, doubled each time it fails again at once, up to the longest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The first pause.
    pub first: Duration,
    /// The longest pause.
    pub longest: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            first: Duration::from_secs(1),
            longest: Duration::from_secs(60),
        }
    }
}

/// Counts failures in a row.
#[derive(Debug)]
pub(crate) struct Breaker {
    backoff: Backoff,
    in_a_row: u32,
    next_pause: Duration,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    until: Duration,
    /// What opened it, in one line.
    failure: Failure,
}

impl Breaker {
    pub(crate) fn new(backoff: Backoff) -> Self {
        Self {
            backoff,
            in_a_row: 0,
            next_pause: backoff.first,
            open: None,
        }
    }

    /// A call gave an outcome.
    pub(crate) fn succeeded(&mut self) {
        self.in_a_row = 0;
        self.next_pause = self.backoff.first;
    }

    /// A single message failed, or all of them for a reason that is not theirs.
    pub(crate) fn failed(&mut self, failure: &Failure, now: Duration) {
        self.in_a_row = self.in_a_row.saturating_add(1);
        if self.in_a_row >= FAILURES_MAX || matches!(failure.cause, Cause::Fatal(_)) {
            self.open(failure, now);
        }
    }

    /// Leaves the module alone from `now` on.
    pub(crate) fn open(&mut self, failure: &Failure, now: Duration) {
        // When the pause is over, one more failure is enough.
        self.in_a_row = FAILURES_MAX - 1;
        let until = now.saturating_add(self.next_pause);
        self.open = Some(Open {
            until,
            failure: failure.clone(),
        });
        self.next_pause = self.next_pause.saturating_mul(2).min(self.backoff.longest);
    }

    /// How long the module is left alone from `now` on.
    pub(crate) fn pause(&self, now: Duration) -> Option<Duration> {
        let pause = self.open.as_ref()?.until.saturating_sub(now);
        (!pause.is_zero()).then_some(pause)
    }

    /// What to tell instead of calling; `None` if the call may be tried.
    pub(crate) fn refuses(&self, now: Duration) -> Option<Failure> {
        let pause = self.pause(now)?;
        let failure = &self.open.as_ref()?.failure;
        let text = failure.cause.to_string();
        let last = text.lines().next().unwrap_or_default().to_owned();
        Some(Failure {
            module: failure.module.clone(),
            cause: Cause::ModuleFailing { pause, last },
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn failure(cause: Cause) -> Failure {
        Failure {
            module: Arc::from("m@1"),
            cause,
        }
    }

    #[test]
    fn it_opens_after_failures_in_a_row_and_doubles_the_pause() {
        let trap = failure(Cause::Trap("unreachable\nbacktrace".to_owned()));
        let start = 5 * SECOND;
        let mut breaker = Breaker::new(Backoff {
            first: SECOND,
            longest: 3 * SECOND,
        });
        for _ in 0..FAILURES_MAX - 1 {
            breaker.failed(&trap, start);
        }
        assert!(breaker.refuses(start).is_none());
        breaker.succeeded();
        for _ in 0..FAILURES_MAX {
            assert!(breaker.refuses(start).is_none());
            breaker.failed(&trap, start);
        }
        let text = breaker.refuses(start).unwrap().to_string();
        assert!(
            text.contains("m@1") && text.contains("unreachable") && !text.contains("backtrace"),
            "{text}"
        );
        let mut now = start;
        for pause in [1, 2, 3, 3] {
            assert_eq!(breaker.pause(now), Some(pause * SECOND));
            now += pause * SECOND;
            assert!(breaker.refuses(now).is_none(), "tried again after the pause");
            breaker.failed(&trap, now);
        }
        breaker.succeeded();
        now += 3 * SECOND;
        for _ in 0..FAILURES_MAX {
            breaker.failed(&trap, now);
        }
        assert_eq!(breaker.pause(now), Some(SECOND), "a success forgives");
    }

    #[test]
    fn a_module_that_gives_up_is_left_alone_at_once() {
        let now = 5 * SECOND;
        let mut breaker = Breaker::new(Backoff::default());
        breaker.failed(&failure(Cause::Fatal("no licence".to_owned())), now);
        assert_eq!(breaker.pause(now), Some(SECOND));
    }
}
