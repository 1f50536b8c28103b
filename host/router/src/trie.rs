//! The subscriptions of one worker: which keys a message goes to.
//!
//! Invariant: [`SubscriptionTrie::matches`] visits (key, value) once for each filter of that key that
//! [`TopicFilter::matches`] the topic, and nothing else. Filters without wildcards cost one hash lookup together.
//! Deliberately does not merge overlapping subscriptions of one key: what the highest QoS is and which subscription
//! identifiers go along is the session's to decide [MQTT-3.3.4-2, MQTT-3.3.4-5].

use std::fmt;
use std::hash::Hash;

use tidegate_codec::{TopicFilter, TopicName};

use crate::exact::ExactFilters;
use crate::hash::TextHash;
use crate::subscribers::Subscribers;
use crate::wild::WildFilters;

/// Topic filter -> subscribers `K` with what they subscribed with, `V`.
///
/// `$share/NAME/FILTER` is stored under FILTER: a shared group is a key like any other and needs a key of its own.
///
/// One subscription to a filter of its own takes about 70 bytes plus the filter's text without wildcards, 64 bytes
/// plus about 16 and the text for each level that no other filter has with them, where `K` and `V` take 12 together; a
/// further subscriber of the same filter takes about 30. Any depth of topics and filters is safe: nothing recurses.
/// Time to match grows with the filters whose beginning matches, so bound the filters per client.
pub struct SubscriptionTrie<K, V> {
    exact: ExactFilters<K, V>,
    wild: WildFilters<K, V>,
    len: usize,
    wild_len: usize,
}

impl<K: Copy + Eq + Hash, V> SubscriptionTrie<K, V> {
    /// An empty one.
    pub fn new() -> Self {
        let hash = TextHash::seeded();
        Self {
            exact: ExactFilters::new(hash.clone()),
            wild: WildFilters::new(hash),
            len: 0,
            wild_len: 0,
        }
    }

    /// Subscribes `key` to `filter`. Returns the value it had for the same filter before, which is replaced
    /// [MQTT-3.8.4-3].
    pub fn insert(&mut self, filter: &TopicFilter, key: K, value: V) -> Option<V> {
        let (text, wild) = stored(filter);
        let replaced = match wild {
            true => self.wild.insert(text, key, value),
            false => self.exact.insert(text, key, value),
        };
        let added = usize::from(replaced.is_none());
        self.len += added;
        self.wild_len += added * usize::from(wild);
        replaced
    }

    /// Ends the subscription of `key` to `filter`, compared character by character [MQTT-3.10.4-1]. `None` if there
    /// was none.
    pub fn remove(&mut self, filter: &TopicFilter, key: K) -> Option<V> {
        let (text, wild) = stored(filter);
        let removed = match wild {
            true => self.wild.remove(text, key),
            false => self.exact.remove(text, key),
        };
        let gone = usize::from(removed.is_some());
        self.len -= gone;
        self.wild_len -= gone * usize::from(wild);
        removed
    }

    /// What `key` subscribed to `filter` with.
    pub fn get(&self, filter: &TopicFilter, key: K) -> Option<&V> {
        self.subscribers_of(filter)?.get(key)
    }

    /// How many keys subscribe to exactly `filter`. Its way from 0 to 1 and back is what other workers must hear of.
    pub fn subscribers(&self, filter: &TopicFilter) -> usize {
        self.subscribers_of(filter).map_or(0, Subscribers::len)
    }

    /// Calls `visit` for every subscription that matches `topic`, without allocating (but for a topic where more than
    /// 16 levels have a `+` beside them). A key with overlapping filters is visited once for each.
    pub fn matches(&self, topic: &TopicName, visit: &mut impl FnMut(K, &V)) {
        let topic = topic.as_str();
        if self.len > self.wild_len
            && let Some(subscribers) = self.exact.get(topic)
        {
            subscribers.iter().for_each(|(key, value)| visit(key, value));
        }
        if self.wild_len > 0 {
            self.wild.matches(topic, visit);
        }
    }

    /// Number of subscriptions: pairs of filter and key.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no subscription.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Every filter once, in no particular order, with its number of subscribers. For listings: it walks everything.
    pub fn filters(&self) -> impl Iterator<Item = (String, usize)> {
        let exact = self
            .exact
            .iter()
            .map(|(filter, subscribers)| (filter.to_owned(), subscribers.len()));
        exact.chain(
            self.wild
                .iter()
                .map(|(filter, subscribers)| (filter, subscribers.len())),
        )
    }

    fn subscribers_of(&self, filter: &TopicFilter) -> Option<&Subscribers<K, V>> {
        match stored(filter) {
            (text, true) => self.wild.get(text),
            (text, false) => self.exact.get(text),
        }
    }
}

impl<K: Copy + Eq + Hash, V> Default for SubscriptionTrie<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K, V> fmt::Debug for SubscriptionTrie<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubscriptionTrie")
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

/// The part of a filter that topics are matched against, and whether it has a wildcard.
pub(crate) fn stored(filter: &TopicFilter) -> (&str, bool) {
    let text = filter.shared().map_or(filter.as_str(), |(_, filter)| filter);
    // A checked filter has '+' and '#' only as wildcards [MQTT-4.7.1-1, MQTT-4.7.1-2].
    (text, text.contains(['+', '#']))
}
