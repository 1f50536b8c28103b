//! Places of inbound messages between their PUBLISH and the release of their acknowledgement, for one QoS.
//!
//! ```text
//!            head                       next
//!   number    7       8       9       10
//!           ┌───────┬───────┬───────┐
//!           │ id 31 │ id 32 │ id 33 │        8 has settled and waits for 7
//!           │   -   │  ok   │   -   │
//!           └───────┴───────┴───────┘
//! ```
//! Invariants: in order, a slot leaves only from the head [MQTT-4.6.0-2], [MQTT-4.6.0-3]; no slot leaves twice; a
//! number of an earlier link is never taken for one of this link. Every operation but [`AckWindow::contains`] is O(1).
//! Deliberately does not know what an outcome means, nor its own bound: that is the Receive Maximum of `inbound.rs`.

use std::collections::{HashMap, VecDeque};

use tidegate_codec::PacketId;

use crate::AckOrder;
use crate::number_hash::NumberHash;

/// Slots of one QoS, each with the packet identifier to acknowledge.
#[derive(Debug)]
pub(crate) struct AckWindow<T> {
    slots: Slots<T>,
    /// Number of the slot that comes next.
    next: u32,
}

#[derive(Debug)]
enum Slots<T> {
    /// Indexed by number minus the number of the head.
    InOrder(VecDeque<Place<T>>),
    /// A map, because a ring would keep a hole for every slot that overtook the head.
    Any(HashMap<u32, PacketId, NumberHash>),
}

#[derive(Debug)]
struct Place<T> {
    packet_id: PacketId,
    outcome: Option<T>,
}

impl<T> AckWindow<T> {
    /// An empty window whose first slot has the number `first`.
    pub(crate) fn new(order: AckOrder, first: u32) -> Self {
        let slots = match order {
            AckOrder::InOrder => Slots::InOrder(VecDeque::new()),
            AckOrder::Any => Slots::Any(HashMap::default()),
        };
        Self { slots, next: first }
    }

    /// Slots that have not left.
    pub(crate) fn len(&self) -> usize {
        match &self.slots {
            Slots::InOrder(places) => places.len(),
            Slots::Any(ids) => ids.len(),
        }
    }

    /// Takes the next slot for `packet_id`.
    pub(crate) fn push(&mut self, packet_id: PacketId) -> u32 {
        let number = self.next;
        self.next = number.wrapping_add(1);
        match &mut self.slots {
            Slots::InOrder(places) => places.push_back(Place {
                packet_id,
                outcome: None,
            }),
            Slots::Any(ids) => {
                ids.insert(number, packet_id);
            }
        }
        number
    }

    /// Whether a slot is held for `packet_id`. Looks at every slot: only for the rare PUBLISH with DUP.
    pub(crate) fn contains(&self, packet_id: PacketId) -> bool {
        match &self.slots {
            Slots::InOrder(places) => places.iter().any(|place| place.packet_id == packet_id),
            Slots::Any(ids) => ids.values().any(|&id| id == packet_id),
        }
    }

    /// Removes slot `number` if it may leave now. The head never has an outcome: who calls this takes all of
    /// [`AckWindow::next_settled`] afterwards.
    pub(crate) fn leave(&mut self, number: u32) -> Option<PacketId> {
        match &mut self.slots {
            Slots::InOrder(places) => match place_of(places, self.next, number) {
                Some(0) => places.pop_front().map(|place| place.packet_id),
                _ => None,
            },
            Slots::Any(ids) => ids.remove(&number),
        }
    }

    /// Keeps the outcome of a slot that [`AckWindow::leave`] did not let go. The first outcome counts; an unknown
    /// slot is of an earlier link and forgotten.
    pub(crate) fn hold(&mut self, number: u32, outcome: T) {
        if let Slots::InOrder(places) = &mut self.slots
            && let Some(index) = place_of(places, self.next, number)
            && let Some(place) = places.get_mut(index)
            && place.outcome.is_none()
        {
            place.outcome = Some(outcome);
        }
    }

    /// Removes the head if its outcome is known.
    pub(crate) fn next_settled(&mut self) -> Option<(PacketId, T)> {
        let Slots::InOrder(places) = &mut self.slots else {
            return None;
        };
        let outcome = places.front_mut()?.outcome.take()?;
        places.pop_front().map(|place| (place.packet_id, outcome))
    }

    /// Forgets all slots; numbers go on.
    pub(crate) fn clear(&mut self) {
        match &mut self.slots {
            Slots::InOrder(places) => places.clear(),
            Slots::Any(ids) => ids.clear(),
        }
    }
}

/// Index of `number` in `places`, which end just before `next`.
fn place_of<T>(places: &VecDeque<Place<T>>, next: u32, number: u32) -> Option<usize> {
    let from_end = usize::try_from(next.wrapping_sub(number)).ok()?;
    places
        .len()
        .checked_sub(from_end)
        .filter(|&index| index < places.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn id(value: u16) -> PacketId {
        PacketId::new(value).unwrap()
    }

    /// Settles `number` as `inbound.rs` does and returns what left.
    fn settle(window: &mut AckWindow<u32>, number: u32) -> Vec<(PacketId, u32)> {
        let mut left = Vec::new();
        match window.leave(number) {
            Some(packet_id) => left.push((packet_id, number)),
            None => window.hold(number, number),
        }
        while let Some(settled) = window.next_settled() {
            left.push(settled);
        }
        left
    }

    #[test]
    fn a_settled_slot_waits_for_the_head() {
        let mut window = AckWindow::new(AckOrder::InOrder, u32::MAX);
        let first = window.push(id(5));
        let second = window.push(id(9));
        assert_eq!((first, second), (u32::MAX, 0));
        assert_eq!(settle(&mut window, second), []);
        assert_eq!(settle(&mut window, first), [(id(5), first), (id(9), second)]);
        assert_eq!(window.len(), 0);
    }

    #[test]
    fn any_order_releases_at_once() {
        let mut window = AckWindow::new(AckOrder::Any, 0);
        window.push(id(5));
        let second = window.push(id(9));
        assert_eq!(settle(&mut window, second), [(id(9), second)]);
        assert_eq!(settle(&mut window, second), []);
        assert_eq!(window.len(), 1);
    }

    #[test]
    fn a_slot_of_before_the_clear_is_not_taken_for_a_new_one() {
        for order in [AckOrder::InOrder, AckOrder::Any] {
            let mut window = AckWindow::new(order, 40);
            let stale = window.push(id(1));
            window.clear();
            window.push(id(1));
            assert_eq!(settle(&mut window, stale), []);
            assert_eq!(window.len(), 1);
        }
    }

    proptest! {
        /// [MQTT-4.6.0-2]: whatever the order of settling, repeats included, every slot leaves once, in order.
        #[test]
        fn never_reorders_and_never_leaks(
            count in 1_u16..200,
            first in any::<u32>(),
            picks in prop::collection::vec(any::<prop::sample::Index>(), 0..600),
        ) {
            let mut window = AckWindow::new(AckOrder::InOrder, first);
            let numbers: Vec<u32> = (1..=count).map(|value| window.push(id(value))).collect();
            let mut left = Vec::new();
            for pick in &picks {
                left.extend(settle(&mut window, *pick.get(&numbers)));
            }
            for &number in numbers.iter().rev() {
                left.extend(settle(&mut window, number));
            }
            let expected: Vec<_> = (1..=count).map(id).zip(numbers).collect();
            prop_assert_eq!(left, expected);
            prop_assert_eq!(window.len(), 0);
        }

        /// Pushing, settling and clearing in any mixture keeps what a plain list of slots would keep.
        #[test]
        fn agrees_with_a_plain_list(actions in prop::collection::vec((0_u8..8, any::<prop::sample::Index>()), 0..400)) {
            let mut window = AckWindow::new(AckOrder::InOrder, u32::MAX - 20);
            let mut model: Vec<(u32, bool)> = Vec::new();
            let mut given: Vec<u32> = Vec::new();
            for (action, pick) in actions {
                match action {
                    0..=3 => {
                        let number = window.push(id(1));
                        model.push((number, false));
                        given.push(number);
                    }
                    4..=6 if !given.is_empty() => {
                        let number = *pick.get(&given);
                        for slot in model.iter_mut().filter(|slot| slot.0 == number) {
                            slot.1 = true;
                        }
                        let leaving = model.iter().take_while(|slot| slot.1).count();
                        let expected: Vec<u32> = model.drain(..leaving).map(|slot| slot.0).collect();
                        let left: Vec<u32> = settle(&mut window, number).into_iter().map(|(_, number)| number).collect();
                        prop_assert_eq!(left, expected);
                    }
                    7 => {
                        window.clear();
                        model.clear();
                    }
                    _ => {}
                }
                prop_assert_eq!(window.len(), model.len());
            }
        }
    }
}
