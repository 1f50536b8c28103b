//! What has no encoding, and how version 5 is said in 3.1.1. What has one is in the byte tables.

use bytes::Bytes;

use super::*;
use crate::{
    Ack, Auth, ClientId, ConnAck, Connect, Credentials, Disconnect, PacketId, PropertiesBuilder, Property,
    PropertyId, ReasonCode, SubAck, Subscribe, SubscribeOptions, Subscription, TopicFilter, UnsubAck,
    Unsubscribe,
};

fn id() -> PacketId {
    PacketId::new(10).unwrap()
}

fn properties(property: Property<'_>) -> Properties {
    let mut builder = PropertiesBuilder::default();
    builder.push(property);
    builder.build().unwrap()
}

fn written(packet: &Packet, version: Version) -> Result<Vec<u8>, EncodeError> {
    let mut out = BytesMut::from(&b"before"[..]);
    let result = encode(packet, version, &mut out);
    assert!(out.starts_with(b"before"));
    assert!(result.is_ok() || out.len() == 6, "{packet:?} left bytes");
    result.map(|()| out[6..].to_vec())
}

fn connack(reason: ReasonCode) -> Packet {
    let properties = properties(Property::ReasonString("why"));
    Packet::ConnAck(Box::new(ConnAck {
        session_present: true,
        reason,
        properties,
    }))
}

#[test]
fn a_refusal_becomes_a_return_code() {
    let cases = [
        (ReasonCode::UnsupportedProtocolVersion, 1),
        (ReasonCode::ClientIdentifierNotValid, 2),
        (ReasonCode::ServerBusy, 3),
        (ReasonCode::BadUserNameOrPassword, 4),
        (ReasonCode::Banned, 5),
    ];
    for (reason, code) in cases {
        // [MQTT-3.2.2-4] (3.1.1): no session present with it.
        assert_eq!(
            written(&connack(reason), Version::V311),
            Ok(vec![0x20, 2, 0, code]),
            "{reason:?}"
        );
    }
    // [MQTT-3.2.2-6] (3.1.1)
    let malformed = ReasonCode::MalformedPacket;
    assert_eq!(
        written(&connack(malformed), Version::V311),
        Err(EncodeError::NoReturnCode(malformed))
    );
}

#[test]
fn version_3_1_1_gets_neither_reasons_nor_properties() {
    let why = || properties(Property::ReasonString("why"));
    let ack = Ack {
        packet_id: id(),
        reason: ReasonCode::QuotaExceeded,
        properties: why(),
    };
    assert_eq!(
        written(&Packet::PubAck(ack), Version::V311),
        Ok(vec![0x40, 2, 0, 10])
    );
    let reasons = vec![ReasonCode::GrantedQoS1, ReasonCode::NotAuthorized];
    let suback = SubAck {
        packet_id: id(),
        reasons,
        properties: why(),
    };
    assert_eq!(
        written(&Packet::SubAck(Box::new(suback)), Version::V311),
        Ok(vec![0x90, 4, 0, 10, 1, 0x80])
    );
    let unsuback = UnsubAck {
        packet_id: id(),
        reasons: vec![ReasonCode::NotAuthorized],
        properties: why(),
    };
    assert_eq!(
        written(&Packet::UnsubAck(Box::new(unsuback)), Version::V311),
        Ok(vec![0xB0, 2, 0, 10])
    );
    let disconnect = Disconnect {
        reason: ReasonCode::ServerBusy,
        properties: why(),
    };
    assert_eq!(
        written(&Packet::Disconnect(Box::new(disconnect)), Version::V311),
        Ok(vec![0xE0, 0])
    );
}

#[test]
#[allow(clippy::too_many_lines)] // A table is as long as it has rows.
fn packets_that_break_their_own_rules_have_no_encoding() {
    let none = Properties::empty;
    let shared = Subscription {
        filter: TopicFilter::new("$share/g/a").unwrap(),
        options: SubscribeOptions {
            no_local: true,
            ..SubscribeOptions::default()
        },
    };
    let alone = properties(Property::AuthenticationData(b"x"));
    let cases = [
        (
            Packet::Subscribe(Box::new(Subscribe {
                packet_id: id(),
                subscriptions: vec![],
                properties: none(),
            })),
            EncodeError::NoEntry(PacketType::Subscribe), // [MQTT-3.8.3-2]
        ),
        (
            Packet::Subscribe(Box::new(Subscribe {
                packet_id: id(),
                subscriptions: vec![shared],
                properties: none(),
            })),
            EncodeError::NoLocalOnShared, // [MQTT-3.8.3-4]
        ),
        (
            Packet::Unsubscribe(Box::new(Unsubscribe {
                packet_id: id(),
                filters: vec![],
                properties: none(),
            })),
            EncodeError::NoEntry(PacketType::Unsubscribe), // [MQTT-3.10.3-2]
        ),
        (
            Packet::PubRel(Ack::with_reason(id(), ReasonCode::NotAuthorized)),
            EncodeError::ReasonCode {
                packet: PacketType::PubRel,
                reason: ReasonCode::NotAuthorized,
            }, // [MQTT-3.6.2-1]
        ),
        (
            Packet::PubAck(Ack {
                properties: properties(Property::TopicAlias(1)),
                ..Ack::success(id())
            }),
            EncodeError::MisplacedProperty {
                carrier: "an acknowledgement",
                property: PropertyId::TopicAlias,
            },
        ),
        (
            Packet::Auth(Box::new(Auth {
                reason: ReasonCode::ContinueAuthentication,
                properties: none(),
            })),
            EncodeError::NoAuthenticationMethod,
        ),
        (
            Packet::ConnAck(Box::new(ConnAck {
                session_present: false,
                reason: ReasonCode::Success,
                properties: alone,
            })),
            EncodeError::AuthenticationDataAlone,
        ),
    ];
    for (packet, error) in cases {
        assert_eq!(written(&packet, Version::V5), Err(error));
    }
    let auth = Packet::Auth(Box::new(Auth {
        reason: ReasonCode::Success,
        properties: none(),
    }));
    assert_eq!(written(&auth, Version::V311), Err(EncodeError::AuthInV311));
}

#[test]
fn fields_over_their_length_have_no_encoding() {
    let connect = |version, client_id, credentials| {
        let (will, properties) = (None, Properties::empty());
        let clean_start = false;
        Packet::Connect(Box::new(Connect {
            version,
            client_id,
            clean_start,
            keep_alive: 0,
            will,
            credentials,
            properties,
        }))
    };
    let password = |length| Credentials {
        username: None,
        password: Some(Bytes::from(vec![0; length])),
    };
    let client_id = ClientId::new("a");
    assert_eq!(
        written(
            &connect(Version::V5, client_id.clone(), password(65_536)),
            Version::V5
        ),
        Err(EncodeError::FieldTooLong { bytes: 65_536 })
    );
    let long = written(
        &connect(Version::V5, client_id.clone(), password(65_535)),
        Version::V5,
    )
    .unwrap();
    assert_eq!(
        crate::frame_length(&long),
        Ok(Some(long.len())),
        "a body that was moved for a long length"
    );
    assert_eq!(
        written(&connect(Version::V311, client_id, password(1)), Version::V311),
        Err(EncodeError::PasswordWithoutUserName) // [MQTT-3.1.2-22] (3.1.1)
    );
    assert_eq!(
        written(
            &connect(Version::V311, None, Credentials::default()),
            Version::V311
        ),
        Err(EncodeError::EmptyClientId) // [MQTT-3.1.3-7] (3.1.1)
    );
}

#[test]
fn a_user_name_with_a_null_character_has_no_encoding() {
    let credentials = Credentials {
        username: Some("a\0".into()),
        password: None,
    };
    let (will, properties) = (None, Properties::empty());
    let connect = Connect {
        version: Version::V5,
        client_id: None,
        clean_start: true,
        keep_alive: 0,
        will,
        credentials,
        properties,
    };
    assert_eq!(
        written(&Packet::Connect(Box::new(connect)), Version::V5),
        Err(EncodeError::NullCharacter)
    ); // [MQTT-1.5.4-2]
}
