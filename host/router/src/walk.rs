//! The walk of a topic name down a trie of filters.
//!
//! Invariant: a node is reached at most once, since in a tree one path leads to it; so a walk costs at most as many
//! steps as there are nodes whose path matches a prefix of the topic, whatever mixture of `+` a client subscribes to.
//! It does not recurse: at most one `+` branch per level waits, beside the topic, for its turn.
//! Deliberately does not know what a node is, nor what lies in it.

use smallvec::SmallVec;

/// Where a walk goes on from a node.
pub(crate) struct Children<N> {
    /// The child whose level equals the topic's.
    pub(crate) literal: Option<N>,
    /// The child of `+`.
    pub(crate) plus: Option<N>,
}

impl<N> Children<N> {
    /// Nowhere.
    pub(crate) const fn none() -> Self {
        Self {
            literal: None,
            plus: None,
        }
    }
}

/// Calls `visit` with each node reached and the level of `topic` that comes next, `None` at its end.
pub(crate) fn walk<N: Copy>(topic: &str, root: N, mut visit: impl FnMut(N, Option<&str>) -> Children<N>) {
    let mut waiting: SmallVec<[(N, usize); 16]> = SmallVec::new();
    let mut here = Some((root, 0));
    while let Some((node, start)) = here {
        let level = level_at(topic, start);
        let next = level.map_or(start, |level| start + level.len() + 1);
        let children = visit(node, level);
        if let Some(plus) = children.plus {
            waiting.push((plus, next));
        }
        here = children
            .literal
            .map(|node| (node, next))
            .or_else(|| waiting.pop());
    }
}

/// The level that begins at byte `start`: an empty one after a trailing `/`, `None` past it.
fn level_at(topic: &str, start: usize) -> Option<&str> {
    let rest = topic.get(start..)?;
    Some(rest.split_once('/').map_or(rest, |(level, _)| level))
}
