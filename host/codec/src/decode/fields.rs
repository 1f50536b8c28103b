//! The fields of a packet, taken off its bytes one after the other (section 1.5).
//!
//! Invariant: nothing is read beyond the slice given; every text that leaves is UTF-8 without U+0000.
//! Knows no packet and copies nothing.

use bytes::Bytes;

use crate::{DecodeError, PacketId, varint};

/// What is left of a packet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl<'a> Fields<'a> {
    /// Whether all has been taken.
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next `N` bytes.
    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let (&head, rest) = self.0.split_first_chunk::<N>().ok_or(DecodeError::Truncated)?;
        self.0 = rest;
        Ok(head)
    }

    /// The next `length` bytes.
    #[inline]
    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8], DecodeError> {
        let (head, rest) = self.0.split_at_checked(length).ok_or(DecodeError::Truncated)?;
        self.0 = rest;
        Ok(head)
    }

    /// Everything left.
    pub(crate) const fn rest(&mut self) -> &'a [u8] {
        let rest = self.0;
        self.0 = &[];
        rest
    }

    /// A byte.
    #[inline]
    pub(crate) fn byte(&mut self) -> Result<u8, DecodeError> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// A two byte integer (1.5.2).
    #[inline]
    pub(crate) fn two_bytes(&mut self) -> Result<u16, DecodeError> {
        self.array().map(u16::from_be_bytes)
    }

    /// A four byte integer (1.5.3).
    #[inline]
    pub(crate) fn four_bytes(&mut self) -> Result<u32, DecodeError> {
        self.array().map(u32::from_be_bytes)
    }

    /// A variable byte integer in its shortest form [MQTT-1.5.5-1].
    #[inline]
    pub(crate) fn variable(&mut self) -> Result<u32, DecodeError> {
        match varint::read(self.0) {
            varint::Varint::Value { value, bytes } if bytes == varint::length(value) => {
                self.take(bytes)?;
                Ok(value)
            }
            varint::Varint::Incomplete => Err(DecodeError::Truncated),
            _ => Err(DecodeError::VariableByteInteger),
        }
    }

    /// Binary data: two bytes of length and the bytes (1.5.6).
    #[inline]
    pub(crate) fn binary(&mut self) -> Result<&'a [u8], DecodeError> {
        let length = self.two_bytes()?;
        self.take(usize::from(length))
    }

    /// A UTF-8 string (1.5.4).
    pub(crate) fn text(&mut self) -> Result<&'a str, DecodeError> {
        // [MQTT-1.5.4-1] surrogates are refused with all other ill-formed UTF-8.
        let text = str::from_utf8(self.binary()?).map_err(|_| DecodeError::NotUtf8)?;
        // [MQTT-1.5.4-2]; U+FEFF is text like any other and stays [MQTT-1.5.4-3].
        match text.as_bytes().contains(&0) {
            true => Err(DecodeError::NullCharacter),
            false => Ok(text),
        }
    }

    /// A packet identifier, never zero [MQTT-2.2.1-3].
    #[inline]
    pub(crate) fn packet_id(&mut self) -> Result<PacketId, DecodeError> {
        PacketId::new(self.two_bytes()?).ok_or(DecodeError::PacketIdZero)
    }

    /// Ends a packet: nothing may be left.
    pub(crate) const fn end(&self) -> Result<(), DecodeError> {
        match self.0.len() {
            0 => Ok(()),
            left => Err(DecodeError::TrailingBytes(left)),
        }
    }
}

/// A view of `part`, which lies in `frame`, that shares its memory.
#[inline]
pub(crate) fn share(frame: &Bytes, part: &[u8]) -> Bytes {
    frame.slice_ref(part)
}
