//! One timer wheel per worker, instead of a timer per connection.
//!
//! A deadline is rounded up to a slot of [`SLOT`]; what lies beyond the wheel waits in its last slot and is looked at
//! again there. Deadlines move all the time (every packet moves a keep-alive) and the wheel does not follow them:
//! whoever fires asks what is due now and comes back in when it is not.
//! Invariant: nothing fires before its deadline; nothing fires later than one slot after it.

use std::time::Duration;

use tidegate_session::Time;

/// Resolution: keep-alives and delays are whole seconds, so a quarter of one is late by little.
const SLOT: Duration = Duration::from_millis(250);
const SLOT_MS: u64 = SLOT.as_millis() as u64;

/// Slots of the wheel: 128 s ahead, longer than most keep-alives.
const SLOTS: u64 = 512;

/// Keys by the time at which they want to be looked at.
pub struct TimerWheel<K> {
    slots: Vec<Vec<(Time, K)>>,
    /// Number of the next slot to fire, counted from time zero.
    next: u64,
    armed: usize,
}

impl<K: Copy> TimerWheel<K> {
    /// An empty wheel that starts at `now`.
    pub fn new(now: Time) -> Self {
        let slots = (0..SLOTS).map(|_| Vec::new()).collect();
        Self {
            slots,
            next: now.0 / SLOT_MS,
            armed: 0,
        }
    }

    /// Asks for `key` at `deadline`.
    pub fn arm(&mut self, deadline: Time, key: K) {
        let wanted = deadline.0 / SLOT_MS + 1;
        let slot = wanted.clamp(self.next, self.next + SLOTS - 1);
        if let Some(entries) = self.slots.get_mut((slot % SLOTS) as usize) {
            entries.push((deadline, key));
            self.armed += 1;
        }
    }

    /// Appends every key whose deadline has come to `due`.
    pub fn expire(&mut self, now: Time, due: &mut Vec<K>) {
        let current = now.0 / SLOT_MS;
        while self.next <= current && self.armed > 0 {
            let index = (self.next % SLOTS) as usize;
            self.next += 1;
            let entries = self.slots.get_mut(index).map(std::mem::take).unwrap_or_default();
            self.armed -= entries.len();
            for (deadline, key) in entries {
                match deadline <= now {
                    true => due.push(key),
                    false => self.arm(deadline, key),
                }
            }
        }
        self.next = self.next.max(current);
    }

    /// How long from `now` until something may be due; `None` while the wheel is empty.
    pub fn next_in(&self, now: Time) -> Option<Duration> {
        if self.armed == 0 {
            return None;
        }
        let ahead = (0..SLOTS).find(|ahead| {
            self.slots
                .get(((self.next + ahead) % SLOTS) as usize)
                .is_some_and(|slot| !slot.is_empty())
        })?;
        let at = (self.next + ahead) * SLOT_MS;
        Some(Duration::from_millis(at.saturating_sub(now.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever is armed fires once, not before its deadline and at most a slot late.
        #[test]
        fn fires_once_in_time(deadlines in prop::collection::vec(0u64..2_000_000, 1..50), step in 1u64..5_000) {
            let mut wheel = TimerWheel::new(Time(0));
            for (key, deadline) in deadlines.iter().enumerate() {
                wheel.arm(Time(*deadline), key);
            }
            let (mut fired, mut now) = (vec![None; deadlines.len()], 0);
            while now < 2_010_000 {
                let mut due = Vec::new();
                wheel.expire(Time(now), &mut due);
                for key in due {
                    prop_assert!(fired[key].replace(now).is_none(), "fired twice");
                }
                now += step;
            }
            for (deadline, fired) in deadlines.iter().zip(fired) {
                let fired = fired.expect("never fired");
                prop_assert!(fired >= *deadline && fired <= deadline + 2 * SLOT_MS + step);
            }
            prop_assert_eq!(wheel.next_in(Time(now)), None);
        }
    }

    #[test]
    fn tells_when_to_wake() {
        let mut wheel = TimerWheel::new(Time(10_000));
        wheel.arm(Time(11_000), ());
        let wait = wheel.next_in(Time(10_000)).unwrap();
        assert!(
            wait >= Duration::from_millis(1_000) && wait <= Duration::from_millis(1_250),
            "{wait:?}"
        );
    }
}
