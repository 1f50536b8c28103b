//! How a shared group chooses the member that gets a message.
//!
//! Invariant: whatever the strategy, a member is chosen whenever an eligible one exists, and only an eligible one.
//! Deliberately does not draw random numbers: they are arguments.

use std::hash::{BuildHasher, Hash};

use crate::hash::TextHash;
use crate::subscribers::Subscribers;

/// Which member of a group gets a message. The standard leaves the choice to the server (4.8.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strategy {
    /// One after the other.
    #[default]
    RoundRobin,
    /// Any, with equal chances.
    Random,
    /// The same one until it leaves or is not eligible.
    Sticky,
    /// By publishing client: messages of one client go to one member, so their order is kept. When members come and go,
    /// only the clients that they gain or lose move.
    HashClient,
    /// By topic, in the same way.
    HashTopic,
}

/// What a choice depends on beside the members.
#[derive(Debug, Clone, Copy)]
pub struct Draw<'a> {
    /// 64 random bits, for [`Strategy::Random`].
    pub random: u64,
    /// Identifier of the publishing client, for [`Strategy::HashClient`]; empty for a message of the broker itself.
    pub client: &'a str,
    /// Topic of the message, for [`Strategy::HashTopic`].
    pub topic: &'a str,
}

/// Whose turn it is in one group.
pub(crate) struct Turn<M> {
    strategy: Strategy,
    /// Position from which the next turn is looked for.
    next: usize,
    /// Who had the last turn.
    last: Option<M>,
}

impl<M: Copy + Eq + Hash> Turn<M> {
    pub(crate) fn new(strategy: Strategy) -> Self {
        Self {
            strategy,
            next: 0,
            last: None,
        }
    }

    /// Position of the member that gets the message.
    pub(crate) fn take<V>(
        &mut self,
        members: &Subscribers<M, V>,
        draw: &Draw<'_>,
        mut eligible: impl FnMut(M, &V) -> bool,
    ) -> Option<usize> {
        let mut at = |position: usize| {
            members
                .at(position)
                .is_some_and(|(member, value)| eligible(member, value))
        };
        match self.strategy {
            Strategy::RoundRobin => self.following(members.len(), at),
            Strategy::Random => random(draw.random, members.len(), at),
            Strategy::Sticky => {
                let kept = self
                    .last
                    .and_then(|last| members.position(last))
                    .filter(|position| at(*position));
                let chosen = kept.or_else(|| self.following(members.len(), at))?;
                self.last = members.at(chosen).map(|(member, _)| member);
                Some(chosen)
            }
            Strategy::HashClient => heaviest(draw.client, members, at),
            Strategy::HashTopic => heaviest(draw.topic, members, at),
        }
    }

    /// The first eligible position from `next` on, round the end.
    fn following(&mut self, len: usize, mut eligible: impl FnMut(usize) -> bool) -> Option<usize> {
        let start = if self.next < len { self.next } else { 0 };
        let chosen = (start..len)
            .chain(0..start)
            .find(|position| eligible(*position))?;
        self.next = chosen + 1;
        Some(chosen)
    }
}

/// A position with equal chances among the eligible: the one drawn, or, if that is none, one drawn among those that are.
fn random(random: u64, len: usize, mut eligible: impl FnMut(usize) -> bool) -> Option<usize> {
    let drawn = scale(random, len);
    if eligible(drawn) {
        return Some(drawn);
    }
    let count = (0..len).filter(|position| eligible(*position)).count();
    // The first draw has used up the high bits; a multiplication by an odd constant brings the low ones up.
    let again = scale(random.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32), count);
    (0..len).filter(|position| eligible(*position)).nth(again)
}

fn scale(random: u64, below: usize) -> usize {
    ((u128::from(random) * below as u128) >> 64) as usize
}

/// Rendezvous hashing: each member has a weight for `text`, the heaviest eligible one wins.
fn heaviest<M: Copy + Eq + Hash, V>(
    text: &str,
    members: &Subscribers<M, V>,
    mut eligible: impl FnMut(usize) -> bool,
) -> Option<usize> {
    let hash = TextHash::seeded();
    let key = hash.text(text);
    let weights = members
        .iter()
        .map(|(member, _)| hash.state().hash_one((key, member)));
    let candidates = weights.enumerate().filter(|(position, _)| eligible(*position));
    candidates
        .max_by_key(|(_, weight)| *weight)
        .map(|(position, _)| position)
}
