//! Sections 3.4 to 3.7: the acknowledgements of PUBLISH.

use super::{Case, V3, V5, id, properties, reads, refused, same};
use crate::{
    Ack, DecodeError as E, Packet, PacketType as T, Properties, Property, PropertyId, ReasonCode as R,
};

pub(super) fn cases() -> Vec<Case> {
    let done = || Ack::success(id(0x0102));
    let with = |reason| Ack { reason, ..done() };
    let code = |packet, code| E::ReasonCode { packet, code };
    let why = || Ack {
        packet_id: id(0x0102),
        reason: R::QuotaExceeded,
        properties: properties(&[Property::ReasonString("full"), Property::UserProperty("k", "v")]),
    };
    let why_success = Ack {
        reason: R::Success,
        properties: properties(&[Property::ReasonString("r")]),
        ..done()
    };
    vec![
        same("PUBACK", V3, b"\x40\x02\x01\x02", Packet::PubAck(done())),
        same("PUBREC", V3, b"\x50\x02\x01\x02", Packet::PubRec(done())),
        same("PUBREL", V3, b"\x62\x02\x01\x02", Packet::PubRel(done())),
        same("PUBCOMP", V3, b"\x70\x02\x01\x02", Packet::PubComp(done())),
        same("PUBACK", V5, b"\x40\x02\x01\x02", Packet::PubAck(done())),
        same("PUBREC", V5, b"\x50\x02\x01\x02", Packet::PubRec(done())),
        same("PUBREL", V5, b"\x62\x02\x01\x02", Packet::PubRel(done())),
        same("PUBCOMP", V5, b"\x70\x02\x01\x02", Packet::PubComp(done())),
        reads(
            "PUBACK that spells success out",
            V5,
            b"\x40\x03\x01\x02\x00",
            Packet::PubAck(done()),
        ),
        reads(
            "PUBACK that spells all out",
            V5,
            b"\x40\x04\x01\x02\x00\x00",
            Packet::PubAck(done()),
        ),
        same(
            "PUBACK no subscribers",
            V5,
            b"\x40\x03\x01\x02\x10",
            Packet::PubAck(with(R::NoMatchingSubscribers)),
        ),
        same(
            "PUBREC not authorized",
            V5,
            b"\x50\x03\x01\x02\x87",
            Packet::PubRec(with(R::NotAuthorized)),
        ),
        same(
            "PUBREL not found",
            V5,
            b"\x62\x03\x01\x02\x92",
            Packet::PubRel(with(R::PacketIdentifierNotFound)),
        ),
        same(
            "PUBCOMP not found",
            V5,
            b"\x70\x03\x01\x02\x92",
            Packet::PubComp(with(R::PacketIdentifierNotFound)),
        ),
        same(
            "PUBACK with properties",
            V5,
            b"\x40\x12\x01\x02\x97\x0E\x1F\x00\x04full\x26\x00\x01k\x00\x01v",
            Packet::PubAck(why()),
        ),
        same(
            "PUBREC with properties",
            V5,
            b"\x50\x12\x01\x02\x97\x0E\x1F\x00\x04full\x26\x00\x01k\x00\x01v",
            Packet::PubRec(why()),
        ),
        same(
            "success with a reason string",
            V5,
            b"\x62\x08\x01\x02\x00\x04\x1F\x00\x01r",
            Packet::PubRel(why_success),
        ),
        refused(
            "PUBACK id 0 [MQTT-2.2.1-3]",
            V3,
            b"\x40\x02\x00\x00",
            E::PacketIdZero,
        ),
        refused(
            "PUBCOMP id 0 [MQTT-2.2.1-3]",
            V5,
            b"\x70\x02\x00\x00",
            E::PacketIdZero,
        ),
        refused("PUBACK cut", V3, b"\x40\x01\x01", E::Truncated),
        refused("PUBACK empty", V5, b"\x40\x00", E::Truncated),
        refused(
            "PUBACK with a reason in 3.1.1",
            V3,
            b"\x40\x03\x01\x02\x00",
            E::TrailingBytes(1),
        ),
        refused(
            "PUBACK reason of another packet [MQTT-3.4.2-1]",
            V5,
            b"\x40\x03\x01\x02\x92",
            code(T::PubAck, 0x92),
        ),
        refused(
            "PUBREC unknown reason [MQTT-3.5.2-1]",
            V5,
            b"\x50\x03\x01\x02\x01",
            code(T::PubRec, 1),
        ),
        refused(
            "PUBREL reason of another packet [MQTT-3.6.2-1]",
            V5,
            b"\x62\x03\x01\x02\x80",
            code(T::PubRel, 0x80),
        ),
        refused(
            "PUBCOMP reason of another packet [MQTT-3.7.2-1]",
            V5,
            b"\x70\x03\x01\x02\x10",
            code(T::PubComp, 0x10),
        ),
        refused(
            "PUBACK properties cut",
            V5,
            b"\x40\x05\x01\x02\x00\x04\x1F",
            E::Truncated,
        ),
        refused(
            "PUBACK with more",
            V5,
            b"\x40\x05\x01\x02\x00\x00\x00",
            E::TrailingBytes(1),
        ),
        refused(
            "reason string twice",
            V5,
            b"\x40\x0C\x01\x02\x00\x08\x1F\x00\x01a\x1F\x00\x01b",
            E::RepeatedProperty(PropertyId::ReasonString),
        ),
        refused(
            "a PUBLISH property in PUBACK",
            V5,
            b"\x40\x07\x01\x02\x00\x03\x23\x00\x01",
            E::MisplacedProperty(PropertyId::TopicAlias),
        ),
    ]
    .into_iter()
    .chain(std::iter::once(same(
        "PUBACK of the highest id",
        V5,
        b"\x40\x02\xFF\xFF",
        Packet::PubAck(Ack {
            packet_id: id(u16::MAX),
            reason: R::Success,
            properties: Properties::empty(),
        }),
    )))
    .collect()
}
