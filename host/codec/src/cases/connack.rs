//! Section 3.2.

use super::{Case, V3, V5, properties, refused, same};
use crate::{ConnAck, DecodeError as E, Packet, PacketType, Properties, Property, PropertyId, ReasonCode};

pub(super) fn cases() -> Vec<Case> {
    let ack = |session_present, reason, properties| {
        Packet::ConnAck(Box::new(ConnAck {
            session_present,
            reason,
            properties,
        }))
    };
    let plain = |present, reason| ack(present, reason, Properties::empty());
    let code = |code| E::ReasonCode {
        packet: PacketType::ConnAck,
        code,
    };
    let limits = properties(&[
        Property::AssignedClientIdentifier("x"),
        Property::MaximumQoS(1),
        Property::RetainAvailable(0),
        Property::ServerKeepAlive(30),
        Property::WildcardSubscriptionAvailable(1),
        Property::SubscriptionIdentifierAvailable(0),
        Property::SharedSubscriptionAvailable(1),
        Property::ReasonString("r"),
        Property::ResponseInformation("i"),
        Property::ServerReference("s"),
    ]);
    vec![
        same("CONNACK", V3, b"\x20\x02\x00\x00", plain(false, ReasonCode::Success)),
        same("CONNACK", V5, b"\x20\x03\x00\x00\x00", plain(false, ReasonCode::Success)),
        same("CONNACK with a session", V3, b"\x20\x02\x01\x00", plain(true, ReasonCode::Success)),
        same("CONNACK with a session", V5, b"\x20\x03\x01\x00\x00", plain(true, ReasonCode::Success)),
        same("return code 1", V3, b"\x20\x02\x00\x01", plain(false, ReasonCode::UnsupportedProtocolVersion)),
        same("return code 2", V3, b"\x20\x02\x00\x02", plain(false, ReasonCode::ClientIdentifierNotValid)),
        same("return code 3", V3, b"\x20\x02\x00\x03", plain(false, ReasonCode::ServerUnavailable)),
        same("return code 4", V3, b"\x20\x02\x00\x04", plain(false, ReasonCode::BadUserNameOrPassword)),
        same("return code 5", V3, b"\x20\x02\x00\x05", plain(false, ReasonCode::NotAuthorized)),
        same("server busy", V5, b"\x20\x03\x00\x89\x00", plain(false, ReasonCode::ServerBusy)),
        same("what the server limits", V5,
            b"\x20\x20\x00\x00\x1D\x12\x00\x01x\x24\x01\x25\x00\x13\x00\x1E\x28\x01\x29\x00\x2A\x01\x1F\x00\x01r\x1A\x00\x01i\x1C\x00\x01s",
            ack(false, ReasonCode::Success, limits)),
        refused("return code 6 is reserved", V3, b"\x20\x02\x00\x06", code(6)),
        refused("reason of another packet [MQTT-3.2.2-8]", V5, b"\x20\x03\x00\x8E\x00", code(0x8E)),
        refused("reason that does not exist [MQTT-3.2.2-8]", V5, b"\x20\x03\x00\xFF\x00", code(0xFF)),
        refused("reserved flags [MQTT-3.2.2-1]", V3, b"\x20\x02\x02\x00", E::ConnAckFlags(2)),
        refused("reserved flags [MQTT-3.2.2-1]", V5, b"\x20\x03\x81\x00\x00", E::ConnAckFlags(0x81)),
        refused("session and refusal [MQTT-3.2.2-4]", V3, b"\x20\x02\x01\x05", E::SessionPresentWithError),
        refused("session and refusal [MQTT-3.2.2-6]", V5, b"\x20\x03\x01\x87\x00", E::SessionPresentWithError),
        refused("CONNACK cut", V3, b"\x20\x01\x00", E::Truncated),
        refused("CONNACK without property length", V5, b"\x20\x02\x00\x00", E::Truncated),
        refused("CONNACK with more", V3, b"\x20\x03\x00\x00\x00", E::TrailingBytes(1)),
        refused("CONNACK with more", V5, b"\x20\x04\x00\x00\x00\x00", E::TrailingBytes(1)),
        refused("Maximum QoS 2", V5, b"\x20\x05\x00\x00\x02\x24\x02", E::PropertyValue(PropertyId::MaximumQoS)),
        refused("Retain Available 2", V5, b"\x20\x05\x00\x00\x02\x25\x02", E::PropertyValue(PropertyId::RetainAvailable)),
        refused("a CONNECT property in CONNACK", V5, b"\x20\x05\x00\x00\x02\x17\x01",
            E::MisplacedProperty(PropertyId::RequestProblemInformation)),
    ]
}
