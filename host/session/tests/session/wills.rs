//! When a will is published, and when it is not (3.1.2.5, 3.1.3.2.2).

use tidegate_codec::{Connect, Property, ReasonCode, Version};
use tidegate_session::{Input, Limits};

use crate::pair::{Pair, SECOND, disconnect, lasting, passing, properties, will};

/// A client whose will waits for `delay` seconds and whose session outlives the link by `expiry`.
fn pair(delay: u32, expiry: u32) -> Pair {
    let mut pair = Pair::new(Limits::default());
    pair.connect(Connect {
        will: Some(will(delay)),
        keep_alive: 10,
        properties: properties(&[Property::SessionExpiryInterval(expiry)]),
        ..passing(Version::V5)
    });
    pair
}

/// [MQTT-3.1.2-8]
#[test]
fn a_will_is_published_however_the_link_is_lost() {
    let ways: [fn(&mut Pair); 5] = [
        |pair| pair.vanish(),
        |pair| drop(pair.wait(15 * SECOND)),
        |pair| drop(pair.give(Input::Fault(ReasonCode::MalformedPacket))),
        |pair| drop(pair.send(disconnect(ReasonCode::DisconnectWithWill))), // 3.14.2.1
        |pair| drop(pair.send(disconnect(ReasonCode::UnspecifiedError))),
    ];
    for way in ways {
        let mut pair = pair(0, 0);
        way(&mut pair);
        assert_eq!(pair.wills.len(), 1);
        assert_eq!(pair.wills[0].payload, "gone");
        assert_eq!(pair.ended, 1);
    }
}

/// [MQTT-3.1.2-10], [MQTT-3.14.4-3]
#[test]
fn a_will_is_discarded_by_a_normal_disconnect() {
    for delay in [0, 5] {
        let mut pair = pair(delay, 60);
        pair.send(disconnect(ReasonCode::Success));
        pair.wait(100 * SECOND);
        assert_eq!((pair.wills.len(), pair.ended), (0, 1));
    }
    let mut pair = Pair::new(Limits::default());
    pair.connect(Connect {
        will: Some(will(0)),
        ..passing(Version::V311)
    });
    pair.send(disconnect(ReasonCode::Success));
    assert!(pair.wills.is_empty());
}

/// 3.1.3.2.2: after the delay, and without the Will Delay Interval, which is no property of a message.
#[test]
fn a_will_waits_for_its_delay() {
    let mut pair = pair(20, 60);
    pair.vanish();
    pair.wait(19 * SECOND);
    assert!(pair.wills.is_empty());
    pair.wait(SECOND);
    assert_eq!((pair.wills.len(), pair.ended), (1, 0));
    assert_eq!(pair.wills[0].properties.will_delay_interval(), None);
    assert_eq!(pair.wills[0].properties.content_type(), Some("text"));
    pair.wait(100 * SECOND);
    assert_eq!((pair.wills.len(), pair.ended), (1, 1));
}

/// [MQTT-3.1.3-9]
#[test]
fn a_client_that_returns_in_time_has_no_will() {
    let mut pair = pair(20, 60);
    pair.vanish();
    pair.wait(19 * SECOND);
    assert!(pair.connect(lasting(Version::V5)).session_present);
    pair.wait(100 * SECOND);
    pair.vanish();
    pair.wait(100 * SECOND);
    assert!(pair.wills.is_empty());
}

/// 3.1.3.2.2: "whichever happens first".
#[test]
fn a_will_is_published_when_its_session_ends() {
    let mut pair = pair(20, 10);
    pair.vanish();
    pair.wait(10 * SECOND);
    assert_eq!((pair.wills.len(), pair.ended), (1, 1));
    let mut pair = self::pair(20, 0);
    pair.vanish();
    assert_eq!((pair.wills.len(), pair.ended), (1, 1));
    let mut pair = self::pair(20, 60);
    pair.vanish();
    pair.connect(passing(Version::V5));
    assert_eq!(pair.wills.len(), 1);
}

/// The tick comes late: the delay has passed all the same.
#[test]
fn a_will_that_is_overdue_is_published_before_the_session_goes_on() {
    let mut pair = pair(20, 60);
    pair.vanish();
    pair.now = pair.now + 30 * SECOND;
    assert!(pair.connect(lasting(Version::V5)).session_present);
    assert_eq!(pair.wills.len(), 1);
}
