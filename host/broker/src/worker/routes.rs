//! Who wants a topic: this worker's own subscriptions, and which other workers have any.
//!
//! ```text
//!  SUBSCRIBE ─► own trie            (at once, this thread only)
//!            └► shared filter map   (a new snapshot before this tick's writes, SUBACK among them)
//! ```
//!
//! The snapshot is loaded after a tick's reads. A PUBLISH sent by someone who knows of a SUBACK is read after that
//! SUBACK was written, and so after the snapshot that it stands in was stored: it is always routed by it, and nobody
//! has to wait for other workers.

use std::sync::atomic::{Ordering, fence};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use tidegate_codec::{SubscribeOptions, TopicFilter, TopicName};
use tidegate_router::{FilterMap, SubscriptionTrie, WorkerId, WorkerSet};

use super::clients::ClientKey;

/// Filter -> workers, shared by all: copied on write, read without a lock.
pub struct SharedFilters {
    current: ArcSwap<FilterMap>,
    writer: Mutex<()>,
}

impl SharedFilters {
    /// No filters yet.
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            current: ArcSwap::from_pointee(FilterMap::new()),
            writer: Mutex::new(()),
        })
    }

    fn edit(&self, worker: WorkerId, edits: &[(TopicFilter, Edit)]) {
        let _one_writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let mut map = FilterMap::clone(&self.current.load());
        for (filter, edit) in edits {
            match edit {
                Edit::Add => map.add(filter, worker),
                Edit::Release => map.release(filter, worker),
            };
        }
        self.current.store(Arc::new(map));
        // Pairs with the one of `route_to_latecomers`: the rings that are read after this show what was sent by whoever
        // still saw the older map.
        fence(Ordering::SeqCst);
    }
}

enum Edit {
    Add,
    Release,
}

/// What a session subscribed with.
#[derive(Debug, Clone, Copy)]
pub struct Subscribed {
    /// QoS, No Local, Retain As Published.
    pub options: SubscribeOptions,
    /// Subscription Identifier; 0 for none, which the protocol does not allow as one.
    pub identifier: u32,
    /// Names the replay of retained messages that this subscription has asked for: an older one is out of date.
    pub replay: u32,
}

/// One session that gets a message, its overlapping subscriptions merged.
#[derive(Debug)]
pub struct Recipient {
    /// The session.
    pub client: ClientKey,
    /// Highest QoS granted [MQTT-3.3.4-2].
    pub options: SubscribeOptions,
    /// Of every matching subscription that has one [MQTT-3.3.4-4].
    pub identifiers: Vec<u32>,
}

/// The routes of one worker.
pub struct Routes {
    worker: WorkerId,
    own: SubscriptionTrie<ClientKey, Subscribed>,
    shared: Arc<SharedFilters>,
    snapshot: Arc<FilterMap>,
    edits: Vec<(TopicFilter, Edit)>,
}

impl Routes {
    /// No subscriptions yet.
    pub fn new(worker: WorkerId, shared: Arc<SharedFilters>) -> Self {
        let snapshot = shared.current.load_full();
        Self {
            worker,
            own: SubscriptionTrie::new(),
            shared,
            snapshot,
            edits: Vec::new(),
        }
    }

    /// Number of subscriptions of this worker's sessions.
    pub fn len(&self) -> usize {
        self.own.len()
    }

    /// Subscribes. `true` if the subscription is new, `false` if it replaces one.
    pub fn subscribe(&mut self, filter: &TopicFilter, client: ClientKey, subscribed: Subscribed) -> bool {
        // A filter that outlives the packet must not keep its read buffer alive.
        let filter = filter.detached();
        let is_new = self.own.insert(&filter, client, subscribed).is_none();
        if is_new && self.own.subscribers(&filter) == 1 {
            self.edits.push((filter, Edit::Add));
        }
        is_new
    }

    /// Has messages that match `filter` sent to this worker, whoever of it wants them.
    pub fn hold(&mut self, filter: TopicFilter) {
        self.edits.push((filter, Edit::Add));
    }

    /// Takes a [`Routes::hold`] back.
    pub fn release(&mut self, filter: TopicFilter) {
        self.edits.push((filter, Edit::Release));
    }

    /// What `client` subscribed to `filter` with.
    pub fn subscription(&self, filter: &TopicFilter, client: ClientKey) -> Option<&Subscribed> {
        self.own.get(filter, client)
    }

    /// Ends a subscription. `false` if there was none.
    pub fn unsubscribe(&mut self, filter: &TopicFilter, client: ClientKey) -> bool {
        let existed = self.own.remove(filter, client).is_some();
        if existed && self.own.subscribers(filter) == 0 {
            self.edits.push((filter.clone(), Edit::Release));
        }
        existed
    }

    /// Publishes this tick's changes. Call before the tick's writes.
    pub fn publish_changes(&mut self) {
        if !self.edits.is_empty() {
            self.shared.edit(self.worker, &self.edits);
            self.edits.clear();
        }
    }

    /// Takes the newest snapshot. Call after the tick's reads.
    pub fn refresh(&mut self) {
        let newest = self.shared.current.load();
        if !Arc::ptr_eq(&newest, &self.snapshot) {
            self.snapshot = Arc::clone(&newest);
        }
    }

    /// The other workers that have a filter for `topic`.
    pub fn other_workers(&self, topic: &TopicName) -> WorkerSet {
        match self.snapshot.only(self.worker) {
            true => WorkerSet::EMPTY,
            false => self.snapshot.workers(topic).without(self.worker),
        }
    }

    /// Appends this worker's recipients of `topic` to `recipients`, each session once.
    pub fn recipients(&self, topic: &TopicName, recipients: &mut Vec<Recipient>) {
        let start = recipients.len();
        self.own.matches(topic, &mut |client, subscribed: &Subscribed| {
            let identifiers = if subscribed.identifier > 0 {
                vec![subscribed.identifier]
            } else {
                Vec::new()
            };
            recipients.push(Recipient {
                client,
                options: subscribed.options,
                identifiers,
            });
        });
        if recipients.len() - start > 1 {
            merge(recipients, start);
        }
    }
}

/// Overlapping subscriptions of one session become one delivery, at the highest QoS and with all identifiers
/// [MQTT-3.3.4-2], [MQTT-3.3.4-3].
fn merge(recipients: &mut Vec<Recipient>, start: usize) {
    let mut fresh = recipients.split_off(start);
    fresh.sort_by_key(|recipient| recipient.client.index);
    for recipient in fresh {
        match recipients.get_mut(start..).and_then(<[Recipient]>::last_mut) {
            Some(last) if last.client == recipient.client => {
                last.options.qos = last.options.qos.max(recipient.options.qos);
                // One copy is wanted if any of the subscriptions wants it.
                last.options.no_local &= recipient.options.no_local;
                last.options.retain_as_published |= recipient.options.retain_as_published;
                last.identifiers.extend(recipient.identifiers);
            }
            _ => recipients.push(recipient),
        }
    }
}
