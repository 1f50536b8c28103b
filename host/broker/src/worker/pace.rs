//! The adaptive tick: when many clients send a message now and then, each message costs a wake-up, and no batch ever
//! forms. Resting a little between ticks lets the kernel collect what arrives, at a bounded price in latency.
//!
//! Invariant: the worker never rests while wake-ups are rare or already bring many reads each.
//! Deliberately does not: sleep or read clocks; the worker does.

use std::time::Duration;

/// Wake-ups per second from which resting pays: below it latency is worth more than CPU time.
const WAKE_UPS_PER_SECOND: u32 = 5_000;

/// Reads per wake-up from which the batch forms by itself.
const READS_PER_WAKE_UP: u32 = 8;

/// Window over which wake-ups and reads are counted.
const WINDOW: Duration = Duration::from_millis(20);

/// Decides whether to rest before the next poll.
#[derive(Debug)]
pub struct Pace {
    tick_max: Duration,
    window_start: Duration,
    wake_ups: u32,
    reads: u32,
    resting: bool,
}

impl Pace {
    /// Rests at most `tick_max` between two ticks; zero turns resting off.
    pub fn new(tick_max: Duration) -> Self {
        Self {
            tick_max,
            window_start: Duration::ZERO,
            wake_ups: 0,
            reads: 0,
            resting: false,
        }
    }

    /// Counts a tick that began at `now` and read `reads` sockets.
    pub fn ticked(&mut self, now: Duration, reads: u32) {
        if self.tick_max.is_zero() {
            return;
        }
        self.wake_ups += u32::from(reads > 0);
        self.reads += reads;
        let span = now.saturating_sub(self.window_start);
        if span < WINDOW {
            return;
        }
        self.resting = self.worth_resting(span);
        self.window_start = now;
        self.wake_ups = 0;
        self.reads = 0;
    }

    /// How long to rest when the last tick began at `began` and it is `now`.
    pub fn rest(&self, began: Duration, now: Duration) -> Duration {
        match self.resting {
            true => self.tick_max.saturating_sub(now.saturating_sub(began)),
            false => Duration::ZERO,
        }
    }

    /// While resting, wake-ups are rarer and fuller by design, so the question is asked of the reads: would they
    /// come one by one, and often enough?
    fn worth_resting(&self, span: Duration) -> bool {
        let per_second = |count: u32| f64::from(count) / span.as_secs_f64();
        match self.resting {
            false => {
                per_second(self.wake_ups) >= f64::from(WAKE_UPS_PER_SECOND)
                    && self.reads < self.wake_ups.saturating_mul(READS_PER_WAKE_UP)
            }
            true => {
                let ceiling = f64::from(READS_PER_WAKE_UP) * 4.0 / self.tick_max.as_secs_f64();
                per_second(self.reads) >= f64::from(WAKE_UPS_PER_SECOND) && per_second(self.reads) < ceiling
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(pace: &mut Pace, ticks: u32, every: Duration, reads: u32) -> bool {
        let mut now = pace.window_start;
        for _ in 0..ticks {
            now += every;
            pace.ticked(now, reads);
        }
        pace.rest(now, now) > Duration::ZERO
    }

    #[test]
    fn rests_only_when_many_wake_ups_bring_little() {
        let tick = Duration::from_micros(500);
        let many_single = &mut Pace::new(tick);
        assert!(after(many_single, 1_000, Duration::from_micros(100), 1));
        let few = &mut Pace::new(tick);
        assert!(!after(few, 1_000, Duration::from_millis(1), 1));
        let batched = &mut Pace::new(tick);
        assert!(!after(batched, 1_000, Duration::from_micros(100), 50));
        let off = &mut Pace::new(Duration::ZERO);
        assert!(!after(off, 1_000, Duration::from_micros(100), 1));
    }

    #[test]
    fn stops_resting_when_load_goes_or_fills_batches_by_itself() {
        let pace = &mut Pace::new(Duration::from_micros(500));
        assert!(after(pace, 1_000, Duration::from_micros(100), 1));
        assert!(
            after(pace, 1_000, Duration::from_micros(500), 7),
            "resting made the wake-ups fuller"
        );
        assert!(!after(pace, 100, Duration::from_millis(10), 1), "nearly idle");
        assert!(after(pace, 1_000, Duration::from_micros(100), 1));
        assert!(!after(pace, 1_000, Duration::from_micros(500), 200), "saturated");
    }

    #[test]
    fn rest_counts_from_the_start_of_the_tick() {
        let pace = &mut Pace::new(Duration::from_micros(500));
        assert!(after(pace, 1_000, Duration::from_micros(100), 1));
        let began = Duration::from_secs(9);
        assert_eq!(
            pace.rest(began, began + Duration::from_micros(200)),
            Duration::from_micros(300)
        );
        assert_eq!(
            pace.rest(began, began + Duration::from_micros(900)),
            Duration::ZERO
        );
    }
}
