//! From a hash to the slot that holds the key: five to ten bytes times two a key.
//!
//! Invariant: each slot number stands in it at most once, under the hash it was put in with.
//! Deliberately does not own keys: they lie in the caller's slab, and the caller compares them. The hash is kept beside
//! the slot, so that growing touches neither the keys nor their memory and a worker does not stall on it.

use hashbrown::HashTable;

/// An index into a slab by hash.
#[derive(Default)]
pub(crate) struct Index {
    table: HashTable<Place>,
}

#[derive(Clone, Copy)]
struct Place {
    hash: u32,
    slot: u32,
}

impl Index {
    /// The slot under `hash` of which `is_key` holds.
    pub(crate) fn find(&self, hash: u64, mut is_key: impl FnMut(u32) -> bool) -> Option<u32> {
        let short = short(hash);
        let found = self
            .table
            .find(spread(short), |place| place.hash == short && is_key(place.slot));
        found.map(|place| place.slot)
    }

    /// Puts `slot` under `hash`. The caller has seen that the key is not there yet.
    pub(crate) fn insert(&mut self, hash: u64, slot: u32) {
        let place = Place {
            hash: short(hash),
            slot,
        };
        self.table
            .insert_unique(spread(place.hash), place, |place| spread(place.hash));
    }

    /// Takes `slot` from under `hash`, and gives memory back when three quarters of it lie idle.
    pub(crate) fn remove(&mut self, hash: u64, slot: u32) {
        let short = short(hash);
        if let Ok(found) = self.table.find_entry(spread(short), |place| place.slot == slot) {
            found.remove();
        }
        if self.table.capacity() > 64 && self.table.len() < self.table.capacity() / 8 {
            let twice = self.table.len() * 2;
            self.table.shrink_to(twice, |place| spread(place.hash));
        }
    }
}

/// 32 bits tell keys apart well enough; the caller's comparison decides.
fn short(hash: u64) -> u32 {
    (hash >> 32) as u32
}

/// The table takes its bucket from the low bits and its tag from the top seven: both must vary.
fn spread(short: u32) -> u64 {
    u64::from(short) << 32 | u64::from(short)
}
