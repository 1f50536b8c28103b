//! `$SYS`: the broker's own topics, readable by clients and writable by none.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::common::client::Client;
use crate::common::{Broker, http, wait_for};
use tidegate_codec::{Ack, Packet, QoS, ReasonCode, Version};

#[test]
fn tells_of_the_broker_at_once_and_again() {
    for workers in [1, 3] {
        let broker = Broker::start(workers, "[mqtt]\nsys_interval = \"1s\"\n");
        let mut client = Client::connect(broker.mqtt, Version::V5, "s");
        client.subscribe("$SYS/#", QoS::AtMostOnce);
        let mut values: BTreeMap<String, String> = BTreeMap::new();
        wait_for("all topics, and a count of this client", || {
            let publish = client.message();
            let value = String::from_utf8(publish.payload.to_vec()).unwrap();
            values.insert(publish.topic.unwrap().as_str().to_owned(), value);
            let connected = values.get("$SYS/broker/clients/connected");
            (values.len() == 5 && connected.is_some_and(|count| count == "1")).then_some(())
        });
        let version = format!("tidegate {}", env!("CARGO_PKG_VERSION"));
        assert_eq!(values["$SYS/broker/version"], version);
        let sent =
            |values: &BTreeMap<String, String>| values["$SYS/broker/messages/sent"].parse::<u64>().unwrap();
        wait_for("messages sent", || {
            let publish = client.message();
            let value = String::from_utf8(publish.payload.to_vec()).unwrap();
            values.insert(publish.topic.unwrap().as_str().to_owned(), value);
            (sent(&values) >= 5).then_some(())
        });
        // Who comes later finds the last values.
        let mut later = Client::connect(broker.mqtt, Version::V311, "later");
        later.subscribe("$SYS/broker/version", QoS::AtMostOnce);
        let publish = later.message();
        assert_eq!((&*publish.payload, publish.retain), (version.as_bytes(), true));
    }
}

/// [MQTT-4.7.2-1]
#[test]
fn wildcards_do_not_match_and_clients_cannot_publish() {
    let broker = Broker::start(2, "");
    let mut watcher = Client::connect(broker.mqtt, Version::V5, "s");
    watcher.subscribe("#", QoS::AtMostOnce);
    watcher.subscribe("$SYS/mine", QoS::AtMostOnce);
    let mut publisher = Client::connect(broker.mqtt, Version::V5, "p");
    let packet_id = publisher.publish("$SYS/mine", QoS::AtLeastOnce, "x").unwrap();
    let refused = Ack::with_reason(packet_id, ReasonCode::NotAuthorized);
    assert_eq!(publisher.receive(), Packet::PubAck(refused));
    let packet_id = publisher.publish("$SYS/mine", QoS::ExactlyOnce, "x").unwrap();
    let refused = Ack::with_reason(packet_id, ReasonCode::NotAuthorized);
    assert_eq!(publisher.receive(), Packet::PubRec(refused));
    publisher.publish("$SYS/mine", QoS::AtMostOnce, "x");
    publisher.ping();
    // 3.1.1 cannot be told: acknowledged, lost, counted.
    Client::connect(broker.mqtt, Version::V311, "q").publish_acked("$SYS/mine", QoS::AtLeastOnce, "x");
    assert_eq!(http::metric(broker.admin, "tidegate_refused_publishes_total"), 4);
    assert!(watcher.is_silent_for(Duration::from_millis(150)));
}

#[test]
fn off_means_nothing_is_there() {
    let broker = Broker::start(2, "[mqtt]\nsys_interval = \"0\"\n");
    let mut client = Client::connect(broker.mqtt, Version::V5, "s");
    client.subscribe("$SYS/#", QoS::AtMostOnce);
    assert!(client.is_silent_for(Duration::from_millis(600)));
}
