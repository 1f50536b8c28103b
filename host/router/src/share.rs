//! Shared subscriptions (4.8.2): groups whose members take turns.
//!
//! Invariants: a group has at least one member, and a member is in it at most once. One call of
//! [`ShareGroups::choose`] names at most one member, so that a message goes to one session of each group.
//! Deliberately does not match topics (a group is a key in its owner's [`SubscriptionTrie`]), does not know whether a
//! member is connected (the caller says who is eligible) and does not redeliver.
//!
//! [`SubscriptionTrie`]: crate::SubscriptionTrie

use std::fmt;
use std::hash::Hash;
use std::num::NonZeroU8;

use slab::Slab;
use tidegate_codec::TopicFilter;

use crate::choice::{Draw, Strategy, Turn};
use crate::hash::TextHash;
use crate::index::Index;
use crate::subscribers::Subscribers;
use crate::worker_set::WorkerId;

/// A group of one [`ShareGroups`]. The number of a group that has ended is given to a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(u32);

/// The groups that one worker owns, with members `M` and what they subscribed with, `V`.
pub struct ShareGroups<M, V> {
    strategy: Strategy,
    hash: TextHash,
    index: Index,
    groups: Slab<Group<M, V>>,
}

struct Group<M, V> {
    /// `$share/NAME/FILTER`: NAME and FILTER together are the group.
    filter: TopicFilter,
    members: Subscribers<M, V>,
    turn: Turn<M>,
}

/// What joining a group did.
#[derive(Debug, PartialEq, Eq)]
pub struct Joined<V> {
    /// The group.
    pub group: GroupId,
    /// Whether this member is its first: its filter is now to be matched.
    pub created: bool,
    /// What the member had joined with before, if it was one.
    pub replaced: Option<V>,
}

/// What leaving a group did.
#[derive(Debug, PartialEq, Eq)]
pub struct Left<V> {
    /// The group.
    pub group: GroupId,
    /// Whether that was its last member: the group has ended, its filter is no longer to be matched.
    pub ended: bool,
    /// What the member had joined with.
    pub value: V,
}

/// The worker that owns the group of `filter`: the same one for every caller in this process, another after a restart.
pub fn share_owner(filter: &TopicFilter, workers: NonZeroU8) -> WorkerId {
    WorkerId::by_hash(TextHash::seeded().text(filter.as_str()), workers)
}

impl<M, V> fmt::Debug for ShareGroups<M, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("ShareGroups");
        shown
            .field("strategy", &self.strategy)
            .field("len", &self.groups.len())
            .finish_non_exhaustive()
    }
}

impl<M: Copy + Eq + Hash, V> ShareGroups<M, V> {
    /// No groups; those to come choose their members by `strategy`.
    pub fn new(strategy: Strategy) -> Self {
        Self {
            strategy,
            hash: TextHash::seeded(),
            index: Index::default(),
            groups: Slab::new(),
        }
    }

    /// Makes `member` a member of the group of `filter`, or replaces its value. `None` if `filter` is not of the form
    /// `$share/NAME/FILTER`.
    pub fn join(&mut self, filter: &TopicFilter, member: M, value: V) -> Option<Joined<V>> {
        filter.shared()?;
        if let Some(group) = self.find(filter) {
            let found = self.groups.get_mut(group.0 as usize)?;
            let replaced = found.members.insert(member, value);
            return Some(Joined {
                group,
                created: false,
                replaced,
            });
        }
        let slot = self.groups.insert(Group {
            filter: filter.detached(),
            members: Subscribers::One(member, value),
            turn: Turn::new(self.strategy),
        });
        self.index.insert(self.hash.text(filter.as_str()), slot as u32);
        Some(Joined {
            group: GroupId(slot as u32),
            created: true,
            replaced: None,
        })
    }

    /// Takes `member` out of the group of `filter`. `None` if it was not in it.
    pub fn leave(&mut self, filter: &TopicFilter, member: M) -> Option<Left<V>> {
        let group = self.find(filter)?;
        let found = self.groups.get_mut(group.0 as usize)?;
        let value = found.members.remove(member)?;
        let ended = found.members.is_empty();
        if ended {
            self.groups.remove(group.0 as usize);
            self.index.remove(self.hash.text(filter.as_str()), group.0);
        }
        Some(Left { group, ended, value })
    }

    /// Chooses one of the members that `eligible` accepts; `None` if it accepts none of them or `group` has ended.
    /// Without refusals this takes constant time, with them up to one look at each member; the hash strategies always
    /// look at each.
    pub fn choose(
        &mut self,
        group: GroupId,
        draw: &Draw<'_>,
        eligible: impl FnMut(M, &V) -> bool,
    ) -> Option<(M, &V)> {
        let Group { members, turn, .. } = self.groups.get_mut(group.0 as usize)?;
        let chosen = turn.take(members, draw, eligible)?;
        members.at(chosen)
    }

    /// The group of `filter`, if it has members.
    pub fn find(&self, filter: &TopicFilter) -> Option<GroupId> {
        let text = filter.as_str();
        let is_key = |slot| {
            self.groups
                .get(slot as usize)
                .is_some_and(|group| group.filter == *filter)
        };
        self.index.find(self.hash.text(text), is_key).map(GroupId)
    }

    /// The `$share/NAME/FILTER` of `group`.
    pub fn filter(&self, group: GroupId) -> Option<&TopicFilter> {
        self.groups.get(group.0 as usize).map(|group| &group.filter)
    }

    /// The members of `group`, in no particular order.
    pub fn members(&self, group: GroupId) -> impl Iterator<Item = (M, &V)> {
        let members = self
            .groups
            .get(group.0 as usize)
            .map(|group| group.members.iter());
        members.into_iter().flatten()
    }

    /// Every group, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (GroupId, &TopicFilter)> {
        self.groups
            .iter()
            .map(|(slot, group)| (GroupId(slot as u32), &group.filter))
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Whether there is no group.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }
}
