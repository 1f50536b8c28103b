//! A client gets one copy of a message however many of its subscriptions match, and none that it does not want.

use tidegate_codec::{Properties, PropertiesBuilder, Property, QoS, SubscribeOptions, Version};

use crate::common::client::Client;
use crate::common::{Broker, WORKERS};

/// Client ids that are at home on different workers.
const PUBLISHERS: [&str; 6] = ["p0", "p1", "p2", "p3", "p4", "p5"];

fn identified(number: u32) -> Properties {
    let mut properties = PropertiesBuilder::default();
    properties.push(Property::SubscriptionIdentifier(number));
    properties.build().unwrap()
}

#[test]
fn at_the_highest_qos_and_with_every_identifier() {
    for workers in WORKERS {
        let broker = Broker::start(workers, "");
        let mut new = Client::connect(broker.mqtt, Version::V5, "new");
        let mut old = Client::connect(broker.mqtt, Version::V311, "old");
        let filters = [
            ("a/+", QoS::AtMostOnce),
            ("a/#", QoS::ExactlyOnce),
            ("a/b", QoS::AtLeastOnce),
        ];
        for (number, (filter, qos)) in (1..).zip(filters) {
            let options = SubscribeOptions {
                qos,
                ..SubscribeOptions::default()
            };
            new.subscribe_with(filter, options, identified(number));
            old.subscribe(filter, qos);
        }
        for id in PUBLISHERS {
            let mut publisher = Client::connect(broker.mqtt, Version::V5, id);
            publisher.publish_acked("a/b", QoS::ExactlyOnce, id);
            let message = new.message();
            assert_eq!(
                (message.qos, &*message.payload),
                (QoS::ExactlyOnce, id.as_bytes())
            ); // [MQTT-3.3.4-2]
            let mut identifiers: Vec<u32> = message.properties.subscription_identifiers().collect();
            identifiers.sort_unstable();
            assert_eq!(identifiers, [1, 2, 3]); // [MQTT-3.3.4-4]
            assert_eq!(old.message().qos, QoS::ExactlyOnce);
        }
        new.ping();
        old.ping();
    }
}

#[test]
fn not_ones_own_with_no_local() {
    for workers in WORKERS {
        let broker = Broker::start(workers, "");
        let mut client = Client::connect(broker.mqtt, Version::V5, "self");
        let options = SubscribeOptions {
            qos: QoS::AtLeastOnce,
            no_local: true,
            ..SubscribeOptions::default()
        };
        client.subscribe_with("l/#", options, Properties::empty());
        client.publish_acked("l/own", QoS::AtLeastOnce, "own"); // [MQTT-3.8.3-3]
        for id in PUBLISHERS {
            Client::connect(broker.mqtt, Version::V5, id).publish_acked("l/other", QoS::AtLeastOnce, id);
            assert_eq!(client.message().payload, id);
        }
        client.ping();
    }
}

#[test]
fn wildcards_match_what_the_standard_says() {
    for workers in WORKERS {
        let broker = Broker::start(workers, "");
        let cases: [(&str, &[&str]); 7] = [
            ("#", &["a", "a/b", "a/b/c", "/", "x/y"]), // [MQTT-4.7.2-1] not $sys
            ("+/b", &["a/b"]),
            ("a/#", &["a", "a/b", "a/b/c"]), // 4.7.1.2 the parent too
            ("+", &["a"]),
            ("/+", &["/"]),
            ("$sys/+", &["$sys/b"]),
            ("a/b/c", &["a/b/c"]),
        ];
        let topics = ["a", "a/b", "a/b/c", "$sys/b", "/", "x/y"];
        let mut publishers = PUBLISHERS.map(|id| Client::connect(broker.mqtt, Version::V311, id));
        for (index, (filter, expected)) in cases.into_iter().enumerate() {
            let mut client = Client::connect(broker.mqtt, Version::V5, &format!("c{index}"));
            client.subscribe(filter, QoS::AtMostOnce);
            client.subscribe("end", QoS::AtMostOnce);
            let publisher = &mut publishers[index % PUBLISHERS.len()];
            for topic in topics {
                publisher.publish_acked(topic, QoS::AtLeastOnce, "");
            }
            publisher.publish_acked("end", QoS::AtLeastOnce, "");
            let mut got = Vec::new();
            while got.last().is_none_or(|topic| topic != "end") {
                got.push(client.message().topic.unwrap().as_str().to_owned());
            }
            let mut wanted = expected.to_vec();
            wanted.push("end");
            assert_eq!(got, wanted, "{filter}");
        }
    }
}
