//! Retained messages in memory: the last one of each topic.
//!
//! ```text
//! topic ──Index──► slot ──► Retained            one lookup to replace or read a topic
//! names  a, a␀b, a␀b␀c, a-x  ──► slot          in order of levels, for cursors; '/' is written as U+0000, which
//!                                               no topic contains, so that a subtree is one contiguous range
//! expiries (time, slot)                         the earliest first
//! ```
//!
//! Invariants: no stored payload is empty; count and bytes never exceed the limits; the three indexes name the same
//! records. Deliberately does not evict, persist, or copy: a message given to it should own its memory, or a read buffer
//! lives as long as the message does.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::num::NonZeroU8;
use std::ops::Bound;
use std::time::SystemTime;

use slab::Slab;
use tidegate_codec::{Message, TopicName};

use crate::hash::TextHash;
use crate::index::Index;
use crate::worker_set::WorkerId;

/// What a record costs beside its text and payload: its slot, its places in the indexes and allocator rounding.
const RECORD_BYTES: usize = 256;

/// Level separator in [`RetainedStore::names`].
pub(crate) const SEPARATOR: char = '\0';

/// A retained message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retained {
    /// The message as published, its payload not empty.
    pub message: Message,
    /// Position of this message in the order of all retained messages, given by the caller; grows per topic.
    pub sequence: u64,
    /// From when on it is no longer sent [MQTT-3.3.2-5]; `None` is never.
    pub expires_at: Option<SystemTime>,
}

/// How much a store may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetainedLimits {
    /// Number of messages.
    pub messages_max: usize,
    /// Bytes of topics, payloads and properties, with 256 for each message.
    pub bytes_max: usize,
}

/// What [`RetainedStore::set`] did.
#[derive(Debug, PartialEq, Eq)]
pub enum SetOutcome {
    /// Stored under a topic that had none.
    Stored,
    /// Stored in place of this one [MQTT-3.3.1-5].
    Replaced(Box<Retained>),
    /// The payload was empty: the topic has no retained message now [MQTT-3.3.1-6, MQTT-3.3.1-7]. Contains the one
    /// it had.
    Cleared(Option<Box<Retained>>),
    /// The topic has one of the same or a later sequence, which stays.
    Stale,
    /// Full: storing it would exceed a limit. The store is as before, an older message of the topic still in it; the
    /// caller refuses the publish (0x97), or keeps this one elsewhere and clears the topic here.
    Full(Box<Retained>),
}

/// Topic -> its retained message, within [`RetainedLimits`].
pub struct RetainedStore {
    limits: RetainedLimits,
    hash: TextHash,
    index: Index,
    records: Slab<Retained>,
    names: BTreeMap<Box<str>, u32>,
    expiries: BTreeSet<(SystemTime, u32)>,
    bytes: usize,
}

/// The worker that keeps the retained message of `topic`: the same one for every caller in this process, another after a
/// restart.
pub fn retained_owner(topic: &TopicName, workers: NonZeroU8) -> WorkerId {
    WorkerId::by_hash(TextHash::seeded().text(topic.as_str()), workers)
}

impl RetainedStore {
    /// An empty one.
    pub fn new(limits: RetainedLimits) -> Self {
        Self {
            limits,
            hash: TextHash::seeded(),
            index: Index::default(),
            records: Slab::new(),
            names: BTreeMap::new(),
            expiries: BTreeSet::new(),
            bytes: 0,
        }
    }

    /// Makes `record` the retained message of its topic.
    pub fn set(&mut self, record: Retained) -> SetOutcome {
        if record.message.payload.is_empty() {
            let cleared = self.clear(&record.message.topic, record.sequence);
            return SetOutcome::Cleared(cleared.map(Box::new));
        }
        let topic = record.message.topic.as_str();
        let slot = self.find(topic);
        let old = slot.and_then(|slot| self.records.get(slot as usize));
        if old.is_some_and(|old| old.sequence >= record.sequence) {
            return SetOutcome::Stale;
        }
        let messages = self.records.len() + usize::from(old.is_none());
        let bytes = self.bytes - old.map_or(0, bytes_of) + bytes_of(&record);
        if messages > self.limits.messages_max || bytes > self.limits.bytes_max {
            return SetOutcome::Full(Box::new(record));
        }
        self.bytes = bytes;
        match slot {
            Some(slot) => self.replace(slot, record),
            None => self.add(record),
        }
    }

    /// Removes the retained message of `topic` if it is older than `sequence`, and returns it.
    pub fn clear(&mut self, topic: &TopicName, sequence: u64) -> Option<Retained> {
        let slot = self.find(topic.as_str())?;
        let older = self
            .records
            .get(slot as usize)
            .is_some_and(|old| old.sequence < sequence);
        older.then(|| self.take(slot))
    }

    /// The retained message of `topic`, unless expired at `now`.
    pub fn get(&self, topic: &TopicName, now: SystemTime) -> Option<&Retained> {
        let found = self.records.get(self.find(topic.as_str())? as usize);
        found.filter(|record| record.is_live(now))
    }

    /// Removes messages expired at `now`, `at_most` so many, and returns how many. Fewer than that means none is left.
    pub fn expire(&mut self, now: SystemTime, at_most: usize) -> usize {
        let mut expired = 0;
        while expired < at_most
            && let Some(&(expires_at, slot)) = self.expiries.first()
            && expires_at <= now
        {
            self.take(slot);
            expired += 1;
        }
        expired
    }

    /// When the next message expires.
    pub fn next_expiry(&self) -> Option<SystemTime> {
        self.expiries.first().map(|(expires_at, _)| *expires_at)
    }

    /// Number of messages, expired ones that wait for [`Self::expire`] included.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Bytes in use, counted as [`RetainedLimits::bytes_max`] does.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The first record whose name is `from` or comes after it in the order of levels.
    pub(crate) fn first_from(&self, from: &str) -> Option<(&str, &Retained)> {
        let range = (Bound::Included(from), Bound::Unbounded);
        let (name, slot) = self.names.range::<str, _>(range).next()?;
        Some((name, self.records.get(*slot as usize)?))
    }

    fn find(&self, topic: &str) -> Option<u32> {
        self.index.find(self.hash.text(topic), |slot| {
            let record = self.records.get(slot as usize);
            record.is_some_and(|record| record.message.topic.as_str() == topic)
        })
    }

    fn add(&mut self, record: Retained) -> SetOutcome {
        let hash = self.hash.text(record.message.topic.as_str());
        let name = name_of(&record.message.topic);
        let expires_at = record.expires_at;
        let slot = self.records.insert(record) as u32;
        self.index.insert(hash, slot);
        self.names.insert(name, slot);
        self.expiries
            .extend(expires_at.map(|expires_at| (expires_at, slot)));
        SetOutcome::Stored
    }

    fn replace(&mut self, slot: u32, record: Retained) -> SetOutcome {
        let expires_at = record.expires_at;
        let Some(stored) = self.records.get_mut(slot as usize) else {
            return self.add(record);
        };
        let old = std::mem::replace(stored, record);
        if let Some(expired) = old.expires_at {
            self.expiries.remove(&(expired, slot));
        }
        self.expiries
            .extend(expires_at.map(|expires_at| (expires_at, slot)));
        SetOutcome::Replaced(Box::new(old))
    }

    /// Removes the record at `slot`, which is taken.
    fn take(&mut self, slot: u32) -> Retained {
        let record = self.records.remove(slot as usize);
        self.index
            .remove(self.hash.text(record.message.topic.as_str()), slot);
        self.names.remove(&name_of(&record.message.topic));
        if let Some(expires_at) = record.expires_at {
            self.expiries.remove(&(expires_at, slot));
        }
        self.bytes -= bytes_of(&record);
        record
    }
}

impl fmt::Debug for RetainedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("RetainedStore");
        shown
            .field("len", &self.len())
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

impl Retained {
    /// Whether it may still be sent at `now`.
    pub fn is_live(&self, now: SystemTime) -> bool {
        self.expires_at.is_none_or(|expires_at| now < expires_at)
    }
}

fn name_of(topic: &TopicName) -> Box<str> {
    topic.as_str().replace('/', "\0").into_boxed_str()
}

fn bytes_of(record: &Retained) -> usize {
    let message = &record.message;
    // The topic stands in the message and in the order of names.
    RECORD_BYTES + 2 * message.topic.as_str().len() + message.payload.len() + message.properties.block().len()
}
