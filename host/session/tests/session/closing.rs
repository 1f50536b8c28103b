//! The ways a link closes, and the end of a session.

use std::time::Duration;

use tidegate_codec::{Connect, Disconnect, Packet, Property, ReasonCode, Version};
use tidegate_session::{Input, Limits};

use crate::pair::{Pair, SECOND, disconnect, lasting, passing, properties, subscribe};

/// A version 5 CONNECT whose session outlives the link by `seconds`.
fn expiring(seconds: u32) -> Connect {
    Connect {
        clean_start: false,
        properties: properties(&[Property::SessionExpiryInterval(seconds)]),
        ..passing(Version::V5)
    }
}

/// DISCONNECT that changes the session expiry.
fn leaving_with(seconds: u32) -> Packet {
    Packet::Disconnect(Box::new(Disconnect {
        reason: ReasonCode::Success,
        properties: properties(&[Property::SessionExpiryInterval(seconds)]),
    }))
}

#[test]
fn a_normal_disconnect_closes_and_keeps_the_session() {
    for version in [Version::V311, Version::V5] {
        let mut pair = Pair::connected(version, Limits::default());
        assert_eq!(pair.send(disconnect(ReasonCode::Success)), []);
        assert_eq!((pair.closed, pair.ended), (1, 0));
        assert!(pair.connect(lasting(version)).session_present);
    }
}

/// [MQTT-4.1.0-2]
#[test]
fn a_session_ends_when_its_expiry_has_passed() {
    let mut pair = Pair::new(Limits::default());
    pair.connect(expiring(10));
    pair.send(subscribe(1, &["a", "b/#"]));
    pair.wait(100 * SECOND);
    pair.vanish();
    pair.wait(9 * SECOND);
    assert_eq!(pair.ended, 0);
    pair.wait(SECOND);
    assert_eq!(pair.ended, 1);
    let filters: Vec<_> = pair.discarded[0].iter().map(|filter| filter.as_str()).collect();
    assert_eq!(filters, ["a", "b/#"]);
    assert_eq!(pair.session.deadline(), None);
}

/// The client comes back at the moment of expiry, before the tick that would have ended the session.
#[test]
fn a_session_that_is_overdue_is_not_continued() {
    let mut pair = Pair::new(Limits::default());
    pair.connect(expiring(10));
    pair.vanish();
    pair.now = pair.now + 10 * SECOND;
    assert!(!pair.connect(expiring(10)).session_present);
    assert_eq!((pair.discarded.len(), pair.ended), (1, 0));
}

/// 3.14.2.2.2
#[test]
fn disconnect_may_change_the_expiry() {
    let mut pair = Pair::new(Limits::default());
    pair.connect(expiring(10));
    pair.send(leaving_with(100));
    pair.wait(99 * SECOND);
    assert_eq!(pair.ended, 0);
    pair.wait(SECOND);
    assert_eq!(pair.ended, 1);
    let mut pair = Pair::new(Limits::default());
    pair.connect(expiring(10));
    pair.send(leaving_with(0));
    assert_eq!(pair.ended, 1);
}

#[test]
fn disconnect_cannot_pass_the_servers_limit() {
    let mut pair = Pair::new(Limits {
        session_expiry_max: Some(Duration::from_secs(20)),
        ..Limits::default()
    });
    pair.connect(expiring(10));
    pair.send(leaving_with(u32::MAX));
    pair.wait(20 * SECOND);
    assert_eq!(pair.ended, 1);
}

/// 3.14.2.2.2: a session that was to end with its link cannot be kept by DISCONNECT.
#[test]
fn disconnect_must_not_turn_expiry_zero_into_more() {
    let mut pair = Pair::new(Limits::default());
    pair.connect(passing(Version::V5));
    assert_eq!(
        pair.send(leaving_with(5)),
        [disconnect(ReasonCode::ProtocolError)]
    );
    assert_eq!((pair.closed, pair.ended), (1, 1));
}

/// [MQTT-3.14.2-1]: a code that only servers may send.
#[test]
fn disconnect_with_a_servers_reason_is_a_protocol_error() {
    let mut pair = Pair::connected(Version::V5, Limits::default());
    let answer = pair.send(disconnect(ReasonCode::ServerBusy));
    assert_eq!(answer, [disconnect(ReasonCode::ProtocolError)]);
}

/// 3.1.2.10: silence of one and a half intervals; a link that the broker does not read is not silent.
#[test]
fn a_silent_client_is_disconnected_unless_it_was_not_read() {
    let mut pair = Pair::new(Limits::default());
    pair.connect(Connect {
        keep_alive: 10,
        ..lasting(Version::V311)
    });
    pair.wait(10 * SECOND);
    pair.give(Input::Reading(false));
    pair.wait(1000 * SECOND);
    assert!(pair.session.is_connected());
    pair.give(Input::Reading(true));
    pair.wait(14 * SECOND);
    assert!(pair.session.is_connected());
    assert_eq!(pair.wait(SECOND), []); // 3.1.1 is not told why.
    assert_eq!(pair.closed, 1);
    assert_eq!(pair.session.deadline(), None);
}

/// [MQTT-4.13.2-1]; 3.1.1 has no DISCONNECT from the server.
#[test]
fn the_server_says_why_it_closes_where_it_can() {
    for (input, reason) in [
        (
            Input::Fault(ReasonCode::MalformedPacket),
            ReasonCode::MalformedPacket,
        ),
        (
            Input::Fault(ReasonCode::BadUserNameOrPassword),
            ReasonCode::UnspecifiedError,
        ),
        (Input::Shutdown, ReasonCode::ServerShuttingDown),
    ] {
        let mut pair = Pair::connected(Version::V5, Limits::default());
        assert_eq!(pair.give(input.clone()), [disconnect(reason)]);
        assert_eq!((pair.closed, pair.ended), (1, 0));
        let mut pair = Pair::connected(Version::V311, Limits::default());
        assert_eq!(pair.give(input), []);
        assert_eq!(pair.closed, 1);
    }
}

#[test]
fn inputs_of_a_link_that_is_gone_change_nothing() {
    let mut pair = Pair::connected(Version::V5, Limits::default());
    pair.send(disconnect(ReasonCode::Success));
    for input in [
        Input::Lost,
        Input::Packet(Packet::PingReq),
        Input::Fault(ReasonCode::MalformedPacket),
        Input::TakenOver,
        Input::Shutdown,
        Input::Reading(false),
        Input::Tick,
    ] {
        assert_eq!(pair.give(input), []);
    }
    assert_eq!((pair.closed, pair.ended), (1, 0));
}
