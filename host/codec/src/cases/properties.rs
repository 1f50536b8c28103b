//! Section 2.2.2: what holds for properties in any packet, shown on PUBACK and PUBLISH.

use super::{Case, V5, refused};
use crate::{DecodeError as E, PropertyId};

pub(super) fn cases() -> Vec<Case> {
    vec![
        refused(
            "property 0 does not exist",
            V5,
            b"\x40\x06\x01\x02\x00\x02\x00\x00",
            E::UnknownProperty(0),
        ),
        refused(
            "property 4 does not exist",
            V5,
            b"\x40\x06\x01\x02\x00\x02\x04\x00",
            E::UnknownProperty(4),
        ),
        refused(
            "property 0x2B does not exist",
            V5,
            b"\x40\x06\x01\x02\x00\x02\x2B\x00",
            E::UnknownProperty(0x2B),
        ),
        refused(
            "property 0x80 does not exist",
            V5,
            b"\x40\x06\x01\x02\x00\x02\x80\x01",
            E::UnknownProperty(0x80),
        ),
        refused(
            "property without a value",
            V5,
            b"\x30\x07\x00\x03a/b\x01\x01",
            E::Truncated,
        ),
        refused(
            "four byte value cut",
            V5,
            b"\x30\x0A\x00\x03a/b\x04\x02\x00\x00\x00",
            E::Truncated,
        ),
        refused(
            "two byte value cut",
            V5,
            b"\x30\x08\x00\x03a/b\x02\x23\x00",
            E::Truncated,
        ),
        refused(
            "text reaches past the block",
            V5,
            b"\x40\x08\x01\x02\x00\x04\x1F\x00\x02r",
            E::Truncated,
        ),
        refused(
            "text reaches into the payload",
            V5,
            b"\x30\x0C\x00\x03a/b\x04\x03\x00\x03abc",
            E::Truncated,
        ),
        refused(
            "user property without a value",
            V5,
            b"\x40\x08\x01\x02\x00\x04\x26\x00\x01k",
            E::Truncated,
        ),
        refused(
            "user property not UTF-8 [MQTT-1.5.7-1]",
            V5,
            b"\x40\x0B\x01\x02\x00\x07\x26\x00\x01k\x00\x01\xFF",
            E::NotUtf8,
        ),
        refused(
            "user property with U+0000 [MQTT-1.5.7-1]",
            V5,
            b"\x40\x0B\x01\x02\x00\x07\x26\x00\x01\x00\x00\x01v",
            E::NullCharacter,
        ),
        refused(
            "variable byte integer of five bytes",
            V5,
            b"\x30\x0C\x00\x03a/b\x06\x0B\xFF\xFF\xFF\xFF\x01",
            E::VariableByteInteger,
        ),
        refused(
            "variable byte integer not shortest [MQTT-1.5.5-1]",
            V5,
            b"\x30\x09\x00\x03a/b\x03\x0B\x81\x00",
            E::VariableByteInteger,
        ),
        refused(
            "variable byte integer cut",
            V5,
            b"\x30\x08\x00\x03a/b\x02\x0B\x81",
            E::Truncated,
        ),
        refused(
            "content type twice",
            V5,
            b"\x30\x0E\x00\x03a/b\x08\x03\x00\x01a\x03\x00\x01a",
            E::RepeatedProperty(PropertyId::ContentType),
        ),
    ]
}
