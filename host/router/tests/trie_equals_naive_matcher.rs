//! A subscription trie answers as a plain list of subscriptions would, after any sequence of changes.

mod common;

use std::collections::{BTreeMap, HashMap};

use common::{filter, filters, topic, topics};
use proptest::prelude::*;
use tidegate_codec::{TopicFilter, TopicName};
use tidegate_router::SubscriptionTrie;

type Model = HashMap<(String, u8), u32>;

/// Tries do not tell `$share/g/a` from `a`: the key does.
fn text_of(filter: &TopicFilter) -> String {
    filter
        .shared()
        .map_or(filter.as_str(), |(_, filter)| filter)
        .to_owned()
}

fn check(trie: &SubscriptionTrie<u8, u32>, model: &Model, topics: &[TopicName]) {
    assert_eq!(trie.len(), model.len());
    assert_eq!(trie.is_empty(), model.is_empty());
    for topic in topics {
        let mut visited = Vec::new();
        trie.matches(topic, &mut |key, value| visited.push((key, *value)));
        let matching = model.iter().filter(|((text, _), _)| filter(text).matches(topic));
        let mut expected: Vec<_> = matching.map(|((_, key), value)| (*key, *value)).collect();
        visited.sort_unstable();
        expected.sort_unstable();
        assert_eq!(visited, expected, "topic {topic}");
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    model
        .keys()
        .for_each(|(text, _)| *counts.entry(text.clone()).or_default() += 1);
    for (text, count) in &counts {
        assert_eq!(trie.subscribers(&filter(text)), *count);
    }
    let mut listed: Vec<_> = trie.filters().collect();
    listed.sort_unstable();
    assert_eq!(listed, Vec::from_iter(counts));
}

proptest! {
    #[test]
    fn after_any_changes(
        changes in proptest::collection::vec((filters(), 0..40_u8, any::<u32>(), proptest::bool::weighted(0.6)), 1..120),
        topics in proptest::collection::vec(topics(), 1..20),
    ) {
        let mut trie = SubscriptionTrie::new();
        let mut model = Model::new();
        for (filter, key, value, add) in &changes {
            let at = (text_of(filter), *key);
            prop_assert_eq!(trie.get(filter, *key), model.get(&at));
            match add {
                true => prop_assert_eq!(trie.insert(filter, *key, *value), model.insert(at, *value)),
                false => prop_assert_eq!(trie.remove(filter, *key), model.remove(&at)),
            }
        }
        check(&trie, &model, &topics);
        for (text, key) in model.keys() {
            prop_assert!(trie.remove(&filter(text), *key).is_some());
        }
        check(&trie, &Model::new(), &topics);
    }
}

#[test]
fn a_filter_with_many_subscribers_loses_them_one_by_one() {
    for text in ["broadcast", "broadcast/#"] {
        let filter = filter(text);
        let mut trie = SubscriptionTrie::new();
        for key in 0..10_000_u32 {
            assert_eq!(trie.insert(&filter, key, key), None);
        }
        assert_eq!(trie.insert(&filter, 77, 78), Some(77));
        for key in (0..10_000).filter(|key| key % 3 != 0) {
            assert_eq!(trie.remove(&filter, key), Some(if key == 77 { 78 } else { key }));
            assert_eq!(trie.remove(&filter, key), None);
        }
        let mut keys = Vec::new();
        trie.matches(&topic("broadcast"), &mut |key, _| keys.push(key));
        keys.sort_unstable();
        assert_eq!(keys, Vec::from_iter((0..10_000).step_by(3)));
        for key in keys {
            assert_eq!(trie.remove(&filter, key), Some(key));
        }
        assert!(trie.is_empty() && trie.filters().next().is_none());
    }
}
