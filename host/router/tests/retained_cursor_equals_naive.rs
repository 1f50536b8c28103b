//! A cursor finds what a scan of all topics would, however often it rests and whatever changes meanwhile.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use common::{filter, filters, topic, topics};
use proptest::prelude::*;
use tidegate_codec::{Message, Properties, QoS, TopicName};
use tidegate_router::{Replay, Retained, RetainedCursor, RetainedLimits, RetainedStore};

const AMPLE: RetainedLimits = RetainedLimits {
    messages_max: 100_000,
    bytes_max: 1 << 30,
};

fn record(topic: &TopicName, sequence: u64, expires_at: Option<SystemTime>) -> Retained {
    Retained {
        message: Message {
            topic: topic.clone(),
            payload: "x".into(),
            properties: Properties::empty(),
            qos: QoS::AtMostOnce,
            retain: true,
        },
        sequence,
        expires_at,
    }
}

fn store_of(topics: impl Iterator<Item = String>) -> RetainedStore {
    let mut store = RetainedStore::new(AMPLE);
    topics.for_each(|name| {
        store.set(record(&topic(&name), 1, None));
    });
    store
}

/// All topics that `text` finds, and the steps that took.
fn replay(store: &RetainedStore, text: &str) -> (Vec<String>, usize) {
    let mut cursor = RetainedCursor::new(&filter(text));
    let (mut found, mut steps) = (Vec::new(), usize::MAX);
    while let Replay::Found(record) = cursor.advance(store, UNIX_EPOCH, &mut steps) {
        found.push(record.message.topic.as_str().to_owned());
    }
    (found, usize::MAX - steps)
}

#[derive(Debug, Clone)]
enum Change {
    Set(TopicName, Option<bool>),
    Clear(TopicName),
}

fn changes(count: usize) -> impl Strategy<Value = Vec<Change>> {
    let expiry = prop_oneof![3 => Just(None), 1 => Just(Some(true)), 1 => Just(Some(false))];
    let change = prop_oneof![
        3 => (topics(), expiry).prop_map(|(topic, live)| Change::Set(topic, live)),
        1 => topics().prop_map(Change::Clear),
    ];
    proptest::collection::vec(change, 0..count)
}

struct Pair {
    store: RetainedStore,
    model: BTreeMap<String, Retained>,
    sequence: u64,
    now: SystemTime,
}

impl Pair {
    fn apply(&mut self, change: &Change) {
        self.sequence += 1;
        match change {
            Change::Set(topic, live) => {
                let away = Duration::from_secs(1);
                let expires_at = live.map(|live| if live { self.now + away } else { self.now - away });
                let record = record(topic, self.sequence, expires_at);
                self.model.insert(topic.as_str().to_owned(), record.clone());
                self.store.set(record);
            }
            Change::Clear(topic) => {
                let removed = self.model.remove(topic.as_str());
                assert_eq!(self.store.clear(topic, self.sequence), removed);
            }
        }
    }

    /// Topics with a live message of `until` or before that match.
    fn wanted(&self, filter: &tidegate_codec::TopicFilter, until: u64) -> BTreeSet<String> {
        let wanted = self.model.iter().filter(|(_, record)| {
            record.is_live(self.now) && record.sequence <= until && filter.matches(&record.message.topic)
        });
        wanted.map(|(name, _)| name.clone()).collect()
    }
}

proptest! {
    #[test]
    fn while_the_store_changes(
        before in changes(80),
        during in proptest::collection::vec(changes(4), 0..30),
        filter in filters(),
        only_older in any::<bool>(),
    ) {
        let mut pair = Pair { store: RetainedStore::new(AMPLE), model: BTreeMap::new(), sequence: 0, now: UNIX_EPOCH + Duration::from_secs(100) };
        before.iter().for_each(|change| pair.apply(change));
        let until = if only_older { pair.sequence } else { u64::MAX };
        let mut cursor = RetainedCursor::new(&filter).until(until);
        let mut throughout = pair.wanted(&filter, until);
        let mut found = BTreeSet::new();
        let mut changes = during.iter();
        loop {
            match cursor.advance(&pair.store, pair.now, &mut 2) {
                Replay::Found(record) => {
                    let name = record.message.topic.as_str().to_owned();
                    prop_assert!(pair.wanted(&filter, until).contains(&name), "{} is not wanted", name);
                    prop_assert_eq!(Some(record), pair.model.get(&name), "not the message of this moment");
                    prop_assert!(found.insert(name), "found twice");
                }
                Replay::OutOfSteps => {}
                Replay::Done => break,
            }
            for change in changes.next().into_iter().flatten() {
                pair.apply(change);
                let wanted = pair.wanted(&filter, until);
                throughout.retain(|name| wanted.contains(name));
            }
        }
        prop_assert!(throughout.is_subset(&found), "missed {:?}", throughout.difference(&found));
        prop_assert_eq!(cursor.advance(&pair.store, pair.now, &mut 2), Replay::Done);
    }
}

#[test]
fn a_literal_prefix_is_not_scanned_for() {
    let store = store_of((0..10_000).map(|plant| format!("plant/{plant}/temp")));
    let (found, steps) = replay(&store, "plant/77/#");
    assert_eq!(found, ["plant/77/temp"]);
    assert!(steps <= 3, "{steps} steps");
    assert_eq!(replay(&store, "factory/#"), (vec![], 1));
    assert_eq!(replay(&store, "plant/77/temp").0, ["plant/77/temp"]);
}

#[test]
fn behind_a_wildcard_ranges_without_a_match_are_jumped_over() {
    let names =
        (0..100).flat_map(|plant| (0..200).map(move |part| format!("plant/{plant}/part/{part}/state")));
    let store = store_of(names.chain((0..100).step_by(10).map(|plant| format!("plant/{plant}/temp"))));
    let (found, steps) = replay(&store, "plant/+/temp");
    assert_eq!(found.len(), 10);
    assert!(steps <= 300, "{steps} steps for 20,010 topics");
}

#[test]
fn steps_run_out_before_the_caller_does() {
    let store = store_of((0..1_000).map(|plant| format!("plant/{plant}/temp")));
    let mut cursor = RetainedCursor::new(&filter("+/+/humidity"));
    let mut rests = 0;
    while cursor.advance(&store, UNIX_EPOCH, &mut 10) != Replay::Done {
        rests += 1;
    }
    assert!(rests >= 100, "{rests} rests");
}
