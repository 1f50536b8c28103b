//! A module that always fails is not called for a while; its messages are acknowledged once they are kept as dead
//! letters, and not before.

use rusqlite::Connection;
use tidegate_codec::{Ack, Packet, QoS, Version};

use super::a_hostile_message_costs_nobody_else::{HOSTILE, guest};
use crate::common::client::Client;
use crate::common::{Broker, WORKERS, wait_for};

const MESSAGES: usize = 40;

#[test]
fn and_nothing_is_acknowledged_before_its_dead_letter_is_stored() {
    for workers in WORKERS {
        let broker = Broker::start(workers, HOSTILE);
        broker.deploy("guest", "1.0.0", &guest());
        let mut client = Client::connect(broker.mqtt, Version::V5, "c");
        client.publish_acked("g/c", QoS::AtLeastOnce, "Trap");
        let lock = Connection::open(broker.file("dead-letters.sqlite")).unwrap();
        lock.busy_timeout(crate::common::DEADLINE).unwrap();
        lock.execute_batch("BEGIN IMMEDIATE").unwrap();
        let ids: Vec<_> = (0..MESSAGES)
            .map(|_| client.publish("g/c", QoS::AtLeastOnce, "Trap").unwrap())
            .collect();
        wait_for("all messages to fail", || {
            let failed = broker.metric("tidegate_rule_messages_total{rule=\"hostile\",outcome=\"failed\"}");
            (failed == MESSAGES as u64 + 1).then_some(())
        });
        client.ping();
        lock.execute_batch("COMMIT").unwrap();
        for id in ids {
            assert_eq!(client.receive(), Packet::PubAck(Ack::success(id)));
        }
        let query =
            "SELECT count(*), sum(reason LIKE '%is not called for the next % ms, because it keeps failing%'),
                     sum(reason LIKE '%guest@1.0.0%') FROM dead_letters";
        let counts: Vec<usize> = broker.query("dead-letters.sqlite", query)[0]
            .iter()
            .map(|count| count.parse().unwrap())
            .collect();
        assert_eq!((counts[0], counts[2]), (MESSAGES + 1, MESSAGES + 1));
        assert!(
            counts[1] > MESSAGES / 2,
            "the module was called for nearly every message: {counts:?}"
        );
        // Other topics never meet the module.
        client.publish_acked("other", QoS::ExactlyOnce, "");
    }
}

#[test]
fn until_it_works_again() {
    for workers in WORKERS {
        let broker = Broker::start(workers, HOSTILE);
        broker.deploy("guest", "1.0.0", &guest());
        let mut client = Client::connect(broker.mqtt, Version::V5, "c");
        client.publish_all("g/c", QoS::AtLeastOnce, ["Trap"; 10]);
        let mut subscriber = Client::connect(broker.mqtt, Version::V5, "subscriber");
        subscriber.subscribe("g/c", QoS::AtMostOnce);
        wait_for("a good message to pass again", || {
            client.publish_acked("g/c", QoS::AtLeastOnce, "good");
            (broker.metric("tidegate_rule_messages_total{rule=\"hostile\",outcome=\"passed\"}") > 0)
                .then_some(())
        });
        assert_eq!(subscriber.message().payload, "good");
    }
}
