//! A second link with the same client identifier [MQTT-3.1.4-3].

use tidegate_codec::{Connect, Packet, QoS, ReasonCode, Version};
use tidegate_session::{Input, Limits};

use crate::pair::{Pair, ack, again, delivery, disconnect, lasting, passing, publish, published, will};

#[test]
fn the_older_link_is_told_and_closed_and_the_session_goes_on() {
    let mut pair = Pair::connected(Version::V5, Limits::default());
    pair.give(Input::Deliver(delivery("a", QoS::AtLeastOnce, pair.now, 1)));
    pair.send(Packet::Publish(publish(QoS::AtLeastOnce, 1, "b")));
    let stale = pair.last_slot();
    assert_eq!(
        pair.give(Input::TakenOver),
        [disconnect(ReasonCode::SessionTakenOver)]
    );
    assert_eq!((pair.closed, pair.ended), (1, 0));
    let received = pair.reconnect(lasting(Version::V5));
    assert_eq!(published(&received[1]), ("a".to_owned(), 1, true));
    assert_eq!(pair.accept(stale), []);
    pair.send(again(QoS::AtLeastOnce, 1, "b"));
    let slot = pair.last_slot();
    assert_eq!(pair.accept(slot), [Packet::PubAck(ack(1))]);
}

#[test]
fn a_session_without_expiry_ends_with_the_takeover() {
    let mut pair = Pair::new(Limits::default());
    pair.connect(passing(Version::V5));
    pair.give(Input::TakenOver);
    assert_eq!(pair.ended, 1);
    assert!(!pair.connect(lasting(Version::V5)).session_present);
}

/// 3.1.2.5, [MQTT-3.1.3-9]: without delay the will is published; with a delay only if the session does not go on.
#[test]
fn the_will_of_the_older_link() {
    let with_will = |delay| Connect {
        will: Some(will(delay)),
        ..lasting(Version::V5)
    };
    let clean = || Connect {
        clean_start: true,
        ..lasting(Version::V5)
    };
    for (delay, next, wills) in [
        (0, lasting(Version::V5), 1),
        (60, lasting(Version::V5), 0),
        (60, clean(), 1),
    ] {
        let mut pair = Pair::new(Limits::default());
        pair.connect(with_will(delay));
        pair.give(Input::TakenOver);
        pair.connect(next);
        assert_eq!(pair.wills.len(), wills, "delay {delay}");
    }
}

/// Without notice the session still has one link only, and sends nothing to the wrong one.
#[test]
fn a_connect_without_notice_of_the_takeover_closes_nothing() {
    let mut pair = Pair::new(Limits::default());
    pair.connect(passing(Version::V5));
    assert!(!pair.connect(passing(Version::V5)).session_present);
    assert_eq!((pair.closed, pair.ended), (0, 0));
    assert!(pair.session.is_connected());
}
