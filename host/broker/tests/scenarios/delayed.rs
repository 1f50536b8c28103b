//! Delayed publish: messages come when they are due, wrong forms are refused, what waits is bounded.

use std::time::{Duration, Instant};

use crate::common::client::Client;
use crate::common::{Broker, http};
use tidegate_codec::{Ack, Packet, QoS, ReasonCode, Version};

#[test]
fn comes_when_it_is_due_and_not_before() {
    for workers in [1, 2] {
        let broker = Broker::start(workers, "");
        let mut subscriber = Client::connect(broker.mqtt, Version::V5, "s");
        subscriber.subscribe("a/#", QoS::ExactlyOnce);
        let mut publisher = Client::connect(broker.mqtt, Version::V5, "p");
        #[allow(clippy::disallowed_methods)] // measures the delay
        let sent = Instant::now();
        publisher.publish_acked("$delayed/2/a/late", QoS::AtLeastOnce, "late");
        publisher.publish_acked("$delayed/1/a/early", QoS::ExactlyOnce, "early");
        drop(publisher);
        assert_eq!(http::metric(broker.admin, "tidegate_delayed_messages"), 2);
        let early = subscriber.message();
        assert!(sent.elapsed() >= Duration::from_secs(1), "{:?}", sent.elapsed());
        assert_eq!(
            (early.topic.unwrap().as_str(), &*early.payload),
            ("a/early", &b"early"[..])
        );
        let late = subscriber.message();
        assert!(sent.elapsed() >= Duration::from_secs(2), "{:?}", sent.elapsed());
        assert_eq!(late.topic.unwrap().as_str(), "a/late");
        assert_eq!(http::metric(broker.admin, "tidegate_delayed_messages"), 0);
    }
}

#[test]
fn wrong_forms_are_refused() {
    let broker = Broker::start(1, "[mqtt]\ndelayed_max = \"1h\"\n");
    let mut publisher = Client::connect(broker.mqtt, Version::V5, "p");
    for bad in [
        "$delayed/x/a",
        "$delayed/5",
        "$delayed/5/$SYS/a",
        "$delayed/3601/a",
    ] {
        let packet_id = publisher.publish(bad, QoS::AtLeastOnce, "x").unwrap();
        let refused = Ack::with_reason(packet_id, ReasonCode::TopicNameInvalid);
        assert_eq!(publisher.receive(), Packet::PubAck(refused), "{bad}");
    }
    // 3.1.1 cannot be told.
    Client::connect(broker.mqtt, Version::V311, "q").publish_acked("$delayed/x/a", QoS::AtLeastOnce, "x");
    assert_eq!(http::metric(broker.admin, "tidegate_refused_publishes_total"), 5);
}

#[test]
fn what_waits_is_bounded() {
    let broker = Broker::start(1, "[mqtt]\ndelayed_messages_max = 2\n");
    let mut publisher = Client::connect(broker.mqtt, Version::V5, "p");
    publisher.publish_acked("$delayed/100/a", QoS::AtLeastOnce, "x");
    publisher.publish_acked("$delayed/100/a", QoS::AtLeastOnce, "x");
    let packet_id = publisher
        .publish("$delayed/100/a", QoS::AtLeastOnce, "x")
        .unwrap();
    let refused = Ack::with_reason(packet_id, ReasonCode::QuotaExceeded);
    assert_eq!(publisher.receive(), Packet::PubAck(refused));
}
