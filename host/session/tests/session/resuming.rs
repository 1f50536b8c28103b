//! A client that comes back to its session.

use std::num::NonZeroU16;

use tidegate_codec::{Packet, Property, QoS, Version};
use tidegate_session::{DropReason, Input, Limits};

use crate::client::Client;
use crate::pair::{Pair, SECOND, ack, delivery, lasting, lasting_with, published};

fn deliver(pair: &mut Pair, text: &str, qos: QoS) -> Vec<Packet> {
    let delivery = delivery(text, qos, pair.now, 1);
    pair.give(Input::Deliver(delivery))
}

/// What came after CONNACK, as text, identifier and DUP; PUBREL as its name.
fn resumed(mut received: Vec<Packet>) -> Vec<(String, u16, bool)> {
    let Packet::ConnAck(connack) = received.remove(0) else {
        panic!("{received:?}")
    };
    assert!(connack.session_present); // [MQTT-3.2.2-3]
    let entry = |packet: &Packet| match packet {
        Packet::PubRel(ack) => ("PUBREL".to_owned(), ack.packet_id.get(), false),
        other => published(other),
    };
    received.iter().map(entry).collect()
}

#[test]
fn the_peer_vanishes_for_thirty_seconds_and_comes_back() {
    let mut pair = Pair::connected(Version::V5, Limits::default());
    let mut client = Client::new(lasting(Version::V5));
    client.publish(QoS::ExactlyOnce, "from client");
    client.pump(&mut pair);
    pair.vanish();
    client.unlink();
    deliver(&mut pair, "to client", QoS::ExactlyOnce);
    pair.wait(30 * SECOND);
    client.link(&mut pair);
    client.pump(&mut pair);
    pair.accept(pair.last_slot());
    assert_eq!(client.received, ["to client"]);
    assert_eq!(pair.routed.len(), 1);
}

/// [MQTT-4.4.0-1], [MQTT-4.6.0-1], [MQTT-3.3.1-1]: PUBLISH and PUBREL, in the order of the first sending.
#[test]
fn unacknowledged_packets_are_sent_again_in_their_order_then_the_queue() {
    for version in [Version::V311, Version::V5] {
        let mut pair = Pair::connected(version, Limits::default());
        for (text, qos) in [
            ("one", QoS::AtLeastOnce),
            ("two", QoS::ExactlyOnce),
            ("done", QoS::AtLeastOnce),
            ("four", QoS::AtLeastOnce),
            ("five", QoS::ExactlyOnce),
        ] {
            deliver(&mut pair, text, qos);
        }
        pair.send(Packet::PubRec(ack(2)));
        pair.send(Packet::PubAck(ack(3)));
        // Takes identifier 6 and then 3: identifiers do not tell the order.
        deliver(&mut pair, "six", QoS::AtLeastOnce);
        pair.vanish();
        deliver(&mut pair, "queued", QoS::AtLeastOnce);
        let expected = [
            ("one", 1, true),
            ("PUBREL", 2, false),
            ("four", 4, true),
            ("five", 5, true),
            ("six", 3, true),
            ("queued", 6, false),
        ];
        let expected = expected.map(|(text, packet_id, dup)| (text.to_owned(), packet_id, dup));
        assert_eq!(resumed(pair.reconnect(lasting(version))), expected);
    }
}

/// [MQTT-4.4.0-1]: at no other time.
#[test]
fn nothing_is_sent_again_within_a_link() {
    let mut pair = Pair::connected(Version::V5, Limits::default());
    deliver(&mut pair, "a", QoS::AtLeastOnce);
    assert_eq!(pair.wait(3600 * SECOND), []);
    assert_eq!(pair.send(Packet::PingReq), [Packet::PingResp]);
}

/// 4.9: the quota is the new link's own, and resending keeps to it.
#[test]
fn a_smaller_receive_maximum_holds_for_what_is_sent_again() {
    let mut pair = Pair::connected(Version::V5, Limits::default());
    for text in ["a", "b", "c"] {
        deliver(&mut pair, text, QoS::AtLeastOnce);
    }
    pair.vanish();
    deliver(&mut pair, "d", QoS::AtLeastOnce);
    let one = || lasting_with(Version::V5, &[Property::ReceiveMaximum(1)]);
    assert_eq!(resumed(pair.reconnect(one())), [("a".to_owned(), 1, true)]);
    assert_eq!(
        published(&pair.send(Packet::PubAck(ack(1)))[0]),
        ("b".to_owned(), 2, true)
    );
    // Lost again halfway: what was not sent again still is in order.
    pair.vanish();
    assert_eq!(resumed(pair.reconnect(one())), [("b".to_owned(), 2, true)]);
    assert_eq!(
        published(&pair.send(Packet::PubAck(ack(2)))[0]),
        ("c".to_owned(), 3, true)
    );
    assert_eq!(published(&pair.send(Packet::PubAck(ack(3)))[0]).0, "d");
}

/// [MQTT-3.1.2-25]
#[test]
fn what_has_become_too_large_for_the_client_is_dropped_and_the_rest_sent() {
    let mut pair = Pair::connected(Version::V5, Limits::default());
    deliver(&mut pair, "a long message", QoS::AtLeastOnce);
    deliver(&mut pair, "b", QoS::AtLeastOnce);
    pair.vanish();
    let small = lasting_with(Version::V5, &[Property::MaximumPacketSize(25)]);
    assert_eq!(resumed(pair.reconnect(small)), [("b".to_owned(), 2, true)]);
    assert_eq!(pair.dropped, [(QoS::AtLeastOnce, DropReason::PacketTooLarge)]);
}

#[test]
fn a_message_acknowledged_before_it_was_sent_again_is_over() {
    let limits = Limits {
        inflight_maximum: NonZeroU16::new(3).unwrap(),
        ..Limits::default()
    };
    let mut pair = Pair::connected(Version::V5, limits);
    for text in ["a", "b", "c"] {
        deliver(&mut pair, text, QoS::AtLeastOnce);
    }
    pair.vanish();
    pair.reconnect(lasting_with(Version::V5, &[Property::ReceiveMaximum(1)]));
    assert_eq!(pair.send(Packet::PubAck(ack(2))), []);
    assert_eq!(
        published(&pair.send(Packet::PubAck(ack(1)))[0]),
        ("c".to_owned(), 3, true)
    );
}

/// 4.9: what was released over an earlier link does not count against the Receive Maximum of this one, but it does
/// against the server's own bound.
#[test]
fn what_was_released_over_an_earlier_link_counts_for_the_server_alone() {
    let limits = |maximum| Limits {
        inflight_maximum: NonZeroU16::new(maximum).unwrap(),
        ..Limits::default()
    };
    let two = || lasting_with(Version::V5, &[Property::ReceiveMaximum(2)]);
    for (maximum, sent_at_once) in [(2, 0), (4, 2)] {
        let mut pair = Pair::new(limits(maximum));
        pair.connect(two());
        for text in ["a", "b", "c", "d", "e"] {
            deliver(&mut pair, text, QoS::ExactlyOnce);
        }
        pair.send(Packet::PubRec(ack(1)));
        pair.send(Packet::PubRec(ack(2)));
        pair.vanish();
        let received = resumed(pair.reconnect(two()));
        let texts: Vec<_> = received.iter().map(|(text, ..)| text.as_str()).collect();
        assert_eq!(texts[..2], ["PUBREL", "PUBREL"]);
        assert_eq!(texts[2..], ["c", "d"][..sent_at_once]);
        let next = pair.send(Packet::PubComp(ack(1)));
        assert_eq!(next.len(), usize::from(sent_at_once == 0));
    }
}
