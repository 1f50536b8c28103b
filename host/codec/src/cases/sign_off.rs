//! Sections 3.14 and 3.15: DISCONNECT and AUTH.

use super::{Case, V3, V5, properties, reads, refused, same};
use crate::{
    Auth, DecodeError as E, Disconnect, Packet, PacketType as T, Properties, Property, PropertyId,
    ReasonCode as R,
};

pub(super) fn cases() -> Vec<Case> {
    disconnect().into_iter().chain(auth()).collect()
}

fn disconnect() -> Vec<Case> {
    let plain = |reason| Packet::Disconnect(Box::new(Disconnect::with_reason(reason)));
    let moved = properties(&[Property::ServerReference("b:1"), Property::ReasonString("r")]);
    let expiry = properties(&[Property::SessionExpiryInterval(9)]);
    let code = |code| E::ReasonCode {
        packet: T::Disconnect,
        code,
    };
    let with = |reason, properties| Packet::Disconnect(Box::new(Disconnect { reason, properties }));
    vec![
        same("DISCONNECT", V3, b"\xE0\x00", plain(R::Success)),
        same("DISCONNECT", V5, b"\xE0\x00", plain(R::Success)),
        reads(
            "DISCONNECT that spells success out",
            V5,
            b"\xE0\x01\x00",
            plain(R::Success),
        ),
        reads(
            "DISCONNECT that spells all out",
            V5,
            b"\xE0\x02\x00\x00",
            plain(R::Success),
        ),
        reads(
            "DISCONNECT with an empty property length",
            V5,
            b"\xE0\x02\x04\x00",
            plain(R::DisconnectWithWill),
        ),
        same(
            "DISCONNECT with will",
            V5,
            b"\xE0\x01\x04",
            plain(R::DisconnectWithWill),
        ),
        same(
            "DISCONNECT taken over",
            V5,
            b"\xE0\x01\x8E",
            plain(R::SessionTakenOver),
        ),
        same(
            "DISCONNECT to another server",
            V5,
            b"\xE0\x0C\x9D\x0A\x1C\x00\x03b:1\x1F\x00\x01r",
            with(R::ServerMoved, moved),
        ),
        same(
            "DISCONNECT with session expiry",
            V5,
            b"\xE0\x07\x00\x05\x11\x00\x00\x00\x09",
            with(R::Success, expiry),
        ),
        refused(
            "DISCONNECT with a body in 3.1.1",
            V3,
            b"\xE0\x01\x00",
            E::TrailingBytes(1),
        ),
        refused(
            "DISCONNECT reason of another packet [MQTT-3.14.2-1]",
            V5,
            b"\xE0\x01\x84",
            code(0x84),
        ),
        refused(
            "DISCONNECT reason unknown [MQTT-3.14.2-1]",
            V5,
            b"\xE0\x01\x03",
            code(3),
        ),
        refused(
            "DISCONNECT with more",
            V5,
            b"\xE0\x03\x00\x00\x00",
            E::TrailingBytes(1),
        ),
        refused(
            "a CONNACK property in DISCONNECT",
            V5,
            b"\xE0\x05\x00\x03\x13\x00\x01",
            E::MisplacedProperty(PropertyId::ServerKeepAlive),
        ),
    ]
}

fn auth() -> Vec<Case> {
    let with = |reason, list: &[Property<'_>]| {
        Packet::Auth(Box::new(Auth {
            reason,
            properties: properties(list),
        }))
    };
    let method = Property::AuthenticationMethod("M");
    vec![
        same(
            "AUTH success without properties",
            V5,
            b"\xF0\x00",
            Packet::Auth(Box::new(Auth {
                reason: R::Success,
                properties: Properties::empty(),
            })),
        ),
        same(
            "AUTH continue",
            V5,
            b"\xF0\x0A\x18\x08\x15\x00\x01M\x16\x00\x01d",
            with(
                R::ContinueAuthentication,
                &[method, Property::AuthenticationData(b"d")],
            ),
        ),
        same(
            "AUTH again",
            V5,
            b"\xF0\x06\x19\x04\x15\x00\x01M",
            with(R::ReAuthenticate, &[method]),
        ),
        refused(
            "AUTH without a method",
            V5,
            b"\xF0\x02\x18\x00",
            E::NoAuthenticationMethod,
        ),
        refused(
            "AUTH data without a method",
            V5,
            b"\xF0\x06\x18\x04\x16\x00\x01d",
            E::AuthenticationDataAlone,
        ),
        refused("AUTH without property length", V5, b"\xF0\x01\x18", E::Truncated),
        refused(
            "AUTH reason of another packet [MQTT-3.15.2-1]",
            V5,
            b"\xF0\x06\x80\x04\x15\x00\x01M",
            E::ReasonCode {
                packet: T::Auth,
                code: 0x80,
            },
        ),
        refused(
            "AUTH before CONNECT [MQTT-3.1.0-1]",
            None,
            b"\xF0\x00",
            E::FirstNotConnect(T::Auth),
        ),
    ]
}
