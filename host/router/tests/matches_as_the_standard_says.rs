//! The cases of section 4.7, for each structure that matches topics.

mod common;

use std::time::UNIX_EPOCH;

use common::{filter, topic};
use tidegate_codec::{Message, Properties, QoS};
use tidegate_router::{
    FilterMap, Replay, Retained, RetainedCursor, RetainedLimits, RetainedStore, SubscriptionTrie, WorkerId,
};

/// Filter, topics it matches, topics it does not.
const CASES: &[(&str, &[&str], &[&str])] = &[
    // 4.7.1.2, multi-level wildcard
    (
        "sport/tennis/player1/#",
        &[
            "sport/tennis/player1",
            "sport/tennis/player1/ranking",
            "sport/tennis/player1/score/wimbledon",
        ],
        &[
            "sport/tennis/player10",
            "sport/tennis",
            "sport/tennis/player2/ranking",
        ],
    ),
    (
        "sport/#",
        &["sport", "sport/", "sport/a/b/c"],
        &["sports", "/sport", "sport-x"],
    ),
    (
        "#",
        &["sport", "/", "a//b", "finance/"],
        &["$SYS", "$SYS/monitor/Clients", "$"],
    ),
    // 4.7.1.3, single-level wildcard
    (
        "sport/tennis/+",
        &["sport/tennis/player1", "sport/tennis/player2", "sport/tennis/"],
        &["sport/tennis/player1/ranking", "sport/tennis"],
    ),
    (
        "sport/+",
        &["sport/", "sport/x"],
        &["sport", "sport/x/", "sport//"],
    ),
    ("+", &["sport", "é"], &["/finance", "sport/", "$SYS"]),
    ("+/+", &["/finance", "a/", "/"], &["finance", "a/b/c", "$SYS/b"]),
    ("/+", &["/finance", "/"], &["finance", "//", "/a/b"]),
    (
        "+/tennis/#",
        &["sport/tennis", "/tennis/a/b"],
        &["sport/tennis2", "tennis", "$share/tennis"],
    ),
    (
        "sport/+/player1",
        &["sport/tennis/player1", "sport//player1"],
        &["sport/player1", "sport/a/b/player1"],
    ),
    ("+/#", &["sport", "sport/a", "/", "/a/b"], &["$SYS", "$SYS/a"]),
    ("+/+/#", &["a/b", "a/b/c/d", "/"], &["a", "$a/b"]),
    // 4.7.2, topics that begin with '$' [MQTT-4.7.2-1]
    (
        "$SYS/#",
        &["$SYS", "$SYS/monitor/Clients", "$SYS/"],
        &["SYS", "$SYSX/a"],
    ),
    (
        "$SYS/monitor/+",
        &["$SYS/monitor/Clients", "$SYS/monitor/"],
        &["$SYS/monitor"],
    ),
    (
        "+/monitor/Clients",
        &["SYS/monitor/Clients"],
        &["$SYS/monitor/Clients"],
    ),
    ("a/+", &["a/$b"], &["$a/b"]),
    ("a/#", &["a/$SYS/c"], &["$SYS/a"]),
    // 4.7.3: case, spaces and a leading or trailing '/' all distinguish
    ("ACCOUNTS", &["ACCOUNTS"], &["Accounts", "ACCOUNTS/", "/ACCOUNTS"]),
    (
        "Accounts payable",
        &["Accounts payable"],
        &["Accounts  payable", "Accounts"],
    ),
    ("/", &["/"], &["//", "a/", "/a"]),
    ("a//b", &["a//b"], &["a/b", "a///b"]),
    ("a/", &["a/"], &["a", "a//"]),
    // 4.8.2: the FILTER part of a shared subscription
    (
        "$share/consumers/a/+",
        &["a/b"],
        &["a", "$share/consumers/a/b", "consumers/a/b"],
    ),
    ("$share/consumers/#", &["a"], &["$SYS/a"]),
];

fn each_case(mut check: impl FnMut(&str, &str, bool)) {
    for (filter, yes, no) in CASES {
        yes.iter().for_each(|topic| check(filter, topic, true));
        no.iter().for_each(|topic| check(filter, topic, false));
    }
}

#[test]
fn subscription_trie() {
    each_case(|filter_text, topic_text, expected| {
        let mut trie = SubscriptionTrie::new();
        trie.insert(&filter(filter_text), 1_u32, "value");
        let mut visits = Vec::new();
        trie.matches(&topic(topic_text), &mut |key, value| visits.push((key, *value)));
        let wanted = if expected { vec![(1, "value")] } else { vec![] };
        assert_eq!(visits, wanted, "filter {filter_text:?}, topic {topic_text:?}");
    });
}

#[test]
fn filter_map() {
    let worker = WorkerId::new(3).unwrap();
    each_case(|filter_text, topic_text, expected| {
        let map = FilterMap::new().with(&filter(filter_text), worker);
        let found = map.workers(&topic(topic_text));
        assert_eq!(
            found.contains(worker),
            expected,
            "filter {filter_text:?}, topic {topic_text:?}"
        );
        assert_eq!(found.is_empty(), !expected);
    });
}

#[test]
fn retained_cursor() {
    each_case(|filter_text, topic_text, expected| {
        let mut store = RetainedStore::new(RetainedLimits {
            messages_max: 1,
            bytes_max: 1000,
        });
        store.set(Retained {
            message: Message {
                topic: topic(topic_text),
                payload: "x".into(),
                properties: Properties::empty(),
                qos: QoS::AtMostOnce,
                retain: true,
            },
            sequence: 1,
            expires_at: None,
        });
        let mut cursor = RetainedCursor::new(&filter(filter_text));
        let found = cursor.advance(&store, UNIX_EPOCH, &mut 100);
        assert_eq!(
            matches!(found, Replay::Found(_)),
            expected,
            "filter {filter_text:?}, topic {topic_text:?}"
        );
        assert_ne!(found, Replay::OutOfSteps);
    });
}

#[test]
fn the_cases_agree_with_the_codec() {
    each_case(|filter_text, topic_text, expected| {
        let agrees = filter(filter_text).matches(&topic(topic_text)) == expected;
        assert!(agrees, "filter {filter_text:?}, topic {topic_text:?}");
    });
}
