//! The replays of retained messages that one worker's sessions have under way.
//!
//! Invariant: a replay is waiting, away, or asked for, and is forgotten only by [`Replays::remove`]; one that has been
//! asked for stays until its answer comes, so that no answer meets another replay with its number.
//! Deliberately does not: deliver; `replay.rs` does.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::BuildHasher;

use foldhash::quality::RandomState;
use slab::Slab;
use tidegate_codec::{TopicFilter, TopicName};
use tidegate_router::RetainedCursor;

use super::clients::ClientKey;

/// Topics sent live that one replay remembers. Beyond it, the chunk on its way is thrown away and asked for again: what
/// is read then is no older than what the forgotten ones were.
const SUPERSEDED_MAX: usize = 4_096;

pub(super) struct RunningReplay {
    pub client: ClientKey,
    pub filter: TopicFilter,
    /// As [`Subscribed::replay`]: if that has another, this one is out of date.
    pub name: u32,
    pub cursor: RetainedCursor,
    /// Whose topics are asked for, and the owner behind the last one to ask.
    pub owner: usize,
    pub end: usize,
    pub stage: Stage,
    /// Hashes of topics with a retained message sent live since the replay began.
    pub superseded: HashSet<u64>,
    pub has_forgotten: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// On the list of those that want to go on.
    Waiting,
    /// Its client is away.
    Away,
    /// A chunk is on its way.
    Asked,
}

/// All replays of a worker.
#[derive(Default)]
pub struct Replays {
    pub(super) running: Slab<RunningReplay>,
    by_client: HashMap<ClientKey, Vec<usize>>,
    pub(super) waiting: VecDeque<usize>,
    pub(super) has_fresh: bool,
    names: u32,
    pub(super) hasher: RandomState,
}

impl Replays {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// Whether one has become able to go on.
    pub fn has_fresh(&self) -> bool {
        self.has_fresh
    }

    /// Whether one waits for its subscriber to take more.
    pub fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// A name for the replay of a new subscription.
    pub fn name(&mut self) -> u32 {
        self.names = self.names.wrapping_add(1);
        self.names
    }

    /// A retained message of `topic` goes to `client` live.
    pub fn supersede(&mut self, client: ClientKey, topic: &TopicName) {
        let Some(ids) = self.by_client.get(&client) else {
            return;
        };
        let hash = self.hasher.hash_one(topic.as_str());
        for id in ids {
            let Some(replay) = self.running.get_mut(*id) else {
                continue;
            };
            if replay.filter.matches(topic) {
                if replay.superseded.len() >= SUPERSEDED_MAX {
                    replay.superseded.clear();
                    replay.has_forgotten = replay.stage == Stage::Asked;
                }
                replay.superseded.insert(hash);
            }
        }
    }

    /// The client has come back, or its subscriptions have ended: look at its replays again.
    pub fn wake(&mut self, client: ClientKey) {
        let Some(ids) = self.by_client.get(&client) else {
            return;
        };
        for id in ids {
            if let Some(replay) = self
                .running
                .get_mut(*id)
                .filter(|replay| replay.stage == Stage::Away)
            {
                replay.stage = Stage::Waiting;
                self.waiting.push_back(*id);
                self.has_fresh = true;
            }
        }
    }

    pub(super) fn start(&mut self, replay: RunningReplay) {
        let client = replay.client;
        let id = self.running.insert(replay);
        self.by_client.entry(client).or_default().push(id);
        self.requeue(id);
    }

    pub(super) fn requeue(&mut self, id: usize) {
        if let Some(replay) = self.running.get_mut(id) {
            replay.stage = Stage::Waiting;
            self.waiting.push_back(id);
            self.has_fresh = true;
        }
    }

    pub(super) fn remove(&mut self, id: usize) {
        let Some(replay) = self.running.try_remove(id) else {
            return;
        };
        if let Some(ids) = self.by_client.get_mut(&replay.client) {
            ids.retain(|other| *other != id);
            if ids.is_empty() {
                self.by_client.remove(&replay.client);
            }
        }
    }

    /// Goes on with what the owner left: its cursor, or the next owner. `false` when that was the last.
    pub(super) fn go_on(&mut self, id: usize, rest: Option<RetainedCursor>) -> bool {
        let Some(replay) = self.running.get_mut(id) else {
            return false;
        };
        match rest {
            Some(cursor) => replay.cursor = cursor,
            None => {
                replay.owner += 1;
                replay.cursor = RetainedCursor::new(&replay.filter);
            }
        }
        replay.owner < replay.end
    }
}
