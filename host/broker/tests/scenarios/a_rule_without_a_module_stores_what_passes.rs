//! `emit` needs no guest code: it stores every message that passes, as the rules before it left it, and routes it on.

use tidegate_codec::{QoS, Version};

use crate::common::client::Client;
use crate::common::modules::telemetry;
use crate::common::streams::{RAW, TELEMETRY, reading};
use crate::common::{Broker, WORKERS};

#[test]
fn topic_qos_client_and_payload_stand_in_the_row() {
    for workers in WORKERS {
        let broker = Broker::start(workers, RAW);
        let mut subscriber = Client::connect(broker.mqtt, Version::V5, "subscriber");
        subscriber.subscribe("raw/#", QoS::AtMostOnce);
        for (number, qos) in [QoS::AtLeastOnce, QoS::ExactlyOnce, QoS::AtLeastOnce]
            .into_iter()
            .enumerate()
        {
            let mut client = Client::connect(broker.mqtt, Version::V311, &format!("c{number}"));
            client.publish_acked("raw/x", qos, vec![0, 255, number as u8]);
            let query =
                format!("SELECT topic, qos, client_id, hex(payload) FROM raw WHERE client_id = 'c{number}'");
            let row = [
                "raw/x",
                &(qos as u8).to_string(),
                &format!("c{number}"),
                &format!("00FF0{number}"),
            ];
            assert_eq!(broker.query("raw.db", &query), [row]);
            assert_eq!(*subscriber.message().payload, [0, 255, number as u8]);
        }
        assert_eq!(
            broker.metric("tidegate_rule_messages_total{rule=\"keep\",outcome=\"passed\"}"),
            3
        );
        assert_eq!(broker.metric("tidegate_rule_calls_total{rule=\"keep\"}"), 0);
    }
}

#[test]
fn behind_a_module_it_stores_what_the_module_made() {
    for workers in WORKERS {
        let config = format!("{TELEMETRY}emit = [\"copy\"]\n{COPY}");
        let broker = Broker::start(workers, &config);
        broker.deploy("telemetry", "1.0.0", &telemetry("1.0.0"));
        let mut client = Client::connect(broker.mqtt, Version::V5, "station");
        let payloads = [
            reading("a", 0, 20.0),
            reading("a", 1, 999.0),
            "no reading".to_owned(),
            reading("a", 2, -1.5),
        ];
        client.publish_all("stations/a/telemetry", QoS::AtLeastOnce, payloads);
        let rows = broker.query(
            "copy.db",
            "SELECT json_extract(payload, '$.celsius'), topic FROM copy ORDER BY rowid",
        );
        assert_eq!(
            rows,
            [["20", "stations/a/telemetry"], ["-1.5", "stations/a/telemetry"]]
        );
    }
}

const COPY: &str = r#"
[sinks.copy]
type = "sqlite"
path = "copy.db"
create = "CREATE TABLE IF NOT EXISTS copy (topic TEXT, payload TEXT)"
statement = "INSERT INTO copy VALUES (:topic, CAST(:payload AS TEXT))"
"#;
