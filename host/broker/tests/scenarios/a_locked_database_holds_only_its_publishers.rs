//! While a sink cannot store, its publishers are held back within bounds and everyone else is served; afterwards
//! everything is stored and acknowledged in order.

use std::thread;

use rusqlite::Connection;
use tidegate_codec::{Ack, Packet, PacketId, QoS, Version};

use crate::common::client::Client;
use crate::common::http::get;
use crate::common::streams::RAW;
use crate::common::{Broker, WORKERS, wait_for};

/// What an earlier message made the file.
fn locked(broker: &Broker) -> Connection {
    Client::connect(broker.mqtt, Version::V5, "first").publish_acked("raw/first", QoS::AtLeastOnce, "0");
    let connection = Connection::open(broker.file("raw.db")).unwrap();
    connection.execute_batch("BEGIN EXCLUSIVE").unwrap();
    connection
}

#[test]
fn nothing_is_acknowledged_before_it_is_stored() {
    for workers in WORKERS {
        let broker = Broker::start(workers, &RAW.replacen("type", "queue_records = 4\ntype", 1));
        let lock = locked(&broker);
        let mut held =
            [("h0", Version::V311), ("h1", Version::V5), ("h2", Version::V311)].map(|(id, version)| {
                let mut client = Client::connect(broker.mqtt, version, id);
                let publish = |number: u32| {
                    let qos = if number.is_multiple_of(5) {
                        QoS::AtMostOnce
                    } else {
                        QoS::AtLeastOnce
                    };
                    client.publish(&format!("raw/{id}"), qos, number.to_string())
                };
                let ids: Vec<_> = (0..50).filter_map(publish).collect();
                (id, client, ids)
            });
        wait_for("messages on hold", || {
            (broker.metric("tidegate_unsettled_messages{state=\"held\"}") > 0).then_some(())
        });
        wait_for("the sink to say what is wrong", || {
            get(broker.admin, "/api/v1/sinks")
                .body
                .contains("locked by another connection")
                .then_some(())
        });
        for (_, client, _) in &mut held {
            client.ping();
        }
        let mut subscriber = Client::connect(broker.mqtt, Version::V5, "subscriber");
        subscriber.subscribe("#", QoS::ExactlyOnce);
        for id in ["o0", "o1", "o2", "o3"] {
            Client::connect(broker.mqtt, Version::V311, id).publish_acked("other", QoS::ExactlyOnce, id);
            assert_eq!(subscriber.message().payload, id);
        }

        lock.execute_batch("COMMIT").unwrap();
        for (id, client, ids) in &mut held {
            for packet_id in ids {
                assert_eq!(client.receive(), Packet::PubAck(Ack::success(*packet_id)));
            }
            let rows = broker.query(
                "raw.db",
                &format!("SELECT CAST(payload AS TEXT) FROM raw WHERE client_id = '{id}' ORDER BY rowid"),
            );
            let expected: Vec<_> = (0..50).map(|number| vec![number.to_string()]).collect();
            assert_eq!(rows, expected, "{id}");
        }
    }
}

#[test]
fn a_flood_is_left_in_the_sockets() {
    const FLOOD: usize = 20_000;
    for workers in WORKERS {
        let mqtt = "[mqtt]\npark_max = \"16KiB\"\n";
        let broker = Broker::start(
            workers,
            &format!("{mqtt}{}", RAW.replacen("type", "queue_records = 4\ntype", 1)),
        );
        let lock = locked(&broker);
        let mut client = Client::connect(broker.mqtt, Version::V311, "flood");
        let mut writer = client.clone_writer();
        let payload = vec![b'x'; 1_000];
        thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..FLOOD {
                    writer.publish("raw/flood", QoS::AtLeastOnce, payload.clone());
                }
            });
            wait_for("messages on hold", || {
                (broker.metric("tidegate_unsettled_messages{state=\"held\"}") > 8).then_some(())
            });
            // Each round trip is a tick in which the flooded socket could have been read.
            let others = ["a", "b", "c", "d"].map(|id| Client::connect(broker.mqtt, Version::V5, id));
            for mut other in others {
                (0..25).for_each(|_| other.ping());
            }
            let received = broker.metric("tidegate_publish_packets_total{direction=\"in\",qos=\"1\"}");
            assert!(
                received < 300,
                "{received} messages taken in for a park of 16 KiB and reads of 64 KiB"
            );
            lock.execute_batch("COMMIT").unwrap();
            for number in 0..FLOOD {
                let id = u16::try_from(number % 65_535 + 1).unwrap();
                assert_eq!(
                    client.receive(),
                    Packet::PubAck(Ack::success(PacketId::new(id).unwrap()))
                );
            }
        });
        assert_eq!(
            broker.query("raw.db", "SELECT count(*) FROM raw WHERE client_id = 'flood'"),
            [[FLOOD.to_string()]]
        );
    }
}
