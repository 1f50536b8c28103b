//! Topics and filters of the greatest depth, and filters made to multiply the branches of a match.

mod common;

use common::{filter, topic};
use tidegate_router::{FilterMap, SubscriptionTrie, WorkerId};

/// 65,535 bytes of "+/+/…/+" have 32,768 levels.
const LEVELS_MAX: usize = 32_768;

#[test]
fn the_deepest_filters_neither_overflow_the_stack_nor_leak() {
    let plus = vec!["+"; LEVELS_MAX].join("/");
    let literal = vec!["a"; LEVELS_MAX].join("/");
    let mixed = vec!["a"; LEVELS_MAX - 1].join("/") + "/#";
    let worker = WorkerId::new(0).unwrap();
    let mut trie = SubscriptionTrie::new();
    let mut map = FilterMap::new();
    for (key, text) in [&plus, &literal, &mixed].into_iter().enumerate() {
        trie.insert(&filter(text), key, ());
        map.add(&filter(text), worker);
    }
    let mut keys = Vec::new();
    trie.matches(&topic(&literal), &mut |key, ()| keys.push(key));
    keys.sort_unstable();
    assert_eq!(keys, [0, 1, 2]);
    assert!(map.workers(&topic(&literal)).contains(worker));

    let slashes = "/".repeat(65_535);
    let mut visits = 0;
    trie.matches(&topic(&slashes), &mut |_, ()| visits += 1);
    assert_eq!(visits, 0, "one level more than the filters have");
    assert!(map.workers(&topic(&slashes)).is_empty());

    for (key, text) in [&plus, &literal, &mixed].into_iter().enumerate() {
        assert_eq!(trie.remove(&filter(text), key), Some(()));
        map.release(&filter(text), worker);
    }
    assert!(trie.is_empty() && map.holders().is_empty());
}

/// All filters of `levels` levels that are "a" or "+", each with `end` behind it.
fn bomb(levels: u32, end: &str) -> Vec<String> {
    let choices = 0..1_u32 << levels;
    let text = |choice: u32| {
        let levels = (0..levels).map(|level| if choice >> level & 1 == 0 { "a" } else { "+" });
        levels.chain(Some(end)).collect::<Vec<_>>().join("/")
    };
    choices.map(text).collect()
}

#[test]
fn a_wildcard_bomb_costs_no_more_than_its_own_nodes() {
    let (mut trie, mut map) = (SubscriptionTrie::new(), FilterMap::new());
    let (zero, one) = (WorkerId::new(0).unwrap(), WorkerId::new(1).unwrap());
    let (matching, missing) = (bomb(12, "end"), bomb(12, "other"));
    for text in &matching {
        trie.insert(&filter(text), 0_u8, ());
        map.add(&filter(text), zero);
    }
    for text in &missing {
        trie.insert(&filter(text), 1, ());
        map.add(&filter(text), one);
    }
    let name = topic(&(["a"; 12].join("/") + "/end"));
    let mut visits = [0, 0];
    trie.matches(&name, &mut |key, ()| visits[usize::from(key)] += 1);
    assert_eq!(visits, [matching.len(), 0]);
    assert!(map.workers(&name).contains(zero) && !map.workers(&name).contains(one));

    // The same topic, deeper than any filter, reaches each node once and finds nothing.
    let deeper = topic(&["a"; 1000].join("/"));
    trie.matches(&deeper, &mut |_, ()| panic!("no filter is that deep"));
    assert!(map.workers(&deeper).is_empty());
}
