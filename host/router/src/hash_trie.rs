//! A persistent map from 64-bit hashes to values: a hash array mapped trie, 32 ways a level.
//!
//! ```text
//! key bits   0..5 -> slot of the root,  5..10 -> slot below it, ...   at most 13 levels, so recursion is bounded
//! branch     bitmap 0b…0100_1010, slots [leaf, branch, leaf]          only slots in use take memory
//! ```
//!
//! Invariants: a clone shares all nodes with its original and neither sees the other's changes; a change copies the
//! nodes on the way to one key, at most 32 slots each, or none of them where no clone shares them.
//! Deliberately does not hold the text behind a hash: two texts with one hash are one key here. That is what makes it
//! several times smaller than a general persistent map, and why it fits only callers who can bear it.

use std::sync::Arc;

const BITS: u32 = 5;

/// Hash -> `V`. Keys must be well mixed.
#[derive(Clone)]
pub(crate) struct HashTrie<V> {
    root: Branch<V>,
    len: usize,
}

#[derive(Clone)]
struct Branch<V> {
    bitmap: u32,
    slots: Arc<[Slot<V>]>,
}

#[derive(Clone)]
enum Slot<V> {
    Leaf(u64, V),
    Branch(Branch<V>),
}

/// Where the slot of a key is in a branch, or would be.
struct Position {
    bit: u32,
    index: usize,
    taken: bool,
}

impl<V: Clone> HashTrie<V> {
    pub(crate) fn new() -> Self {
        Self {
            root: Branch::empty(),
            len: 0,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn get(&self, key: u64) -> Option<&V> {
        let mut branch = &self.root;
        let mut shift = 0;
        loop {
            let position = branch.position(key, shift);
            match branch.slots.get(position.index).filter(|_| position.taken)? {
                Slot::Leaf(own, value) => return (*own == key).then_some(value),
                Slot::Branch(below) => branch = below,
            }
            shift += BITS;
        }
    }

    /// The value of `key`, made by `default` if there is none, in nodes that no clone shares any more.
    pub(crate) fn get_mut_or(&mut self, key: u64, default: impl FnOnce() -> V) -> Option<&mut V> {
        if self.get(key).is_none() {
            self.root.insert(0, key, default());
            self.len += 1;
        }
        self.root.get_mut(key)
    }

    /// Takes `key` out.
    pub(crate) fn remove(&mut self, key: u64) {
        if self.get(key).is_some() {
            self.root.remove(0, key);
            self.len -= 1;
        }
    }
}

impl<V: Clone> Branch<V> {
    fn empty() -> Self {
        Self {
            bitmap: 0,
            slots: Arc::new([]),
        }
    }

    fn position(&self, key: u64, shift: u32) -> Position {
        let bit = 1 << (key.wrapping_shr(shift) & 31);
        Position {
            bit,
            index: (self.bitmap & (bit - 1)).count_ones() as usize,
            taken: self.bitmap & bit != 0,
        }
    }

    fn get_mut(&mut self, key: u64) -> Option<&mut V> {
        let mut branch = self;
        let mut shift = 0;
        loop {
            let position = branch.position(key, shift);
            match Arc::make_mut(&mut branch.slots).get_mut(position.index)? {
                Slot::Leaf(_, value) => return Some(value),
                Slot::Branch(below) => branch = below,
            }
            shift += BITS;
        }
    }

    /// Puts in `key`, which is not there yet.
    fn insert(&mut self, shift: u32, key: u64, value: V) {
        let position = self.position(key, shift);
        if !position.taken {
            let (before, after) = self.slots.split_at(position.index);
            let slot = std::iter::once(Slot::Leaf(key, value));
            self.slots = before
                .iter()
                .cloned()
                .chain(slot)
                .chain(after.iter().cloned())
                .collect();
            self.bitmap |= position.bit;
            return;
        }
        let Some(slot) = Arc::make_mut(&mut self.slots).get_mut(position.index) else {
            return;
        };
        match slot {
            Slot::Branch(below) => below.insert(shift + BITS, key, value),
            Slot::Leaf(own, other) => {
                let mut below = Self::empty();
                below.insert(shift + BITS, *own, other.clone());
                below.insert(shift + BITS, key, value);
                *slot = Slot::Branch(below);
            }
        }
    }

    /// Takes out `key`, which is there. A branch left with a single leaf becomes that leaf.
    fn remove(&mut self, shift: u32, key: u64) {
        let position = self.position(key, shift);
        if let Some(Slot::Branch(_)) = self.slots.get(position.index) {
            let Some(slot) = Arc::make_mut(&mut self.slots).get_mut(position.index) else {
                return;
            };
            let Slot::Branch(below) = slot else { return };
            below.remove(shift + BITS, key);
            if let [Slot::Leaf(own, value)] = &*below.slots {
                *slot = Slot::Leaf(*own, value.clone());
            }
            return;
        }
        let (before, after) = self.slots.split_at(position.index);
        self.slots = before.iter().chain(after.iter().skip(1)).cloned().collect();
        self.bitmap &= !position.bit;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    /// Keys that differ only in their last bits, and keys that are well apart.
    fn keys() -> impl Strategy<Value = u64> {
        prop_oneof![
            0..40_u64,
            (0..8_u64).prop_map(|high| high << 61),
            (0..40_u64).prop_map(|number| number.wrapping_mul(0x9E37_79B9_7F4A_7C15)),
        ]
    }

    fn check(trie: &HashTrie<u32>, model: &HashMap<u64, u32>) {
        assert_eq!((trie.len, trie.is_empty()), (model.len(), model.is_empty()));
        assert!(model.iter().all(|(key, value)| trie.get(*key) == Some(value)));
    }

    proptest! {
        #[test]
        fn clones_answer_as_maps_of_their_own(
            steps in proptest::collection::vec((keys(), any::<u32>(), proptest::bool::weighted(0.6), any::<bool>()), 0..120),
        ) {
            let mut now = (HashTrie::new(), HashMap::new());
            let mut clones = Vec::new();
            for (key, value, put, keep) in steps {
                match put {
                    true => {
                        *now.0.get_mut_or(key, || 0).unwrap() = value;
                        now.1.insert(key, value);
                    }
                    false => {
                        now.0.remove(key);
                        now.1.remove(&key);
                        prop_assert_eq!(now.0.get(key), None);
                    }
                }
                if keep {
                    clones.push(now.clone());
                }
            }
            clones.push(now);
            clones.iter().for_each(|(trie, model)| check(trie, model));
        }
    }

    #[test]
    fn a_change_copies_only_the_way_to_its_key() {
        let mut trie = HashTrie::new();
        for number in 0..100_000_u64 {
            trie.get_mut_or(number.wrapping_mul(0x9E37_79B9_7F4A_7C15), || number);
        }
        let before = trie.clone();
        trie.get_mut_or(1, || 0);
        let shared = before
            .root
            .slots
            .iter()
            .zip(trie.root.slots.iter())
            .filter(|slots| match slots {
                (Slot::Branch(one), Slot::Branch(two)) => Arc::ptr_eq(&one.slots, &two.slots),
                _ => false,
            });
        assert_eq!(shared.count(), 31, "all but one of the root's 32 branches");
    }

    #[test]
    fn removing_all_leaves_no_branches() {
        let mut trie = HashTrie::new();
        (0..1_000_u64).for_each(|key| {
            trie.get_mut_or(key << 40, || key);
        });
        (1..1_000_u64).for_each(|key| trie.remove(key << 40));
        assert!(matches!(&*trie.root.slots, [Slot::Leaf(0, 0)]));
    }
}
