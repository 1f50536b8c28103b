//! What one subscriber received of one publisher: lost, duplicated and reordered messages, by sequence.
//!
//! ```text
//!   received  0 1 2 . . 5 6 4 6        next = 7, missing = [3..4]
//!                   ^gap   ^late ^duplicate
//! ```
//! Invariant: every sequence below `next` was either received or is in `missing`; the ranges are sorted, not empty
//! and apart. Exact as long as at most [`MISSING_RANGES_MAX`] gaps are open at once; beyond that the oldest is given
//! up as lost, and a message of it that still comes is counted as a duplicate.

use std::collections::VecDeque;
use std::ops::Range;

/// Gaps remembered per publisher and subscriber.
pub const MISSING_RANGES_MAX: usize = 4096;

/// How a received message stands to those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// The next one, or the first after a gap.
    InOrder,
    /// Received after one that was sent later.
    Reordered,
    /// Received before.
    Duplicate,
}

/// The sequences of one publisher as one subscriber saw them.
#[derive(Debug, Clone, Default)]
pub struct Sequence {
    next: u32,
    // Nothing is allocated until something goes missing.
    missing: VecDeque<Range<u32>>,
    given_up: u64,
}

impl Sequence {
    /// Takes in one received sequence number.
    #[inline]
    pub fn receive(&mut self, sequence: u32) -> Arrival {
        if sequence == self.next {
            self.next = sequence.wrapping_add(1);
            return Arrival::InOrder;
        }
        if sequence > self.next {
            self.open_gap(self.next..sequence);
            self.next = sequence.wrapping_add(1);
            return Arrival::InOrder;
        }
        match self.close_gap(sequence) {
            true => Arrival::Reordered,
            false => Arrival::Duplicate,
        }
    }

    /// Messages missing when the publisher has sent `sent` of them: the gaps, and the end that never came.
    pub fn lost(&self, sent: u32) -> u64 {
        let gaps: u64 = self
            .missing
            .iter()
            .map(|gap| u64::from(gap.end - gap.start))
            .sum();
        self.given_up + gaps + u64::from(sent.saturating_sub(self.next))
    }

    fn open_gap(&mut self, gap: Range<u32>) {
        if self.missing.len() == MISSING_RANGES_MAX
            && let Some(oldest) = self.missing.pop_front()
        {
            self.given_up += u64::from(oldest.end - oldest.start);
        }
        self.missing.push_back(gap);
    }

    /// Removes `sequence` from the gaps; false when it was in none.
    fn close_gap(&mut self, sequence: u32) -> bool {
        let at = self.missing.partition_point(|gap| gap.end <= sequence);
        let Some(gap) = self.missing.get_mut(at).filter(|gap| gap.contains(&sequence)) else {
            return false;
        };
        let after = sequence + 1..gap.end;
        gap.end = sequence;
        let before_is_empty = gap.start == gap.end;
        match (before_is_empty, after.start == after.end) {
            (true, true) => drop(self.missing.remove(at)),
            (true, false) => *gap = after,
            (false, true) => {}
            (false, false) => self.missing.insert(at + 1, after),
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_gap_is_loss_until_it_is_filled() {
        let mut sequence = Sequence::default();
        for received in [0, 1, 2, 5, 6] {
            assert_eq!(sequence.receive(received), Arrival::InOrder);
        }
        assert_eq!(sequence.lost(7), 2);
        assert_eq!(sequence.receive(4), Arrival::Reordered);
        assert_eq!(sequence.receive(4), Arrival::Duplicate);
        assert_eq!(sequence.receive(6), Arrival::Duplicate);
        assert_eq!(sequence.lost(7), 1);
        assert_eq!(sequence.lost(10), 4, "what never came after the last is lost too");
    }

    #[test]
    fn more_gaps_than_are_remembered_stay_counted_as_lost() {
        let mut sequence = Sequence::default();
        let gaps = u32::try_from(MISSING_RANGES_MAX).unwrap() + 10;
        for odd in 0..gaps {
            sequence.receive(2 * odd + 1);
        }
        assert_eq!(sequence.lost(2 * gaps), u64::from(gaps));
    }

    proptest! {
        #[test]
        fn agrees_with_a_set_of_everything_received(received in prop::collection::vec(0u32..60, 0..200)) {
            let mut seen = std::collections::BTreeSet::new();
            let mut sequence = Sequence::default();
            for number in received {
                let late = seen.last().is_some_and(|&last| number < last);
                let expected = match (seen.insert(number), late) {
                    (false, _) => Arrival::Duplicate,
                    (true, true) => Arrival::Reordered,
                    (true, false) => Arrival::InOrder,
                };
                prop_assert_eq!(sequence.receive(number), expected);
                prop_assert_eq!(sequence.lost(60), 60 - seen.len() as u64);
            }
        }
    }
}
