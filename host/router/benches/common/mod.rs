//! The filters and topics of the benches: one device per number, three levels, as fleets have them.
#![allow(dead_code, missing_docs, clippy::unwrap_used)] // each bench takes what it needs; all texts are valid

use tidegate_codec::{TopicFilter, TopicName};
use tidegate_router::{FilterMap, SubscriptionTrie, WorkerId};

/// QoS and flags in one word, subscription identifier in the other: what a broker keeps per subscription.
pub type Options = [u32; 2];

/// A shape of filters with the topics that each match one of them.
#[derive(Clone, Copy)]
pub struct Shape {
    pub name: &'static str,
    pub filter: fn(usize) -> String,
}

pub const SHAPES: [Shape; 3] = [
    Shape {
        name: "exact",
        filter: |device| format!("device/{device}/temperature"),
    },
    Shape {
        name: "plus",
        filter: |device| format!("device/{device}/+"),
    },
    Shape {
        name: "hash",
        filter: |device| format!("device/{device}/#"),
    },
];

impl Shape {
    pub fn filters(self, count: usize) -> impl Iterator<Item = TopicFilter> {
        (0..count).map(move |device| TopicFilter::new(&(self.filter)(device)).unwrap())
    }

    pub fn trie(self, count: usize) -> SubscriptionTrie<u32, Options> {
        let mut trie = SubscriptionTrie::new();
        for (key, filter) in (0..).zip(self.filters(count)) {
            trie.insert(&filter, key, [0, 0]);
        }
        trie
    }

    pub fn map(self, count: usize) -> FilterMap {
        let mut map = FilterMap::new();
        for (number, filter) in self.filters(count).enumerate() {
            map.add(&filter, WorkerId::new((number % 2) as u8).unwrap());
        }
        map
    }
}

/// Topics of `devices` devices in an order without pattern, so that large structures do not answer from the cache.
pub fn topics(devices: usize) -> Vec<TopicName> {
    let device = |number: usize| number.wrapping_mul(0x9E37_79B9_7F4A_7C15) % devices;
    let name = |number| TopicName::new(&format!("device/{}/temperature", device(number))).unwrap();
    (0..devices.clamp(1 << 10, 1 << 17)).map(name).collect()
}
