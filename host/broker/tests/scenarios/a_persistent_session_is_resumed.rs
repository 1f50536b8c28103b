//! A session outlives its connection for as long as it asked for: messages queue up and arrive in order on return.

use tidegate_codec::{Packet, PropertiesBuilder, Property, QoS, Version};

use crate::common::client::{Client, connect};
use crate::common::{Broker, WORKERS, wait_for};

/// A connection of `id` to a session that stays, and whether it was there.
fn return_of(broker: &Broker, version: Version, id: &str) -> (Client, bool) {
    let mut request = connect(version, id);
    request.clean_start = false;
    if version == Version::V5 {
        let mut properties = PropertiesBuilder::default();
        properties.push(Property::SessionExpiryInterval(600));
        request.properties = properties.build().unwrap();
    }
    let (client, connack) = Client::connect_with(broker.mqtt, request);
    (client, connack.session_present)
}

#[test]
fn with_what_was_published_meanwhile() {
    for workers in WORKERS {
        let broker = Broker::start(workers, "");
        for (id, version) in [
            ("a", Version::V311),
            ("b", Version::V5),
            ("c", Version::V5),
            ("d", Version::V311),
        ] {
            let (mut client, was_there) = return_of(&broker, version, id);
            assert!(!was_there);
            client.subscribe("q/#", QoS::ExactlyOnce);
            // In flight when the connection is lost: received, never acknowledged.
            Client::connect(broker.mqtt, Version::V5, "p").publish_acked("q/x", QoS::AtLeastOnce, "0");
            let Packet::Publish(first) = client.receive() else {
                panic!("expected a PUBLISH")
            };
            assert_eq!((&*first.payload, first.dup), (&b"0"[..], false));
            drop(client);
            wait_for("the loss to be seen", || {
                (broker.metric("tidegate_connections") == 0).then_some(())
            });
            let mut publisher = Client::connect(broker.mqtt, Version::V311, "p");
            for number in 1..100 {
                let qos = if number % 3 == 0 {
                    QoS::ExactlyOnce
                } else {
                    QoS::AtLeastOnce
                };
                publisher.publish_acked("q/x", qos, number.to_string());
            }
            let (mut client, was_there) = return_of(&broker, version, id);
            assert!(was_there); // [MQTT-3.2.2-3]
            for number in 0..100 {
                let message = client.message();
                assert_eq!(
                    (message.payload, message.dup),
                    (number.to_string().into(), number == 0)
                );
            }
            client.ping();
            // Clean start: what was kept is gone. [MQTT-3.1.2-4]
            let mut clean = Client::connect(broker.mqtt, version, id);
            publisher.publish_acked("q/x", QoS::AtLeastOnce, "100");
            clean.ping();
            drop((clean, publisher));
            wait_for("the sessions to end", || {
                (broker.metric("tidegate_sessions") == 0).then_some(())
            });
            assert_eq!(broker.metric("tidegate_subscriptions"), 0);
        }
    }
}
