//! Section 3.1.

use bytes::Bytes;

use super::{Case, V5, properties, refused, same, topic};
use crate::{
    ClientId, Connect, Credentials, DecodeError as E, InvalidTopic, Message, Packet, Properties, Property,
    PropertyId, QoS, Version, Will,
};

pub(super) fn cases() -> Vec<Case> {
    accepted()
        .into_iter()
        .chain(refused_by_both())
        .chain(refused_by_version())
        .collect()
}

fn plain(version: Version) -> Connect {
    Connect {
        version,
        client_id: ClientId::new("a"),
        clean_start: true,
        keep_alive: 60,
        will: None,
        credentials: Credentials::default(),
        properties: Properties::empty(),
    }
}

fn packet(connect: Connect) -> Packet {
    Packet::Connect(Box::new(connect))
}

fn login(version: Version, username: Option<&str>, password: Option<&'static [u8]>) -> Packet {
    let credentials = Credentials {
        username: username.map(Box::from),
        password: password.map(Bytes::from_static),
    };
    packet(Connect {
        credentials,
        ..plain(version)
    })
}

fn accepted() -> Vec<Case> {
    let (v3, v5) = (Version::V311, Version::V5);
    let message = |payload: &'static [u8], qos, retain, properties| Message {
        topic: topic("w"),
        payload: Bytes::from_static(payload),
        properties,
        qos,
        retain,
    };
    let will = |version, message| {
        packet(Connect {
            will: Some(Will { message }),
            ..plain(version)
        })
    };
    let delay = properties(&[
        Property::WillDelayInterval(5),
        Property::PayloadFormatIndicator(1),
    ]);
    let limits = properties(&[
        Property::SessionExpiryInterval(u32::MAX),
        Property::ReceiveMaximum(20),
        Property::MaximumPacketSize(4096),
        Property::TopicAliasMaximum(10),
        Property::RequestProblemInformation(0),
        Property::RequestResponseInformation(1),
        Property::UserProperty("k", "v"),
    ]);
    let auth = properties(&[
        Property::AuthenticationMethod("SCRAM"),
        Property::AuthenticationData(b"\0\xFF"),
    ]);
    vec![
        same("plain CONNECT 3.1.1", None, b"\x10\x0D\x00\x04MQTT\x04\x02\x00\x3C\x00\x01a", packet(plain(v3))),
        same("plain CONNECT 5.0", None, b"\x10\x0E\x00\x04MQTT\x05\x02\x00\x3C\x00\x00\x01a", packet(plain(v5))),
        same("second CONNECT decodes, its sequence is the session's", V5,
            b"\x10\x0E\x00\x04MQTT\x05\x02\x00\x3C\x00\x00\x01a", packet(plain(v5))),
        same("keep alive off", None, b"\x10\x0D\x00\x04MQTT\x04\x02\x00\x00\x00\x01a",
            packet(Connect { keep_alive: 0, ..plain(v3) })),
        same("old session wanted", None, b"\x10\x0D\x00\x04MQTT\x04\x00\x00\x3C\x00\x01a",
            packet(Connect { clean_start: false, ..plain(v3) })),
        same("empty client id with Clean Session [MQTT-3.1.3-6]", None, b"\x10\x0C\x00\x04MQTT\x04\x02\x00\x3C\x00\x00",
            packet(Connect { client_id: None, ..plain(v3) })),
        same("empty client id without Clean Start 5.0 [MQTT-3.1.3-6]", None,
            b"\x10\x0D\x00\x04MQTT\x05\x00\x00\x3C\x00\x00\x00",
            packet(Connect { client_id: None, clean_start: false, ..plain(v5) })),
        same("user name and password 3.1.1", None,
            b"\x10\x13\x00\x04MQTT\x04\xC2\x00\x3C\x00\x01a\x00\x01u\x00\x01p", login(v3, Some("u"), Some(b"p"))),
        same("user name alone 3.1.1", None, b"\x10\x10\x00\x04MQTT\x04\x82\x00\x3C\x00\x01a\x00\x01u",
            login(v3, Some("u"), None)),
        same("password alone 5.0", None, b"\x10\x11\x00\x04MQTT\x05\x42\x00\x3C\x00\x00\x01a\x00\x01p",
            login(v5, None, Some(b"p"))),
        same("password of any bytes", None, b"\x10\x13\x00\x04MQTT\x05\x42\x00\x3C\x00\x00\x01a\x00\x03\x00\xFF\xC0",
            login(v5, None, Some(b"\x00\xFF\xC0"))),
        same("user name U+FEFF stays [MQTT-1.5.4-3]", None,
            b"\x10\x13\x00\x04MQTT\x05\x82\x00\x3C\x00\x00\x01a\x00\x03\xEF\xBB\xBF",
            login(v5, Some("\u{FEFF}"), None)),
        same("will 3.1.1", None, b"\x10\x13\x00\x04MQTT\x04\x0E\x00\x3C\x00\x01a\x00\x01w\x00\x01x",
            will(v3, message(b"x", QoS::AtLeastOnce, false, Properties::empty()))),
        same("will 5.0 with QoS 2, retain and delay", None,
            b"\x10\x1B\x00\x04MQTT\x05\x36\x00\x3C\x00\x00\x01a\x07\x18\x00\x00\x00\x05\x01\x01\x00\x01w\x00\x00",
            will(v5, message(b"", QoS::ExactlyOnce, true, delay))),
        same("limits", None,
            b"\x10\x29\x00\x04MQTT\x05\x02\x00\x3C\x1B\x11\xFF\xFF\xFF\xFF\x21\x00\x14\x27\x00\x00\x10\x00\x22\x00\x0A\x17\x00\x19\x01\x26\x00\x01k\x00\x01v\x00\x01a",
            packet(Connect { properties: limits, ..plain(v5) })),
        same("authentication", None,
            b"\x10\x1B\x00\x04MQTT\x05\x02\x00\x3C\x0D\x15\x00\x05SCRAM\x16\x00\x02\x00\xFF\x00\x01a",
            packet(Connect { properties: auth, ..plain(v5) })),
    ]
}

fn refused_by_both() -> Vec<Case> {
    vec![
        refused(
            "protocol name [MQTT-3.1.2-1]",
            None,
            b"\x10\x0D\x00\x04MQTt\x04\x02\x00\x3C\x00\x01a",
            E::ProtocolName,
        ),
        refused("empty CONNECT", None, b"\x10\x00", E::Truncated),
        refused(
            "protocol level 3 [MQTT-3.1.2-2]",
            None,
            b"\x10\x0D\x00\x04MQTT\x03\x02\x00\x3C\x00\x01a",
            E::UnsupportedVersion(3),
        ),
        refused(
            "protocol level 6 [MQTT-3.1.2-2]",
            None,
            b"\x10\x0D\x00\x04MQTT\x06\x02\x00\x3C\x00\x01a",
            E::UnsupportedVersion(6),
        ),
        refused(
            "MQTT 3.1 [MQTT-3.1.2-2]",
            None,
            b"\x10\x0F\x00\x06MQIsdp\x03\x02\x00\x3C\x00\x01a",
            E::UnsupportedVersion(3),
        ),
        refused(
            "reserved flag [MQTT-3.1.2-3]",
            None,
            b"\x10\x0D\x00\x04MQTT\x04\x03\x00\x3C\x00\x01a",
            E::ReservedConnectFlag,
        ),
        refused(
            "will QoS without will [MQTT-3.1.2-11]",
            None,
            b"\x10\x0D\x00\x04MQTT\x04\x0A\x00\x3C\x00\x01a",
            E::WillFlagsWithoutWill,
        ),
        refused(
            "will retain without will [MQTT-3.1.2-13]",
            None,
            b"\x10\x0E\x00\x04MQTT\x05\x22\x00\x3C\x00\x00\x01a",
            E::WillFlagsWithoutWill,
        ),
        refused(
            "will QoS 3 [MQTT-3.1.2-12]",
            None,
            b"\x10\x13\x00\x04MQTT\x04\x1E\x00\x3C\x00\x01a\x00\x01w\x00\x01x",
            E::WillQoS3,
        ),
        refused(
            "will without a payload [MQTT-3.1.2-9]",
            None,
            b"\x10\x10\x00\x04MQTT\x04\x06\x00\x3C\x00\x01a\x00\x01w",
            E::Truncated,
        ),
        refused(
            "will topic with a wildcard [MQTT-4.7.0-1]",
            None,
            b"\x10\x13\x00\x04MQTT\x04\x06\x00\x3C\x00\x01a\x00\x01#\x00\x01x",
            E::TopicName(InvalidTopic::WildcardInName),
        ),
        refused(
            "will topic empty [MQTT-4.7.3-1]",
            None,
            b"\x10\x12\x00\x04MQTT\x04\x06\x00\x3C\x00\x01a\x00\x00\x00\x01x",
            E::TopicName(InvalidTopic::Empty),
        ),
        refused(
            "will topic not UTF-8 [MQTT-3.1.3-11]",
            None,
            b"\x10\x13\x00\x04MQTT\x04\x06\x00\x3C\x00\x01a\x00\x01\xFF\x00\x01x",
            E::TopicName(InvalidTopic::NotText),
        ),
        refused(
            "no client id field [MQTT-3.1.3-3]",
            None,
            b"\x10\x0A\x00\x04MQTT\x04\x02\x00\x3C",
            E::Truncated,
        ),
        refused(
            "client id not UTF-8 [MQTT-3.1.3-4]",
            None,
            b"\x10\x0D\x00\x04MQTT\x04\x02\x00\x3C\x00\x01\xC3",
            E::NotUtf8,
        ),
        refused(
            "client id with a surrogate [MQTT-1.5.4-1]",
            None,
            b"\x10\x0F\x00\x04MQTT\x04\x02\x00\x3C\x00\x03\xED\xA0\x80",
            E::NotUtf8,
        ),
        refused(
            "client id with U+0000 [MQTT-1.5.4-2]",
            None,
            b"\x10\x0D\x00\x04MQTT\x04\x02\x00\x3C\x00\x01\x00",
            E::NullCharacter,
        ),
        refused(
            "user name missing [MQTT-3.1.2-17]",
            None,
            b"\x10\x0D\x00\x04MQTT\x04\x82\x00\x3C\x00\x01a",
            E::Truncated,
        ),
        refused(
            "user name not UTF-8 [MQTT-3.1.3-12]",
            None,
            b"\x10\x10\x00\x04MQTT\x04\x82\x00\x3C\x00\x01a\x00\x01\x80",
            E::NotUtf8,
        ),
        refused(
            "password missing [MQTT-3.1.2-19]",
            None,
            b"\x10\x10\x00\x04MQTT\x04\xC2\x00\x3C\x00\x01a\x00\x01u",
            E::Truncated,
        ),
        refused(
            "user name without its flag [MQTT-3.1.2-16]",
            None,
            b"\x10\x10\x00\x04MQTT\x04\x02\x00\x3C\x00\x01a\x00\x01u",
            E::TrailingBytes(3),
        ),
        refused(
            "password without its flag [MQTT-3.1.2-18]",
            None,
            b"\x10\x13\x00\x04MQTT\x04\x82\x00\x3C\x00\x01a\x00\x01u\x00\x01p",
            E::TrailingBytes(3),
        ),
    ]
}

fn refused_by_version() -> Vec<Case> {
    vec![
        refused(
            "password alone 3.1.1 [MQTT-3.1.2-22]",
            None,
            b"\x10\x10\x00\x04MQTT\x04\x42\x00\x3C\x00\x01a\x00\x01p",
            E::PasswordWithoutUserName,
        ),
        refused(
            "empty client id with an old session 3.1.1 [MQTT-3.1.3-8]",
            None,
            b"\x10\x0C\x00\x04MQTT\x04\x00\x00\x3C\x00\x00",
            E::EmptyClientId,
        ),
        refused(
            "Remaining Length not shortest 5.0 [MQTT-1.5.5-1]",
            None,
            b"\x10\x8E\x00\x00\x04MQTT\x05\x02\x00\x3C\x00\x00\x01a",
            E::VariableByteInteger,
        ),
        super::reads(
            "Remaining Length not shortest 3.1.1",
            None,
            b"\x10\x8D\x00\x00\x04MQTT\x04\x02\x00\x3C\x00\x01a",
            packet(plain(Version::V311)),
        ),
        refused(
            "no property length 5.0 [MQTT-2.2.2-1]",
            None,
            b"\x10\x0A\x00\x04MQTT\x05\x02\x00\x3C",
            E::Truncated,
        ),
        refused(
            "Receive Maximum 0",
            None,
            b"\x10\x11\x00\x04MQTT\x05\x02\x00\x3C\x03\x21\x00\x00\x00\x01a",
            E::PropertyValue(PropertyId::ReceiveMaximum),
        ),
        refused(
            "Maximum Packet Size 0",
            None,
            b"\x10\x13\x00\x04MQTT\x05\x02\x00\x3C\x05\x27\x00\x00\x00\x00\x00\x01a",
            E::PropertyValue(PropertyId::MaximumPacketSize),
        ),
        refused(
            "Request Problem Information 2",
            None,
            b"\x10\x10\x00\x04MQTT\x05\x02\x00\x3C\x02\x17\x02\x00\x01a",
            E::PropertyValue(PropertyId::RequestProblemInformation),
        ),
        refused(
            "Request Response Information 2",
            None,
            b"\x10\x10\x00\x04MQTT\x05\x02\x00\x3C\x02\x19\x02\x00\x01a",
            E::PropertyValue(PropertyId::RequestResponseInformation),
        ),
        refused(
            "authentication data without a method",
            None,
            b"\x10\x12\x00\x04MQTT\x05\x02\x00\x3C\x04\x16\x00\x01x\x00\x01a",
            E::AuthenticationDataAlone,
        ),
        refused(
            "a CONNACK property in CONNECT",
            None,
            b"\x10\x10\x00\x04MQTT\x05\x02\x00\x3C\x02\x24\x01\x00\x01a",
            E::MisplacedProperty(PropertyId::MaximumQoS),
        ),
        refused(
            "the will's delay among the properties of CONNECT",
            None,
            b"\x10\x13\x00\x04MQTT\x05\x02\x00\x3C\x05\x18\x00\x00\x00\x01\x00\x01a",
            E::MisplacedProperty(PropertyId::WillDelayInterval),
        ),
        refused(
            "a topic alias among the properties of a will",
            None,
            b"\x10\x17\x00\x04MQTT\x05\x06\x00\x3C\x00\x00\x01a\x03\x23\x00\x01\x00\x01w\x00\x01x",
            E::MisplacedProperty(PropertyId::TopicAlias),
        ),
    ]
}
