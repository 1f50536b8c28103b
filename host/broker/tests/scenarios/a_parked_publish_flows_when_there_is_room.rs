//! A 3.1.1 client may send more than the broker's Receive Maximum: what is beyond it waits and then flows.

use tidegate_codec::{Ack, Packet, Properties, Publish, QoS, TopicName, Version};

use crate::common::client::{Client, connect};
use crate::common::{Broker, WORKERS};

#[test]
fn of_qos_2_as_soon_as_an_exchange_is_over() {
    for workers in WORKERS {
        let broker = Broker::start(workers, "[mqtt]\nreceive_maximum = 4\n");
        let mut subscriber = Client::connect(broker.mqtt, Version::V5, "subscriber");
        subscriber.subscribe("q", QoS::ExactlyOnce);
        let mut client = Client::connect(broker.mqtt, Version::V311, "c");
        let ids: Vec<_> = (0..10)
            .map(|number: u32| client.publish("q", QoS::ExactlyOnce, number.to_string()).unwrap())
            .collect();
        for id in &ids[..4] {
            assert_eq!(client.receive(), Packet::PubRec(Ack::success(*id)));
        }
        client.ping();
        for (index, id) in ids.iter().enumerate() {
            client.send(&Packet::PubRel(Ack::success(*id)));
            assert_eq!(client.receive(), Packet::PubComp(Ack::success(*id)));
            if let Some(next) = ids.get(index + 4) {
                assert_eq!(client.receive(), Packet::PubRec(Ack::success(*next)));
            }
        }
        for number in 0..10 {
            assert_eq!(subscriber.message().payload, number.to_string());
        }
        client.ping();
    }
}

#[test]
fn of_qos_1_in_order() {
    for workers in WORKERS {
        let broker = Broker::start(workers, "[mqtt]\nreceive_maximum = 2\npark_max = \"1KiB\"\n");
        let mut client = Client::connect(broker.mqtt, Version::V311, "c");
        client.publish_all(
            "q",
            QoS::AtLeastOnce,
            (0..500).map(|number: u32| number.to_string()),
        );
        client.ping();
    }
}

#[test]
fn but_one_that_was_received_already_does_not_wait_for_itself() {
    for workers in WORKERS {
        let broker = Broker::start(workers, "[mqtt]\nreceive_maximum = 4\n");
        let mut request = connect(Version::V311, "c");
        request.clean_start = false;
        let (mut client, _) = Client::connect_with(broker.mqtt, request.clone());
        let ids: Vec<_> = (0..4)
            .map(|_| client.publish("q", QoS::ExactlyOnce, "x").unwrap())
            .collect();
        for id in &ids {
            assert_eq!(client.receive(), Packet::PubRec(Ack::success(*id)));
        }
        drop(client);
        let (mut client, connack) = Client::connect_with(broker.mqtt, request);
        assert!(connack.session_present);
        for id in &ids {
            // [MQTT-4.4.0-1] as a client does whose PUBRECs were lost
            client.send(&Packet::Publish(Publish {
                topic: Some(TopicName::new("q").unwrap()),
                payload: "x".into(),
                properties: Properties::empty(),
                qos: QoS::ExactlyOnce,
                packet_id: Some(*id),
                retain: false,
                dup: true,
            }));
        }
        for id in &ids {
            assert_eq!(client.receive(), Packet::PubRec(Ack::success(*id)));
        }
        for id in ids {
            client.send(&Packet::PubRel(Ack::success(id)));
            assert_eq!(client.receive(), Packet::PubComp(Ack::success(id)));
        }
        client.publish_acked("q", QoS::ExactlyOnce, "new");
    }
}
