//! Which workers have a subscriber for a topic: the snapshot that all workers read and whoever subscribes replaces.
//!
//! ```text
//! worker 2: SUBSCRIBE a/+      map' = map.with(a/+, 2)      publish map' (one atomic swap), then SUBACK
//! worker 0: PUBLISH a/b        map.workers(a/b) -> {2}      hand the message to worker 2, whose own trie decides
//! ```
//!
//! Invariants: a worker that holds a matching filter is always named. A worker without one is named only if two of n
//! filters share a 64-bit seeded hash (n / 2^64 a lookup); its trie then finds no subscriber, so nothing comes of it. In
//! return no text is kept or compared: about 50 bytes a filter, and as much again for each level only it has if it has
//! a wildcard. A general persistent map would keep the text and a node in memory of its own for each.
//! A change copies a few nodes per level, whatever the number of filters.
//! Deliberately does not publish itself: the caller keeps it behind an atomic pointer and orders the writers.

use std::fmt;

use smallvec::SmallVec;
use tidegate_codec::{TopicFilter, TopicName};

use crate::hash::TextHash;
use crate::hash_trie::HashTrie;
use crate::holders::{Holders, Released};
use crate::trie::stored;
use crate::walk::{Children, walk};
use crate::worker_set::{WorkerId, WorkerSet};

/// The root's own key; any other node's is the hash of its parent's key and its level.
const ROOT: u64 = 0;

/// Topic filter -> the workers that hold it, counted. Cloning is cheap and shares everything.
///
/// `$share/NAME/FILTER` counts as FILTER, held by the worker that owns the group.
#[derive(Clone)]
pub struct FilterMap {
    hash: TextHash,
    /// Filters without wildcards, by the hash of their text.
    exact: HashTrie<Holders>,
    /// The trie of filters with wildcards: its root, and the nodes below by the hash of their path.
    root: Node,
    wild: HashTrie<Node>,
    /// How many distinct filters each worker holds.
    filters: Holders,
}

#[derive(Clone, Default)]
struct Node {
    /// Of filters that end at this level.
    here: Holders,
    /// Of filters that end in `#` below this level.
    under: Holders,
    /// Holds of filters that go on below it by `+`, and by any other level. Every hold counts, not every filter: so the
    /// counts go up and down alike even where two filters share a key.
    plus: u32,
    literals: u32,
}

impl Node {
    fn set_mut(&mut self, under: bool) -> &mut Holders {
        if under { &mut self.under } else { &mut self.here }
    }

    fn below_mut(&mut self, plus: bool) -> &mut u32 {
        if plus { &mut self.plus } else { &mut self.literals }
    }

    fn is_bare(&self) -> bool {
        self.here.is_empty() && self.under.is_empty() && self.plus == 0 && self.literals == 0
    }
}

/// One step down the path of a filter: the node it leads to, and whether by `+`.
struct Step {
    key: u64,
    plus: bool,
}

impl FilterMap {
    /// A map without filters.
    pub fn new() -> Self {
        Self::hashed_by(TextHash::seeded())
    }

    pub(crate) fn hashed_by(hash: TextHash) -> Self {
        Self {
            hash,
            exact: HashTrie::new(),
            root: Node::default(),
            wild: HashTrie::new(),
            filters: Holders::None,
        }
    }

    /// The map in which `worker` holds `filter` once more.
    #[must_use]
    pub fn with(&self, filter: &TopicFilter, worker: WorkerId) -> Self {
        let mut next = self.clone();
        next.add(filter, worker);
        next
    }

    /// The map in which `worker` holds `filter` once less; the same if it did not hold it.
    #[must_use]
    pub fn without(&self, filter: &TopicFilter, worker: WorkerId) -> Self {
        let mut next = self.clone();
        next.release(filter, worker);
        next
    }

    /// Adds one hold of `filter` by `worker` in place; clones made before do not see it. For batches: what one change
    /// has copied, the next does not copy again. True if the worker did not hold the filter before.
    pub fn add(&mut self, filter: &TopicFilter, worker: WorkerId) -> bool {
        let (text, wild) = stored(filter);
        let first = match wild {
            true => self.add_wild(text, worker),
            false => {
                let holders = self.exact.get_mut_or(self.hash.text(text), Holders::default);
                holders.is_some_and(|holders| holders.add(worker))
            }
        };
        if first {
            self.filters.add(worker);
        }
        first
    }

    /// Takes away one hold of `filter` by `worker` in place. True if it was the last; nothing happens if there was none.
    pub fn release(&mut self, filter: &TopicFilter, worker: WorkerId) -> bool {
        let (text, wild) = stored(filter);
        let released = match wild {
            true => self.release_wild(text, worker),
            false => self.release_exact(text, worker),
        };
        if released == Released::Last {
            self.filters.release(worker);
        }
        released == Released::Last
    }

    /// The workers that hold a filter that matches `topic`.
    pub fn workers(&self, topic: &TopicName) -> WorkerSet {
        let topic = topic.as_str();
        let mut found = match self.exact.is_empty() {
            true => WorkerSet::EMPTY,
            false => self
                .exact
                .get(self.hash.text(topic))
                .map_or(WorkerSet::EMPTY, Holders::set),
        };
        if self.root.is_bare() {
            return found;
        }
        // [MQTT-4.7.2-1] a leading wildcard does not match topics that begin with '$'.
        let reserved = topic.starts_with('$');
        let mut at_root = true;
        walk(topic, (ROOT, &self.root), |(key, node), level| {
            let wildcards = !(reserved && std::mem::take(&mut at_root));
            if wildcards {
                found = found.union(node.under.set());
            }
            let Some(level) = level else {
                found = found.union(node.here.set());
                return Children::none();
            };
            Children {
                literal: (node.literals > 0).then(|| self.child(key, level)).flatten(),
                plus: (wildcards && node.plus > 0)
                    .then(|| self.child(key, "+"))
                    .flatten(),
            }
        });
        found
    }

    /// The workers that hold any filter at all: one look tells a publisher that nobody else can want its message.
    pub fn holders(&self) -> WorkerSet {
        self.filters.set()
    }

    /// Whether no other worker than `worker` holds any filter.
    pub fn only(&self, worker: WorkerId) -> bool {
        self.holders().without(worker).is_empty()
    }

    fn child(&self, parent: u64, level: &str) -> Option<(u64, &Node)> {
        let key = self.hash.child(parent, level);
        let node = if key == ROOT {
            Some(&self.root)
        } else {
            self.wild.get(key)
        };
        node.map(|node| (key, node))
    }

    /// The node `key`, made if there is none.
    fn node_mut(&mut self, key: u64) -> Option<&mut Node> {
        match key {
            ROOT => Some(&mut self.root),
            key => self.wild.get_mut_or(key, Node::default),
        }
    }

    fn add_wild(&mut self, filter: &str, worker: WorkerId) -> bool {
        let (path, under) = self.path(filter);
        let mut parent = ROOT;
        for step in path {
            if let Some(node) = self.node_mut(parent) {
                let below = node.below_mut(step.plus);
                *below = below.saturating_add(1);
            }
            parent = step.key;
        }
        let last = self.node_mut(parent);
        last.is_some_and(|node| node.set_mut(under).add(worker))
    }

    fn release_wild(&mut self, filter: &str, worker: WorkerId) -> Released {
        let (path, under) = self.path(filter);
        let last = path.last().map_or(ROOT, |step| step.key);
        let released = self.change(last, |node| node.set_mut(under).release(worker));
        let released = released.unwrap_or(Released::NotHeld);
        if released == Released::NotHeld {
            return released;
        }
        let mut parent = ROOT;
        for step in path {
            self.change(parent, |node| {
                let below = node.below_mut(step.plus);
                *below = below.saturating_sub(1);
            });
            parent = step.key;
        }
        released
    }

    /// Changes the node `key`, if there is one, and drops it once it is bare.
    fn change<T>(&mut self, key: u64, change: impl FnOnce(&mut Node) -> T) -> Option<T> {
        if key != ROOT {
            self.wild.get(key)?;
        }
        let node = self.node_mut(key)?;
        let changed = change(node);
        if node.is_bare() && key != ROOT {
            self.wild.remove(key);
        }
        Some(changed)
    }

    fn release_exact(&mut self, filter: &str, worker: WorkerId) -> Released {
        let key = self.hash.text(filter);
        let held = self.exact.get(key).map_or(WorkerSet::EMPTY, Holders::set);
        if !held.contains(worker) {
            return Released::NotHeld;
        }
        let Some(holders) = self.exact.get_mut_or(key, Holders::default) else {
            return Released::NotHeld;
        };
        let released = holders.release(worker);
        if holders.is_empty() {
            self.exact.remove(key);
        }
        released
    }

    /// The steps down to where the holders of `filter` lie, and whether its last level is `#`.
    fn path(&self, filter: &str) -> (SmallVec<[Step; 16]>, bool) {
        let mut steps: SmallVec<[Step; 16]> = SmallVec::new();
        let mut parent = ROOT;
        for level in filter.split('/') {
            if level == "#" {
                return (steps, true);
            }
            parent = self.hash.child(parent, level);
            steps.push(Step {
                key: parent,
                plus: level == "+",
            });
        }
        (steps, false)
    }
}

impl Default for FilterMap {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for FilterMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilterMap")
            .field("holders", &self.holders())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    const FILTERS: [&str; 16] = [
        "a", "b", "a/b", "b/a", "/", "+", "#", "a/+", "a/#", "+/b", "+/+", "a/+/b", "b/+/a", "+/+/#",
        "a/b/#", "$x/+",
    ];
    const TOPICS: [&str; 9] = ["a", "b", "a/b", "b/a", "/", "a/b/b", "b/b/a", "$x/a", "a/b/c/d"];

    proptest! {
        /// With a hash of three bits nearly all filters share keys: workers too many are named, but none too few, and
        /// when the last hold is released nothing is left.
        #[test]
        fn colliding_hashes_never_lose_a_worker(
            steps in proptest::collection::vec((0..FILTERS.len(), 0..3_u8, any::<bool>()), 0..60),
        ) {
            let mut map = FilterMap::hashed_by(TextHash::colliding(0b111));
            let mut model: HashMap<(usize, u8), usize> = HashMap::new();
            let filter = |index: usize| TopicFilter::new(FILTERS[index]).unwrap();
            for (index, number, add) in steps {
                let count = model.entry((index, number)).or_default();
                let worker = WorkerId::new(number).unwrap();
                match add {
                    true => {
                        *count += 1;
                        map.add(&filter(index), worker);
                    }
                    false if *count > 0 => {
                        *count -= 1;
                        map.release(&filter(index), worker);
                    }
                    false => {}
                }
                for topic in TOPICS.map(|topic| TopicName::new(topic).unwrap()) {
                    let found = map.workers(&topic);
                    for ((index, number), count) in &model {
                        let wanted = *count > 0 && filter(*index).matches(&topic);
                        prop_assert!(!wanted || found.contains(WorkerId::new(*number).unwrap()));
                    }
                }
            }
            for ((index, number), count) in model {
                for _ in 0..count {
                    map.release(&filter(index), WorkerId::new(number).unwrap());
                }
            }
            prop_assert!(map.exact.is_empty() && map.wild.is_empty() && map.root.is_bare() && map.holders().is_empty());
        }
    }
}
