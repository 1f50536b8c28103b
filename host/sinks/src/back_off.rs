//! How long to wait between attempts: doubling, bounded, with jitter.
//!
//! Invariant: the same seed gives the same waits. Deliberately does not: sleep.

use std::time::Duration;

use crate::BackOff;

/// A series of failed attempts.
pub(crate) struct Series {
    bounds: BackOff,
    wait: Duration,
    random: u64,
}

impl Series {
    /// `seed` keeps lanes from trying in step.
    pub(crate) fn new(bounds: BackOff, seed: u64) -> Self {
        Self {
            bounds,
            wait: bounds.min,
            random: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
        }
    }

    /// The wait after one more failure: between half of the doubled wait and all of it.
    pub(crate) fn next(&mut self) -> Duration {
        let wait = self.wait;
        self.wait = wait.saturating_mul(2).min(self.bounds.max);
        // xorshift64: jitter needs spread, not secrecy.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let permille = u32::try_from(self.random % 501).unwrap_or(0) + 500;
        wait * permille / 1_000
    }

    /// An attempt succeeded.
    pub(crate) fn reset(&mut self) {
        self.wait = self.bounds.min;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_bound_with_jitter_and_start_over() {
        let bounds = BackOff {
            min: Duration::from_millis(100),
            max: Duration::from_millis(800),
        };
        let mut series = Series::new(bounds, 7);
        for full in [100, 200, 400, 800, 800, 800] {
            let wait = series.next().as_millis();
            assert!((full / 2..=full).contains(&wait), "{wait} of {full}");
        }
        series.reset();
        assert!(series.next() <= Duration::from_millis(100));
        let waits = |seed| (0..8).map(|_| Series::new(bounds, seed).next()).next();
        assert_ne!(waits(1), waits(2), "lanes must not try in step");
    }
}
