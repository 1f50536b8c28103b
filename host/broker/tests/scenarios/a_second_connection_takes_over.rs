//! A CONNECT with the client id of another connection ends that one first, whichever worker accepted either.
//! [MQTT-3.1.4-3]

use tidegate_codec::{Message, Properties, QoS, ReasonCode, TopicName, Version, Will};

use crate::common::client::{Client, connect};
use crate::common::{Broker, WORKERS, wait_for};

fn will(topic: &str) -> Option<Will> {
    let message = Message {
        topic: TopicName::new(topic).unwrap(),
        payload: "will".into(),
        properties: Properties::empty(),
        qos: QoS::AtLeastOnce,
        retain: false,
    };
    Some(Will { message })
}

#[test]
fn the_older_is_told_and_its_will_is_published() {
    for workers in WORKERS {
        let broker = Broker::start(workers, "");
        let mut watcher = Client::connect(broker.mqtt, Version::V5, "watcher");
        watcher.subscribe("w/#", QoS::AtLeastOnce);
        // Many ids and connections: the kernel spreads them over all workers.
        for number in 0..8 {
            let id = format!("c{number}");
            let mut request = connect(Version::V5, &id);
            request.will = will(&format!("w/{id}"));
            let (mut older, _) = Client::connect_with(broker.mqtt, request);
            older.subscribe("t", QoS::AtLeastOnce);
            let mut newer = Client::connect(broker.mqtt, Version::V311, &id);
            older.is_disconnected(ReasonCode::SessionTakenOver);
            assert_eq!(watcher.message().topic.unwrap().as_str(), format!("w/{id}"));
            // A clean start has none of the older one's subscriptions.
            Client::connect(broker.mqtt, Version::V5, "publisher").publish_acked("t", QoS::AtLeastOnce, "x");
            newer.ping();
            let mut third = Client::connect(broker.mqtt, Version::V5, &id);
            newer.is_closed();
            third.ping();
        }
        wait_for("all but the watcher's session to end", || {
            (broker.metric("tidegate_sessions") == 1).then_some(())
        });
    }
}

#[test]
fn again_and_again_the_last_one_stays() {
    for workers in WORKERS {
        let broker = Broker::start(workers, "");
        let mut clients: Vec<Client> = Vec::new();
        for _ in 0..50 {
            let mut request = connect(Version::V5, "same");
            request.clean_start = false;
            let (mut client, _) = Client::connect_with(broker.mqtt, request);
            client.publish_acked("t", QoS::ExactlyOnce, "x");
            clients.push(client);
        }
        let mut last = clients.pop().unwrap();
        clients
            .iter_mut()
            .for_each(|client| client.is_disconnected(ReasonCode::SessionTakenOver));
        last.ping();
        assert_eq!(broker.metric("tidegate_sessions"), 1);
    }
}
