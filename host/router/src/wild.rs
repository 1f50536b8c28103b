//! Filters with wildcards: a trie of levels.
//!
//! ```text
//! a/+/c, a/#        root ── a ─┬─ + ── c     subscribers of a/+/c lie at c, in `here`;
//!                              (#)           those of a/# lie at a, in `under`
//! ```
//!
//! Invariants: every node but the root has subscribers or children, and a node is one cache line of 64 bytes where
//! keys and values take 12. The children of all nodes share one index keyed by parent and level, so that a node needs
//! no map of its own and one with a million children is no different. Nothing recurses: nodes name each other by slot.
//! Deliberately does not hold filters without wildcards.

use std::hash::Hash;

use slab::Slab;

use crate::hash::TextHash;
use crate::index::Index;
use crate::level::Level;
use crate::subscribers::Subscribers;
use crate::walk::{Children, walk};

const ROOT: u32 = 0;
/// No node: the root is nobody's child.
const NONE: u32 = ROOT;

/// The wildcard filters of one trie.
pub(crate) struct WildFilters<K, V> {
    hash: TextHash,
    edges: Index,
    nodes: Slab<Node<K, V>>,
}

#[repr(align(64))]
struct Node<K, V> {
    /// Of filters that end at this level.
    here: Subscribers<K, V>,
    /// Of filters that end in `#` below this level, which match this level itself too.
    under: Subscribers<K, V>,
    /// Empty for `+`, told apart by the parent's `plus`.
    level: Level,
    parent: u32,
    plus: u32,
    /// Number of children other than `plus`.
    literals: u32,
}

impl<K, V> Node<K, V> {
    fn new(level: &str, parent: u32) -> Self {
        Self {
            here: Subscribers::Empty,
            under: Subscribers::Empty,
            level: Level::new(level),
            parent,
            plus: NONE,
            literals: 0,
        }
    }
}

impl<K: Copy + Eq + Hash, V> WildFilters<K, V> {
    pub(crate) fn new(hash: TextHash) -> Self {
        let mut nodes = Slab::new();
        nodes.insert(Node::new("", NONE)); // the first slot of a slab is 0, the root's
        Self {
            hash,
            edges: Index::default(),
            nodes,
        }
    }

    /// Calls `visit` with every subscriber of every filter that matches `topic`.
    pub(crate) fn matches(&self, topic: &str, visit: &mut impl FnMut(K, &V)) {
        // [MQTT-4.7.2-1] a leading wildcard does not match topics that begin with '$'.
        let reserved = topic.starts_with('$');
        walk(topic, ROOT, |slot, level| {
            let Some(node) = self.nodes.get(slot as usize) else {
                return Children::none();
            };
            let wildcards = slot != ROOT || !reserved;
            if wildcards {
                node.under.iter().for_each(|(key, value)| visit(key, value));
            }
            let Some(level) = level else {
                node.here.iter().for_each(|(key, value)| visit(key, value));
                return Children::none();
            };
            Children {
                literal: (node.literals > 0).then(|| self.child(slot, level)).flatten(),
                plus: (wildcards && node.plus != NONE).then_some(node.plus),
            }
        });
    }

    pub(crate) fn insert(&mut self, filter: &str, key: K, value: V) -> Option<V> {
        let (path, under) = path(filter);
        let mut slot = ROOT;
        for level in levels(path) {
            slot = self.step(slot, level).unwrap_or_else(|| self.grow(slot, level));
        }
        self.set_mut(slot, under)?.insert(key, value)
    }

    pub(crate) fn remove(&mut self, filter: &str, key: K) -> Option<V> {
        let (slot, under) = self.locate(filter)?;
        let removed = self.set_mut(slot, under)?.remove(key)?;
        self.prune(slot);
        Some(removed)
    }

    /// The subscribers of exactly this filter.
    pub(crate) fn get(&self, filter: &str) -> Option<&Subscribers<K, V>> {
        let (slot, under) = self.locate(filter)?;
        let node = self.nodes.get(slot as usize)?;
        Some(if under { &node.under } else { &node.here })
    }

    /// Every filter with its subscribers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (String, &Subscribers<K, V>)> {
        self.nodes.iter().flat_map(|(slot, node)| {
            let here = (!node.here.is_empty()).then(|| (self.filter_at(slot as u32, false), &node.here));
            let under = (!node.under.is_empty()).then(|| (self.filter_at(slot as u32, true), &node.under));
            here.into_iter().chain(under)
        })
    }

    fn locate(&self, filter: &str) -> Option<(u32, bool)> {
        let (path, under) = path(filter);
        let slot = levels(path).try_fold(ROOT, |slot, level| self.step(slot, level))?;
        Some((slot, under))
    }

    /// The child of `slot` for a level of a filter.
    fn step(&self, slot: u32, level: &str) -> Option<u32> {
        match level {
            "+" => self
                .nodes
                .get(slot as usize)
                .map(|node| node.plus)
                .filter(|plus| *plus != NONE),
            level => self.child(slot, level),
        }
    }

    fn child(&self, parent: u32, level: &str) -> Option<u32> {
        let hash = self.hash.child(parent.into(), level);
        self.edges.find(hash, |slot| {
            let node = self.nodes.get(slot as usize);
            node.is_some_and(|node| node.parent == parent && node.level.is(level))
        })
    }

    fn grow(&mut self, parent: u32, level: &str) -> u32 {
        let plus = level == "+";
        let slot = self
            .nodes
            .insert(Node::new(if plus { "" } else { level }, parent)) as u32;
        if !plus {
            self.edges.insert(self.hash.child(parent.into(), level), slot);
        }
        if let Some(parent) = self.nodes.get_mut(parent as usize) {
            match plus {
                true => parent.plus = slot,
                false => parent.literals += 1,
            }
        }
        slot
    }

    /// Removes `slot` and then its parents as far as they have become bare.
    fn prune(&mut self, mut slot: u32) {
        while slot != ROOT {
            let Some(node) = self.nodes.get(slot as usize) else {
                return;
            };
            let children = node.plus != NONE || node.literals > 0;
            if children || !node.here.is_empty() || !node.under.is_empty() {
                return;
            }
            let node = self.nodes.remove(slot as usize);
            if let Some(parent) = self.nodes.get_mut(node.parent as usize) {
                match parent.plus == slot {
                    true => parent.plus = NONE,
                    false => {
                        parent.literals -= 1;
                        self.edges
                            .remove(self.hash.child(node.parent.into(), node.level.as_str()), slot);
                    }
                }
            }
            slot = node.parent;
        }
    }

    fn set_mut(&mut self, slot: u32, under: bool) -> Option<&mut Subscribers<K, V>> {
        let node = self.nodes.get_mut(slot as usize)?;
        Some(if under { &mut node.under } else { &mut node.here })
    }

    /// The text of the filter that ends at `slot`, put together on the way up.
    fn filter_at(&self, slot: u32, under: bool) -> String {
        let mut levels = Vec::from_iter(under.then_some("#"));
        let mut at = slot;
        while at != ROOT
            && let Some(node) = self.nodes.get(at as usize)
        {
            let plus = self
                .nodes
                .get(node.parent as usize)
                .is_some_and(|parent| parent.plus == at);
            levels.push(if plus { "+" } else { node.level.as_str() });
            at = node.parent;
        }
        levels.reverse();
        levels.join("/")
    }
}

/// The part of a filter above a final `#`, and whether there is one. `None` above `#` alone.
fn path(filter: &str) -> (Option<&str>, bool) {
    match filter.strip_suffix('#') {
        None => (Some(filter), false),
        Some(above) => (above.strip_suffix('/'), true),
    }
}

fn levels(path: Option<&str>) -> impl Iterator<Item = &str> {
    path.into_iter().flat_map(|path| path.split('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The memory that the trie's documentation promises.
    #[test]
    fn a_node_is_one_cache_line() {
        assert_eq!(size_of::<Node<u32, [u32; 2]>>(), 64);
        assert_eq!(size_of::<Option<Node<u32, [u32; 2]>>>(), 64, "a slab's entry");
        assert_eq!(size_of::<Subscribers<u32, [u32; 2]>>(), 16);
    }

    #[test]
    fn removing_a_filter_leaves_no_nodes() {
        let mut filters = WildFilters::new(TextHash::seeded());
        let texts = ["#", "+", "a/+/b", "a/+/#", "a/b/+", "+/+/+", "/+", "a/#"];
        for (key, text) in texts.iter().enumerate() {
            filters.insert(text, key, ());
        }
        for (key, text) in texts.iter().enumerate() {
            assert_eq!(filters.remove(text, key), Some(()), "{text}");
        }
        assert_eq!(filters.nodes.len(), 1, "the root");
        assert_eq!(filters.edges.len(), 0);
    }
}
