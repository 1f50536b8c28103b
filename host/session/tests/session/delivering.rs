//! Messages to a client that is connected.

use std::num::{NonZeroU16, NonZeroU32};

use tidegate_codec::{Packet, Property, QoS, ReasonCode, Version};
use tidegate_session::{Delivery, DropReason, Input, Limits};

use crate::pair::{
    Pair, SECOND, ack, delivery, disconnect, failing, id, lasting_with, passing, properties, published,
};

const BOTH: [Version; 2] = [Version::V311, Version::V5];

/// Delivers `text` and returns what the client gets.
fn deliver(pair: &mut Pair, text: &str, qos: QoS) -> Vec<Packet> {
    let entry = text.bytes().map(u64::from).sum();
    let delivery = delivery(text, qos, pair.now, entry);
    pair.give(Input::Deliver(delivery))
}

fn inflight(maximum: u16) -> Limits {
    Limits {
        inflight_maximum: NonZeroU16::new(maximum).unwrap(),
        ..Limits::default()
    }
}

fn texts(packets: &[Packet]) -> Vec<String> {
    packets.iter().map(|packet| published(packet).0).collect()
}

#[test]
fn qos_0_is_sent_and_forgotten() {
    let mut pair = Pair::connected(Version::V311, Limits::default());
    let received = deliver(&mut pair, "a", QoS::AtMostOnce);
    assert_eq!(published(&received[0]), ("a".to_owned(), 0, false));
    assert_eq!(pair.session.outbound_lens(), (0, 0));
    assert_eq!(pair.finished, [97]);
}

/// [MQTT-4.3.2-1], [MQTT-4.3.2-3]
#[test]
fn qos_1_is_over_with_puback() {
    for version in BOTH {
        let mut pair = Pair::connected(version, Limits::default());
        let received = deliver(&mut pair, "a", QoS::AtLeastOnce);
        assert_eq!(published(&received[0]), ("a".to_owned(), 1, false));
        assert_eq!((pair.session.outbound_lens(), pair.finished.len()), ((0, 1), 0));
        assert_eq!(pair.send(Packet::PubAck(ack(1))), []);
        assert_eq!(
            (pair.session.outbound_lens(), &pair.finished[..]),
            ((0, 0), &[97][..])
        );
    }
}

/// [MQTT-4.3.3-1] to [MQTT-4.3.3-7]
#[test]
fn qos_2_is_over_with_pubcomp() {
    for version in BOTH {
        let mut pair = Pair::connected(version, Limits::default());
        deliver(&mut pair, "a", QoS::ExactlyOnce);
        assert_eq!(pair.send(Packet::PubRec(ack(1))), [Packet::PubRel(ack(1))]);
        assert_eq!(pair.send(Packet::PubRec(ack(1))), [Packet::PubRel(ack(1))]);
        assert_eq!((pair.session.outbound_lens(), pair.finished.len()), ((0, 1), 0));
        assert_eq!(pair.send(Packet::PubComp(ack(1))), []);
        assert_eq!(
            (pair.session.outbound_lens(), &pair.finished[..]),
            ((0, 0), &[97][..])
        );
    }
}

/// [MQTT-2.2.1-4]: an identifier is free again only when its exchange is over.
#[test]
fn identifiers_in_use_are_not_given_again() {
    let mut pair = Pair::connected(Version::V5, Limits::default());
    let mut given = Vec::new();
    for text in ["a", "b", "c"] {
        given.push(published(&deliver(&mut pair, text, QoS::ExactlyOnce)[0]).1);
    }
    assert_eq!(given, [1, 2, 3]);
    pair.send(Packet::PubRec(ack(2)));
    assert_eq!(published(&deliver(&mut pair, "d", QoS::AtLeastOnce)[0]).1, 4);
    pair.send(Packet::PubComp(ack(2)));
    assert_eq!(published(&deliver(&mut pair, "e", QoS::AtLeastOnce)[0]).1, 2);
}

/// [MQTT-4.4.0-2]: a failing PUBREC ends the exchange, and its quota is free.
#[test]
fn a_failing_pubrec_ends_the_exchange() {
    let mut pair = Pair::connected(Version::V5, inflight(1));
    deliver(&mut pair, "a", QoS::ExactlyOnce);
    assert_eq!(deliver(&mut pair, "b", QoS::ExactlyOnce), []);
    let next = pair.send(Packet::PubRec(failing(1, ReasonCode::QuotaExceeded)));
    assert_eq!(texts(&next), ["b"]);
    assert_eq!(pair.finished, [97]);
}

/// [MQTT-3.3.4-9], 4.9: the client's Receive Maximum holds, QoS 0 passes by, and the place is free at PUBACK, PUBCOMP.
#[test]
fn the_receive_maximum_of_the_client_is_honoured() {
    let mut pair = Pair::new(Limits::default());
    pair.connect(lasting_with(Version::V5, &[Property::ReceiveMaximum(2)]));
    assert_eq!(deliver(&mut pair, "a", QoS::ExactlyOnce).len(), 1);
    assert_eq!(deliver(&mut pair, "b", QoS::AtLeastOnce).len(), 1);
    assert_eq!(deliver(&mut pair, "c", QoS::AtLeastOnce), []);
    assert_eq!(deliver(&mut pair, "d", QoS::ExactlyOnce), []);
    assert_eq!(texts(&deliver(&mut pair, "e", QoS::AtMostOnce)), ["e"]);
    assert_eq!(pair.session.outbound_lens(), (2, 2));
    assert_eq!(pair.send(Packet::PubRec(ack(1))), [Packet::PubRel(ack(1))]);
    assert_eq!(texts(&pair.send(Packet::PubAck(ack(2)))), ["c"]);
    assert_eq!(texts(&pair.send(Packet::PubComp(ack(1)))), ["d"]);
}

#[test]
fn the_servers_own_maximum_holds_for_3_1_1() {
    let mut pair = Pair::connected(Version::V311, inflight(1));
    deliver(&mut pair, "a", QoS::AtLeastOnce);
    assert_eq!(deliver(&mut pair, "b", QoS::AtLeastOnce), []);
    assert_eq!(texts(&pair.send(Packet::PubAck(ack(1)))), ["b"]);
}

/// One message that is never acknowledged does not stop the others.
#[test]
fn messages_pass_one_that_is_not_acknowledged() {
    let mut pair = Pair::connected(Version::V5, inflight(2));
    deliver(&mut pair, "stuck", QoS::AtLeastOnce);
    for _ in 0..100_000 {
        let packet_id = published(&deliver(&mut pair, "b", QoS::AtLeastOnce)[0]).1;
        assert_eq!(packet_id, 2);
        pair.send(Packet::PubAck(ack(packet_id)));
    }
    assert_eq!(pair.session.outbound_lens(), (0, 1));
}

#[test]
fn an_acknowledgement_of_the_other_qos_is_a_protocol_error() {
    let wrong = [
        (QoS::AtLeastOnce, Packet::PubRec(ack(1))),
        (QoS::AtLeastOnce, Packet::PubComp(ack(1))),
        (QoS::ExactlyOnce, Packet::PubAck(ack(1))),
        (QoS::ExactlyOnce, Packet::PubComp(ack(1))),
    ];
    for (qos, packet) in wrong {
        let mut pair = Pair::connected(Version::V5, Limits::default());
        deliver(&mut pair, "a", qos);
        assert_eq!(pair.send(packet), [disconnect(ReasonCode::ProtocolError)]);
    }
}

/// 3.6.2.1: PUBREC is answered in any case; the others need no answer.
#[test]
fn acknowledgements_of_unknown_identifiers_change_nothing() {
    let mut pair = Pair::connected(Version::V5, Limits::default());
    assert_eq!(pair.send(Packet::PubAck(ack(5))), []);
    assert_eq!(pair.send(Packet::PubComp(ack(5))), []);
    let unknown = Packet::PubRel(failing(5, ReasonCode::PacketIdentifierNotFound));
    assert_eq!(pair.send(Packet::PubRec(ack(5))), [unknown]);
    let mut pair = Pair::connected(Version::V311, Limits::default());
    assert_eq!(pair.send(Packet::PubRec(ack(5))), [Packet::PubRel(ack(5))]);
}

/// [MQTT-3.1.2-24], [MQTT-3.1.2-25]: not sent, and over as if it had been.
#[test]
fn a_message_over_the_clients_maximum_packet_size_is_dropped() {
    let mut pair = Pair::new(Limits::default());
    // Fixed header 2, topic 2 + 12, identifier 2, property length 1, payload 1: 20 bytes.
    pair.connect(lasting_with(Version::V5, &[Property::MaximumPacketSize(20)]));
    assert_eq!(texts(&deliver(&mut pair, "a", QoS::AtLeastOnce)), ["a"]);
    assert_eq!(deliver(&mut pair, "aa", QoS::AtLeastOnce), []);
    assert_eq!(texts(&deliver(&mut pair, "abc", QoS::AtMostOnce)), ["abc"]);
    assert_eq!(deliver(&mut pair, "abcd", QoS::AtMostOnce), []);
    let too_large = DropReason::PacketTooLarge;
    assert_eq!(
        pair.dropped,
        [(QoS::AtLeastOnce, too_large), (QoS::AtMostOnce, too_large)]
    );
    assert_eq!(pair.finished.len(), 3);
}

/// [MQTT-3.3.1-12], [MQTT-3.3.4-3], [MQTT-3.3.2-17]
#[test]
fn retain_identifiers_and_properties_are_those_of_the_delivery() {
    let mut pair = Pair::connected(Version::V5, Limits::default());
    let mut delivery = delivery("a", QoS::AtLeastOnce, pair.now, 0);
    delivery.message.properties =
        properties(&[Property::ContentType("text"), Property::UserProperty("k", "v")]);
    delivery.retain = true;
    delivery.identifiers = Box::new([7, 300]);
    let received = pair.give(Input::Deliver(delivery.clone()));
    let Packet::Publish(publish) = &received[0] else {
        panic!("{received:?}")
    };
    assert!(publish.retain);
    assert_eq!(
        publish.properties.subscription_identifiers().collect::<Vec<_>>(),
        [7, 300]
    );
    assert_eq!(publish.properties.content_type(), Some("text"));
    assert_eq!(
        publish.properties.user_properties().collect::<Vec<_>>(),
        [("k", "v")]
    );
    // 3.1.1 has no properties.
    let mut pair = Pair::connected(Version::V311, Limits::default());
    let received = pair.give(Input::Deliver(delivery));
    let Packet::Publish(publish) = &received[0] else {
        panic!("{received:?}")
    };
    assert!(publish.retain && publish.properties.is_empty());
}

/// [MQTT-3.3.2-5], [MQTT-3.3.2-6]
#[test]
fn message_expiry_counts_down_in_the_queue_and_then_drops() {
    let mut pair = Pair::connected(Version::V5, inflight(1));
    let expiring = |seconds, text: &str, now| Delivery {
        message: tidegate_codec::Message {
            properties: properties(&[Property::MessageExpiryInterval(seconds)]),
            ..delivery(text, QoS::AtLeastOnce, now, 0).message
        },
        ..delivery(text, QoS::AtLeastOnce, now, u64::from(seconds))
    };
    deliver(&mut pair, "blocks", QoS::AtLeastOnce);
    let now = pair.now;
    for (seconds, text) in [(5, "five"), (60, "sixty")] {
        assert_eq!(pair.give(Input::Deliver(expiring(seconds, text, now))), []);
    }
    pair.wait(10 * SECOND);
    let received = pair.send(Packet::PubAck(ack(1)));
    assert_eq!(texts(&received), ["sixty"]);
    let Packet::Publish(publish) = &received[0] else {
        panic!("{received:?}")
    };
    assert_eq!(publish.properties.message_expiry_interval(), Some(50));
    assert_eq!(publish.packet_id, Some(id(1)));
    assert_eq!(pair.dropped, [(QoS::AtLeastOnce, DropReason::Expired)]);
    assert!(pair.finished.contains(&5));
    // What waited elsewhere, in the log or as a retained message, has been counting since the server got it.
    let waited = expiring(3, "late", now);
    pair.send(Packet::PubAck(ack(1)));
    assert_eq!(pair.give(Input::Deliver(waited)), []);
    assert_eq!(pair.dropped.len(), 2);
}

/// Full means that the client is too slow: the oldest goes, counted and named.
#[test]
fn a_full_queue_drops_its_oldest() {
    let limits = Limits {
        queued_messages_max: 2,
        ..inflight(1)
    };
    let mut pair = Pair::connected(Version::V5, limits);
    for text in ["a", "b", "c", "d"] {
        deliver(&mut pair, text, QoS::AtLeastOnce);
    }
    assert_eq!(pair.dropped, [(QoS::AtLeastOnce, DropReason::QueueFull)]);
    assert_eq!(pair.finished, [u64::from(b'b')]);
    assert_eq!(texts(&pair.send(Packet::PubAck(ack(1)))), ["c"]);
    assert_eq!(texts(&pair.send(Packet::PubAck(ack(1)))), ["d"]);
}

#[test]
fn the_queue_is_bounded_in_bytes_too() {
    let limits = Limits {
        queued_bytes_max: 2 * (12 + 100),
        ..inflight(1)
    };
    let mut pair = Pair::connected(Version::V5, limits);
    deliver(&mut pair, "blocks", QoS::AtLeastOnce);
    let hundred = |start: &str| format!("{start}{}", "x".repeat(99));
    for start in ["a", "b", "c"] {
        deliver(&mut pair, &hundred(start), QoS::AtLeastOnce);
    }
    assert_eq!(pair.session.outbound_lens(), (2, 1));
    // What is larger than the whole queue never gets in, and empties it: the oldest go first.
    deliver(&mut pair, &"x".repeat(500), QoS::AtLeastOnce);
    assert_eq!(pair.session.outbound_lens(), (0, 1));
    assert_eq!(pair.dropped.len(), 4);
}

#[test]
fn without_a_link_qos_0_is_dropped_and_the_rest_waits() {
    let mut pair = Pair::connected(Version::V5, Limits::default());
    pair.vanish();
    deliver(&mut pair, "a", QoS::AtMostOnce);
    deliver(&mut pair, "b", QoS::AtLeastOnce);
    assert_eq!(pair.dropped, [(QoS::AtMostOnce, DropReason::Offline)]);
    assert_eq!(pair.session.outbound_lens(), (1, 0));
}

#[test]
fn a_session_that_is_over_takes_nothing() {
    let mut pair = Pair::new(Limits::default());
    pair.connect(passing(Version::V5));
    pair.vanish();
    assert_eq!(pair.ended, 1);
    deliver(&mut pair, "a", QoS::AtLeastOnce);
    assert_eq!(pair.dropped, [(QoS::AtLeastOnce, DropReason::Offline)]);
    assert_eq!(pair.session.outbound_lens(), (0, 0));
}

/// [MQTT-4.8.2-5]: of a shared subscription, another member may get what this one never got, but no
/// QoS 2 message that was sent.
#[test]
fn a_session_that_ends_hands_back_what_a_shared_subscription_gave_it() {
    let mut pair = Pair::new(inflight(2));
    pair.connect(passing(Version::V5));
    let group = NonZeroU32::new(3);
    let cases = [
        ("one", QoS::AtLeastOnce),
        ("two", QoS::ExactlyOnce),
        ("queued", QoS::ExactlyOnce),
    ];
    for (number, (text, qos)) in (1..).zip(cases) {
        let delivery = Delivery {
            group,
            ..delivery(text, qos, pair.now, number)
        };
        pair.give(Input::Deliver(delivery));
    }
    deliver(&mut pair, "own", QoS::AtLeastOnce);
    pair.vanish();
    let returned: Vec<_> = pair
        .returned
        .iter()
        .map(|delivery| &delivery.message.payload[..])
        .collect();
    assert_eq!(returned, [&b"one"[..], b"queued"]);
    assert_eq!(pair.finished.len(), 2);
}
