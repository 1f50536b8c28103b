//! Against the floor server, in every mode, every message is accounted for and the percentiles are in order.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // a test fails by panicking

mod common;

use std::time::Duration;

use tidegate_bench::floor;
use tidegate_bench::load::{Outcome, Pace, run};
use tidegate_codec::{QoS, Version};

fn outcome(change: impl FnOnce(&mut tidegate_bench::load::LoadPlan)) -> Outcome {
    let floor = floor::start("127.0.0.1:0".parse().unwrap(), 2).unwrap();
    let mut plan = common::short(floor.address);
    plan.publish.clients = 5;
    change(&mut plan);
    let mut seen = 0;
    let outcome = run(&plan, None, &mut |_| seen += 1).unwrap();
    assert_eq!(seen, outcome.seconds.len(), "every interval was shown");
    assert_eq!(outcome.connected.ready, 5);
    assert!(outcome.totals.add_up(), "{:?}", outcome.totals);
    let counted: u64 = outcome
        .seconds
        .iter()
        .map(|second| second.counters.acknowledged)
        .sum();
    assert!(counted <= outcome.totals.acknowledged);
    outcome
}

#[test]
fn saturated_at_every_qos_in_both_versions() {
    for version in [Version::V311, Version::V5] {
        for qos in [QoS::AtMostOnce, QoS::AtLeastOnce, QoS::ExactlyOnce] {
            let outcome = outcome(|plan| {
                plan.version = version;
                plan.publish.qos = qos;
                plan.threads = 2;
            });
            let (totals, published) = (outcome.totals, outcome.published.unwrap());
            let acknowledged = if qos == QoS::AtMostOnce { 0 } else { totals.sent };
            assert_eq!(totals.acknowledged, acknowledged, "{version:?} {qos:?}");
            assert!(published.messages > 100 && published.rate > 0.0, "{published:?}");
            assert!(published.seconds >= 0.29, "{published:?}");
            assert!(published.generator_cpu_us > 0.0);
        }
    }
}

#[test]
fn paced_sends_what_the_schedule_calls_for() {
    let outcome = outcome(|plan| {
        plan.publish.pace = Pace::Every(Duration::from_millis(10));
        plan.duration = Duration::from_millis(500);
    });
    // 5 clients, 100 a second each, over half a second, and what fell due before the threads were told to stop.
    let ran = outcome.seconds.last().unwrap().elapsed - outcome.connected.seconds;
    let most = (ran * 500.0) as u64 + 5;
    assert!(
        (250..=most).contains(&outcome.totals.sent),
        "{:?}, at most {most}",
        outcome.totals
    );
    let latency = outcome.published.unwrap().acknowledge_us;
    assert!(latency.count > 100);
    let ordered = [
        0.0,
        latency.p50,
        latency.p90,
        latency.p99,
        latency.p999,
        latency.max,
    ];
    assert!(
        ordered.is_sorted() && latency.p50 > 1.0 && latency.mean <= latency.max,
        "{latency:?}"
    );
}

#[test]
fn connecting_follows_the_ramp_and_the_source_addresses() {
    let outcome = outcome(|plan| {
        plan.connect.per_second = 20;
        plan.connect.sources = vec!["127.0.0.2".parse().unwrap(), "127.0.0.3".parse().unwrap()];
        plan.duration = Duration::ZERO;
    });
    assert!(outcome.published.is_none());
    assert!(
        outcome.connected.seconds >= 0.2,
        "the fifth connects 200 ms after the first"
    );
    assert_eq!(outcome.connected.latency_us.count, 5);
    assert_eq!(
        outcome
            .seconds
            .iter()
            .map(|second| second.counters.ready)
            .sum::<u64>(),
        5
    );
}

#[test]
fn nobody_to_connect_to_is_an_error_that_names_the_address() {
    let plan = {
        let gone = std::net::TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap();
        let mut plan = common::short(gone);
        plan.publish.clients = 3;
        plan
    };
    let text = run(&plan, None, &mut |_| {}).unwrap_err().to_string();
    assert!(
        text.contains("none of 3 clients") && text.contains(&plan.target.to_string()),
        "{text}"
    );
}
