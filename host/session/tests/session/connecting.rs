//! CONNECT and CONNACK.

use std::num::NonZeroU16;
use std::time::Duration;

use tidegate_codec::{Auth, Connect, Packet, Property, QoS, ReasonCode, Version};
use tidegate_session::{Limits, check, refusal};

use crate::pair::{Pair, SECOND, disconnect, lasting, lasting_with, passing, properties, will};

/// [MQTT-3.2.2-2], [MQTT-3.2.2-3], [MQTT-3.1.2-4] to [MQTT-3.1.2-6]
#[test]
fn session_present_tells_whether_the_state_was_kept() {
    for version in [Version::V311, Version::V5] {
        let mut pair = Pair::new(Limits::default());
        assert!(!pair.connect(lasting(version)).session_present);
        pair.vanish();
        pair.wait(100_000 * SECOND);
        assert!(pair.connect(lasting(version)).session_present);
        pair.vanish();
        assert!(!pair.connect(passing(version)).session_present);
        assert_eq!(pair.discarded.len(), 1);
        pair.vanish();
        assert_eq!((pair.ended, pair.session.deadline()), (1, None));
        assert!(!pair.connect(lasting(version)).session_present);
    }
}

/// 3.2.2.3: what differs from the defaults is announced, and nothing else.
#[test]
fn connack_announces_the_limits() {
    let limits = Limits {
        receive_maximum: NonZeroU16::new(10).unwrap(),
        packet_bytes_max: 5000,
        topic_alias_maximum: 3,
        maximum_qos: QoS::AtLeastOnce,
        retain_available: false,
        shared_subscriptions: false,
        ..Limits::default()
    };
    let expected = properties(&[
        Property::ReceiveMaximum(10),
        Property::MaximumQoS(1),
        Property::RetainAvailable(0),
        Property::MaximumPacketSize(5000),
        Property::TopicAliasMaximum(3),
        Property::SharedSubscriptionAvailable(0),
    ]);
    let mut pair = Pair::new(limits.clone());
    assert_eq!(pair.connect(passing(Version::V5)).properties, expected);
    let mut pair = Pair::new(limits);
    assert!(pair.connect(passing(Version::V311)).properties.is_empty());
}

/// [MQTT-3.2.2-16]
#[test]
fn a_client_without_identifier_is_told_the_one_it_got() {
    let nameless = |version| Connect {
        client_id: None,
        ..passing(version)
    };
    let connack = Pair::new(Limits::default()).connect(nameless(Version::V5));
    assert_eq!(connack.properties.assigned_client_identifier(), Some("pump-7"));
    let connack = Pair::new(Limits::default()).connect(nameless(Version::V311));
    assert!(connack.properties.is_empty());
}

/// [MQTT-3.1.2-21], [MQTT-3.2.2-21], [MQTT-3.1.2-22]
#[test]
fn a_server_keep_alive_is_announced_and_enforced() {
    let limits = Limits {
        keep_alive_max: NonZeroU16::new(60),
        ..Limits::default()
    };
    let mut pair = Pair::new(limits);
    let connack = pair.connect(lasting(Version::V5));
    assert_eq!(connack.properties.server_keep_alive(), Some(60));
    assert_eq!(pair.wait(89 * SECOND), []);
    assert_eq!(pair.send(Packet::PingReq), [Packet::PingResp]);
    assert_eq!(pair.wait(89 * SECOND), []);
    assert_eq!(pair.wait(SECOND), [disconnect(ReasonCode::KeepAliveTimeout)]);
    assert_eq!(pair.closed, 1);
}

/// 3.2.2.3.2: the client is told a session expiry that is not the one it asked for.
#[test]
fn a_shorter_session_expiry_is_announced_and_enforced() {
    let limits = Limits {
        session_expiry_max: Some(Duration::from_secs(100)),
        ..Limits::default()
    };
    let mut pair = Pair::new(limits.clone());
    let connack = pair.connect(lasting(Version::V5));
    assert_eq!(connack.properties.session_expiry_interval(), Some(100));
    pair.vanish();
    pair.wait(99 * SECOND);
    assert_eq!(pair.ended, 0);
    pair.wait(SECOND);
    assert_eq!(pair.ended, 1);
    let mut pair = Pair::new(limits);
    let short = Connect {
        properties: properties(&[Property::SessionExpiryInterval(100)]),
        ..passing(Version::V5)
    };
    assert_eq!(pair.connect(short).properties.session_expiry_interval(), None);
}

/// [MQTT-4.12.0-1], [MQTT-3.2.2-12], [MQTT-3.2.2-13], [MQTT-3.1.3-8] (3.1.1)
#[test]
fn what_cannot_be_served_is_refused() {
    let limits = Limits {
        maximum_qos: QoS::AtMostOnce,
        retain_available: false,
        ..Limits::default()
    };
    let mut retained = will(0);
    retained.message.retain = true;
    retained.message.qos = QoS::AtMostOnce;
    let cases = [
        (
            lasting_with(Version::V5, &[Property::AuthenticationMethod("SCRAM-SHA-256")]),
            ReasonCode::BadAuthenticationMethod,
        ),
        (
            Connect {
                will: Some(will(0)),
                ..passing(Version::V5)
            },
            ReasonCode::QoSNotSupported,
        ),
        (
            Connect {
                will: Some(retained),
                ..passing(Version::V5)
            },
            ReasonCode::RetainNotSupported,
        ),
    ];
    for (connect, reason) in cases {
        let mut pair = Pair::new(limits.clone());
        let connack = pair.connect(connect);
        assert_eq!((connack.reason, connack.session_present), (reason, false)); // [MQTT-3.2.2-6]
        assert_eq!(pair.closed, 1); // [MQTT-3.2.2-7]
        assert!(!pair.session.is_connected());
    }
    let nameless = Connect {
        client_id: None,
        clean_start: false,
        ..passing(Version::V311)
    };
    assert_eq!(
        check(&nameless, &limits),
        Err(ReasonCode::ClientIdentifierNotValid)
    );
    let nameless = Connect {
        version: Version::V5,
        ..nameless
    };
    assert_eq!(check(&nameless, &limits), Ok(()));
}

/// [MQTT-3.2.2-6] (3.1.1)
#[test]
fn a_refusal_that_3_1_1_cannot_express_has_no_connack() {
    assert!(refusal(Version::V311, ReasonCode::NotAuthorized).is_some());
    assert_eq!(refusal(Version::V311, ReasonCode::QoSNotSupported), None);
    assert!(refusal(Version::V5, ReasonCode::QoSNotSupported).is_some());
}

/// A refused CONNECT leaves the session it would have continued as it was.
#[test]
fn a_refused_connect_changes_no_state() {
    let mut pair = Pair::connected(Version::V5, Limits::default());
    pair.vanish();
    let connack = pair.connect(lasting_with(Version::V5, &[Property::AuthenticationMethod("X")]));
    assert_eq!(connack.reason, ReasonCode::BadAuthenticationMethod);
    assert!(pair.connect(lasting(Version::V5)).session_present);
}

/// [MQTT-3.1.0-2], [MQTT-4.12.0-7]
#[test]
fn packets_a_client_must_not_send_now_end_the_link() {
    let auth = Packet::Auth(Box::new(Auth {
        reason: ReasonCode::ReAuthenticate,
        properties: properties(&[Property::AuthenticationMethod("X")]),
    }));
    let second = Packet::Connect(Box::new(passing(Version::V5)));
    for packet in [
        auth,
        second,
        Packet::PingResp,
        refusal(Version::V5, ReasonCode::Banned).unwrap(),
    ] {
        let mut pair = Pair::connected(Version::V5, Limits::default());
        assert_eq!(pair.send(packet), [disconnect(ReasonCode::ProtocolError)]);
        assert_eq!(pair.closed, 1);
    }
    let mut pair = Pair::connected(Version::V311, Limits::default());
    assert_eq!(pair.send(Packet::Connect(Box::new(passing(Version::V311)))), []);
    assert_eq!(pair.closed, 1);
}

#[test]
fn every_link_has_its_epoch() {
    let mut pair = Pair::connected(Version::V5, Limits::default());
    assert_eq!(pair.session.epoch(), 1);
    pair.vanish();
    assert_eq!(pair.session.epoch(), 1);
    pair.connect(lasting(Version::V5));
    assert_eq!(
        (pair.session.epoch(), pair.session.version()),
        (2, Some(Version::V5))
    );
}
