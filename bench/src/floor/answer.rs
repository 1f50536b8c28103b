//! The shortest answer that a client accepts to each packet.

use tidegate_codec::Version;

use crate::wire::Frame;
use crate::wire::scan::{kind, variable_length};

/// What becomes of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It goes on, in this version.
    Keep(Version),
    /// It is closed.
    Close,
}

/// Appends the answer to `frame` to `out`.
#[inline]
pub fn answer(frame: &Frame<'_>, version: Version, out: &mut Vec<u8>) -> Fate {
    let acknowledgement = match frame.kind() {
        kind::PUBLISH => match frame.publish_packet_id() {
            Some(0) => return Fate::Keep(version),
            Some(packet_id) => {
                let kind = if frame.first & 4 == 0 {
                    kind::PUBACK
                } else {
                    kind::PUBREC
                };
                Some((kind << 4, packet_id))
            }
            None => None,
        },
        kind::PUBREL => frame.packet_id().map(|packet_id| (kind::PUBCOMP << 4, packet_id)),
        _ => return answer_rare(frame, version, out),
    };
    let Some((first, packet_id)) = acknowledgement else {
        return Fate::Close;
    };
    let [high, low] = packet_id.to_be_bytes();
    out.extend_from_slice(&[first, 2, high, low]);
    Fate::Keep(version)
}

#[cold]
fn answer_rare(frame: &Frame<'_>, version: Version, out: &mut Vec<u8>) -> Fate {
    match frame.kind() {
        // The protocol level stands behind the name "MQTT" and its length.
        kind::CONNECT => match frame.body.get(6) {
            Some(5) => {
                out.extend_from_slice(&[kind::CONNACK << 4, 3, 0, 0, 0]);
                Fate::Keep(Version::V5)
            }
            Some(4) => {
                out.extend_from_slice(&[kind::CONNACK << 4, 2, 0, 0]);
                Fate::Keep(Version::V311)
            }
            _ => Fate::Close,
        },
        kind::PINGREQ => {
            out.extend_from_slice(&[kind::PINGRESP << 4, 0]);
            Fate::Keep(version)
        }
        kind::SUBSCRIBE => match suback(frame.body, version, out) {
            Some(()) => Fate::Keep(version),
            None => Fate::Close,
        },
        _ => Fate::Close,
    }
}

/// Grants every filter what it asks for; `None` when the lengths in `body` contradict each other, or are too many.
fn suback(body: &[u8], version: Version, out: &mut Vec<u8>) -> Option<()> {
    let (packet_id, mut rest) = body.split_first_chunk::<2>()?;
    if version == Version::V5 {
        let (length, length_bytes) = variable_length(rest).ok()??;
        rest = rest.get(length + length_bytes..)?;
    }
    let mut granted = Vec::new();
    while let Some((length, after)) = rest.split_first_chunk::<2>() {
        let options = after.get(usize::from(u16::from_be_bytes(*length))..)?;
        granted.push(options.first()? & 3);
        rest = options.get(1..)?;
    }
    let properties: &[u8] = if version == Version::V5 { &[0] } else { &[] };
    let length = u8::try_from(2 + properties.len() + granted.len())
        .ok()
        .filter(|length| *length < 0x80)?;
    out.extend_from_slice(&[kind::SUBACK << 4, length]);
    out.extend_from_slice(packet_id);
    out.extend_from_slice(properties);
    out.extend_from_slice(&granted);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{setup, take_frame};
    use tidegate_codec::{Credentials, QoS, TopicFilter};

    fn answered(packet: &[u8], version: Version) -> (Fate, Vec<u8>) {
        let mut out = Vec::new();
        let mut input = packet;
        let fate = answer(&take_frame(&mut input).unwrap().unwrap(), version, &mut out);
        (fate, out)
    }

    #[test]
    fn the_strict_codec_accepts_every_answer() {
        for version in [Version::V311, Version::V5] {
            let connect = setup::connect(version, "c", 60, Credentials::default()).unwrap();
            let (fate, connack) = answered(&connect, Version::V311);
            assert_eq!(fate, Fate::Keep(version));
            assert_eq!(
                setup::read_connack(version, &connack).unwrap().receive_maximum,
                65535
            );
            let subscribe =
                setup::subscribe(version, TopicFilter::new("a/#").unwrap(), QoS::ExactlyOnce).unwrap();
            let (_, suback) = answered(&subscribe, version);
            setup::read_suback(version, &suback).unwrap();
        }
    }

    #[test]
    fn publishes_are_acknowledged_by_their_qos() {
        let answers = |packet: &[u8]| answered(packet, Version::V311).1;
        assert!(answers(&[0x30, 3, 0, 1, b't']).is_empty());
        assert_eq!(answers(&[0x32, 5, 0, 1, b't', 1, 2]), [0x40, 2, 1, 2]);
        assert_eq!(answers(&[0x34, 5, 0, 1, b't', 1, 2]), [0x50, 2, 1, 2]);
        assert_eq!(answers(&[0x62, 2, 1, 2]), [0x70, 2, 1, 2]);
        assert_eq!(answers(&[0xC0, 0]), [0xD0, 0]);
        assert_eq!(answered(&[0xE0, 0], Version::V311).0, Fate::Close);
        assert_eq!(answered(&[0x32, 3, 0, 9, b't'], Version::V311).0, Fate::Close);
    }
}
