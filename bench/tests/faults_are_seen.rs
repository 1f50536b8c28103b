//! A broker that loses, repeats, reorders or does not acknowledge is found out, by the exact numbers.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // a test fails by panicking

mod common;
mod faulty_broker;

use std::time::Duration;

use faulty_broker::{Faults, faulty_broker};
use tidegate_bench::load::{Pace, Totals, run};

/// 2 publishers, 100 messages each, all to one subscriber.
fn totals(faults: Faults) -> Totals {
    let mut plan = common::short(faulty_broker(faults));
    plan.publish.clients = 2;
    plan.publish.pace = Pace::Every(Duration::from_millis(2));
    plan.publish.window = 200;
    plan.subscribe.clients = 1;
    plan.subscribe.filter = "bench/#".parse().unwrap();
    plan.duration = Duration::from_millis(200);
    run(&plan, None, &mut |_| {}).unwrap().totals
}

fn per(sent: u64, every: u64) -> std::ops::RangeInclusive<u64> {
    // Each of the two publishers counts for itself.
    (sent / every).saturating_sub(2)..=sent / every + 2
}

#[test]
fn a_sound_broker_adds_up_end_to_end() {
    let totals = totals(Faults::default());
    assert!(totals.add_up(), "{totals:?}");
    assert_eq!((totals.delivered, totals.expected), (totals.sent, totals.sent));
    assert_eq!(totals.lost, Some(0));
}

#[test]
fn lost_messages_are_counted() {
    let totals = totals(Faults {
        lose: Some(10),
        ..Faults::default()
    });
    assert_eq!(totals.lost, Some(totals.sent - totals.delivered));
    assert!(per(totals.sent, 10).contains(&totals.lost.unwrap()), "{totals:?}");
    assert_eq!((totals.duplicated, totals.reordered), (0, 0));
    assert_eq!(totals.acknowledged, totals.sent);
    assert!(!totals.add_up());
}

#[test]
fn duplicated_messages_are_counted() {
    let totals = totals(Faults {
        duplicate: Some(10),
        ..Faults::default()
    });
    assert_eq!(totals.duplicated, totals.delivered - totals.sent);
    assert!(per(totals.sent, 10).contains(&totals.duplicated), "{totals:?}");
    assert_eq!((totals.lost, totals.reordered), (Some(0), 0));
    assert!(!totals.add_up());
}

#[test]
fn reordered_messages_are_counted_and_are_not_lost() {
    let totals = totals(Faults {
        delay: Some(7),
        ..Faults::default()
    });
    assert!(per(totals.sent, 7).contains(&totals.reordered), "{totals:?}");
    // The very last message may be held back for ever.
    assert!(totals.lost.unwrap() <= 2, "{totals:?}");
    assert_eq!(totals.duplicated, 0);
}

#[test]
fn missing_acknowledgements_are_counted() {
    let totals = totals(Faults {
        withhold: Some(10),
        ..Faults::default()
    });
    assert!(
        per(totals.sent, 10).contains(&totals.unacknowledged),
        "{totals:?}"
    );
    assert_eq!(totals.acknowledged + totals.unacknowledged, totals.sent);
    assert_eq!(totals.lost, Some(0));
}
