//! SIGKILL in mid-stream, again and again: every acknowledged reading is in the table, and the module still serves.

use std::collections::HashSet;
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use bytes::BytesMut;
use tidegate_codec::{Packet, PacketId, Properties, Publish, QoS, TopicName, Version, encode};

use crate::common::client::Client;
use crate::common::http::{deploy, get};
use crate::common::modules::telemetry;
use crate::common::process::Process;
use crate::common::streams::{TELEMETRY, reading};
use crate::common::{WORKERS, query_file, wait_for};

const ROUNDS: usize = 3;
const STATIONS: [&str; 4] = ["k0", "k1", "k2", "k3"];
const WINDOW: usize = 50;
/// Acknowledgements over all publishers before the plug is pulled.
const ENOUGH: usize = 1_500;

#[test]
fn in_the_middle_of_the_stream() {
    for workers in WORKERS {
        let dir = tempfile::tempdir().unwrap();
        let mut acknowledged: HashSet<(String, usize)> = HashSet::new();
        for round in 0..ROUNDS {
            let mut broker = Process::serve(dir.path(), workers, TELEMETRY);
            if round == 0 {
                deploy(broker.admin, "telemetry", "1.0.0", &telemetry("1.0.0"));
            }
            assert_eq!(
                get(broker.admin, "/readyz").status,
                200,
                "the active module is remembered"
            );
            let count = AtomicUsize::new(0);
            thread::scope(|scope| {
                let publishers = STATIONS.map(|station| {
                    let client = Client::connect(broker.mqtt, Version::V311, station);
                    let count = &count;
                    scope.spawn(move || (station, publish_until_cut(client, station, round, count)))
                });
                wait_for("acknowledgements", || {
                    (count.load(Ordering::Relaxed) > ENOUGH).then_some(())
                });
                broker.kill();
                for publisher in publishers {
                    let (station, numbers) = publisher.join().unwrap();
                    acknowledged.extend(numbers.into_iter().map(|number| (station.to_owned(), number)));
                }
            });
            let rows = query_file(&dir.path().join("data/rows.db"), "SELECT station, time FROM rows");
            let stored: HashSet<_> = rows
                .into_iter()
                .map(|row| (row[0].clone(), row[1].parse().unwrap()))
                .collect();
            let lost: Vec<_> = acknowledged.difference(&stored).collect();
            assert!(
                lost.is_empty(),
                "round {round}: {} of {} lost: {lost:?}",
                lost.len(),
                acknowledged.len()
            );
        }
        assert!(acknowledged.len() > ROUNDS * ENOUGH);
    }
}

/// Publishes windows of numbered readings until the connection is cut. Returns the numbers that were acknowledged.
fn publish_until_cut(mut client: Client, station: &str, round: usize, count: &AtomicUsize) -> Vec<usize> {
    let mut acknowledged = Vec::new();
    for first in (round * 1_000_000..).step_by(WINDOW) {
        let mut output = BytesMut::new();
        for number in first..first + WINDOW {
            let publish = Publish {
                topic: Some(TopicName::new(&format!("stations/{station}/telemetry")).unwrap()),
                payload: reading(station, number, 20.0).into(),
                properties: Properties::empty(),
                qos: QoS::AtLeastOnce,
                packet_id: PacketId::new(u16::try_from(number - first + 1).unwrap()),
                retain: false,
                dup: false,
            };
            encode(&Packet::Publish(publish), Version::V311, &mut output).unwrap();
        }
        if client.socket.write_all(&output).is_err() {
            return acknowledged;
        }
        for number in first..first + WINDOW {
            let Some(packet) = client.try_receive() else {
                return acknowledged;
            };
            let Packet::PubAck(ack) = packet else {
                panic!("expected a PUBACK, got {packet:?}")
            };
            assert_eq!(usize::from(ack.packet_id.get()), number - first + 1);
            acknowledged.push(number);
            count.fetch_add(1, Ordering::Relaxed);
        }
    }
    acknowledged
}
