//! A rule's messages are stored, dropped, alarmed about or kept as dead letters, all are acknowledged, and the counts
//! add up.

use tidegate_codec::{QoS, Version};

use crate::common::client::Client;
use crate::common::modules::telemetry;
use crate::common::streams::{TELEMETRY, reading};
use crate::common::{Broker, WORKERS};

#[test]
fn what_goes_in_comes_out_somewhere() {
    for workers in WORKERS {
        let broker = Broker::start(workers, TELEMETRY);
        broker.deploy("telemetry", "1.0.0", &telemetry("1.0.0"));
        let mut alarms = Client::connect(broker.mqtt, Version::V5, "alarms");
        alarms.subscribe("alarms/#", QoS::AtLeastOnce);
        for publisher in ["p0", "p1", "p2", "p3"] {
            let mut client = Client::connect(broker.mqtt, Version::V311, publisher);
            let mut payloads: Vec<String> = (0..5).map(|number| reading(publisher, number, 20.0)).collect();
            payloads.insert(1, reading(publisher, 5, 999.0));
            payloads.insert(3, reading(publisher, 6, 50.0));
            payloads.insert(4, "{\"station\":".to_owned());
            client.publish_all(
                &format!("stations/{publisher}/telemetry"),
                QoS::AtLeastOnce,
                payloads,
            );
            let alarm = alarms.message();
            assert_eq!(alarm.topic.unwrap().as_str(), format!("alarms/{publisher}"));
            let alarm: serde_json::Value = serde_json::from_slice(&alarm.payload).unwrap();
            assert_eq!(
                (&alarm["alarm"], &alarm["celsius"]),
                (&"hot".into(), &50.0.into())
            );
        }
        alarms.ping();

        assert_eq!(
            broker.query("rows.db", "SELECT count(*), count(DISTINCT id) FROM rows"),
            [["24", "24"]]
        );
        assert_eq!(
            broker.query("rows.db", "SELECT count(*) FROM rows WHERE celsius = 999"),
            [["0"]]
        );
        let letters = broker.query(
            "dead-letters.sqlite",
            "SELECT sink, topic, client_id, qos, CAST(payload AS TEXT), reason FROM dead_letters ORDER BY client_id",
        );
        assert_eq!(letters.len(), 4);
        for (letter, publisher) in letters.iter().zip(["p0", "p1", "p2", "p3"]) {
            let topic = format!("stations/{publisher}/telemetry");
            assert_eq!(
                letter[..5],
                ["telemetry", &topic, publisher, "1", "{\"station\":"]
            );
            assert!(
                letter[5].to_lowercase().contains("json") || letter[5].contains("EOF"),
                "{}",
                letter[5]
            );
        }
        rules_add_up(&broker);
        sinks_add_up(&broker);
    }
}

fn rules_add_up(broker: &Broker) {
    let count = |outcome| {
        broker.metric(&format!(
            "tidegate_rule_messages_total{{rule=\"telemetry\",outcome=\"{outcome}\"}}"
        ))
    };
    let parts = ["passed", "dropped", "rejected", "dead_lettered", "failed"].map(count);
    assert_eq!(parts, [24, 4, 0, 4, 0]);
    assert_eq!(count("matched"), parts.iter().sum::<u64>());
    let effect = |kind| {
        broker.metric(&format!(
            "tidegate_rule_effects_total{{rule=\"telemetry\",effect=\"{kind}\"}}"
        ))
    };
    assert_eq!((effect("publish"), effect("emit")), (4, 24));
}

fn sinks_add_up(broker: &Broker) {
    for (sink, expected) in [("rows", 24), ("dead-letters", 4)] {
        let count = |outcome| {
            broker.metric(&format!(
                "tidegate_sink_records_total{{sink=\"{sink}\",outcome=\"{outcome}\"}}"
            ))
        };
        let parts = ["delivered", "dead_lettered", "refused", "dropped", "expired"].map(count);
        let pending = broker.metric(&format!("tidegate_sink_pending{{sink=\"{sink}\"}}"));
        assert_eq!(
            (count("accepted"), count("delivered")),
            (expected, expected),
            "{sink}"
        );
        assert_eq!(count("accepted"), parts.iter().sum::<u64>() + pending, "{sink}");
    }
}
