//! Sections 3.10 and 3.11: UNSUBSCRIBE and UNSUBACK.

use super::{Case, V3, V5, filter, id, properties, refused, same};
use crate::{
    DecodeError as E, InvalidTopic, Packet, PacketType as T, Properties, Property, PropertyId,
    ReasonCode as R, UnsubAck, Unsubscribe,
};

pub(super) fn cases() -> Vec<Case> {
    let unsubscribe = |list: &[&str], properties| {
        let filters = list.iter().map(|text| filter(text)).collect();
        Packet::Unsubscribe(Box::new(Unsubscribe {
            packet_id: id(10),
            filters,
            properties,
        }))
    };
    let unsuback = |reasons: &[R], properties| {
        Packet::UnsubAck(Box::new(UnsubAck {
            packet_id: id(10),
            reasons: reasons.to_vec(),
            properties,
        }))
    };
    let none = Properties::empty;
    let user = || properties(&[Property::UserProperty("k", "v")]);
    let code = |code| E::ReasonCode {
        packet: T::UnsubAck,
        code,
    };
    vec![
        same(
            "UNSUBSCRIBE",
            V3,
            b"\xA2\x07\x00\x0A\x00\x03a/b",
            unsubscribe(&["a/b"], none()),
        ),
        same(
            "UNSUBSCRIBE",
            V5,
            b"\xA2\x08\x00\x0A\x00\x00\x03a/b",
            unsubscribe(&["a/b"], none()),
        ),
        same(
            "UNSUBSCRIBE of two with a property",
            V5,
            b"\xA2\x12\x00\x0A\x07\x26\x00\x01k\x00\x01v\x00\x03a/b\x00\x01#",
            unsubscribe(&["a/b", "#"], user()),
        ),
        same("UNSUBACK", V3, b"\xB0\x02\x00\x0A", unsuback(&[], none())),
        same(
            "UNSUBACK",
            V5,
            b"\xB0\x05\x00\x0A\x00\x00\x11",
            unsuback(&[R::Success, R::NoSubscriptionExisted], none()),
        ),
        same(
            "UNSUBACK with a property",
            V5,
            b"\xB0\x0B\x00\x0A\x07\x26\x00\x01k\x00\x01v\x87",
            unsuback(&[R::NotAuthorized], user()),
        ),
        refused(
            "packet id 0 in UNSUBSCRIBE",
            V3,
            b"\xA2\x07\x00\x00\x00\x03a/b",
            E::PacketIdZero,
        ),
        refused(
            "nothing to unsubscribe [MQTT-3.10.3-2]",
            V3,
            b"\xA2\x02\x00\x0A",
            E::NoEntry(T::Unsubscribe),
        ),
        refused(
            "nothing to unsubscribe [MQTT-3.10.3-2]",
            V5,
            b"\xA2\x03\x00\x0A\x00",
            E::NoEntry(T::Unsubscribe),
        ),
        refused(
            "filter not UTF-8 [MQTT-3.10.3-1]",
            V3,
            b"\xA2\x05\x00\x0A\x00\x01\xFF",
            E::TopicFilter(InvalidTopic::NotText),
        ),
        refused("filter cut", V5, b"\xA2\x07\x00\x0A\x00\x00\x03a/", E::Truncated),
        refused(
            "filter with # before the end [MQTT-4.7.1-1]",
            V3,
            b"\xA2\x07\x00\x0A\x00\x03#/b",
            E::TopicFilter(InvalidTopic::MisplacedWildcard),
        ),
        refused(
            "subscription identifier in UNSUBSCRIBE",
            V5,
            b"\xA2\x0A\x00\x0A\x02\x0B\x01\x00\x03a/b",
            E::MisplacedProperty(PropertyId::SubscriptionIdentifier),
        ),
        refused(
            "UNSUBACK with codes in 3.1.1",
            V3,
            b"\xB0\x03\x00\x0A\x00",
            E::TrailingBytes(1),
        ),
        refused(
            "UNSUBACK without a code",
            V5,
            b"\xB0\x03\x00\x0A\x00",
            E::NoEntry(T::UnsubAck),
        ),
        refused(
            "UNSUBACK reason of another packet [MQTT-3.11.3-2]",
            V5,
            b"\xB0\x04\x00\x0A\x00\x01",
            code(1),
        ),
        refused("UNSUBACK id 0", V3, b"\xB0\x02\x00\x00", E::PacketIdZero),
    ]
}
