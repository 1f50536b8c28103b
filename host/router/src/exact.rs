//! Filters without a wildcard: one hash lookup of the whole topic.
//!
//! Invariant: an entry has at least one subscriber. A filter with one subscriber takes about 70 bytes and its text.
//! Deliberately does not look at levels: without wildcards a filter matches the equal topic and no other.

use std::hash::Hash;

use slab::Slab;

use crate::hash::TextHash;
use crate::index::Index;
use crate::subscribers::Subscribers;

/// Filter text -> subscribers.
pub(crate) struct ExactFilters<K, V> {
    hash: TextHash,
    index: Index,
    entries: Slab<Entry<K, V>>,
}

struct Entry<K, V> {
    filter: Box<str>,
    subscribers: Subscribers<K, V>,
}

impl<K: Copy + Eq + Hash, V> ExactFilters<K, V> {
    pub(crate) fn new(hash: TextHash) -> Self {
        Self {
            hash,
            index: Index::default(),
            entries: Slab::new(),
        }
    }

    /// The subscribers of the filter that equals `text`.
    pub(crate) fn get(&self, text: &str) -> Option<&Subscribers<K, V>> {
        let slot = self.find(self.hash.text(text), text)?;
        self.entries.get(slot as usize).map(|entry| &entry.subscribers)
    }

    pub(crate) fn insert(&mut self, filter: &str, key: K, value: V) -> Option<V> {
        let hash = self.hash.text(filter);
        let Some(slot) = self.find(hash, filter) else {
            let slot = self.entries.insert(Entry {
                filter: Box::from(filter),
                subscribers: Subscribers::One(key, value),
            });
            self.index.insert(hash, slot as u32);
            return None;
        };
        self.entries
            .get_mut(slot as usize)?
            .subscribers
            .insert(key, value)
    }

    pub(crate) fn remove(&mut self, filter: &str, key: K) -> Option<V> {
        let hash = self.hash.text(filter);
        let slot = self.find(hash, filter)?;
        let entry = self.entries.get_mut(slot as usize)?;
        let removed = entry.subscribers.remove(key)?;
        if entry.subscribers.is_empty() {
            self.entries.remove(slot as usize);
            self.index.remove(hash, slot);
        }
        Some(removed)
    }

    /// Every filter with its subscribers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Subscribers<K, V>)> {
        self.entries
            .iter()
            .map(|(_, entry)| (&*entry.filter, &entry.subscribers))
    }

    fn find(&self, hash: u64, text: &str) -> Option<u32> {
        self.index.find(hash, |slot| {
            self.entries
                .get(slot as usize)
                .is_some_and(|entry| &*entry.filter == text)
        })
    }
}
