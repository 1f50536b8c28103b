//! From a hash to the slot that holds the key: 11 to 21 bytes a key.
//!
//! Invariants: a slot number stands in it at most once, in the first free place at or after the one its hash asks for; a
//! quarter of the places is free. So a lookup reads one cache line, seldom two.
//! Deliberately does not own keys: they lie in the caller's slab, and the caller compares them. The hash is kept beside
//! the slot, so that growing touches neither the keys nor their memory and a worker does not stall on it.

/// Fewest places of an index that holds anything.
const PLACES_MIN: usize = 8;

/// An index into a slab by hash.
#[derive(Default)]
pub(crate) struct Index {
    /// A power of two of them, or none.
    places: Vec<Place>,
    len: usize,
}

#[derive(Clone, Copy)]
struct Place {
    hash: u32,
    slot: u32,
}

/// No slab has that many slots: they would take 256 GB.
const FREE: u32 = u32::MAX;

impl Place {
    const EMPTY: Self = Self { hash: 0, slot: FREE };

    const fn is_free(self) -> bool {
        self.slot == FREE
    }
}

impl Index {
    /// The slot under `hash` of which `is_key` holds.
    pub(crate) fn find(&self, hash: u64, mut is_key: impl FnMut(u32) -> bool) -> Option<u32> {
        let hash = short(hash);
        let (_, place) = self
            .run(hash)
            .find(|(_, place)| place.hash == hash && is_key(place.slot))?;
        Some(place.slot)
    }

    /// Puts `slot` under `hash`. The caller has seen that the key is not there yet.
    pub(crate) fn insert(&mut self, hash: u64, slot: u32) {
        self.len += 1;
        if self.len * 4 > self.places.len() * 3 {
            self.resize((self.places.len() * 2).max(PLACES_MIN));
        }
        self.put(Place {
            hash: short(hash),
            slot,
        });
    }

    /// Takes `slot` from under `hash`, and gives memory back when seven eighths of it lie idle.
    pub(crate) fn remove(&mut self, hash: u64, slot: u32) {
        let Some((mut gap, _)) = self.run(short(hash)).find(|(_, place)| place.slot == slot) else {
            return;
        };
        // What stands behind moves up as far as its own hash allows, so that no run is interrupted.
        let mut at = self.after(gap);
        while let Some(place) = self.places.get(at).copied().filter(|place| !place.is_free()) {
            if self.distance(place.hash as usize, at) >= self.distance(gap, at) {
                self.write(gap, place);
                gap = at;
            }
            at = self.after(at);
        }
        self.write(gap, Place::EMPTY);
        self.len -= 1;
        if self.places.len() > PLACES_MIN && self.len * 8 < self.places.len() {
            self.resize(self.places.len() / 2);
        }
    }

    /// The places in use from the one that `hash` asks for to the next free one.
    fn run(&self, hash: u32) -> impl Iterator<Item = (usize, Place)> {
        let mut at = self.wrap(hash as usize);
        std::iter::from_fn(move || {
            let found = (at, self.places.get(at).copied().filter(|place| !place.is_free())?);
            at = self.after(at);
            Some(found)
        })
    }

    fn put(&mut self, place: Place) {
        let at = self.run(place.hash).last().map(|(last, _)| self.after(last));
        self.write(at.unwrap_or_else(|| self.wrap(place.hash as usize)), place);
    }

    fn resize(&mut self, places: usize) {
        let old = std::mem::replace(&mut self.places, vec![Place::EMPTY; places]);
        old.into_iter()
            .filter(|place| !place.is_free())
            .for_each(|place| self.put(place));
    }

    fn write(&mut self, at: usize, place: Place) {
        if let Some(target) = self.places.get_mut(at) {
            *target = place;
        }
    }

    fn wrap(&self, at: usize) -> usize {
        at & self.places.len().wrapping_sub(1)
    }

    fn after(&self, at: usize) -> usize {
        self.wrap(at + 1)
    }

    /// Places from `from` on to `to`, round the end.
    fn distance(&self, from: usize, to: usize) -> usize {
        self.wrap(to.wrapping_sub(from))
    }
}

/// 32 bits tell keys apart well enough; the caller's comparison decides.
fn short(hash: u64) -> u32 {
    hash as u32
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    impl Index {
        pub(crate) fn len(&self) -> usize {
            self.len
        }
    }

    proptest! {
        /// Hashes crowd together and round the end of the table.
        #[test]
        fn finds_what_was_put_in_and_not_taken_out(
            steps in proptest::collection::vec((0..300_u32, proptest::bool::weighted(0.6)), 0..600),
            spread in proptest::sample::select(vec![1_u64, 7, 0x9E37_79B9]),
        ) {
            let hash = |slot: u32| u64::from(slot / 3).wrapping_mul(spread).wrapping_sub(20);
            let mut index = Index::default();
            let mut model = HashMap::new();
            for (slot, add) in steps {
                match (add, model.contains_key(&slot)) {
                    (true, false) => {
                        index.insert(hash(slot), slot);
                        model.insert(slot, ());
                    }
                    (false, _) => {
                        index.remove(hash(slot), slot);
                        model.remove(&slot);
                    }
                    (true, true) => {}
                }
                prop_assert_eq!(index.len(), model.len());
                prop_assert!(index.places.is_empty() || index.len * 4 <= index.places.len() * 3);
            }
            for slot in 0..300 {
                let found = index.find(hash(slot), |found| found == slot);
                prop_assert_eq!(found, model.get(&slot).map(|()| slot));
            }
            for slot in model.into_keys() {
                index.remove(hash(slot), slot);
            }
            prop_assert!(index.places.len() <= PLACES_MIN);
        }
    }
}
