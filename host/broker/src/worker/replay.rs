//! Retained messages on their way to new subscriptions of this worker's sessions.
//!
//! A replay asks one owner after the other for a chunk, delivers it, and asks for the next when the session's queue is
//! empty and the socket takes more: a slow subscriber costs a cursor, not memory.
//! Invariant: what is replayed is never older than what was already sent live. The subscription is in force before the
//! first question is asked, and a retained message that is delivered live while a replay runs supersedes whatever the
//! replay brings of that topic. The converse needs no care: a live message behind the replay of itself is a repetition.
//! Deliberately does not: match topics against the store; the owner's cursor does.

use std::collections::HashSet;
use std::hash::BuildHasher;

use tidegate_codec::{TopicFilter, TopicName};
use tidegate_router::{Retained, RetainedCursor};
use tidegate_session::{Delivery, Input, Time};

use super::clients::ClientKey;
use super::replays::{RunningReplay, Stage};
use super::retained::{ReplayChunk, ReplayRequest};
use super::rings::Parcel;
use super::routes::Subscribed;
use super::tick::Worker;

/// Messages asked for at a time: no more than any session's window and queue take together.
const MESSAGES_PER_CHUNK: usize = 64;

/// Bytes after which no more are added to a chunk, and bytes in a socket's outbox up to which the next is asked for.
const BYTES_PER_CHUNK: usize = 64 << 10;

/// Waiting replays looked at per tick.
const LOOKS_PER_TICK: usize = 256;

/// Whether a replay can go on.
enum Readiness {
    Ready,
    Slow,
    Away,
    /// The subscription it was for is no more.
    Over,
}

impl Worker {
    /// Begins to send the retained messages that match `filter` [MQTT-3.3.1-9]. An exact filter has one owner, a
    /// wildcard may match topics of all.
    pub(super) fn start_replay(&mut self, client: ClientKey, filter: &TopicFilter, name: u32) {
        if self.settings.retained_messages_max == 0 {
            return;
        }
        let (owner, end) = match TopicName::from_bytes(filter.bytes().clone()) {
            Ok(topic) => {
                let owner = self.retained.owner_of(&topic);
                (owner, owner + 1)
            }
            Err(_) => (0, self.workers),
        };
        self.replays.start(RunningReplay {
            client,
            filter: filter.detached(),
            name,
            cursor: RetainedCursor::new(filter),
            owner,
            end,
            stage: Stage::Waiting,
            superseded: HashSet::new(),
            has_forgotten: false,
        });
    }

    /// Asks for the next chunk of every replay whose subscriber takes more.
    pub(super) fn ask_for_replays(&mut self) {
        if !self.replays.has_waiting() {
            return;
        }
        let looks = self.replays.waiting.len().min(LOOKS_PER_TICK);
        self.replays.has_fresh = looks < self.replays.waiting.len() && self.replays.has_fresh;
        for _ in 0..looks {
            let Some(id) = self.replays.waiting.pop_front() else {
                return;
            };
            match self.readiness(id) {
                Readiness::Ready => self.ask_for_chunk(id),
                Readiness::Slow => self.replays.waiting.push_back(id),
                Readiness::Away => {
                    if let Some(replay) = self.replays.running.get_mut(id) {
                        replay.stage = Stage::Away;
                    }
                }
                Readiness::Over => self.replays.remove(id),
            }
        }
    }

    /// An owner has answered.
    pub(super) fn replay(&mut self, chunk: ReplayChunk) {
        let id = chunk.replay;
        let (readiness, subscribed) = (self.readiness(id), self.replayed_to(id));
        let (Some(replay), Some((client, subscribed))) = (self.replays.running.get_mut(id), subscribed)
        else {
            return self.replays.remove(id);
        };
        // Nothing is delivered to a client that is away, so that QoS 0 is not lost: the same place is asked again.
        if matches!(readiness, Readiness::Away) || std::mem::take(&mut replay.has_forgotten) {
            return self.replays.requeue(id);
        }
        let superseded = std::mem::take(&mut replay.superseded);
        for retained in chunk.messages {
            let hash = self.replays.hasher.hash_one(retained.message.topic.as_str());
            if !superseded.contains(&hash) {
                self.deliver_retained(client, subscribed, retained);
            }
        }
        if let Some(replay) = self.replays.running.get_mut(id) {
            replay.superseded.extend(superseded);
        }
        match self.replays.go_on(id, chunk.rest) {
            true => self.replays.requeue(id),
            false => self.replays.remove(id),
        }
    }

    fn ask_for_chunk(&mut self, id: usize) {
        let Some(replay) = self.replays.running.get_mut(id) else {
            return;
        };
        replay.stage = Stage::Asked;
        let owner = replay.owner;
        let request = ReplayRequest {
            worker: self.number,
            replay: id,
            cursor: replay.cursor.clone(),
            messages_max: MESSAGES_PER_CHUNK.min(self.settings.queue_messages_max.max(1)),
            bytes_max: BYTES_PER_CHUNK.min(self.settings.queue_bytes_max),
        };
        if owner == usize::from(self.number) {
            self.retained.ask(request);
        } else {
            self.rings.send(owner, Parcel::Replay(Box::new(request)));
        }
    }

    /// The session and the subscription that a replay is for, while it has both.
    fn replayed_to(&self, id: usize) -> Option<(ClientKey, Subscribed)> {
        let replay = self.replays.running.get(id)?;
        let subscribed = self.routes.subscription(&replay.filter, replay.client)?;
        (subscribed.replay == replay.name).then_some((replay.client, *subscribed))
    }

    fn readiness(&self, id: usize) -> Readiness {
        let Some((client, _)) = self.replayed_to(id) else {
            return Readiness::Over;
        };
        let Some(client) = self.clients.get(client) else {
            return Readiness::Over;
        };
        let connection = client.connection.and_then(|key| self.net.connections.get(key));
        match connection {
            None => Readiness::Away,
            Some(_) if client.session.outbound_lens().0 > 0 => Readiness::Slow,
            Some(connection) if connection.outbox.len() > BYTES_PER_CHUNK => Readiness::Slow,
            Some(_) => Readiness::Ready,
        }
    }

    fn deliver_retained(&mut self, client: ClientKey, subscribed: Subscribed, retained: Retained) {
        let received = self.received_as_if(&retained);
        let Retained { message, .. } = retained;
        let delivery = Delivery {
            qos: message.qos.min(subscribed.options.qos),
            message,
            retain: true, // [MQTT-3.3.1-8]
            identifiers: match subscribed.identifier {
                0 => Box::new([]),
                identifier => Box::new([identifier]),
            },
            received,
            log_entry: None,
            group: None,
        };
        self.input(client, Input::Deliver(delivery));
    }

    /// When the message would have been received for as much of its expiry interval to be left as there is.
    fn received_as_if(&self, retained: &Retained) -> Time {
        let interval = retained.message.properties.message_expiry_interval();
        let (Some(seconds), Some(expires_at)) = (interval, retained.expires_at) else {
            return self.now;
        };
        let left = expires_at.duration_since(self.wall()).unwrap_or_default();
        let waited_ms = (u128::from(seconds) * 1_000).saturating_sub(left.as_millis());
        Time(
            self.now
                .0
                .saturating_sub(u64::try_from(waited_ms).unwrap_or(u64::MAX)),
        )
    }
}
