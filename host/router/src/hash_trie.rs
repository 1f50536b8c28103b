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
