//! The messages of one publisher that wait for their acknowledgement: identifier -> intended send time.
//!
//! Invariant: an identifier is in use exactly while its slot is not free, and identifiers go from 1 to the window's
//! size, so that a slot is found without a search as long as acknowledgements come in order.

/// Highest bit of a slot: PUBREC was received, PUBCOMP is awaited. A monotonic clock never gets there.
const RELEASED: u64 = 1 << 63;
const FREE: u64 = u64::MAX;

/// Slots for the messages in flight.
#[derive(Debug)]
pub struct Window {
    slots: Box<[u64]>,
    last: usize,
    open: usize,
}

impl Window {
    /// A window for at most `size` messages; 0 for QoS 0.
    pub fn new(size: u16) -> Self {
        Self {
            slots: vec![FREE; usize::from(size)].into(),
            last: usize::from(size).saturating_sub(1),
            open: 0,
        }
    }

    /// Lets at most `size` messages be in flight from now on; only ever smaller, and before the first message.
    pub fn shrink(&mut self, size: u16) {
        if usize::from(size) < self.slots.len() && self.open == 0 {
            *self = Self::new(size.max(1));
        }
    }

    /// Messages in flight.
    pub fn open(&self) -> usize {
        self.open
    }

    /// Whether another message may be sent.
    pub fn has_room(&self) -> bool {
        self.open < self.slots.len()
    }

    /// Takes an identifier for a message; `None` when the window is full.
    #[inline]
    pub fn take(&mut self, intended: u64) -> Option<u16> {
        if !self.has_room() {
            return None;
        }
        let (before, after) = self.slots.split_at(self.last + 1);
        let free = |slot: &u64| *slot == FREE;
        let at = match after.iter().position(free) {
            Some(distance) => self.last + 1 + distance,
            None => before.iter().position(free)?,
        };
        *self.slots.get_mut(at)? = intended;
        self.last = at;
        self.open += 1;
        u16::try_from(at + 1).ok()
    }

    /// PUBACK or PUBCOMP: frees the identifier and gives its message's intended send time; `None` when no message
    /// waited for it.
    #[inline]
    pub fn settle(&mut self, packet_id: u16) -> Option<u64> {
        let slot = self.slots.get_mut(usize::from(packet_id).checked_sub(1)?)?;
        if *slot == FREE {
            return None;
        }
        let intended = std::mem::replace(slot, FREE) & !RELEASED;
        self.open -= 1;
        Some(intended)
    }

    /// PUBREC: notes that PUBREL goes out; false when the identifier is not in use or was released before.
    pub fn release(&mut self, packet_id: u16) -> bool {
        let slot = usize::from(packet_id)
            .checked_sub(1)
            .and_then(|at| self.slots.get_mut(at));
        match slot {
            Some(slot) if *slot & RELEASED == 0 => {
                *slot |= RELEASED;
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_unique_while_in_flight_whatever_the_order_of_acks() {
        let mut window = Window::new(3);
        let ids: Vec<_> = (0..3).map(|at| window.take(at).unwrap()).collect();
        assert_eq!(ids, [1, 2, 3]);
        assert_eq!(window.take(9), None);
        assert_eq!(window.settle(2), Some(1));
        assert_eq!(window.settle(2), None, "an identifier settles once");
        assert_eq!(window.take(7), Some(2));
        assert_eq!(window.settle(1), Some(0));
        assert_eq!(window.take(8), Some(1));
        assert_eq!(window.open(), 3);
        assert_eq!((window.settle(0), window.settle(4)), (None, None));
    }

    #[test]
    fn a_message_is_released_once_and_keeps_its_time() {
        let mut window = Window::new(2);
        let id = window.take(42).unwrap();
        assert!(window.release(id));
        assert!(!window.release(id));
        assert!(!window.release(2));
        assert_eq!(window.settle(id), Some(42));
    }

    #[test]
    fn a_server_may_only_narrow_it() {
        let mut window = Window::new(10);
        window.shrink(20);
        window.shrink(2);
        assert_eq!(
            (window.take(0), window.take(0), window.take(0)),
            (Some(1), Some(2), None)
        );
    }
}
