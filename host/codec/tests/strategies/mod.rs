//! Arbitrary packets: every packet of both versions that MQTT can carry, small ones preferred.
//!
//! Written from the standard's tables, not from the codec's, so that the two check each other.

mod fields;
mod properties;

use bytes::Bytes;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use tidegate_codec::{
    Ack, Auth, ConnAck, Connect, Credentials, Disconnect, Message, Packet, Properties, Publish, QoS,
    ReasonCode, SubAck, Subscribe, SubscribeOptions, Subscription, UnsubAck, Unsubscribe, Version, Will,
};

use fields::{client_id, filter, packet_id, payload, qos, reason, retain_handling, text, topic};
use properties::{ACK, AUTH, CONNACK, CONNECT, DISCONNECT, PUBLISH, SUBSCRIBE, UNSUBSCRIBE, WILL};

/// Reason codes of each packet (sections 3.2.2.2 to 3.15.2.1).
const CONNACK_CODES: &[u8] = &[
    0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8A, 0x8C, 0x90, 0x95, 0x97, 0x99, 0x9A,
    0x9B, 0x9C, 0x9D, 0x9F,
];
const PUBACK_CODES: &[u8] = &[0x00, 0x10, 0x80, 0x83, 0x87, 0x90, 0x91, 0x97, 0x99];
const PUBREL_CODES: &[u8] = &[0x00, 0x92];
const SUBACK_CODES: &[u8] = &[
    0x00, 0x01, 0x02, 0x80, 0x83, 0x87, 0x8F, 0x91, 0x97, 0x9E, 0xA1, 0xA2,
];
const UNSUBACK_CODES: &[u8] = &[0x00, 0x11, 0x80, 0x83, 0x87, 0x8F, 0x91];
const DISCONNECT_CODES: &[u8] = &[
    0x00, 0x04, 0x80, 0x81, 0x82, 0x83, 0x87, 0x89, 0x8B, 0x8D, 0x8E, 0x8F, 0x90, 0x93, 0x94, 0x95, 0x96,
    0x97, 0x98, 0x99, 0x9A, 0x9B, 0x9C, 0x9D, 0x9E, 0x9F, 0xA0, 0xA1, 0xA2,
];

/// Properties of version 5 among `ids`; none in 3.1.1.
fn block(version: Version, ids: &'static [u8]) -> BoxedStrategy<Properties> {
    match version {
        Version::V311 => Just(Properties::empty()).boxed(),
        Version::V5 => prop_oneof![Just(Properties::empty()), properties::of(ids)].boxed(),
    }
}

/// `of_version_5` there, `Success` in 3.1.1.
fn code(version: Version, of_version_5: &'static [u8]) -> BoxedStrategy<ReasonCode> {
    match version {
        Version::V311 => Just(ReasonCode::Success).boxed(),
        Version::V5 => reason(of_version_5).boxed(),
    }
}

/// Any packet, with the version it is written in.
pub fn versioned() -> impl Strategy<Value = (Version, Packet)> {
    prop_oneof![Just(Version::V311), Just(Version::V5)]
        .prop_flat_map(|version| packet(version).prop_map(move |packet| (version, packet)))
}

/// Any packet of `version`.
pub fn packet(version: Version) -> BoxedStrategy<Packet> {
    let ack = |codes| {
        let parts = (packet_id(), code(version, codes), block(version, ACK));
        parts.prop_map(|(packet_id, reason, properties)| Ack {
            packet_id,
            reason,
            properties,
        })
    };
    let both = prop_oneof![
        4 => publish(version).prop_map(Packet::Publish),
        1 => ack(PUBACK_CODES).prop_map(Packet::PubAck),
        1 => ack(PUBACK_CODES).prop_map(Packet::PubRec),
        1 => ack(PUBREL_CODES).prop_map(Packet::PubRel),
        1 => ack(PUBREL_CODES).prop_map(Packet::PubComp),
        2 => connect(version).prop_map(|packet| Packet::Connect(Box::new(packet))),
        2 => connack(version).prop_map(|packet| Packet::ConnAck(Box::new(packet))),
        2 => subscribe(version).prop_map(|packet| Packet::Subscribe(Box::new(packet))),
        2 => suback(version).prop_map(|packet| Packet::SubAck(Box::new(packet))),
        1 => unsubscribe(version).prop_map(|packet| Packet::Unsubscribe(Box::new(packet))),
        1 => unsuback(version).prop_map(|packet| Packet::UnsubAck(Box::new(packet))),
        1 => disconnect(version).prop_map(|packet| Packet::Disconnect(Box::new(packet))),
        1 => prop_oneof![Just(Packet::PingReq), Just(Packet::PingResp)],
    ];
    match version {
        Version::V311 => both.boxed(),
        Version::V5 => {
            prop_oneof![20 => both, 1 => auth().prop_map(|packet| Packet::Auth(Box::new(packet)))].boxed()
        }
    }
}

fn publish(version: Version) -> impl Strategy<Value = Publish> {
    let parts = (
        topic(),
        payload(),
        block(version, PUBLISH),
        qos(),
        packet_id(),
        any::<[bool; 3]>(),
    );
    parts.prop_map(
        |(topic, payload, properties, qos, packet_id, [retain, dup, by_alias])| Publish {
            topic: Some(topic).filter(|_| properties.topic_alias().is_none() || !by_alias),
            payload,
            properties,
            qos,
            packet_id: Some(packet_id).filter(|_| qos != QoS::AtMostOnce),
            retain,
            dup: dup && qos != QoS::AtMostOnce,
        },
    )
}

fn will(version: Version) -> impl Strategy<Value = Will> {
    let parts = (topic(), payload(), block(version, WILL), qos(), any::<bool>());
    parts.prop_map(|(topic, payload, properties, qos, retain)| Will {
        message: Message {
            topic,
            payload,
            properties,
            qos,
            retain,
        },
    })
}

fn connect(version: Version) -> impl Strategy<Value = Connect> {
    let username = option::of(text().prop_map(Box::<str>::from));
    let password = option::of(vec(any::<u8>(), 0..20).prop_map(Bytes::from));
    let login = (username, password).prop_map(move |(username, password)| {
        // 3.1.1 has a password only with a user name.
        let alone = username.is_none() && version == Version::V311;
        Credentials {
            username,
            password: password.filter(|_| !alone),
        }
    });
    let session = (option::of(client_id()), any::<bool>(), any::<u16>());
    let parts = (session, option::of(will(version)), login, block(version, CONNECT));
    parts.prop_map(
        move |((client_id, clean, keep_alive), will, credentials, properties)| {
            // 3.1.1 has an empty client identifier only with Clean Session.
            let clean_start = clean || (client_id.is_none() && version == Version::V311);
            Connect {
                version,
                client_id,
                clean_start,
                keep_alive,
                will,
                credentials,
                properties,
            }
        },
    )
}

fn connack(version: Version) -> impl Strategy<Value = ConnAck> {
    let refusal = match version {
        Version::V311 => (1..=5u8)
            .prop_map(|code| ReasonCode::from_return_code(code).expect("1 to 5"))
            .boxed(),
        Version::V5 => reason(CONNACK_CODES).boxed(),
    };
    let parts = (option::of(refusal), any::<bool>(), block(version, CONNACK));
    parts.prop_map(|(refusal, session_present, properties)| ConnAck {
        session_present: session_present && refusal.is_none(),
        reason: refusal.unwrap_or(ReasonCode::Success),
        properties,
    })
}

fn subscribe(version: Version) -> impl Strategy<Value = Subscribe> {
    let v5 = version == Version::V5;
    let options = (qos(), any::<[bool; 2]>(), retain_handling());
    let one = (filter(), options).prop_map(
        move |(filter, (qos, [no_local, retain_as_published], retain_handling))| {
            let no_local = no_local && filter.shared().is_none();
            let options = match v5 {
                true => SubscribeOptions {
                    qos,
                    no_local,
                    retain_as_published,
                    retain_handling,
                },
                false => SubscribeOptions {
                    qos,
                    ..SubscribeOptions::default()
                },
            };
            Subscription { filter, options }
        },
    );
    let parts = (packet_id(), vec(one, 1..5), block(version, SUBSCRIBE));
    parts.prop_map(|(packet_id, subscriptions, properties)| Subscribe {
        packet_id,
        subscriptions,
        properties,
    })
}

fn suback(version: Version) -> impl Strategy<Value = SubAck> {
    let codes = if version == Version::V5 {
        SUBACK_CODES
    } else {
        &[0x00, 0x01, 0x02, 0x80]
    };
    let parts = (packet_id(), vec(reason(codes), 1..5), block(version, ACK));
    parts.prop_map(|(packet_id, reasons, properties)| SubAck {
        packet_id,
        reasons,
        properties,
    })
}

fn unsubscribe(version: Version) -> impl Strategy<Value = Unsubscribe> {
    let parts = (packet_id(), vec(filter(), 1..5), block(version, UNSUBSCRIBE));
    parts.prop_map(|(packet_id, filters, properties)| Unsubscribe {
        packet_id,
        filters,
        properties,
    })
}

fn unsuback(version: Version) -> impl Strategy<Value = UnsubAck> {
    let count = if version == Version::V5 { 1..5 } else { 0..1 };
    let parts = (
        packet_id(),
        vec(reason(UNSUBACK_CODES), count),
        block(version, ACK),
    );
    parts.prop_map(|(packet_id, reasons, properties)| UnsubAck {
        packet_id,
        reasons,
        properties,
    })
}

fn disconnect(version: Version) -> impl Strategy<Value = Disconnect> {
    let parts = (code(version, DISCONNECT_CODES), block(version, DISCONNECT));
    parts.prop_map(|(reason, properties)| Disconnect { reason, properties })
}

fn auth() -> impl Strategy<Value = Auth> {
    let parts = (reason(&[0x00, 0x18, 0x19]), properties::with_method(AUTH));
    parts.prop_map(|(reason, properties)| Auth { reason, properties })
}
