//! Topics and filters for all tests: short texts over few levels, so that matches and overlaps are frequent.
#![allow(dead_code, clippy::unwrap_used)] // each test file takes what it needs; all texts are valid

use proptest::prelude::{Just, Strategy, prop_oneof};
use proptest::sample::select;
use tidegate_codec::{TopicFilter, TopicName};

/// Levels with what is easily got wrong: empty, '$', bytes below and above '/', more than one byte a character.
const LEVELS: [&str; 8] = ["", "a", "b", "a-", "a\u{1}", "$SYS", "é", "0"];

pub fn topic(text: &str) -> TopicName {
    TopicName::new(text).unwrap()
}

pub fn filter(text: &str) -> TopicFilter {
    TopicFilter::new(text).unwrap()
}

pub fn topics() -> impl Strategy<Value = TopicName> {
    let levels = proptest::collection::vec(select(&LEVELS[..]), 1..5);
    levels.prop_filter_map("empty topic", |levels| TopicName::new(&levels.join("/")).ok())
}

pub fn filters() -> impl Strategy<Value = TopicFilter> {
    let level = prop_oneof![3 => select(&LEVELS[..]), 2 => Just("+")];
    let levels = proptest::collection::vec(level, 0..5);
    let share = prop_oneof![6 => Just(""), 1 => Just("$share/g/")];
    (share, levels, proptest::bool::weighted(0.3)).prop_filter_map(
        "empty filter",
        |(share, mut levels, hash)| {
            if hash {
                levels.push("#");
            }
            TopicFilter::new(&format!("{share}{}", levels.join("/"))).ok()
        },
    )
}
