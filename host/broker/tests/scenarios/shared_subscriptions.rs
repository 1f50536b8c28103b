//! Shared subscriptions: one member of each group gets a message, wherever members, publisher and group are at home.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::common::client::{Client, connect};
use crate::common::{Broker, wait_for};
use tidegate_codec::{
    Ack, Packet, PropertiesBuilder, Property, Publish, QoS, ReasonCode, Unsubscribe, Version,
};

const QUIET: Duration = Duration::from_millis(150);

fn strategy(name: &str) -> String {
    format!("[mqtt]\nsys_interval = \"0\"\nshared_strategy = \"{name}\"\n")
}

fn members(broker: &Broker, filter: &str, count: usize) -> Vec<Client> {
    let member = |number: usize| {
        let mut client = Client::connect(broker.mqtt, Version::V5, &format!("m{number}"));
        client.subscribe(filter, QoS::AtLeastOnce);
        client
    };
    (0..count).map(member).collect()
}

/// Messages that have come so far, each acknowledged.
fn arrived(client: &mut Client) -> Vec<Publish> {
    client.send(&Packet::PingReq);
    let mut messages = Vec::new();
    loop {
        match client.receive() {
            Packet::PingResp => return messages,
            Packet::Publish(publish) => {
                if let Some(packet_id) = publish.packet_id {
                    client.send(&Packet::PubAck(Ack::success(packet_id)));
                }
                messages.push(publish);
            }
            other => panic!("expected a PUBLISH, got {other:?}"),
        }
    }
}

/// How many messages each client gets, `all` together.
fn counts(clients: &mut [Client], all: usize) -> Vec<usize> {
    let mut counts = vec![0; clients.len()];
    wait_for("every message", || {
        for (client, count) in clients.iter_mut().zip(&mut counts) {
            *count += arrived(client).len();
        }
        (counts.iter().sum::<usize>() >= all).then_some(())
    });
    counts
}

/// [MQTT-4.8.2-4]. A SUBACK is enough: a message published after it reaches the group.
#[test]
fn each_message_goes_to_one_member_in_turn() {
    for workers in [1, 3] {
        let broker = Broker::start(workers, &strategy("round-robin"));
        let mut members = members(&broker, "$share/g/job/+", 4);
        let mut all = Client::connect(broker.mqtt, Version::V5, "all");
        all.subscribe("job/+", QoS::AtMostOnce);
        let mut publisher = Client::connect(broker.mqtt, Version::V5, "p");
        for number in 0..40 {
            publisher.publish_acked(&format!("job/{number}"), QoS::AtLeastOnce, "x");
        }
        assert_eq!(counts(&mut members, 40), [10; 4]);
        for _ in 0..40 {
            all.message();
        }
    }
}

#[test]
fn a_suback_is_enough_on_every_worker() {
    let broker = Broker::start(4, &strategy("round-robin"));
    let mut publisher = Client::connect(broker.mqtt, Version::V5, "p");
    for round in 0..100 {
        let mut member = Client::connect(broker.mqtt, Version::V5, &format!("m{round}"));
        member.subscribe(&format!("$share/g{round}/r/{round}"), QoS::AtMostOnce);
        publisher.publish(&format!("r/{round}"), QoS::AtMostOnce, "x");
        assert_eq!(member.message().payload, "x");
    }
}

#[test]
fn strategies() {
    for workers in [1, 3] {
        for (name, expected) in [
            ("sticky", 1),
            ("hash-client", 1),
            ("hash-topic", 1),
            ("random", 4),
        ] {
            let broker = Broker::start(workers, &strategy(name));
            let mut members = members(&broker, "$share/g/job", 4);
            let mut publisher = Client::connect(broker.mqtt, Version::V5, "p");
            for _ in 0..80 {
                publisher.publish_acked("job", QoS::AtLeastOnce, "x");
            }
            let counts = counts(&mut members, 80);
            let busy = counts.iter().filter(|count| **count > 0).count();
            assert_eq!(busy, expected, "{name}: {counts:?}");
        }
    }
}

#[test]
fn connected_members_come_first() {
    for workers in [1, 3] {
        let broker = Broker::start(workers, &strategy("round-robin"));
        let mut away = Vec::new();
        for number in 0..3 {
            let mut connect = connect(Version::V5, &format!("away{number}"));
            let mut builder = PropertiesBuilder::default();
            builder.push(Property::SessionExpiryInterval(100));
            connect.properties = builder.build().unwrap();
            let (mut client, _) = Client::connect_with(broker.mqtt, connect.clone());
            client.subscribe("$share/g/job", QoS::AtLeastOnce);
            away.push((client, connect));
        }
        let mut here = members(&broker, "$share/g/job", 1);
        let mut publisher = Client::connect(broker.mqtt, Version::V5, "p");
        let mut connects = Vec::new();
        for (client, connect) in away {
            drop(client);
            connects.push(connect);
        }
        wait_for("the others to be gone", || {
            for _ in 0..4 {
                publisher.publish_acked("job", QoS::AtLeastOnce, "x");
            }
            // What another member got is not here, however long one waits.
            std::iter::repeat_with(|| arrived(&mut here[0]).len())
                .take(20)
                .sum::<usize>()
                .eq(&4)
                .then_some(())
        });
        // With nobody connected the messages wait in sessions.
        let mut here = here.remove(0);
        here.send(&Packet::Disconnect(Box::new(
            tidegate_codec::Disconnect::with_reason(ReasonCode::Success),
        )));
        assert_eq!(here.try_receive(), None);
        publisher.publish_acked("job", QoS::AtLeastOnce, "kept");
        let back = |mut connect: tidegate_codec::Connect| {
            connect.clean_start = false;
            let (client, connack) = Client::connect_with(broker.mqtt, connect);
            assert!(connack.session_present);
            client
        };
        let mut clients: Vec<Client> = connects.into_iter().map(back).collect();
        let kept = |publish: &Publish| publish.payload == "kept";
        let found = |client: &mut Client| arrived(client).iter().filter(|publish| kept(publish)).count();
        wait_for("the message", || {
            (clients.iter_mut().map(found).sum::<usize>() == 1).then_some(())
        });
    }
}

fn publish(packet: Packet) -> Publish {
    match packet {
        Packet::Publish(publish) => publish,
        other => panic!("expected a PUBLISH, got {other:?}"),
    }
}

/// 4.8.2: QoS 1 messages of a session that ends go to another member, sent or not.
#[test]
fn what_a_member_did_not_get_goes_to_another() {
    for workers in [1, 3] {
        let broker = Broker::start(workers, &strategy("sticky"));
        let mut first = members(&broker, "$share/g/job", 1).remove(0);
        let mut publisher = Client::connect(broker.mqtt, Version::V5, "p");
        publisher.publish_acked("job", QoS::AtLeastOnce, "0");
        assert_eq!(publish(first.receive()).payload, "0");
        let mut second = Client::connect(broker.mqtt, Version::V5, "second");
        second.subscribe("$share/g/job", QoS::AtLeastOnce);
        for number in 1..100 {
            publisher.publish_acked("job", QoS::AtLeastOnce, number.to_string());
        }
        assert!(second.is_silent_for(QUIET), "the first one has them all");
        drop(first);
        let mut got: BTreeSet<Vec<u8>> = BTreeSet::new();
        while got.len() < 100 {
            assert!(got.insert(second.message().payload.to_vec()), "each once");
        }
    }
}

/// [MQTT-4.8.2-5]: of QoS 2, only what was never sent goes to another member.
#[test]
fn exactly_once_stays_with_its_member_once_sent() {
    let broker = Broker::start(
        3,
        "[mqtt]\nsys_interval = \"0\"\nshared_strategy = \"sticky\"\ninflight_max = 1\n",
    );
    let mut first = Client::connect(broker.mqtt, Version::V5, "first");
    first.subscribe("$share/g/job", QoS::ExactlyOnce);
    let mut publisher = Client::connect(broker.mqtt, Version::V5, "p");
    publisher.publish_acked("job", QoS::ExactlyOnce, "sent");
    assert_eq!(publish(first.receive()).payload, "sent");
    let mut second = Client::connect(broker.mqtt, Version::V5, "second");
    second.subscribe("$share/g/job", QoS::ExactlyOnce);
    publisher.publish_acked("job", QoS::ExactlyOnce, "queued");
    drop(first);
    assert_eq!(second.message().payload, "queued");
    assert!(second.is_silent_for(QUIET));
}

#[test]
fn leaving_ends_the_deliveries() {
    for workers in [1, 3] {
        let broker = Broker::start(workers, &strategy("round-robin"));
        let mut members = members(&broker, "$share/g/job", 2);
        let leaver = &mut members[1];
        for expected in [ReasonCode::Success, ReasonCode::NoSubscriptionExisted] {
            let packet_id = leaver.packet_id();
            let filters = vec![tidegate_codec::TopicFilter::new("$share/g/job").unwrap()];
            leaver.send(&Packet::Unsubscribe(Box::new(Unsubscribe {
                packet_id,
                filters,
                properties: tidegate_codec::Properties::empty(),
            })));
            let Packet::UnsubAck(answer) = leaver.receive() else {
                panic!("expected an UNSUBACK")
            };
            assert_eq!(answer.reasons, [expected]);
        }
        let mut publisher = Client::connect(broker.mqtt, Version::V5, "p");
        for _ in 0..10 {
            publisher.publish_acked("job", QoS::AtLeastOnce, "x");
        }
        assert_eq!(counts(&mut members, 10), [10, 0]);
    }
}

/// 4.8.2: no retained messages on joining a group.
#[test]
fn nothing_retained_is_sent() {
    let broker = Broker::start(2, &strategy("round-robin"));
    let mut publisher = Client::connect(broker.mqtt, Version::V5, "p");
    let packet_id = publisher.packet_id();
    publisher.send(&Packet::Publish(Publish {
        topic: Some(tidegate_codec::TopicName::new("job").unwrap()),
        payload: "x".into(),
        properties: tidegate_codec::Properties::empty(),
        qos: QoS::AtLeastOnce,
        packet_id: Some(packet_id),
        retain: true,
        dup: false,
    }));
    assert_eq!(publisher.receive(), Packet::PubAck(Ack::success(packet_id)));
    let mut members = members(&broker, "$share/g/job", 1);
    assert!(members[0].is_silent_for(QUIET));
}
