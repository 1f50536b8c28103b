//! The filter map answers as a multiset of (filter, worker) would, and a snapshot never changes.

mod common;

use std::collections::HashMap;

use common::{filter, filters, topic, topics};
use proptest::prelude::*;
use tidegate_codec::{TopicFilter, TopicName};
use tidegate_router::{FilterMap, WorkerId, WorkerSet};

type Model = HashMap<(String, WorkerId), usize>;

fn workers() -> impl Strategy<Value = WorkerId> {
    proptest::sample::select(Vec::from_iter(
        [0, 1, 63, 64, 127].into_iter().filter_map(WorkerId::new),
    ))
}

fn text_of(filter: &TopicFilter) -> String {
    filter
        .shared()
        .map_or(filter.as_str(), |(_, filter)| filter)
        .to_owned()
}

fn check(map: &FilterMap, model: &Model, topics: &[TopicName]) {
    for topic in topics {
        let holders = model
            .keys()
            .filter(|(text, _)| filter(text).matches(topic))
            .map(|(_, worker)| *worker);
        assert_eq!(map.workers(topic), WorkerSet::from_iter(holders), "topic {topic}");
    }
    let all = WorkerSet::from_iter(model.keys().map(|(_, worker)| *worker));
    assert_eq!(map.holders(), all);
    for worker in all.iter() {
        assert_eq!(map.only(worker), all.len() == 1);
    }
}

proptest! {
    #[test]
    fn after_any_changes_and_at_every_snapshot(
        changes in proptest::collection::vec((filters(), workers(), proptest::bool::weighted(0.6), any::<bool>()), 1..80),
        topics in proptest::collection::vec(topics(), 1..12),
    ) {
        let mut map = FilterMap::new();
        let mut model = Model::new();
        let mut snapshots = Vec::new();
        for (filter, worker, add, keep) in &changes {
            let count = model.entry((text_of(filter), *worker)).or_default();
            match add {
                true => {
                    *count += 1;
                    prop_assert_eq!(map.add(filter, *worker), *count == 1);
                }
                false => {
                    prop_assert_eq!(map.release(filter, *worker), *count == 1);
                    *count = count.saturating_sub(1);
                }
            }
            model.retain(|_, count| *count > 0);
            if *keep {
                snapshots.push((map.clone(), model.clone()));
            }
        }
        snapshots.push((map, model));
        for (map, model) in &snapshots {
            check(map, model, &topics);
        }
    }
}

#[test]
fn with_and_without_leave_the_original_alone() {
    let (one, two) = (WorkerId::new(1).unwrap(), WorkerId::new(2).unwrap());
    let empty = FilterMap::new();
    let held = empty.with(&filter("a/+"), one).with(&filter("a/b"), two);
    let released = held.without(&filter("a/+"), one);
    assert!(empty.workers(&topic("a/b")).is_empty() && empty.holders().is_empty());
    assert_eq!(held.workers(&topic("a/b")), WorkerSet::of(one).with(two));
    assert_eq!(released.workers(&topic("a/b")), WorkerSet::of(two));
    assert!(released.only(two) && !released.only(one) && empty.only(one));
}

#[test]
fn a_snapshot_can_be_read_by_other_threads() {
    fn is_shareable<T: Send + Sync>() {}
    is_shareable::<FilterMap>();
}
