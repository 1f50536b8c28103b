//! Messages from the client.

use std::num::NonZeroU16;

use tidegate_codec::{Packet, Property, Publish, QoS, ReasonCode, TopicName, Version};
use tidegate_session::{AckOrder, Input, Limits, Settlement};

use crate::pair::{Pair, ack, again, disconnect, failing, lasting, properties, publish};

const BOTH: [Version; 2] = [Version::V311, Version::V5];

fn few(receive_maximum: u16) -> Limits {
    Limits {
        receive_maximum: NonZeroU16::new(receive_maximum).unwrap(),
        ..Limits::default()
    }
}

#[test]
fn qos_0_has_no_slot_and_no_answer() {
    let mut pair = Pair::connected(Version::V5, Limits::default());
    assert_eq!(pair.send(Packet::Publish(publish(QoS::AtMostOnce, 0, "a"))), []);
    assert_eq!(pair.admitted[0].0, None);
    assert_eq!(pair.admitted[0].1.payload, "a");
}

/// [MQTT-4.3.2-4] and, for the order, [MQTT-4.6.0-2].
#[test]
fn puback_leaves_when_the_pipeline_is_done_and_in_order() {
    for version in BOTH {
        let mut pair = Pair::connected(version, Limits::default());
        for number in [7, 3, 9] {
            assert_eq!(
                pair.send(Packet::Publish(publish(QoS::AtLeastOnce, number, "a"))),
                []
            );
        }
        let slots: Vec<_> = pair.admitted.iter().map(|(slot, _)| slot.unwrap()).collect();
        assert_eq!(pair.accept(slots[2]), []);
        assert_eq!(pair.accept(slots[1]), []);
        let expected = [ack(7), ack(3), ack(9)].map(Packet::PubAck);
        assert_eq!(pair.accept(slots[0]), expected);
        assert_eq!(pair.accept(slots[0]), []);
        assert_eq!(pair.session.inbound_len(), 0);
    }
}

#[test]
fn order_any_acknowledges_as_messages_settle() {
    let limits = Limits {
        ack_order: AckOrder::Any,
        ..Limits::default()
    };
    let mut pair = Pair::connected(Version::V5, limits);
    for qos in [QoS::AtLeastOnce, QoS::ExactlyOnce] {
        pair.send(Packet::Publish(publish(qos, 1, "a")));
        pair.send(Packet::Publish(publish(qos, 2, "b")));
    }
    let slots: Vec<_> = pair.admitted.iter().map(|(slot, _)| slot.unwrap()).collect();
    assert_eq!(pair.accept(slots[1]), [Packet::PubAck(ack(2))]);
    assert_eq!(pair.accept(slots[3]), [Packet::PubRec(ack(2))]);
    assert_eq!(pair.routed[0].payload, "b");
    assert_eq!(pair.accept(slots[0]), [Packet::PubAck(ack(1))]);
    assert_eq!(pair.accept(slots[2]), [Packet::PubRec(ack(1))]);
}

/// [MQTT-4.3.3-8] to [MQTT-4.3.3-12]
#[test]
fn qos_2_routes_when_its_turn_comes_then_pubrec_pubrel_pubcomp() {
    for version in BOTH {
        let mut pair = Pair::connected(version, Limits::default());
        pair.send(Packet::Publish(publish(QoS::ExactlyOnce, 4, "a")));
        let first = pair.last_slot();
        pair.send(Packet::Publish(publish(QoS::ExactlyOnce, 5, "b")));
        let second = pair.last_slot();
        assert_eq!(pair.accept(second), []);
        assert!(pair.routed.is_empty(), "routed before the message ahead of it");
        assert_eq!(pair.accept(first), [ack(4), ack(5)].map(Packet::PubRec));
        assert_eq!(
            pair.routed
                .iter()
                .map(|message| &message.payload[..])
                .collect::<Vec<_>>(),
            [b"a", b"b"]
        );
        assert_eq!(pair.send(Packet::PubRel(ack(4))), [Packet::PubComp(ack(4))]);
        assert_eq!(pair.session.inbound_len(), 1);
    }
}

/// The windows of QoS 1 and QoS 2 do not wait for each other.
#[test]
fn a_slow_qos_2_message_does_not_hold_back_qos_1() {
    let mut pair = Pair::connected(Version::V5, Limits::default());
    pair.send(Packet::Publish(publish(QoS::ExactlyOnce, 1, "a")));
    pair.send(Packet::Publish(publish(QoS::AtLeastOnce, 2, "b")));
    let slot = pair.last_slot();
    assert_eq!(pair.accept(slot), [Packet::PubAck(ack(2))]);
}

/// [MQTT-4.3.3-9]: a PUBREC of 0x80 or more ends the exchange; the identifier is new the next time.
#[test]
fn a_failing_pubrec_frees_the_identifier_and_routes_nothing() {
    let mut pair = Pair::connected(Version::V5, few(1));
    pair.send(Packet::Publish(publish(QoS::ExactlyOnce, 4, "a")));
    let slot = pair.last_slot();
    let refused = pair.refuse(slot, ReasonCode::NotAuthorized);
    assert_eq!(refused, [Packet::PubRec(failing(4, ReasonCode::NotAuthorized))]);
    assert!(pair.session.has_room());
    pair.send(Packet::Publish(publish(QoS::ExactlyOnce, 4, "b")));
    assert_eq!(pair.admitted.len(), 2);
    let slot = pair.last_slot();
    pair.accept(slot);
    assert_eq!(pair.routed.len(), 1);
    assert_eq!(pair.routed[0].payload, "b");
}

/// 3.1.1 cannot be told, so the exchange goes on to its end.
#[test]
fn a_refused_message_of_3_1_1_is_acknowledged_and_not_routed() {
    let mut pair = Pair::connected(Version::V311, Limits::default());
    pair.send(Packet::Publish(publish(QoS::AtLeastOnce, 1, "a")));
    let slot = pair.last_slot();
    assert_eq!(
        pair.refuse(slot, ReasonCode::NotAuthorized),
        [Packet::PubAck(ack(1))]
    );
    pair.send(Packet::Publish(publish(QoS::ExactlyOnce, 2, "b")));
    let slot = pair.last_slot();
    assert_eq!(
        pair.refuse(slot, ReasonCode::NotAuthorized),
        [Packet::PubRec(ack(2))]
    );
    assert_eq!(
        pair.send(again(QoS::ExactlyOnce, 2, "b")),
        [Packet::PubRec(ack(2))]
    );
    assert_eq!(pair.send(Packet::PubRel(ack(2))), [Packet::PubComp(ack(2))]);
    assert_eq!((pair.admitted.len(), pair.routed.len()), (2, 0));
}

/// A reason that PUBACK has no room for must not make the packet malformed.
#[test]
fn a_reason_foreign_to_puback_becomes_unspecified() {
    let mut pair = Pair::connected(Version::V5, Limits::default());
    pair.send(Packet::Publish(publish(QoS::AtLeastOnce, 1, "a")));
    let slot = pair.last_slot();
    let refused = pair.refuse(slot, ReasonCode::SessionTakenOver);
    assert_eq!(
        refused,
        [Packet::PubAck(failing(1, ReasonCode::UnspecifiedError))]
    );
}

/// [MQTT-4.3.3-10]
#[test]
fn a_repeated_qos_2_publish_is_admitted_once() {
    for version in BOTH {
        let mut pair = Pair::connected(version, Limits::default());
        pair.send(Packet::Publish(publish(QoS::ExactlyOnce, 4, "a")));
        assert_eq!(pair.send(again(QoS::ExactlyOnce, 4, "a")), []);
        let slot = pair.last_slot();
        assert_eq!(pair.accept(slot), [Packet::PubRec(ack(4))]);
        assert_eq!(
            pair.send(again(QoS::ExactlyOnce, 4, "a")),
            [Packet::PubRec(ack(4))]
        );
        assert_eq!((pair.admitted.len(), pair.routed.len()), (1, 1));
        // After PUBREL the identifier stands for a new message.
        pair.send(Packet::PubRel(ack(4)));
        pair.send(Packet::Publish(publish(QoS::ExactlyOnce, 4, "b")));
        assert_eq!(pair.admitted.len(), 2);
    }
}

#[test]
fn a_qos_1_resend_within_a_link_is_answered_by_the_one_puback_to_come() {
    let mut pair = Pair::connected(Version::V311, Limits::default());
    pair.send(Packet::Publish(publish(QoS::AtLeastOnce, 4, "a")));
    assert_eq!(pair.send(again(QoS::AtLeastOnce, 4, "a")), []);
    assert_eq!(pair.admitted.len(), 1);
    let slot = pair.last_slot();
    assert_eq!(pair.accept(slot), [Packet::PubAck(ack(4))]);
    // [MQTT-4.3.2-5] once acknowledged, the identifier stands for a new message, whatever DUP says.
    pair.send(again(QoS::AtLeastOnce, 4, "a"));
    assert_eq!(pair.admitted.len(), 2);
}

/// 3.7.2.1: version 5 says "not found", 3.1.1 completes.
#[test]
fn pubrel_of_an_unknown_identifier_is_answered() {
    let mut pair = Pair::connected(Version::V5, Limits::default());
    let unknown = Packet::PubComp(failing(9, ReasonCode::PacketIdentifierNotFound));
    assert_eq!(pair.send(Packet::PubRel(ack(9))), [unknown]);
    let mut pair = Pair::connected(Version::V311, Limits::default());
    assert_eq!(pair.send(Packet::PubRel(ack(9))), [Packet::PubComp(ack(9))]);
}

/// [MQTT-4.3.3-4]: PUBREL answers a PUBREC.
#[test]
fn pubrel_before_pubrec_is_a_protocol_error() {
    let mut pair = Pair::connected(Version::V5, Limits::default());
    pair.send(Packet::Publish(publish(QoS::ExactlyOnce, 4, "a")));
    assert_eq!(
        pair.send(Packet::PubRel(ack(4))),
        [disconnect(ReasonCode::ProtocolError)]
    );
    assert_eq!(pair.closed, 1);
}

/// [MQTT-3.3.4-7]; the quota is free again after PUBACK and after PUBCOMP (4.9).
#[test]
fn more_than_the_receive_maximum_ends_a_version_5_link() {
    let mut pair = Pair::connected(Version::V5, few(2));
    pair.send(Packet::Publish(publish(QoS::AtLeastOnce, 1, "a")));
    let slot = pair.last_slot();
    pair.send(Packet::Publish(publish(QoS::ExactlyOnce, 2, "b")));
    assert!(!pair.session.has_room());
    pair.accept(slot);
    assert!(pair.session.has_room());
    pair.send(Packet::Publish(publish(QoS::ExactlyOnce, 3, "c")));
    // A repetition is within the quota of the first.
    assert_eq!(pair.send(again(QoS::ExactlyOnce, 3, "c")), []);
    assert_eq!(pair.send(Packet::Publish(publish(QoS::AtMostOnce, 0, "d"))), []);
    let fault = pair.send(Packet::Publish(publish(QoS::AtLeastOnce, 4, "e")));
    assert_eq!(fault, [disconnect(ReasonCode::ReceiveMaximumExceeded)]);
    assert_eq!(pair.closed, 1);
    assert!(!pair.session.is_connected());
}

#[test]
fn quota_of_qos_2_is_free_after_pubcomp_not_before() {
    let mut pair = Pair::connected(Version::V5, few(1));
    pair.send(Packet::Publish(publish(QoS::ExactlyOnce, 1, "a")));
    let slot = pair.last_slot();
    pair.accept(slot);
    assert!(!pair.session.has_room());
    pair.send(Packet::PubRel(ack(1)));
    assert!(pair.session.has_room());
}

#[test]
fn nothing_of_3_1_1_is_refused_for_its_number() {
    let mut pair = Pair::connected(Version::V311, few(1));
    for number in 1..=50 {
        pair.send(Packet::Publish(publish(QoS::AtLeastOnce, number, "a")));
        assert!(!pair.session.has_room());
    }
    assert_eq!((pair.admitted.len(), pair.closed), (50, 0));
}

/// The client sends the message again as a new one, so that the settle of the old one answers nothing.
#[test]
fn a_qos_1_settle_of_an_earlier_link_acknowledges_nothing() {
    for with_qos_2 in [false, true] {
        let mut pair = Pair::connected(Version::V5, Limits::default());
        if with_qos_2 {
            pair.send(Packet::Publish(publish(QoS::ExactlyOnce, 9, "b")));
        }
        pair.send(Packet::Publish(publish(QoS::AtLeastOnce, 1, "a")));
        let stale = pair.last_slot();
        pair.vanish();
        pair.connect(lasting(Version::V5));
        pair.send(again(QoS::AtLeastOnce, 1, "a"));
        let fresh = pair.last_slot();
        assert_eq!(pair.accept(stale), []);
        assert_eq!(pair.accept(fresh), [Packet::PubAck(ack(1))]);
    }
}

/// An earlier link's QoS 2 message settles while the client is away: it is routed, and the PUBLISH sent again is
/// answered without being admitted [MQTT-4.3.3-10].
#[test]
fn a_qos_2_settle_without_a_link_updates_the_session() {
    for version in BOTH {
        let mut pair = Pair::connected(version, Limits::default());
        pair.send(Packet::Publish(publish(QoS::ExactlyOnce, 1, "a")));
        let slot = pair.last_slot();
        pair.vanish();
        assert_eq!(pair.accept(slot), []);
        assert_eq!(pair.routed.len(), 1);
        pair.connect(lasting(version));
        assert_eq!(
            pair.send(again(QoS::ExactlyOnce, 1, "a")),
            [Packet::PubRec(ack(1))]
        );
        assert_eq!(pair.send(Packet::PubRel(ack(1))), [Packet::PubComp(ack(1))]);
        assert_eq!((pair.admitted.len(), pair.routed.len()), (1, 1));
    }
}

/// The client gets its PUBREC on the new link only after it has sent the PUBLISH there.
#[test]
fn a_qos_2_settle_before_the_resend_sends_nothing() {
    let mut pair = Pair::connected(Version::V5, Limits::default());
    pair.send(Packet::Publish(publish(QoS::ExactlyOnce, 1, "a")));
    let slot = pair.last_slot();
    pair.vanish();
    pair.connect(lasting(Version::V5));
    assert_eq!(pair.accept(slot), []);
    assert_eq!(
        pair.send(again(QoS::ExactlyOnce, 1, "a")),
        [Packet::PubRec(ack(1))]
    );
}

#[test]
fn a_qos_2_settle_after_the_resend_is_answered_once() {
    let mut pair = Pair::connected(Version::V5, Limits::default());
    pair.send(Packet::Publish(publish(QoS::ExactlyOnce, 1, "a")));
    let slot = pair.last_slot();
    pair.vanish();
    pair.connect(lasting(Version::V5));
    assert_eq!(pair.send(again(QoS::ExactlyOnce, 1, "a")), []);
    assert_eq!(pair.accept(slot), [Packet::PubRec(ack(1))]);
    assert_eq!((pair.admitted.len(), pair.routed.len()), (1, 1));
}

#[test]
fn what_settles_after_its_session_was_discarded_changes_nothing() {
    let mut pair = Pair::connected(Version::V5, Limits::default());
    pair.send(Packet::Publish(publish(QoS::ExactlyOnce, 1, "a")));
    let stale = pair.last_slot();
    pair.vanish();
    pair.connect(tidegate_codec::Connect {
        clean_start: true,
        ..lasting(Version::V5)
    });
    pair.send(Packet::Publish(publish(QoS::ExactlyOnce, 1, "b")));
    assert_eq!(pair.accept(stale), []);
    assert!(pair.routed.is_empty());
    let outcome = Settlement::Accepted { route: None };
    let slot = pair.last_slot();
    assert_eq!(
        pair.give(Input::Settled { slot, outcome }),
        [Packet::PubRec(ack(1))]
    );
}

/// 3.3.2.3.4; the alias itself stays on this link.
#[test]
fn a_topic_alias_is_resolved_before_the_pipeline() {
    let mut pair = Pair::connected(Version::V5, Limits::default());
    let alias = properties(&[Property::TopicAlias(2), Property::ContentType("text")]);
    let first = Publish {
        properties: alias.clone(),
        ..publish(QoS::AtMostOnce, 0, "a")
    };
    let second = Publish {
        topic: None,
        ..first.clone()
    };
    pair.send(Packet::Publish(first));
    pair.send(Packet::Publish(second));
    for (_, message) in &pair.admitted {
        assert_eq!(message.topic, TopicName::new("plant/1/pump").unwrap());
        assert_eq!(message.properties.topic_alias(), None);
        assert_eq!(message.properties.content_type(), Some("text"));
    }
    // [MQTT-3.3.2-7] aliases do not outlive the link.
    pair.vanish();
    pair.connect(lasting(Version::V5));
    let unknown = Publish {
        topic: None,
        properties: alias,
        ..publish(QoS::AtMostOnce, 0, "a")
    };
    assert_eq!(
        pair.send(Packet::Publish(unknown)),
        [disconnect(ReasonCode::ProtocolError)]
    );
    assert_eq!(pair.admitted.len(), 2);
}

/// [MQTT-3.3.2-9], [MQTT-3.2.2-11], [MQTT-3.2.2-14], [MQTT-3.3.4-6]
#[test]
fn what_a_publish_must_not_carry_ends_the_link() {
    let limits = Limits {
        topic_alias_maximum: 4,
        maximum_qos: QoS::AtLeastOnce,
        retain_available: false,
        ..Limits::default()
    };
    let alias = properties(&[Property::TopicAlias(5)]);
    let identifier = properties(&[Property::SubscriptionIdentifier(5)]);
    let zero = publish(QoS::AtMostOnce, 0, "a");
    let with = |properties| Publish {
        properties,
        ..zero.clone()
    };
    let retained = Publish {
        retain: true,
        ..zero.clone()
    };
    let cases = [
        (with(alias), ReasonCode::TopicAliasInvalid),
        (with(identifier), ReasonCode::ProtocolError),
        (retained, ReasonCode::RetainNotSupported),
        (publish(QoS::ExactlyOnce, 1, "a"), ReasonCode::QoSNotSupported),
    ];
    for (publish, reason) in cases {
        let mut pair = Pair::connected(Version::V5, limits.clone());
        assert_eq!(pair.send(Packet::Publish(publish)), [disconnect(reason)]);
        assert_eq!((pair.closed, pair.admitted.len()), (1, 0));
    }
}
