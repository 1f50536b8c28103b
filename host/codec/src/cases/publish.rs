//! Section 3.3.

use bytes::Bytes;

use super::{Case, V3, V5, id, properties, refused, same, topic};
use crate::{DecodeError as E, InvalidTopic, Packet, Properties, Property, PropertyId, Publish, QoS};

pub(super) fn cases() -> Vec<Case> {
    accepted().into_iter().chain(refusals()).collect()
}

fn plain() -> Publish {
    Publish {
        topic: Some(topic("a/b")),
        payload: Bytes::from_static(b"hi"),
        properties: Properties::empty(),
        qos: QoS::AtMostOnce,
        packet_id: None,
        retain: false,
        dup: false,
    }
}

fn accepted() -> Vec<Case> {
    let once = Publish {
        qos: QoS::AtLeastOnce,
        packet_id: Some(id(10)),
        ..plain()
    };
    let exactly = Publish {
        qos: QoS::ExactlyOnce,
        packet_id: Some(id(u16::MAX)),
        ..plain()
    };
    let all = properties(&[
        Property::PayloadFormatIndicator(1),
        Property::MessageExpiryInterval(60),
        Property::TopicAlias(7),
        Property::ResponseTopic("r"),
        Property::CorrelationData(b"\0\x01"),
        Property::UserProperty("k", "v"),
        Property::SubscriptionIdentifier(128),
        Property::UserProperty("k", ""),
        Property::SubscriptionIdentifier(1),
        Property::ContentType("t"),
    ]);
    let alias = properties(&[Property::TopicAlias(1)]);
    vec![
        same("PUBLISH at QoS 0", V3, b"\x30\x07\x00\x03a/bhi", Packet::Publish(plain())),
        same("PUBLISH at QoS 0", V5, b"\x30\x08\x00\x03a/b\x00hi", Packet::Publish(plain())),
        same("PUBLISH without payload, retained", V3, b"\x31\x05\x00\x03a/b",
            Packet::Publish(Publish { retain: true, payload: Bytes::new(), ..plain() })),
        same("PUBLISH at QoS 1", V3, b"\x32\x09\x00\x03a/b\x00\x0Ahi", Packet::Publish(once.clone())),
        same("PUBLISH at QoS 1", V5, b"\x32\x0A\x00\x03a/b\x00\x0A\x00hi", Packet::Publish(once.clone())),
        same("PUBLISH at QoS 2 again", V5, b"\x3C\x0A\x00\x03a/b\xFF\xFF\x00hi",
            Packet::Publish(Publish { dup: true, ..exactly })),
        same("every property of PUBLISH", V5,
            b"\x32\x33\x00\x03a/b\x00\x0A\x29\x01\x01\x02\x00\x00\x00\x3C\x23\x00\x07\x08\x00\x01r\x09\x00\x02\x00\x01\x26\x00\x01k\x00\x01v\x0B\x80\x01\x26\x00\x01k\x00\x00\x0B\x01\x03\x00\x01thi",
            Packet::Publish(Publish { properties: all, ..once })),
        same("topic by alias", V5, b"\x30\x08\x00\x00\x03\x23\x00\x01hi",
            Packet::Publish(Publish { topic: None, properties: alias, ..plain() })),
        same("topic beyond ASCII", V3, b"\x30\x07\x00\x05\xC3\xA9/\xC3\xA9",
            Packet::Publish(Publish { topic: Some(topic("é/é")), payload: Bytes::new(), ..plain() })),
        same("payload of any bytes", V5, b"\x30\x08\x00\x03a/b\x00\xFF\x00",
            Packet::Publish(Publish { payload: Bytes::from_static(b"\xFF\x00"), ..plain() })),
        super::reads("PUBLISH with a Remaining Length not shortest", V3, b"\x30\x87\x00\x00\x03a/bhi",
            Packet::Publish(plain())),
    ]
}

fn refusals() -> Vec<Case> {
    let name = E::TopicName;
    vec![
        refused(
            "QoS 3 [MQTT-3.3.1-4]",
            V3,
            b"\x36\x09\x00\x03a/b\x00\x0Ahi",
            E::PublishQoS3,
        ),
        refused(
            "QoS 3 [MQTT-3.3.1-4]",
            V5,
            b"\x36\x0A\x00\x03a/b\x00\x0A\x00hi",
            E::PublishQoS3,
        ),
        refused(
            "DUP at QoS 0 [MQTT-3.3.1-2]",
            V3,
            b"\x38\x07\x00\x03a/bhi",
            E::DupAtQoS0,
        ),
        refused(
            "DUP at QoS 0 [MQTT-3.3.1-2]",
            V5,
            b"\x38\x08\x00\x03a/b\x00hi",
            E::DupAtQoS0,
        ),
        refused(
            "packet id 0 [MQTT-2.3.1-1]",
            V3,
            b"\x32\x09\x00\x03a/b\x00\x00hi",
            E::PacketIdZero,
        ),
        refused(
            "packet id 0 [MQTT-2.2.1-3]",
            V5,
            b"\x34\x0A\x00\x03a/b\x00\x00\x00hi",
            E::PacketIdZero,
        ),
        refused("no topic field [MQTT-3.3.2-1]", V3, b"\x30\x00", E::Truncated),
        refused(
            "topic longer than the packet",
            V3,
            b"\x30\x04\x00\x03a/",
            E::Truncated,
        ),
        refused("packet id missing", V3, b"\x32\x06\x00\x03a/b\x00", E::Truncated),
        refused(
            "property length missing",
            V5,
            b"\x30\x05\x00\x03a/b",
            E::Truncated,
        ),
        refused(
            "properties longer than the packet",
            V5,
            b"\x30\x08\x00\x03a/b\x03\x01\x01",
            E::Truncated,
        ),
        refused(
            "property length not shortest [MQTT-1.5.5-1]",
            V5,
            b"\x30\x07\x00\x03a/b\x80\x00",
            E::VariableByteInteger,
        ),
        refused(
            "topic with + [MQTT-3.3.2-2]",
            V3,
            b"\x30\x05\x00\x03a/+",
            name(InvalidTopic::WildcardInName),
        ),
        refused(
            "topic with # [MQTT-3.3.2-2]",
            V5,
            b"\x30\x06\x00\x03a/#\x00",
            name(InvalidTopic::WildcardInName),
        ),
        refused(
            "topic empty [MQTT-4.7.3-1]",
            V3,
            b"\x30\x04\x00\x00hi",
            name(InvalidTopic::Empty),
        ),
        refused(
            "topic empty without alias",
            V5,
            b"\x30\x05\x00\x00\x00hi",
            E::NoTopic,
        ),
        refused(
            "topic with U+0000 [MQTT-4.7.3-2]",
            V3,
            b"\x30\x05\x00\x03a\x00b",
            name(InvalidTopic::NotText),
        ),
        refused(
            "topic with a surrogate [MQTT-1.5.4-1]",
            V5,
            b"\x30\x06\x00\x03\xED\xA0\x80\x00",
            name(InvalidTopic::NotText),
        ),
        refused(
            "topic overlong UTF-8 [MQTT-1.5.4-1]",
            V3,
            b"\x30\x04\x00\x02\xC0\x80",
            name(InvalidTopic::NotText),
        ),
        refused(
            "topic alias 0 [MQTT-3.3.2-8]",
            V5,
            b"\x30\x0B\x00\x03a/b\x03\x23\x00\x00hi",
            E::TopicAliasZero,
        ),
        refused(
            "topic alias twice",
            V5,
            b"\x30\x0C\x00\x03a/b\x06\x23\x00\x01\x23\x00\x01",
            E::RepeatedProperty(PropertyId::TopicAlias),
        ),
        refused(
            "payload format 2",
            V5,
            b"\x30\x08\x00\x03a/b\x02\x01\x02",
            E::PropertyValue(PropertyId::PayloadFormatIndicator),
        ),
        refused(
            "message expiry twice",
            V5,
            b"\x30\x10\x00\x03a/b\x0A\x02\x00\x00\x00\x01\x02\x00\x00\x00\x01",
            E::RepeatedProperty(PropertyId::MessageExpiryInterval),
        ),
        refused(
            "subscription identifier 0",
            V5,
            b"\x30\x08\x00\x03a/b\x02\x0B\x00",
            E::PropertyValue(PropertyId::SubscriptionIdentifier),
        ),
        refused(
            "response topic with a wildcard [MQTT-3.3.2-14]",
            V5,
            b"\x30\x0A\x00\x03a/b\x04\x08\x00\x01#",
            E::PropertyValue(PropertyId::ResponseTopic),
        ),
        refused(
            "response topic empty [MQTT-4.7.3-1]",
            V5,
            b"\x30\x09\x00\x03a/b\x03\x08\x00\x00",
            E::PropertyValue(PropertyId::ResponseTopic),
        ),
        refused(
            "response topic not UTF-8 [MQTT-3.3.2-13]",
            V5,
            b"\x30\x0A\x00\x03a/b\x04\x08\x00\x01\xFF",
            E::NotUtf8,
        ),
        refused(
            "content type with U+0000 [MQTT-3.3.2-19]",
            V5,
            b"\x30\x0A\x00\x03a/b\x04\x03\x00\x01\x00",
            E::NullCharacter,
        ),
        refused(
            "a CONNECT property in PUBLISH",
            V5,
            b"\x30\x09\x00\x03a/b\x03\x21\x00\x01",
            E::MisplacedProperty(PropertyId::ReceiveMaximum),
        ),
        refused(
            "the will's delay in PUBLISH",
            V5,
            b"\x30\x0B\x00\x03a/b\x05\x18\x00\x00\x00\x01",
            E::MisplacedProperty(PropertyId::WillDelayInterval),
        ),
    ]
}
