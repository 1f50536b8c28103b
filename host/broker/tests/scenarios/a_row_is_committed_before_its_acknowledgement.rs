//! With gate `durable` a publisher that reads its acknowledgement finds its row in the database.

use tidegate_codec::{Ack, Packet, QoS, Version};

use crate::common::client::Client;
use crate::common::modules::telemetry;
use crate::common::streams::{TELEMETRY, reading};
use crate::common::{Broker, WORKERS, query_file};

#[test]
fn at_the_moment_of_puback_and_of_pubrec() {
    for workers in WORKERS {
        let broker = Broker::start(workers, TELEMETRY);
        broker.deploy("telemetry", "1.0.0", &telemetry("1.0.0"));
        let file = broker.file("rows.db");
        let stored = |station: &str, number: usize| {
            let query =
                format!("SELECT count(*) FROM rows WHERE station = '{station}' AND time = '{number}'");
            query_file(&file, &query) == [["1"]]
        };
        for (station, version) in [
            ("old", Version::V311),
            ("new", Version::V5),
            ("third", Version::V5),
        ] {
            let mut client = Client::connect(broker.mqtt, version, station);
            let topic = format!("stations/{station}/telemetry");
            for number in 0..20 {
                assert!(!stored(station, number));
                let qos = if number % 2 == 0 {
                    QoS::AtLeastOnce
                } else {
                    QoS::ExactlyOnce
                };
                let ack = Ack::success(
                    client
                        .publish(&topic, qos, reading(station, number, 20.0))
                        .unwrap(),
                );
                match client.receive() {
                    Packet::PubAck(received) => assert_eq!((qos, received), (QoS::AtLeastOnce, ack)),
                    Packet::PubRec(received) => {
                        assert_eq!((qos, &received), (QoS::ExactlyOnce, &ack));
                        client.send(&Packet::PubRel(received));
                        assert_eq!(client.receive(), Packet::PubComp(ack));
                    }
                    other => panic!("expected an acknowledgement, got {other:?}"),
                }
                assert!(
                    stored(station, number),
                    "acknowledged without a row: {station} {number}"
                );
            }
        }
        assert_eq!(
            broker.query("rows.db", "SELECT count(*), count(DISTINCT id) FROM rows"),
            [["60", "60"]]
        );
    }
}
