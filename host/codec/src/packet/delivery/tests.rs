//! What a delivery writes, read back.

use bytes::Bytes;

use super::*;
use crate::{Decoder, EncodedPublish, Packet, PropertiesBuilder, Property};

fn message(list: &[Property<'_>]) -> Message {
    let mut properties = PropertiesBuilder::default();
    properties.extend(list.iter().copied());
    Message {
        topic: TopicName::new("a/b").unwrap(),
        payload: Bytes::from_static(b"payload"),
        properties: properties.build().unwrap(),
        qos: QoS::ExactlyOnce,
        retain: true,
    }
}

fn decoded(bytes: impl Into<Bytes>, version: Version) -> Publish {
    let decoder = Decoder {
        version: Some(version),
        packet_bytes_max: 1000,
    };
    match decoder.decode(&mut bytes.into()) {
        Ok(Some(Packet::Publish(publish))) => publish,
        other => panic!("{other:?}"),
    }
}

fn written(delivery: &Delivery<'_>, version: Version) -> Result<Publish, EncodeError> {
    let mut out = BytesMut::new();
    encode_publish(delivery, version, &mut out).map(|_| decoded(out, version))
}

#[test]
fn what_a_delivery_adds_stands_in_its_properties() {
    let message = message(&[
        Property::MessageExpiryInterval(100),
        Property::UserProperty("k", "v"),
    ]);
    let delivery = Delivery {
        retain: true,
        topic_alias: NonZeroU16::new(3),
        subscription_identifiers: &[1, 200],
        message_expiry_interval: Some(40), // [MQTT-3.3.2-6]
        ..Delivery::of(&message, QoS::AtLeastOnce, PacketId::new(9))
    };
    let publish = written(&delivery, Version::V5).unwrap();
    assert_eq!(
        (publish.qos, publish.packet_id, publish.retain),
        (QoS::AtLeastOnce, PacketId::new(9), true)
    );
    assert_eq!(publish.properties.message_expiry_interval(), Some(40));
    assert_eq!(publish.properties.topic_alias(), Some(3));
    assert_eq!(
        publish.properties.subscription_identifiers().collect::<Vec<_>>(),
        [1, 200]
    ); // [MQTT-3.3.4-3]
    assert_eq!(
        publish.properties.user_properties().collect::<Vec<_>>(),
        [("k", "v")]
    ); // [MQTT-3.3.2-17]
    assert_eq!(
        message.properties.message_expiry_interval(),
        Some(100),
        "the message itself is untouched"
    );

    let old = written(&delivery, Version::V311).unwrap();
    assert_eq!((old.topic, old.payload), (publish.topic, publish.payload));
    assert!(old.properties.is_empty());
}

#[test]
fn expiry_is_added_where_the_message_had_none() {
    let message = message(&[]);
    let delivery = Delivery {
        message_expiry_interval: Some(7),
        ..Delivery::of(&message, QoS::AtMostOnce, None)
    };
    assert_eq!(
        written(&delivery, Version::V5)
            .unwrap()
            .properties
            .message_expiry_interval(),
        Some(7)
    );
}

#[test]
fn an_alias_stands_in_for_the_topic_in_version_5_alone() {
    let message = message(&[]);
    let delivery = Delivery {
        topic: None,
        topic_alias: NonZeroU16::new(3),
        ..Delivery::of(&message, QoS::AtMostOnce, None)
    };
    assert_eq!(written(&delivery, Version::V5).unwrap().topic, None);
    assert_eq!(written(&delivery, Version::V311), Err(EncodeError::NoTopic));
    let nothing = Delivery {
        topic_alias: None,
        ..delivery
    };
    assert_eq!(written(&nothing, Version::V5), Err(EncodeError::NoTopic));
}

#[test]
fn what_mqtt_cannot_carry_is_an_error_and_writes_nothing() {
    let aliased = message(&[Property::TopicAlias(1)]);
    let message = message(&[]);
    let qos_0 = Delivery::of(&message, QoS::AtMostOnce, None);
    let too_long = vec![0; varint::MAX as usize];
    let cases = [
        (
            Delivery {
                packet_id: PacketId::new(1),
                ..qos_0
            },
            EncodeError::PacketIdAgainstQoS,
        ),
        (
            Delivery {
                qos: QoS::AtLeastOnce,
                ..qos_0
            },
            EncodeError::PacketIdAgainstQoS,
        ),
        (Delivery { dup: true, ..qos_0 }, EncodeError::DupAtQoS0),
        (
            Delivery {
                subscription_identifiers: &[0],
                ..qos_0
            },
            EncodeError::PropertyValue(PropertyId::SubscriptionIdentifier),
        ),
        (
            Delivery {
                topic_alias: NonZeroU16::new(1),
                properties: &aliased.properties,
                ..qos_0
            },
            EncodeError::RepeatedProperty(PropertyId::TopicAlias),
        ),
        (
            Delivery {
                payload: &too_long,
                ..qos_0
            },
            EncodeError::PacketTooLong {
                bytes: 2 + 3 + 1 + varint::MAX as usize,
            },
        ),
    ];
    for (delivery, error) in cases {
        let mut out = BytesMut::from(&b"before"[..]);
        assert_eq!(encode_publish(&delivery, Version::V5, &mut out), Err(error));
        assert_eq!(out, &b"before"[..]);
    }
}

#[test]
fn one_encoding_serves_every_receiver() {
    let message = message(&[Property::UserProperty("k", "v")]);
    for version in [Version::V311, Version::V5] {
        let delivery = Delivery::of(&message, QoS::AtLeastOnce, PacketId::new(1));
        let encoded = EncodedPublish::new(&delivery, version).unwrap();
        let mut out = BytesMut::new();
        for (id, dup) in [(1, false), (0x1234, true), (u16::MAX, false)] {
            let start = out.len();
            encoded.put(PacketId::new(id), dup, &mut out).unwrap();
            assert_eq!(out.len() - start, encoded.packet_bytes());
            let publish = decoded(Bytes::copy_from_slice(&out[start..]), version);
            assert_eq!((publish.packet_id, publish.dup), (PacketId::new(id), dup));
            assert_eq!(publish.payload, message.payload);
        }
        assert_eq!(
            encoded.put(None, false, &mut out),
            Err(EncodeError::PacketIdAgainstQoS)
        );
    }
}

#[test]
fn one_encoding_at_qos_0_takes_no_identifier() {
    let message = message(&[]);
    let encoded = EncodedPublish::new(&Delivery::of(&message, QoS::AtMostOnce, None), Version::V5).unwrap();
    let mut out = BytesMut::new();
    encoded.put(None, false, &mut out).unwrap();
    assert_eq!(decoded(out.clone(), Version::V5).packet_id, None);
    assert_eq!(
        encoded.put(PacketId::new(1), false, &mut out),
        Err(EncodeError::PacketIdAgainstQoS)
    );
    assert_eq!(encoded.put(None, true, &mut out), Err(EncodeError::DupAtQoS0));
}
