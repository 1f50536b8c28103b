//! Sections 3.8 and 3.9: SUBSCRIBE and SUBACK.

use super::{Case, V3, V5, filter, id, properties, refused, same};
use crate::{
    DecodeError as E, InvalidTopic, Packet, PacketType as T, Properties, Property, PropertyId, QoS,
    ReasonCode as R, RetainHandling, SubAck, Subscribe, SubscribeOptions, Subscription,
};

pub(super) fn cases() -> Vec<Case> {
    accepted()
        .into_iter()
        .chain(refused_subscribe())
        .chain(refused_suback())
        .collect()
}

fn subscribe(list: &[(&str, SubscribeOptions)], properties: Properties) -> Packet {
    let one = |&(text, options): &(&str, SubscribeOptions)| Subscription {
        filter: filter(text),
        options,
    };
    let subscriptions = list.iter().map(one).collect();
    Packet::Subscribe(Box::new(Subscribe {
        packet_id: id(10),
        subscriptions,
        properties,
    }))
}

fn suback(reasons: &[R], properties: Properties) -> Packet {
    Packet::SubAck(Box::new(SubAck {
        packet_id: id(10),
        reasons: reasons.to_vec(),
        properties,
    }))
}

fn accepted() -> Vec<Case> {
    let qos = |qos| SubscribeOptions {
        qos,
        ..SubscribeOptions::default()
    };
    let none = Properties::empty;
    let every_option = SubscribeOptions {
        qos: QoS::ExactlyOnce,
        no_local: true,
        retain_as_published: true,
        retain_handling: RetainHandling::DoNotSend,
    };
    let if_new = SubscribeOptions {
        retain_handling: RetainHandling::SendIfNew,
        ..qos(QoS::AtLeastOnce)
    };
    let identified = properties(&[
        Property::SubscriptionIdentifier(268_435_455),
        Property::UserProperty("k", "v"),
    ]);
    let why = properties(&[Property::ReasonString("r")]);
    vec![
        same(
            "SUBSCRIBE",
            V3,
            b"\x82\x08\x00\x0A\x00\x03a/b\x01",
            subscribe(&[("a/b", qos(QoS::AtLeastOnce))], none()),
        ),
        same(
            "SUBSCRIBE",
            V5,
            b"\x82\x09\x00\x0A\x00\x00\x03a/b\x01",
            subscribe(&[("a/b", qos(QoS::AtLeastOnce))], none()),
        ),
        same(
            "two filters",
            V3,
            b"\x82\x0C\x00\x0A\x00\x01#\x02\x00\x03+/b\x00",
            subscribe(
                &[("#", qos(QoS::ExactlyOnce)), ("+/b", qos(QoS::AtMostOnce))],
                none(),
            ),
        ),
        same(
            "every option",
            V5,
            b"\x82\x09\x00\x0A\x00\x00\x03a/b\x2E",
            subscribe(&[("a/b", every_option)], none()),
        ),
        same(
            "shared, retained if new",
            V5,
            b"\x82\x10\x00\x0A\x00\x00\x0A$share/g/a\x11",
            subscribe(&[("$share/g/a", if_new)], none()),
        ),
        same(
            "subscription identifier",
            V5,
            b"\x82\x15\x00\x0A\x0C\x0B\xFF\xFF\xFF\x7F\x26\x00\x01k\x00\x01v\x00\x03a/b\x00",
            subscribe(&[("a/b", qos(QoS::AtMostOnce))], identified),
        ),
        same(
            "SUBACK",
            V3,
            b"\x90\x06\x00\x0A\x00\x01\x02\x80",
            suback(
                &[R::Success, R::GrantedQoS1, R::GrantedQoS2, R::UnspecifiedError],
                none(),
            ),
        ),
        same(
            "SUBACK",
            V5,
            b"\x90\x06\x00\x0A\x00\x00\x02\x9E",
            suback(
                &[R::Success, R::GrantedQoS2, R::SharedSubscriptionsNotSupported],
                none(),
            ),
        ),
        same(
            "SUBACK with a reason string",
            V5,
            b"\x90\x08\x00\x0A\x04\x1F\x00\x01r\x8F",
            suback(&[R::TopicFilterInvalid], why),
        ),
    ]
}

fn refused_subscribe() -> Vec<Case> {
    let filter = E::TopicFilter;
    vec![
        refused(
            "packet id 0 in SUBSCRIBE [MQTT-2.2.1-3]",
            V5,
            b"\x82\x09\x00\x00\x00\x00\x03a/b\x01",
            E::PacketIdZero,
        ),
        refused(
            "packet id 0 in SUBSCRIBE [MQTT-2.3.1-1]",
            V3,
            b"\x82\x08\x00\x00\x00\x03a/b\x01",
            E::PacketIdZero,
        ),
        refused(
            "no filter [MQTT-3.8.3-3]",
            V3,
            b"\x82\x02\x00\x0A",
            E::NoEntry(T::Subscribe),
        ),
        refused(
            "no filter [MQTT-3.8.3-2]",
            V5,
            b"\x82\x03\x00\x0A\x00",
            E::NoEntry(T::Subscribe),
        ),
        refused(
            "filter without options",
            V3,
            b"\x82\x07\x00\x0A\x00\x03a/b",
            E::Truncated,
        ),
        refused(
            "QoS 3 [MQTT-3-8.3-4]",
            V3,
            b"\x82\x08\x00\x0A\x00\x03a/b\x03",
            E::SubscribeQoS3,
        ),
        refused(
            "Maximum QoS 3",
            V5,
            b"\x82\x09\x00\x0A\x00\x00\x03a/b\x03",
            E::SubscribeQoS3,
        ),
        refused(
            "reserved bit [MQTT-3-8.3-4]",
            V3,
            b"\x82\x08\x00\x0A\x00\x03a/b\x04",
            E::ReservedSubscribeOption(4),
        ),
        refused(
            "reserved bit 6 [MQTT-3.8.3-5]",
            V5,
            b"\x82\x09\x00\x0A\x00\x00\x03a/b\x40",
            E::ReservedSubscribeOption(0x40),
        ),
        refused(
            "reserved bit 7 [MQTT-3.8.3-5]",
            V5,
            b"\x82\x09\x00\x0A\x00\x00\x03a/b\x81",
            E::ReservedSubscribeOption(0x81),
        ),
        refused(
            "retain handling 3",
            V5,
            b"\x82\x09\x00\x0A\x00\x00\x03a/b\x30",
            E::RetainHandling3,
        ),
        refused(
            "no local on shared [MQTT-3.8.3-4]",
            V5,
            b"\x82\x10\x00\x0A\x00\x00\x0A$share/g/a\x04",
            E::NoLocalOnShared,
        ),
        refused(
            "filter empty [MQTT-4.7.3-1]",
            V5,
            b"\x82\x06\x00\x0A\x00\x00\x00\x00",
            filter(InvalidTopic::Empty),
        ),
        refused(
            "# before the end [MQTT-4.7.1-1]",
            V3,
            b"\x82\x08\x00\x0A\x00\x03#/b\x00",
            filter(InvalidTopic::MisplacedWildcard),
        ),
        refused(
            "+ beside text [MQTT-4.7.1-2]",
            V5,
            b"\x82\x08\x00\x0A\x00\x00\x02a+\x00",
            filter(InvalidTopic::MisplacedWildcard),
        ),
        refused(
            "share without a filter [MQTT-4.8.2-1]",
            V5,
            b"\x82\x0E\x00\x0A\x00\x00\x08$share/g\x00",
            filter(InvalidTopic::BadShare),
        ),
        refused(
            "share name with + [MQTT-4.8.2-2]",
            V5,
            b"\x82\x10\x00\x0A\x00\x00\x0A$share/+/a\x00",
            filter(InvalidTopic::BadShare),
        ),
        refused(
            "filter not UTF-8 [MQTT-3.8.3-1]",
            V3,
            b"\x82\x06\x00\x0A\x00\x01\xFF\x00",
            filter(InvalidTopic::NotText),
        ),
        refused(
            "filter with U+0000 [MQTT-4.7.3-2]",
            V3,
            b"\x82\x06\x00\x0A\x00\x01\x00\x00",
            filter(InvalidTopic::NotText),
        ),
        refused(
            "subscription identifier 0 in SUBSCRIBE",
            V5,
            b"\x82\x0B\x00\x0A\x02\x0B\x00\x00\x03a/b\x00",
            E::PropertyValue(PropertyId::SubscriptionIdentifier),
        ),
        refused(
            "two subscription identifiers in SUBSCRIBE",
            V5,
            b"\x82\x0D\x00\x0A\x04\x0B\x01\x0B\x02\x00\x03a/b\x00",
            E::RepeatedProperty(PropertyId::SubscriptionIdentifier),
        ),
        refused(
            "reason string in SUBSCRIBE",
            V5,
            b"\x82\x0D\x00\x0A\x04\x1F\x00\x01r\x00\x03a/b\x00",
            E::MisplacedProperty(PropertyId::ReasonString),
        ),
    ]
}

fn refused_suback() -> Vec<Case> {
    let code = |code| E::ReasonCode {
        packet: T::SubAck,
        code,
    };
    vec![
        refused(
            "SUBACK return code 3 [MQTT-3.9.3-2]",
            V3,
            b"\x90\x03\x00\x0A\x03",
            code(3),
        ),
        refused(
            "SUBACK return code of version 5 [MQTT-3.9.3-2]",
            V3,
            b"\x90\x03\x00\x0A\x87",
            code(0x87),
        ),
        refused(
            "SUBACK reason of another packet [MQTT-3.9.3-2]",
            V5,
            b"\x90\x04\x00\x0A\x00\x11",
            code(0x11),
        ),
        refused(
            "SUBACK without a code",
            V3,
            b"\x90\x02\x00\x0A",
            E::NoEntry(T::SubAck),
        ),
        refused(
            "SUBACK without a code",
            V5,
            b"\x90\x03\x00\x0A\x00",
            E::NoEntry(T::SubAck),
        ),
        refused("SUBACK id 0", V5, b"\x90\x04\x00\x00\x00\x00", E::PacketIdZero),
    ]
}
