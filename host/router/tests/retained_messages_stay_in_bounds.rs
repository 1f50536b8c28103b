//! Replacing, clearing, expiry and the limits of the store of retained messages.

mod common;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use common::topic;
use tidegate_codec::{Message, Properties, QoS};
use tidegate_router::{Retained, RetainedLimits, RetainedStore, SetOutcome};

const AMPLE: RetainedLimits = RetainedLimits {
    messages_max: 1_000,
    bytes_max: 1 << 20,
};

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

fn record(name: &str, payload: &'static str, sequence: u64) -> Retained {
    Retained {
        message: Message {
            topic: topic(name),
            payload: payload.into(),
            properties: Properties::empty(),
            qos: QoS::AtLeastOnce,
            retain: true,
        },
        sequence,
        expires_at: None,
    }
}

fn expiring(name: &str, seconds: u64, sequence: u64) -> Retained {
    Retained {
        expires_at: Some(at(seconds)),
        ..record(name, "x", sequence)
    }
}

#[test]
fn the_last_message_of_a_topic_stays() {
    let mut store = RetainedStore::new(AMPLE);
    assert_eq!(store.set(record("a", "one", 1)), SetOutcome::Stored);
    // [MQTT-3.3.1-5]
    assert_eq!(
        store.set(record("a", "two", 2)),
        SetOutcome::Replaced(Box::new(record("a", "one", 1)))
    );
    assert_eq!(store.set(record("a", "late", 1)), SetOutcome::Stale);
    assert_eq!(store.set(record("a", "again", 2)), SetOutcome::Stale);
    assert_eq!(store.get(&topic("a"), at(0)), Some(&record("a", "two", 2)));
    assert_eq!((store.len(), store.get(&topic("b"), at(0))), (1, None));
}

#[test]
fn an_empty_payload_clears_and_is_not_stored() {
    let mut store = RetainedStore::new(AMPLE);
    // [MQTT-3.3.1-6], [MQTT-3.3.1-7]
    assert_eq!(store.set(record("a", "", 1)), SetOutcome::Cleared(None));
    store.set(record("a", "one", 2));
    assert_eq!(
        store.set(record("a", "", 2)),
        SetOutcome::Cleared(None),
        "as old as the message itself"
    );
    assert_eq!(
        store.set(record("a", "", 3)),
        SetOutcome::Cleared(Some(Box::new(record("a", "one", 2))))
    );
    assert!(store.is_empty() && store.bytes() == 0);
    assert_eq!(store.clear(&topic("a"), u64::MAX), None);
}

#[test]
fn a_full_store_refuses_and_stays_as_it_is() {
    let mut by_count = RetainedStore::new(RetainedLimits {
        messages_max: 1,
        ..AMPLE
    });
    by_count.set(record("a", "one", 1));
    assert_eq!(
        by_count.set(record("b", "two", 2)),
        SetOutcome::Full(Box::new(record("b", "two", 2)))
    );
    assert!(
        matches!(by_count.set(record("a", "two", 2)), SetOutcome::Replaced(_)),
        "no more messages than before"
    );

    let mut by_bytes = RetainedStore::new(RetainedLimits {
        bytes_max: 600,
        ..AMPLE
    });
    by_bytes.set(record("a", "one", 1));
    by_bytes.set(record("b", "two", 2));
    let used = by_bytes.bytes();
    let large = "0123456789".repeat(10);
    let large = Retained {
        message: Message {
            payload: large.into(),
            ..record("a", "", 3).message
        },
        ..record("a", "", 3)
    };
    assert_eq!(by_bytes.set(large.clone()), SetOutcome::Full(Box::new(large)));
    assert_eq!(by_bytes.get(&topic("a"), at(0)), Some(&record("a", "one", 1)));
    assert_eq!(by_bytes.bytes(), used);
    assert!(by_bytes.clear(&topic("b"), 3).is_some());
    assert!(by_bytes.bytes() < used);
}

#[test]
fn expired_messages_are_not_given_out_and_make_room_in_steps() {
    let mut store = RetainedStore::new(AMPLE);
    for number in 0..10 {
        store.set(expiring(&format!("t/{number}"), 10 + number, number + 1));
    }
    store.set(record("t/0", "for ever", 20)); // its expiry goes with the message it replaces
    store.set(expiring("t/1", 1_000, 21));
    assert_eq!(store.next_expiry(), Some(at(12)));
    // [MQTT-3.3.2-5]: from the very second on
    assert!(store.get(&topic("t/5"), at(14)).is_some());
    assert!(store.get(&topic("t/5"), at(15)).is_none());
    assert_eq!(store.len(), 10);
    assert_eq!(store.expire(at(15), 3), 3);
    assert_eq!(store.expire(at(15), 3), 1);
    assert_eq!(store.expire(at(15), 3), 0);
    assert_eq!(store.len(), 6);
    assert!(store.get(&topic("t/0"), at(2_000)).is_some());
}
