//! Section 2.1: packet type, flags and Remaining Length; and the packets that are no more than that.

use super::{Case, V3, V5, refused, same};
use crate::{DecodeError as E, Packet, PacketType as T};

pub(super) fn cases() -> Vec<Case> {
    let flags = |packet, flags| E::FixedHeaderFlags { packet, flags };
    vec![
        same("PINGREQ", V3, b"\xC0\x00", Packet::PingReq),
        same("PINGREQ", V5, b"\xC0\x00", Packet::PingReq),
        same("PINGRESP", V3, b"\xD0\x00", Packet::PingResp),
        same("PINGRESP", V5, b"\xD0\x00", Packet::PingResp),
        refused("PINGREQ with a body", V5, b"\xC0\x01\x00", E::TrailingBytes(1)),
        refused(
            "PINGRESP with a body",
            V3,
            b"\xD0\x02\x00\x00",
            E::TrailingBytes(2),
        ),
        refused("type 0 is reserved", V5, b"\x00\x00", E::ReservedType(0)),
        refused(
            "type 15 is reserved in 3.1.1",
            V3,
            b"\xF0\x00",
            E::ReservedType(15),
        ),
        refused(
            "PINGREQ before CONNECT [MQTT-3.1.0-1]",
            None,
            b"\xC0\x00",
            E::FirstNotConnect(T::PingReq),
        ),
        refused(
            "HTTP instead of MQTT",
            None,
            b"GET / HTTP/1.1\r\n",
            E::FixedHeaderFlags {
                packet: T::PubAck,
                flags: 7,
            },
        ),
        refused(
            "CONNECT flags [MQTT-2.1.3-1]",
            None,
            b"\x11\x00",
            flags(T::Connect, 1),
        ),
        refused(
            "CONNACK flags [MQTT-2.1.3-1]",
            V5,
            b"\x21\x00",
            flags(T::ConnAck, 1),
        ),
        refused(
            "PUBACK flags [MQTT-2.1.3-1]",
            V5,
            b"\x42\x02\x00\x01",
            flags(T::PubAck, 2),
        ),
        refused(
            "PUBREC flags [MQTT-2.1.3-1]",
            V5,
            b"\x58\x02\x00\x01",
            flags(T::PubRec, 8),
        ),
        refused(
            "PUBREL flags [MQTT-3.6.1-1]",
            V5,
            b"\x60\x02\x00\x01",
            flags(T::PubRel, 0),
        ),
        refused(
            "PUBREL flags [MQTT-3.6.1-1]",
            V3,
            b"\x63\x02\x00\x01",
            flags(T::PubRel, 3),
        ),
        refused(
            "PUBCOMP flags [MQTT-2.1.3-1]",
            V5,
            b"\x71\x02\x00\x01",
            flags(T::PubComp, 1),
        ),
        refused(
            "SUBSCRIBE flags [MQTT-3.8.1-1]",
            V5,
            b"\x80\x00",
            flags(T::Subscribe, 0),
        ),
        refused(
            "SUBACK flags [MQTT-2.1.3-1]",
            V3,
            b"\x91\x00",
            flags(T::SubAck, 1),
        ),
        refused(
            "UNSUBSCRIBE flags [MQTT-3.10.1-1]",
            V5,
            b"\xA0\x00",
            flags(T::Unsubscribe, 0),
        ),
        refused(
            "UNSUBACK flags [MQTT-2.1.3-1]",
            V5,
            b"\xB4\x00",
            flags(T::UnsubAck, 4),
        ),
        refused(
            "PINGREQ flags [MQTT-2.2.2-2]",
            V3,
            b"\xC1\x00",
            flags(T::PingReq, 1),
        ),
        refused(
            "PINGRESP flags [MQTT-2.1.3-1]",
            V5,
            b"\xD1\x00",
            flags(T::PingResp, 1),
        ),
        refused(
            "DISCONNECT flags [MQTT-3.14.1-1]",
            V5,
            b"\xE1\x00",
            flags(T::Disconnect, 1),
        ),
        refused("AUTH flags [MQTT-3.15.1-1]", V5, b"\xF1\x00", flags(T::Auth, 1)),
        refused(
            "Remaining Length of five bytes",
            V5,
            b"\x30\x80\x80\x80\x80\x01",
            E::VariableByteInteger,
        ),
        refused(
            "Remaining Length whose fourth byte goes on",
            V3,
            b"\x30\xFF\xFF\xFF\xFF",
            E::VariableByteInteger,
        ),
        refused(
            "Remaining Length not shortest [MQTT-1.5.5-1]",
            V5,
            b"\xC0\x80\x00",
            E::VariableByteInteger,
        ),
        super::reads(
            "Remaining Length not shortest, which 3.1.1 allows",
            V3,
            b"\xC0\x80\x00",
            Packet::PingReq,
        ),
        refused(
            "larger than the decoder accepts",
            V5,
            b"\x30\xFF\x1F",
            E::TooLarge {
                bytes: 4098,
                bytes_max: 4096,
            },
        ),
        refused(
            "the largest there is",
            V3,
            b"\x30\xFF\xFF\xFF\x7F",
            E::TooLarge {
                bytes: 268_435_460,
                bytes_max: 4096,
            },
        ),
    ]
}
