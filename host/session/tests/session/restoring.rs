//! A session after a restart of the server.

use tidegate_codec::{Packet, PacketId, QoS, SubscribeOptions, TopicFilter, Version};
use tidegate_session::{DropReason, Exchange, Granted, Input, Limits, Stored, Time};

use crate::pair::{Pair, SECOND, ack, again, delivery, id, lasting, message, publish, published};

fn nothing() -> Stored {
    Stored {
        expiry_seconds: u32::MAX,
        ends: None,
        subscriptions: Vec::new(),
        received: Vec::new(),
        in_flight: Vec::new(),
        queued: Vec::new(),
        will: None,
    }
}

/// The identifier belongs into the log together with the message; after a restart it keeps the message from being
/// admitted again [MQTT-4.3.3-10].
#[test]
fn a_qos_2_message_is_not_admitted_again() {
    let mut pair = Pair::connected(Version::V5, Limits::default());
    pair.send(Packet::Publish(publish(QoS::ExactlyOnce, 12, "a")));
    let received: Vec<PacketId> = vec![pair.last_slot().packet_id];
    assert_eq!(received, [id(12)]);
    let mut pair = Pair::restart(
        Limits::default(),
        Stored {
            received,
            ..nothing()
        },
    );
    assert!(pair.connect(lasting(Version::V5)).session_present);
    assert_eq!(
        pair.send(again(QoS::ExactlyOnce, 12, "a")),
        [Packet::PubRec(ack(12))]
    );
    assert_eq!(pair.send(Packet::PubRel(ack(12))), [Packet::PubComp(ack(12))]);
    assert!(pair.admitted.is_empty());
}

/// What the log was told is enough to go on with the same identifiers in the same order [MQTT-4.4.0-1].
#[test]
fn exchanges_go_on_under_their_identifiers() {
    let mut pair = Pair::connected(Version::V5, Limits::default());
    let now = pair.now;
    for (entry, text) in [(1, "one"), (2, "two"), (3, "three")] {
        pair.give(Input::Deliver(delivery(text, QoS::ExactlyOnce, now, entry)));
    }
    assert_eq!(pair.sending, [(1, 1), (2, 2), (3, 3)]);
    pair.send(Packet::PubRec(ack(2)));
    pair.send(Packet::PubRec(ack(2)));
    assert_eq!(pair.releasing, [2]);

    let sent = |text, entry| Exchange::Sent(delivery(text, QoS::ExactlyOnce, now, entry));
    let stored = Stored {
        // Out of the order of identifiers, and with a gap.
        in_flight: vec![
            (id(3), sent("three", 3)),
            (id(5), Exchange::Released(2.try_into().unwrap())),
            (id(1), sent("one", 1)),
        ],
        queued: vec![delivery("four", QoS::AtLeastOnce, now, 4)],
        ..nothing()
    };
    let mut pair = Pair::restart(Limits::default(), stored);
    assert_eq!(pair.session.outbound_lens(), (1, 3));
    let received = pair.reconnect(lasting(Version::V5));
    assert_eq!(published(&received[1]), ("three".to_owned(), 3, true));
    assert_eq!(received[2], Packet::PubRel(ack(5)));
    assert_eq!(published(&received[3]), ("one".to_owned(), 1, true));
    assert_eq!(published(&received[4]), ("four".to_owned(), 2, false));
    // Sent before: the log knows them already.
    assert!(pair.sending.is_empty());
    pair.send(Packet::PubComp(ack(5)));
    pair.give(Input::Deliver(delivery("five", QoS::ExactlyOnce, now, 5)));
    assert_eq!((&pair.sending[..], &pair.finished[..]), (&[(5, 4)][..], &[2][..]));
}

#[test]
fn subscriptions_expiry_and_will_go_on() {
    let filter = TopicFilter::new("plant/#").unwrap();
    let granted = Granted {
        options: SubscribeOptions::default(),
        identifier: Some(7),
    };
    let now = Pair::new(Limits::default()).now;
    let stored = Stored {
        expiry_seconds: 100,
        ends: Some(now + 50 * SECOND),
        subscriptions: vec![(filter.clone(), granted)],
        will: Some((message("gone", QoS::AtLeastOnce), now + 20 * SECOND)),
        ..nothing()
    };
    let mut pair = Pair::restart(Limits::default(), stored);
    assert_eq!(pair.session.expiry_seconds(), 100);
    assert_eq!(
        pair.session.subscriptions().collect::<Vec<_>>(),
        [(&filter, granted)]
    );
    pair.wait(49 * SECOND);
    assert_eq!((pair.wills.len(), pair.ended), (1, 0));
    pair.wait(SECOND);
    assert_eq!(pair.ended, 1);
    assert_eq!(pair.discarded, [[filter]]);
}

#[test]
fn a_session_that_ended_while_the_server_was_down_ends_with_the_first_tick() {
    let stored = Stored {
        ends: Some(Time(0)),
        ..nothing()
    };
    let mut pair = Pair::restart(Limits::default(), stored);
    pair.wait(SECOND);
    assert_eq!(pair.ended, 1);
}

#[test]
fn a_queue_over_a_lower_limit_loses_its_oldest() {
    let limits = Limits {
        queued_messages_max: 1,
        ..Limits::default()
    };
    let queued = |now| {
        vec![
            delivery("a", QoS::AtLeastOnce, now, 1),
            delivery("b", QoS::AtLeastOnce, now, 2),
        ]
    };
    let stored = Stored {
        queued: queued(Time(5)),
        ..nothing()
    };
    let mut pair = Pair::restart(limits, stored);
    assert_eq!(pair.dropped, [(QoS::AtLeastOnce, DropReason::QueueFull)]);
    assert_eq!(published(&pair.reconnect(lasting(Version::V5))[1]).0, "b");
}
