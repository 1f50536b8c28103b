//! The variable byte integer (1.5.5): seven bits a byte, least significant first, at most four bytes.
//!
//! Invariant: what is written is the shortest form [MQTT-1.5.5-1]; what is read says whether it was.

use bytes::{BufMut, BytesMut};

/// The largest value four bytes can carry.
pub(crate) const MAX: u32 = 268_435_455;

/// What stands at the start of some bytes.
pub(crate) enum Varint {
    /// A value and how many bytes it takes.
    Value { value: u32, bytes: usize },
    /// The bytes end within the integer.
    Incomplete,
    /// The fourth byte asks for a fifth.
    TooLong,
}

/// Reads the integer at the start of `bytes`.
#[inline]
pub(crate) fn read(bytes: &[u8]) -> Varint {
    match bytes.first() {
        // Nearly every integer on the wire is below 128.
        Some(&byte) if byte < 0x80 => Varint::Value {
            value: u32::from(byte),
            bytes: 1,
        },
        Some(_) => read_long(bytes),
        None => Varint::Incomplete,
    }
}

fn read_long(bytes: &[u8]) -> Varint {
    let mut value = 0;
    for (index, &byte) in bytes.iter().take(4).enumerate() {
        value |= u32::from(byte & 0x7F) << (7 * index);
        if byte < 0x80 {
            return Varint::Value {
                value,
                bytes: index + 1,
            };
        }
    }
    match bytes.len() {
        0..4 => Varint::Incomplete,
        _ => Varint::TooLong,
    }
}

/// How many bytes the shortest form of `value` takes; `value` is at most [`MAX`].
#[inline]
pub(crate) const fn length(value: u32) -> usize {
    match value {
        0..0x80 => 1,
        0x80..0x4000 => 2,
        0x4000..0x20_0000 => 3,
        _ => 4,
    }
}

/// Appends the shortest form of `value`, which is at most [`MAX`].
#[inline]
pub(crate) fn put(mut value: u32, out: &mut BytesMut) {
    while value >= 0x80 {
        out.put_u8((value & 0x7F) as u8 | 0x80);
        value >>= 7;
    }
    out.put_u8(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table 1-1: the first and last value of each length.
    const EDGES: [(u32, &[u8]); 8] = [
        (0, &[0x00]),
        (127, &[0x7F]),
        (128, &[0x80, 0x01]),
        (16_383, &[0xFF, 0x7F]),
        (16_384, &[0x80, 0x80, 0x01]),
        (2_097_151, &[0xFF, 0xFF, 0x7F]),
        (2_097_152, &[0x80, 0x80, 0x80, 0x01]),
        (MAX, &[0xFF, 0xFF, 0xFF, 0x7F]),
    ];

    #[test]
    fn edges_of_every_length_are_read_and_written() {
        for (value, wire) in EDGES {
            let mut out = BytesMut::new();
            put(value, &mut out);
            assert_eq!(out, wire, "{value}");
            assert_eq!(length(value), wire.len(), "{value}");
            assert!(
                matches!(read(wire), Varint::Value { value: v, bytes } if v == value && bytes == wire.len())
            );
            assert!(
                matches!(read(&wire[..wire.len() - 1]), Varint::Incomplete),
                "{value} cut"
            );
        }
    }

    #[test]
    fn a_fifth_byte_is_refused_as_soon_as_the_fourth_asks_for_it() {
        assert!(matches!(read(&[0xFF, 0xFF, 0xFF, 0xFF]), Varint::TooLong));
        assert!(matches!(read(&[0x80, 0x80, 0x80, 0x80, 0x01]), Varint::TooLong));
    }
}
