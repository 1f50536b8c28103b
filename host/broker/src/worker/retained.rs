//! Retained messages on the worker that owns their topic.
//!
//! ```text
//!  publisher's worker                    owner of the topic                    subscriber's worker
//!  PUBLISH, RETAIN 1 ──── Keep ────────► set, replace, clear
//!  PUBACK, PUBREC    ◄─── Kept ────────┘
//!       retain.rs                        read a chunk at the cursor ◄─ Replay ─── SUBSCRIBE
//!                                                        └──────────── Replayed ─► replay.rs
//! ```
//!
//! Invariant: a query is answered at the end of a tick, after every message to retain that was sent before it.
//! Deliberately does not: keep anything of a replay; the cursor travels.

use std::collections::VecDeque;
use std::num::NonZeroU8;
use std::sync::atomic::{Ordering, fence};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tidegate_codec::{Message, ReasonCode, TopicName};
use tidegate_router::{
    Replay, Retained, RetainedCursor, RetainedLimits, RetainedStore, SetOutcome, retained_owner,
};
use tidegate_session::Time;

use super::retain::{Keep, Sent};
use super::rings::Parcel;
use super::tick::Worker;
use crate::config::MqttSettings;

/// Names looked at for replays per tick, so that a wildcard over millions of topics does not hold up a worker.
const STEPS_PER_TICK: usize = 4_096;

/// The same for one chunk, so that one subscription does not hold up the others.
const STEPS_PER_CHUNK: usize = 512;

/// Expired messages removed at a time.
const EXPIRED_PER_TICK: usize = 256;

/// Messages of the topics that this worker owns.
pub struct Retention {
    /// The messages.
    pub store: RetainedStore,
    /// Numbers the messages in the order in which they were set.
    sequence: u64,
    requests: VecDeque<ReplayRequest>,
    /// Sent to other owners in this tick.
    pub(super) sent: Vec<Sent>,
    workers: NonZeroU8,
}

/// Asks for a replay's next messages.
pub struct ReplayRequest {
    /// Who asks.
    pub worker: u16,
    /// Its own name for the replay.
    pub replay: usize,
    /// Where to go on.
    pub cursor: RetainedCursor,
    /// How many messages at most.
    pub messages_max: usize,
    /// Bytes after which no more are added.
    pub bytes_max: usize,
}

/// A replay's next messages.
pub struct ReplayChunk {
    /// As the request says.
    pub replay: usize,
    /// In memory of their own, shared with the store.
    pub messages: Vec<Retained>,
    /// Where to go on; `None` when the owner has no more.
    pub rest: Option<RetainedCursor>,
}

impl Retention {
    /// One worker's part of what the node may hold.
    pub fn new(settings: &MqttSettings, workers: usize) -> Self {
        let limits = RetainedLimits {
            messages_max: settings.retained_messages_max.div_ceil(workers.max(1)),
            bytes_max: settings.retained_bytes_max.div_ceil(workers.max(1)),
        };
        Self {
            store: RetainedStore::new(limits),
            sequence: 0,
            requests: VecDeque::new(),
            sent: Vec::new(),
            workers: u8::try_from(workers)
                .ok()
                .and_then(NonZeroU8::new)
                .unwrap_or(NonZeroU8::MIN),
        }
    }

    /// The worker that keeps the retained message of `topic`.
    pub fn owner_of(&self, topic: &TopicName) -> usize {
        retained_owner(topic, self.workers).index()
    }

    /// Queues a request; each subscription has one at a time.
    pub fn ask(&mut self, request: ReplayRequest) {
        // Pairs with the one of `route_to_latecomers`: what was sent before is seen before this tick's rings are empty.
        fence(Ordering::SeqCst);
        self.requests.push_back(request);
    }

    /// Whether some request waits.
    pub fn has_requests(&self) -> bool {
        !self.requests.is_empty()
    }

    /// Makes `message` the retained message of its topic, or clears that. `false` if there is no room.
    fn set(&mut self, message: Message, received: Time, now: Time, wall: SystemTime) -> bool {
        self.store.expire(wall, EXPIRED_PER_TICK);
        self.sequence += 1;
        // [MQTT-3.3.2-5], counted from when the publisher's worker got it [MQTT-3.3.2-6].
        let expires_at = message.properties.message_expiry_interval().and_then(|seconds| {
            let left = Duration::from_secs(u64::from(seconds)).saturating_sub(now.since(received));
            wall.checked_add(left)
        });
        let record = Retained {
            message,
            sequence: self.sequence,
            expires_at,
        };
        !matches!(self.store.set(record), SetOutcome::Full(_))
    }

    fn chunk(&self, request: ReplayRequest, wall: SystemTime, steps: &mut usize) -> ReplayChunk {
        let mut cursor = request.cursor;
        let (mut messages, mut bytes) = (Vec::new(), 0);
        let mut chunk_steps = STEPS_PER_CHUNK.min(*steps);
        let allowed = chunk_steps;
        let rest = loop {
            if messages.len() >= request.messages_max || bytes >= request.bytes_max {
                break Some(cursor);
            }
            match cursor.advance(&self.store, wall, &mut chunk_steps) {
                Replay::Found(record) => {
                    bytes += record.message.topic.as_str().len() + record.message.payload.len();
                    messages.push(record.clone());
                }
                Replay::OutOfSteps => break Some(cursor),
                Replay::Done => break None,
            }
        };
        *steps -= allowed - chunk_steps;
        ReplayChunk {
            replay: request.replay,
            messages,
            rest,
        }
    }
}

impl Worker {
    /// Retains a message on a topic of this worker's, and answers.
    pub(super) fn keep(&mut self, keep: Keep) {
        let Keep {
            message,
            received,
            waits,
        } = keep;
        let topic = message.topic.clone();
        let is_kept = self.retained.set(message, received, self.now, self.wall());
        let is_told = waits.is_some_and(|waits| waits.is_v5);
        if !is_kept {
            self.counters.retained_refused += 1;
            if !is_told {
                // The message counts as published: what the topic had before it is out of date.
                self.retained.store.clear(&topic, u64::MAX);
            }
        }
        let Some(waits) = waits else { return };
        let refused = (!is_kept && is_told).then_some(ReasonCode::QuotaExceeded);
        if waits.worker == self.number {
            return self.kept(waits.key, refused);
        }
        let answer = Parcel::Kept {
            key: waits.key,
            refused,
        };
        self.rings.send(usize::from(waits.worker), answer);
    }

    /// Answers replays, as many names as a tick may look at, and moves this worker's own ones on.
    pub(super) fn replay_retained(&mut self) {
        self.answer_replays();
        // This worker's own questions are answered in the next tick like those of others: when its subscriptions stand
        // in the shared snapshot and what was sent before that has been received.
        self.ask_for_replays();
    }

    fn answer_replays(&mut self) {
        let mut steps = STEPS_PER_TICK;
        while steps > 0
            && let Some(request) = self.retained.requests.pop_front()
        {
            let worker = request.worker;
            // Every request costs a step, also one that looks at no name.
            steps -= 1;
            let chunk = self.retained.chunk(request, self.wall(), &mut steps);
            if worker == self.number {
                self.replay(chunk);
            } else {
                self.rings
                    .send(usize::from(worker), Parcel::Replayed(Box::new(chunk)));
            }
        }
    }

    /// Time of day of this tick.
    pub(super) fn wall(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(self.unix_ms)
    }
}
