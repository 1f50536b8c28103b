//! What the byte tables do not ask: sharing of memory, lengths, and how a refusal is answered.

use super::*;
use crate::{InvalidTopic, PropertyId, ReasonCode};

const V5: Decoder = Decoder {
    version: Some(Version::V5),
    packet_bytes_max: 100,
};

#[test]
fn parts_of_a_publish_are_views_of_the_input() {
    let input = Bytes::copy_from_slice(b"\x30\x0C\x00\x03a/b\x04\x03\x00\x01thi\xC0\x00");
    let memory = input.as_ptr_range();
    let mut rest = input;
    let Ok(Some(Packet::Publish(publish))) = V5.decode(&mut rest) else {
        panic!("a PUBLISH")
    };
    let topic = publish.topic.unwrap();
    for part in [topic.bytes(), &publish.payload, publish.properties.block()] {
        assert!(memory.contains(&part.as_ptr()), "{part:?}");
    }
    assert_eq!(
        V5.decode(&mut rest),
        Ok(Some(Packet::PingReq)),
        "the next packet follows"
    );
    assert_eq!(V5.decode(&mut rest), Ok(None));
}

#[test]
fn frame_length_needs_the_header_alone() {
    let cases = [
        (&b""[..], Ok(None)),
        (b"\x30", Ok(None)),
        (b"\x30\x80", Ok(None)),
        (b"\x30\x05", Ok(Some(7))),
        (b"\x30\x80\x80\x01", Ok(Some(16_388))),
        (b"\x30\xFF\xFF\xFF\x80", Err(DecodeError::VariableByteInteger)),
    ];
    for (bytes, expected) in cases {
        assert_eq!(frame_length(bytes), expected, "{bytes:?}");
    }
}

#[test]
fn a_length_over_the_limit_is_refused_from_the_header_alone() {
    let mut input = Bytes::from_static(b"\x30\x63");
    assert_eq!(
        V5.decode(&mut input),
        Err(DecodeError::TooLarge {
            bytes: 101,
            bytes_max: 100
        })
    );
    assert_eq!(input.len(), 2);
    assert_eq!(V5.decode(&mut Bytes::from_static(b"\x30\x62")), Ok(None));
}

#[test]
fn bytes_that_are_not_mqtt_are_refused_at_once() {
    let fresh = Decoder {
        version: None,
        packet_bytes_max: 1 << 20,
    };
    // A TLS ClientHello: its second and third byte would ask for 131 bytes, and more than 3 are not awaited.
    let hello = fresh.decode(&mut Bytes::from_static(b"\x16\x03\x01"));
    assert_eq!(
        hello,
        Err(DecodeError::FixedHeaderFlags {
            packet: PacketType::Connect,
            flags: 6
        })
    );
}

#[test]
fn the_version_of_a_connect_that_fails_is_known_for_the_answer() {
    let cases: [(&[u8], Option<Version>); 6] = [
        (b"\x10\x0D\x00\x04MQTT\x04\x03", Some(Version::V311)),
        (b"\x10\x0D\x00\x04MQTT\x05\x03", Some(Version::V5)),
        (b"\x10\x0D\x00\x04MQTT\x06\x03", None),
        (b"\x10\x0D\x00\x06MQIsdp\x03", None),
        (b"\x10\x0D\x00\x04MQTT", None),
        (b"\x30\x0D\x00\x04MQTT\x05", None),
    ];
    for (bytes, version) in cases {
        assert_eq!(connect_version(bytes), version, "{bytes:?}");
    }
}

#[test]
fn every_refusal_has_its_reason() {
    let cases = [
        (DecodeError::Truncated, ReasonCode::MalformedPacket),
        (DecodeError::UnknownProperty(0), ReasonCode::MalformedPacket),
        (
            DecodeError::MisplacedProperty(PropertyId::TopicAlias),
            ReasonCode::MalformedPacket,
        ),
        (
            DecodeError::ReservedSubscribeOption(0x40),
            ReasonCode::MalformedPacket,
        ),
        (
            DecodeError::RepeatedProperty(PropertyId::TopicAlias),
            ReasonCode::ProtocolError,
        ),
        (
            DecodeError::PropertyValue(PropertyId::ReceiveMaximum),
            ReasonCode::ProtocolError,
        ),
        (
            DecodeError::NoEntry(PacketType::Subscribe),
            ReasonCode::ProtocolError,
        ),
        (DecodeError::NoTopic, ReasonCode::ProtocolError),
        (
            DecodeError::UnsupportedVersion(6),
            ReasonCode::UnsupportedProtocolVersion,
        ),
        (DecodeError::ProtocolName, ReasonCode::UnsupportedProtocolVersion),
        (DecodeError::EmptyClientId, ReasonCode::ClientIdentifierNotValid),
        (
            DecodeError::TooLarge {
                bytes: 2,
                bytes_max: 1,
            },
            ReasonCode::PacketTooLarge,
        ),
        (
            DecodeError::TopicName(InvalidTopic::WildcardInName),
            ReasonCode::TopicNameInvalid,
        ),
        (
            DecodeError::TopicName(InvalidTopic::NotText),
            ReasonCode::MalformedPacket,
        ),
        (
            DecodeError::TopicFilter(InvalidTopic::MisplacedWildcard),
            ReasonCode::TopicFilterInvalid,
        ),
        (DecodeError::TopicAliasZero, ReasonCode::TopicAliasInvalid),
    ];
    for (error, reason) in cases {
        assert_eq!(error.reason(), reason, "{error}");
        // 4.13.1: a DISCONNECT or, before the connection stands, a CONNACK must be able to say it.
        let sayable = reason.allowed_in(PacketType::Disconnect) || reason.allowed_in(PacketType::ConnAck);
        assert!(sayable, "{reason:?}");
    }
}

#[test]
fn version_3_1_1_answers_two_refusals_with_a_return_code() {
    assert_eq!(DecodeError::UnsupportedVersion(3).return_code(), Some(1)); // [MQTT-3.1.2-2] (3.1.1)
    assert_eq!(DecodeError::EmptyClientId.return_code(), Some(2)); // [MQTT-3.1.3-8] (3.1.1)
    assert_eq!(DecodeError::ReservedConnectFlag.return_code(), None); // [MQTT-3.1.4-1] (3.1.1)
    assert_eq!(DecodeError::ProtocolName.return_code(), None);
}
