//! Retained messages: set, replaced, cleared, expired, replayed to new subscriptions, on one worker and across several.

use std::time::{Duration, Instant};

use crate::common::client::Client;
use crate::common::{Broker, http, wait_for};
use tidegate_codec::{
    Ack, Packet, PacketId, Properties, PropertiesBuilder, Property, Publish, QoS, ReasonCode, RetainHandling,
    Subscribe, SubscribeOptions, Subscription, TopicFilter, TopicName, Version,
};

const QUIET: Duration = Duration::from_millis(150);
const OFF: &str = "[mqtt]\nsys_interval = \"0\"\n";

fn retained(client: &mut Client, topic: &str, qos: QoS, payload: &str) -> Option<PacketId> {
    retained_with(client, topic, qos, payload, Properties::empty())
}

fn retained_with(
    client: &mut Client,
    topic: &str,
    qos: QoS,
    payload: &str,
    properties: Properties,
) -> Option<PacketId> {
    let packet_id = (qos != QoS::AtMostOnce).then(|| client.packet_id());
    client.send(&Packet::Publish(Publish {
        topic: Some(TopicName::new(topic).unwrap()),
        payload: payload.to_owned().into(),
        properties,
        qos,
        packet_id,
        retain: true,
        dup: false,
    }));
    packet_id
}

/// Publishes with QoS 1 and waits for the PUBACK.
fn set(client: &mut Client, topic: &str, payload: &str) {
    let packet_id = retained(client, topic, QoS::AtLeastOnce, payload).unwrap();
    assert_eq!(client.receive(), Packet::PubAck(Ack::success(packet_id)));
}

fn subscribe_with(client: &mut Client, filter: &str, options: SubscribeOptions) {
    let packet_id = client.packet_id();
    let filter = TopicFilter::new(filter).unwrap();
    client.send(&Packet::Subscribe(Box::new(Subscribe {
        packet_id,
        subscriptions: vec![Subscription { filter, options }],
        properties: Properties::empty(),
    })));
    assert!(matches!(client.receive(), Packet::SubAck(_)));
}

fn text(publish: &Publish) -> (String, String, bool) {
    let topic = publish.topic.as_ref().unwrap().as_str().to_owned();
    (
        topic,
        String::from_utf8(publish.payload.to_vec()).unwrap(),
        publish.retain,
    )
}

fn found(topic: &str, payload: &str) -> (String, String, bool) {
    (topic.to_owned(), payload.to_owned(), true)
}

/// Whether nothing but answers to pings comes for a while.
#[allow(clippy::disallowed_methods)] // measures the while
fn stays_quiet(client: &mut Client) -> bool {
    let since = Instant::now();
    while since.elapsed() < QUIET {
        client.send(&Packet::PingReq);
        if client.receive() != Packet::PingResp {
            return false;
        }
    }
    true
}

fn config(mqtt: &str) -> String {
    format!("[mqtt]\nsys_interval = \"0\"\n{mqtt}\n")
}

/// [MQTT-3.3.1-5], [MQTT-3.3.1-6], [MQTT-3.3.1-8], [MQTT-3.3.1-9]. Whoever knows of the PUBACK finds what was set,
/// whichever workers publisher, topic and subscriber are at home on.
#[test]
fn set_replaced_and_cleared() {
    for (workers, version) in [(1, Version::V5), (3, Version::V5), (3, Version::V311)] {
        let broker = Broker::start(workers, OFF);
        for round in 0..12 {
            let mut publisher = Client::connect(broker.mqtt, version, &format!("p{round}"));
            let topic = format!("plant/{round}/temp");
            let see = |what: &str| {
                let mut subscriber = Client::connect(broker.mqtt, version, &format!("s{round}-{what}"));
                subscriber.subscribe(&topic, QoS::AtLeastOnce);
                subscriber
            };
            set(&mut publisher, &topic, "first");
            assert_eq!(text(&see("a").message()), found(&topic, "first"));
            set(&mut publisher, &topic, "second");
            assert_eq!(text(&see("b").message()), found(&topic, "second"));
            set(&mut publisher, &topic, "");
            if round < 3 {
                assert!(see("c").is_silent_for(QUIET), "cleared");
            }
        }
        assert_eq!(http::metric(broker.admin, "tidegate_retained_messages"), 0);
    }
}

#[test]
fn every_qos_is_retained() {
    for workers in [1, 3] {
        let broker = Broker::start(workers, OFF);
        let mut publisher = Client::connect(broker.mqtt, Version::V5, "p");
        retained(&mut publisher, "q/0", QoS::AtMostOnce, "0");
        set(&mut publisher, "q/1", "1");
        let packet_id = retained(&mut publisher, "q/2", QoS::ExactlyOnce, "2").unwrap();
        assert_eq!(publisher.receive(), Packet::PubRec(Ack::success(packet_id)));
        publisher.send(&Packet::PubRel(Ack::success(packet_id)));
        assert_eq!(publisher.receive(), Packet::PubComp(Ack::success(packet_id)));
        wait_for("three retained messages", || {
            (http::metric(broker.admin, "tidegate_retained_messages") == 3).then_some(())
        });
        let mut subscriber = Client::connect(broker.mqtt, Version::V5, "s");
        subscriber.subscribe("q/+", QoS::ExactlyOnce);
        let mut got: Vec<_> = (0..3)
            .map(|_| match subscriber.receive() {
                Packet::Publish(publish) => (text(&publish), publish.qos),
                other => panic!("expected a PUBLISH, got {other:?}"),
            })
            .collect();
        got.sort();
        let all = [
            (found("q/0", "0"), QoS::AtMostOnce),
            (found("q/1", "1"), QoS::AtLeastOnce),
            (found("q/2", "2"), QoS::ExactlyOnce),
        ];
        assert_eq!(got, all);
    }
}

/// [MQTT-3.3.1-12], [MQTT-3.3.1-13]
#[test]
fn live_messages_keep_the_flag_only_where_asked() {
    let broker = Broker::start(2, OFF);
    let mut plain = Client::connect(broker.mqtt, Version::V5, "plain");
    plain.subscribe("t", QoS::AtMostOnce);
    let mut asking = Client::connect(broker.mqtt, Version::V5, "asking");
    let options = SubscribeOptions {
        retain_as_published: true,
        ..SubscribeOptions::default()
    };
    subscribe_with(&mut asking, "t", options);
    let mut publisher = Client::connect(broker.mqtt, Version::V5, "p");
    set(&mut publisher, "t", "live");
    assert!(!plain.message().retain);
    assert!(asking.message().retain);
}

/// [MQTT-3.3.1-9], [MQTT-3.3.1-10], [MQTT-3.3.1-11]
#[test]
fn retain_handling() {
    for workers in [1, 2] {
        let broker = Broker::start(workers, OFF);
        set(&mut Client::connect(broker.mqtt, Version::V5, "p"), "t", "x");
        let handling = |retain_handling| SubscribeOptions {
            retain_handling,
            ..SubscribeOptions::default()
        };
        let mut client = Client::connect(broker.mqtt, Version::V5, "s");
        subscribe_with(&mut client, "t", handling(RetainHandling::DoNotSend));
        assert!(client.is_silent_for(QUIET));
        subscribe_with(&mut client, "t", handling(RetainHandling::SendIfNew));
        assert!(client.is_silent_for(QUIET), "the subscription exists");
        subscribe_with(&mut client, "t", handling(RetainHandling::Send));
        assert_eq!(text(&client.message()), found("t", "x"));
        subscribe_with(&mut client, "+", handling(RetainHandling::SendIfNew));
        assert_eq!(text(&client.message()), found("t", "x"));
    }
}

/// [MQTT-3.3.2-5], [MQTT-3.3.2-6]
#[test]
fn expiry_counts_down() {
    let broker = Broker::start(2, OFF);
    let mut publisher = Client::connect(broker.mqtt, Version::V5, "p");
    let expiring = |seconds| {
        let mut builder = PropertiesBuilder::default();
        builder.push(Property::MessageExpiryInterval(seconds));
        builder.build().unwrap()
    };
    for (topic, seconds) in [("long", 100), ("short", 2)] {
        retained_with(&mut publisher, topic, QoS::AtLeastOnce, "x", expiring(seconds)).unwrap();
        publisher.receive();
    }
    let mut rounds = 0;
    wait_for("the short one to expire", || {
        rounds += 1;
        let mut client = Client::connect(broker.mqtt, Version::V5, &format!("s{rounds}"));
        client.subscribe("short", QoS::AtMostOnce);
        stays_quiet(&mut client).then_some(())
    });
    assert!(rounds > 1, "it was there at first");
    let mut client = Client::connect(broker.mqtt, Version::V5, "last");
    client.subscribe("+", QoS::AtMostOnce);
    let left = client.message();
    assert!(client.is_silent_for(QUIET));
    assert_eq!(left.topic.as_ref().unwrap().as_str(), "long");
    let interval = left.properties.message_expiry_interval().unwrap();
    assert!((60..=99).contains(&interval), "{interval}");
}

#[test]
fn full_refuses_those_who_can_be_told() {
    for workers in [1, 3] {
        let broker = Broker::start(workers, &config("retained_messages_max = 3"));
        let mut watcher = Client::connect(broker.mqtt, Version::V5, "watcher");
        watcher.subscribe("full/#", QoS::AtMostOnce);
        let mut publisher = Client::connect(broker.mqtt, Version::V5, "p");
        let mut refused = 0;
        for number in 0..20 {
            let topic = format!("full/{number}");
            let packet_id = retained(&mut publisher, &topic, QoS::AtLeastOnce, "x").unwrap();
            match publisher.receive() {
                Packet::PubAck(ack) if ack.reason == ReasonCode::QuotaExceeded => refused += 1,
                packet => assert_eq!(packet, Packet::PubAck(Ack::success(packet_id))),
            }
            watcher.message();
        }
        let kept = http::metric(broker.admin, "tidegate_retained_messages");
        assert!((1..=3).contains(&kept), "{kept}");
        assert_eq!(refused, 20 - kept);
        let mut older = Client::connect(broker.mqtt, Version::V311, "older");
        for number in 20..40 {
            set(&mut older, &format!("full/{number}"), "x");
            watcher.message();
        }
        let counted = http::metric(broker.admin, "tidegate_retained_refused_total");
        assert_eq!(
            counted + http::metric(broker.admin, "tidegate_retained_messages"),
            40
        );
        // QoS 2: a refused message has not been routed either.
        let packet_id = retained(&mut publisher, "full/new", QoS::ExactlyOnce, "x").unwrap();
        let refused = Ack::with_reason(packet_id, ReasonCode::QuotaExceeded);
        assert_eq!(publisher.receive(), Packet::PubRec(refused));
        assert!(watcher.is_silent_for(QUIET));
    }
}

/// A wildcard replays from every worker, each topic once, and no faster than the subscriber takes: its queue, which is
/// far shorter than the replay, sheds nothing.
#[test]
fn a_long_replay_waits_for_its_subscriber() {
    const TOPICS: usize = 700;
    for workers in [1, 3] {
        let broker = Broker::start(workers, &config("queue_messages_max = 70\ninflight_max = 8"));
        let mut publisher = Client::connect(broker.mqtt, Version::V5, "p");
        for number in 0..TOPICS {
            set(&mut publisher, &format!("w/{number}"), "x");
        }
        let mut subscriber = Client::connect(broker.mqtt, Version::V5, "s");
        subscriber.subscribe("w/#", QoS::AtLeastOnce);
        let unanswered: Vec<_> = (0..8).map(|_| subscriber.receive()).collect();
        assert!(subscriber.is_silent_for(QUIET), "the window is full");
        let mut topics: Vec<String> = Vec::new();
        for packet in unanswered {
            let Packet::Publish(publish) = packet else {
                panic!("{packet:?}")
            };
            topics.push(text(&publish).0);
            subscriber.send(&Packet::PubAck(Ack::success(publish.packet_id.unwrap())));
        }
        topics.extend((8..TOPICS).map(|_| text(&subscriber.message()).0));
        assert!(subscriber.is_silent_for(QUIET), "each once");
        topics.sort();
        topics.dedup();
        assert_eq!(topics.len(), TOPICS);
        let dropped = http::metric(
            broker.admin,
            "tidegate_dropped_deliveries_total{cause=\"queue_full\"}",
        );
        assert_eq!(dropped, 0);
    }
}

/// While values rise, no replay brings one that is older than a live one before it.
#[test]
fn a_replay_is_never_older_than_what_was_sent_live() {
    for workers in [1, 3] {
        let broker = Broker::start(workers, OFF);
        let mut publisher = Client::connect(broker.mqtt, Version::V5, "p");
        for topic in 0..5 {
            set(&mut publisher, &format!("v/{topic}"), "0");
        }
        let mut next = 0;
        for round in 0..40 {
            let mut subscriber = Client::connect(broker.mqtt, Version::V5, &format!("s{round}"));
            let first = next + 1;
            for _ in 0..20 {
                next += 1;
                retained(
                    &mut publisher,
                    &format!("v/{}", next % 5),
                    QoS::AtMostOnce,
                    &next.to_string(),
                );
            }
            subscriber.subscribe("v/+", QoS::AtMostOnce);
            for _ in 0..20 {
                next += 1;
                retained(
                    &mut publisher,
                    &format!("v/{}", next % 5),
                    QoS::AtMostOnce,
                    &next.to_string(),
                );
            }
            let mut latest = [0; 5];
            // What was set before the subscription may come by replay alone; the last value of each topic always comes.
            while latest.iter().any(|value| *value + 5 <= next) {
                let (topic, payload, is_replay) = text(&subscriber.message());
                let value: usize = payload.parse().unwrap();
                let place = &mut latest[topic.strip_prefix("v/").unwrap().parse::<usize>().unwrap()];
                assert!(
                    !is_replay || value >= *place,
                    "{value} after {place}; round began at {first}"
                );
                *place = value.max(*place);
            }
        }
    }
}

/// Whoever subscribes while values rise ends up with the last one of every topic: live, by the replay, or both.
#[test]
fn a_subscription_made_meanwhile_misses_nothing() {
    const TOPICS: usize = 64;
    for workers in [2, 4] {
        let broker = Broker::start(workers, OFF);
        for round in 0..30 {
            let mut publisher = Client::connect(broker.mqtt, Version::V5, &format!("p{round}"));
            let mut subscribers: Vec<Client> = (0..4)
                .map(|number| Client::connect(broker.mqtt, Version::V5, &format!("s{round}-{number}")))
                .collect();
            let publishing = std::thread::spawn(move || {
                for topic in 0..TOPICS {
                    retained(
                        &mut publisher,
                        &format!("m/{topic}"),
                        QoS::AtMostOnce,
                        &round.to_string(),
                    );
                }
                publisher.ping();
                publisher
            });
            for (number, subscriber) in subscribers.iter_mut().enumerate() {
                for topic in (0..TOPICS).filter(|topic| topic % 4 == number) {
                    let packet_id = subscriber.packet_id();
                    let filter = TopicFilter::new(&format!("m/{topic}")).unwrap();
                    let options = SubscribeOptions::default();
                    subscriber.send(&Packet::Subscribe(Box::new(Subscribe {
                        packet_id,
                        subscriptions: vec![Subscription { filter, options }],
                        properties: Properties::empty(),
                    })));
                }
            }
            for (number, subscriber) in subscribers.iter_mut().enumerate() {
                let mut missing: Vec<String> = (0..TOPICS)
                    .filter(|topic| topic % 4 == number)
                    .map(|topic| format!("m/{topic}"))
                    .collect();
                while !missing.is_empty() {
                    if let Packet::Publish(publish) = subscriber.receive()
                        && publish.payload == round.to_string()
                    {
                        missing.retain(|topic| *topic != publish.topic.as_ref().unwrap().as_str());
                    }
                }
            }
            publishing.join().unwrap();
        }
    }
}

/// A persistent session whose client leaves in the middle gets the rest when it comes back.
#[test]
fn a_replay_outlives_a_connection() {
    let broker = Broker::start(2, &config("inflight_max = 4"));
    let mut publisher = Client::connect(broker.mqtt, Version::V5, "p");
    for number in 0..200 {
        set(&mut publisher, &format!("w/{number}"), "x");
    }
    let mut connect = crate::common::client::connect(Version::V5, "s");
    let mut builder = PropertiesBuilder::default();
    builder.push(Property::SessionExpiryInterval(60));
    connect.properties = builder.build().unwrap();
    let (mut subscriber, _) = Client::connect_with(broker.mqtt, connect.clone());
    subscriber.subscribe("w/#", QoS::AtLeastOnce);
    let mut topics = vec![text(&subscriber.message()).0];
    drop(subscriber);
    connect.clean_start = false;
    let (mut subscriber, connack) = Client::connect_with(broker.mqtt, connect);
    assert!(connack.session_present);
    while topics.len() < 200 {
        let topic = text(&subscriber.message()).0;
        if !topics.contains(&topic) {
            topics.push(topic);
        }
    }
}
