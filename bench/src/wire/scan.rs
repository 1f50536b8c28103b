//! Cuts a byte stream into packets and reads the fields that a generator or a floor server needs, in place.
//!
//! Invariant: never reads past what a packet's own length says. Deliberately checks nothing else: the strict
//! decoder is `tidegate-codec`, which both sides use for everything that is not once per message.

use tidegate_codec::{QoS, Version};

/// Packet types as they stand in the upper half of the first byte (table 2-1).
pub mod kind {
    #![allow(missing_docs)] // the names are the standard's own
    pub const CONNECT: u8 = 1;
    pub const CONNACK: u8 = 2;
    pub const PUBLISH: u8 = 3;
    pub const PUBACK: u8 = 4;
    pub const PUBREC: u8 = 5;
    pub const PUBREL: u8 = 6;
    pub const PUBCOMP: u8 = 7;
    pub const SUBSCRIBE: u8 = 8;
    pub const SUBACK: u8 = 9;
    pub const UNSUBSCRIBE: u8 = 10;
    pub const UNSUBACK: u8 = 11;
    pub const PINGREQ: u8 = 12;
    pub const PINGRESP: u8 = 13;
    pub const DISCONNECT: u8 = 14;
}

/// A remaining length of more than four bytes (2.2.3): the stream cannot be followed any further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a packet's length field is longer than four bytes; the peer does not speak MQTT")]
pub struct BadLength;

/// One packet, still bytes.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// The whole packet.
    pub raw: &'a [u8],
    /// First byte: type and flags.
    pub first: u8,
    /// What follows the fixed header.
    pub body: &'a [u8],
}

/// What a subscriber needs of a PUBLISH.
#[derive(Debug, Clone, Copy)]
pub struct Delivery<'a> {
    /// QoS of the delivery.
    pub qos: QoS,
    /// Identifier to acknowledge; 0 at QoS 0.
    pub packet_id: u16,
    /// The publisher's bytes.
    pub payload: &'a [u8],
}

/// Takes the first packet off `input`; `Ok(None)` when it is not complete yet.
pub fn take_frame<'a>(input: &mut &'a [u8]) -> Result<Option<Frame<'a>>, BadLength> {
    let Some((&first, rest)) = input.split_first() else {
        return Ok(None);
    };
    let Some((length, length_bytes)) = variable_length(rest)? else {
        return Ok(None);
    };
    let header = 1 + length_bytes;
    let Some((raw, rest)) = input.split_at_checked(header + length) else {
        return Ok(None);
    };
    *input = rest;
    let body = raw.get(header..).unwrap_or_default();
    Ok(Some(Frame { raw, first, body }))
}

/// A variable byte integer (1.5.5) and how many bytes it takes; `None` when it is not complete.
pub fn variable_length(input: &[u8]) -> Result<Option<(usize, usize)>, BadLength> {
    let mut value = 0;
    for (place, &byte) in input.iter().take(4).enumerate() {
        value |= usize::from(byte & 0x7F) << (7 * place);
        if byte & 0x80 == 0 {
            return Ok(Some((value, place + 1)));
        }
    }
    match input.len() >= 4 {
        true => Err(BadLength),
        false => Ok(None),
    }
}

impl<'a> Frame<'a> {
    /// Packet type, one of [`kind`].
    pub fn kind(&self) -> u8 {
        self.first >> 4
    }

    /// Identifier at the start of the body: every acknowledgement, SUBSCRIBE, SUBACK.
    pub fn packet_id(&self) -> Option<u16> {
        self.body.first_chunk().map(|bytes| u16::from_be_bytes(*bytes))
    }

    /// Reason code of an acknowledgement; left out means success (3.4.2.1).
    pub fn reason(&self) -> u8 {
        self.body.get(2).copied().unwrap_or(0)
    }

    /// QoS bits of a PUBLISH.
    pub fn publish_qos(&self) -> Option<QoS> {
        QoS::from_bits((self.first >> 1) & 3)
    }

    /// Identifier of a PUBLISH, behind its topic; 0 at QoS 0.
    pub fn publish_packet_id(&self) -> Option<u16> {
        match self.publish_qos()? {
            QoS::AtMostOnce => Some(0),
            _ => self
                .after_topic()?
                .first_chunk()
                .map(|bytes| u16::from_be_bytes(*bytes)),
        }
    }

    /// Reads a PUBLISH of `version`; `None` when its lengths contradict each other.
    pub fn delivery(&self, version: Version) -> Option<Delivery<'a>> {
        let qos = self.publish_qos()?;
        let mut rest = self.after_topic()?;
        let mut packet_id = 0;
        if qos != QoS::AtMostOnce {
            let (id, after) = rest.split_first_chunk()?;
            packet_id = u16::from_be_bytes(*id);
            rest = after;
        }
        if version == Version::V5 {
            let (length, length_bytes) = variable_length(rest).ok()??;
            rest = rest.get(length_bytes + length..)?;
        }
        Some(Delivery {
            qos,
            packet_id,
            payload: rest,
        })
    }

    fn after_topic(&self) -> Option<&'a [u8]> {
        let (length, rest) = self.body.split_first_chunk()?;
        rest.get(usize::from(u16::from_be_bytes(*length))..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_taken_only_when_all_of_it_is_there() {
        let bytes = [0x40, 2, 0, 7, 0xD0, 0];
        for cut in 0..4 {
            let mut input = &bytes[..cut];
            assert!(take_frame(&mut input).unwrap().is_none());
            assert_eq!(input.len(), cut, "an incomplete packet stays");
        }
        let mut input = &bytes[..];
        let puback = take_frame(&mut input).unwrap().unwrap();
        assert_eq!(
            (puback.kind(), puback.packet_id(), puback.reason()),
            (kind::PUBACK, Some(7), 0)
        );
        assert_eq!(take_frame(&mut input).unwrap().unwrap().kind(), kind::PINGRESP);
        assert!(input.is_empty());
    }

    #[test]
    fn a_length_of_five_bytes_is_refused() {
        let mut input = &[0x30, 0x80, 0x80, 0x80, 0x80][..];
        assert_eq!(take_frame(&mut input).unwrap_err(), BadLength);
    }

    #[test]
    fn a_delivery_is_read_in_both_versions() {
        let mut v4 = &[0x32, 7, 0, 1, b't', 0, 9, b'x', b'y'][..];
        let frame = take_frame(&mut v4).unwrap().unwrap();
        let delivery = frame.delivery(Version::V311).unwrap();
        assert_eq!((delivery.packet_id, delivery.payload), (9, &b"xy"[..]));
        let mut v5 = &[0x32, 10, 0, 1, b't', 0, 9, 2, 1, 1, b'x', b'y'][..];
        let frame = take_frame(&mut v5).unwrap().unwrap();
        let delivery = frame.delivery(Version::V5).unwrap();
        assert_eq!((delivery.packet_id, delivery.payload), (9, &b"xy"[..]));
    }

    #[test]
    fn a_publish_whose_topic_is_longer_than_the_packet_is_not_a_delivery() {
        let mut input = &[0x30, 3, 0, 9, b't'][..];
        let frame = take_frame(&mut input).unwrap().unwrap();
        assert!(frame.delivery(Version::V311).is_none());
    }
}
