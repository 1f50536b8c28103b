//! When which publisher is due: every publisher once an interval, all of them evenly staggered over it.
//!
//! ```text
//!   publisher   0 . . . 0 . . .        start + round * interval + publisher * interval / publishers
//!               . 1 . . . 1 . .
//! ```
//! The schedule runs on whatever the broker does: that is what makes the load open-loop.

/// The slots of one thread, which carries every `threads`-th publisher.
#[derive(Debug, Clone, Copy)]
pub struct Schedule {
    /// First slot of publisher 0, in nanoseconds of the clock.
    pub start: u64,
    /// Between two messages of a publisher, in nanoseconds.
    pub interval: u64,
    /// Publishers over all threads.
    pub publishers: u32,
    /// Publishers of this thread.
    pub own: u32,
    /// Slots of this thread that were served.
    pub served: u64,
}

impl Schedule {
    /// When publisher `index` is due for its message number `sequence`.
    #[inline]
    pub fn due(&self, index: u32, sequence: u32) -> u64 {
        let offset = u64::from(index) * self.interval / u64::from(self.publishers.max(1));
        self.start + u64::from(sequence) * self.interval + offset
    }

    /// Place among this thread's publishers, and sequence, of the next slot.
    pub fn next(&self) -> Option<(usize, u32)> {
        let own = u64::from(self.own);
        let place = self.served.checked_rem(own)?;
        Some((
            usize::try_from(place).ok()?,
            u32::try_from(self.served / own).ok()?,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn publishers_are_staggered_over_the_interval() {
        let schedule = Schedule {
            start: 1000,
            interval: 400,
            publishers: 4,
            own: 2,
            served: 5,
        };
        assert_eq!(
            [0, 1, 2, 3].map(|index| schedule.due(index, 0)),
            [1000, 1100, 1200, 1300]
        );
        assert_eq!(schedule.due(1, 2), 1900);
        assert_eq!(schedule.next(), Some((1, 2)));
        assert_eq!(Schedule { own: 0, ..schedule }.next(), None);
    }
}
