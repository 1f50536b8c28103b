//! Activating another version while publishers of every QoS are at work loses, doubles and reorders nothing.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use tidegate_codec::{QoS, Version};

use crate::common::client::Client;
use crate::common::http::post;
use crate::common::modules::telemetry;
use crate::common::streams::{TELEMETRY, reading};
use crate::common::{Broker, WORKERS, wait_for};

/// QoS 1 and 2 by turns, both versions; ids that are at home on different workers.
const STATIONS: [(&str, Version, QoS); 5] = [
    ("s0", Version::V311, QoS::AtLeastOnce),
    ("s1", Version::V5, QoS::ExactlyOnce),
    ("s2", Version::V5, QoS::AtLeastOnce),
    ("s3", Version::V311, QoS::ExactlyOnce),
    ("s4", Version::V5, QoS::AtMostOnce),
];

/// Messages sent before the next look at the acknowledgements.
const WINDOW: usize = 25;

#[test]
fn forward_and_back() {
    for workers in WORKERS {
        let broker = Broker::start(workers, TELEMETRY);
        broker.deploy("telemetry", "1.0.0", &telemetry("1.0.0"));
        let done = AtomicBool::new(false);
        let sent = thread::scope(|scope| {
            let publishers: Vec<_> = STATIONS
                .map(|station| {
                    let (broker, done) = (&broker, &done);
                    scope.spawn(move || publish_until(broker, station, done))
                })
                .into_iter()
                .collect();
            let rows_of = |version: &'static str| {
                wait_for("rows of the version", || {
                    let query = format!("SELECT count(*) FROM rows WHERE module_version = '{version}'");
                    broker.query("rows.db", &query)[0][0]
                        .parse::<usize>()
                        .ok()
                        .filter(|count| *count >= 200)
                })
            };
            rows_of("1.0.0");
            broker.deploy("telemetry", "1.1.0", &telemetry("1.1.0"));
            rows_of("1.1.0");
            let answer = post(broker.admin, "/api/v1/modules/telemetry/rollback", "{}");
            assert_eq!(
                (answer.status, answer.json()["version"].as_str()),
                (200, Some("1.0.0"))
            );
            done.store(true, Ordering::Relaxed);
            publishers
                .into_iter()
                .map(|publisher| publisher.join().unwrap())
                .collect::<Vec<_>>()
        });
        for ((station, ..), sent) in STATIONS.into_iter().zip(sent) {
            let query =
                format!("SELECT time, module_version FROM rows WHERE station = '{station}' ORDER BY rowid");
            let rows = broker.query("rows.db", &query);
            let numbers: Vec<String> = rows.iter().map(|row| row[0].clone()).collect();
            let expected: Vec<String> = (0..sent).map(|number| number.to_string()).collect();
            assert_eq!(numbers, expected, "{station}");
            // A publisher's messages meet each version in one piece.
            let mut versions: Vec<&str> = rows.iter().map(|row| row[1].as_str()).collect();
            versions.dedup();
            assert_eq!(versions, ["1.0.0", "1.1.0", "1.0.0"], "{station}");
        }
    }
}

/// Publishes numbered readings until `done`, and one window more. Returns how many.
fn publish_until(broker: &Broker, (station, version, qos): (&str, Version, QoS), done: &AtomicBool) -> usize {
    let mut client = Client::connect(broker.mqtt, version, station);
    let topic = format!("stations/{station}/telemetry");
    let mut sent = 0;
    loop {
        let is_last = done.load(Ordering::Relaxed);
        client.publish_all(
            &topic,
            qos,
            (sent..sent + WINDOW).map(|number| reading(station, number, 20.0)),
        );
        sent += WINDOW;
        if qos == QoS::AtMostOnce {
            // Nobody acknowledges QoS 0: its rows are waited for, so that one publisher does not outrun the others.
            let query = format!("SELECT count(*) FROM rows WHERE station = '{station}'");
            wait_for("rows of QoS 0", || {
                (broker.query("rows.db", &query)[0][0] == sent.to_string()).then_some(())
            });
        }
        if is_last {
            return sent;
        }
    }
}
