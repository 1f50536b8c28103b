//! The subscribers of one filter: a set of keys, each with a value.
//!
//! Invariant: a key is in it at most once. One subscriber, by far the most frequent number, needs no memory of its
//! own; from [`INDEXED_FROM`] on, finding one takes constant time, so that a filter with a million subscribers can lose
//! them one by one. Deliberately does not keep an order: leaving moves the last one into the gap.

use std::collections::HashMap;
use std::hash::Hash;

use foldhash::quality::SeedableRandomState;

use crate::hash::TextHash;

/// Below this, scanning is faster than an index and smaller.
const INDEXED_FROM: usize = 16;

/// A set of keys `K` with values `V`.
pub(crate) enum Subscribers<K, V> {
    Empty,
    One(K, V),
    Many(Box<Crowd<K, V>>),
}

/// Two or more.
pub(crate) struct Crowd<K, V> {
    members: Vec<(K, V)>,
    /// Position of each member, kept while there are [`INDEXED_FROM`] or more.
    positions: Option<HashMap<K, u32, SeedableRandomState>>,
}

impl<K: Copy + Eq + Hash, V> Subscribers<K, V> {
    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Self::Empty)
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Empty => 0,
            Self::One(..) => 1,
            Self::Many(crowd) => crowd.members.len(),
        }
    }

    /// All of them, in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (K, &V)> {
        let (one, many) = match self {
            Self::Empty => (None, [].as_slice()),
            Self::One(key, value) => (Some((*key, value)), [].as_slice()),
            Self::Many(crowd) => (None, crowd.members.as_slice()),
        };
        one.into_iter()
            .chain(many.iter().map(|(key, value)| (*key, value)))
    }

    /// The subscriber at `position`, below [`Self::len`].
    pub(crate) fn at(&self, position: usize) -> Option<(K, &V)> {
        match self {
            Self::Empty => None,
            Self::One(key, value) => (position == 0).then_some((*key, value)),
            Self::Many(crowd) => crowd.members.get(position).map(|(key, value)| (*key, value)),
        }
    }

    /// Where `key` stands until the next change.
    pub(crate) fn position(&self, key: K) -> Option<usize> {
        match self {
            Self::Empty => None,
            Self::One(own, _) => (*own == key).then_some(0),
            Self::Many(crowd) => crowd.position(key),
        }
    }

    pub(crate) fn get(&self, key: K) -> Option<&V> {
        self.at(self.position(key)?).map(|(_, value)| value)
    }

    /// Adds `key`, or replaces its value and returns the old one.
    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        match std::mem::replace(self, Self::Empty) {
            Self::Empty => {
                *self = Self::One(key, value);
                None
            }
            Self::One(own, old) if own == key => {
                *self = Self::One(key, value);
                Some(old)
            }
            Self::One(own, old) => {
                let members = vec![(own, old), (key, value)];
                *self = Self::Many(Box::new(Crowd {
                    members,
                    positions: None,
                }));
                None
            }
            Self::Many(mut crowd) => {
                let replaced = crowd.insert(key, value);
                *self = Self::Many(crowd);
                replaced
            }
        }
    }

    /// Takes `key` out and returns its value.
    pub(crate) fn remove(&mut self, key: K) -> Option<V> {
        match self {
            Self::Empty => None,
            Self::One(own, _) if *own != key => None,
            Self::One(..) => match std::mem::replace(self, Self::Empty) {
                Self::One(_, value) => Some(value),
                Self::Empty | Self::Many(_) => None,
            },
            Self::Many(crowd) => {
                let removed = crowd.remove(key)?;
                if crowd.members.len() < 2 {
                    let last = crowd.members.pop();
                    *self = last.map_or(Self::Empty, |(key, value)| Self::One(key, value));
                }
                Some(removed)
            }
        }
    }
}

impl<K: Copy + Eq + Hash, V> Crowd<K, V> {
    fn position(&self, key: K) -> Option<usize> {
        match &self.positions {
            Some(positions) => positions.get(&key).map(|position| *position as usize),
            None => self.members.iter().position(|(own, _)| *own == key),
        }
    }

    fn insert(&mut self, key: K, value: V) -> Option<V> {
        if let Some(found) = self.position(key) {
            return self
                .members
                .get_mut(found)
                .map(|(_, old)| std::mem::replace(old, value));
        }
        self.members.push((key, value));
        match &mut self.positions {
            Some(positions) => {
                positions.insert(key, (self.members.len() - 1) as u32);
            }
            None if self.members.len() >= INDEXED_FROM => {
                let mut positions = HashMap::with_hasher(TextHash::seeded().state().clone());
                positions.extend(
                    self.members
                        .iter()
                        .zip(0_u32..)
                        .map(|((key, _), position)| (*key, position)),
                );
                self.positions = Some(positions);
            }
            None => {}
        }
        None
    }

    fn remove(&mut self, key: K) -> Option<V> {
        let position = self.position(key)?;
        let (_, removed) = self.members.swap_remove(position);
        if let Some(positions) = &mut self.positions {
            positions.remove(&key);
            if let Some((moved, _)) = self.members.get(position) {
                positions.insert(*moved, position as u32);
            }
            if positions.capacity() > 4 * INDEXED_FROM && positions.len() < positions.capacity() / 8 {
                positions.shrink_to(positions.len() * 2);
            }
        }
        if self.members.len() < INDEXED_FROM / 2 {
            self.positions = None;
        }
        if self.members.len() < self.members.capacity() / 4 {
            self.members.shrink_to(self.members.len() * 2);
        }
        Some(removed)
    }
}
