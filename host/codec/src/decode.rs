//! Bytes to packets: finding a packet's end, then its type, then its own file in [`crate::packet`].
//!
//! Invariant: a packet comes out whole and checked, or `input` is untouched. Every check that needs no session is
//! made here; what depends on the side that sends (which DISCONNECT codes a client may use, subscription identifiers
//! in a client's PUBLISH [MQTT-3.3.4-6]) or on earlier packets is the session's.

mod error;
mod fields;
#[cfg(test)]
mod tests;

use bytes::{Buf, Bytes};

use crate::packet::{
    Ack, Auth, ConnAck, Connect, Disconnect, Publish, SubAck, Subscribe, UnsubAck, Unsubscribe,
};
use crate::varint::{self, Varint};
use crate::{Packet, PacketType, Version};

pub use error::DecodeError;
pub(crate) use fields::{Fields, share};

/// Decodes the packets of one connection: what it needs to know between packets fits in 8 bytes.
#[derive(Debug, Clone, Copy)]
pub struct Decoder {
    /// Version of the connection; `None` until CONNECT has told it.
    pub version: Option<Version>,
    /// Longest packet accepted, fixed header included, in bytes [MQTT-3.2.2-15].
    pub packet_bytes_max: u32,
}

impl Decoder {
    /// Takes the first packet off `input`. `Ok(None)`: it is not complete yet. Unless a packet comes out, `input` is
    /// untouched. Topic, payload and properties of a packet are views of `input`'s memory.
    ///
    /// Without a version the packet must be CONNECT; its version is then to be stored in the decoder.
    pub fn decode(&self, input: &mut Bytes) -> Result<Option<Packet>, DecodeError> {
        let Some(header) = FixedHeader::read(input)? else {
            return Ok(None);
        };
        // [MQTT-3.2.2-15] before anything is waited for or stored on the word of this length.
        if header.packet_bytes() > self.packet_bytes_max as usize {
            let bytes = header.packet_bytes() as u32;
            return Err(DecodeError::TooLarge {
                bytes,
                bytes_max: self.packet_bytes_max,
            });
        }
        let packet_type = self.packet_type(header.first)?;
        let Some(body) = input.get(header.bytes..header.packet_bytes()) else {
            return Ok(None);
        };
        let packet = self.body(packet_type, header.first & 0x0F, input, Fields(body))?;
        if !header.is_shortest() && self.version_of(&packet) != Version::V311 {
            return Err(DecodeError::VariableByteInteger); // [MQTT-1.5.5-1]; 3.1.1 has no such rule.
        }
        input.advance(header.packet_bytes());
        Ok(Some(packet))
    }

    /// The type in the first byte `first`, if such a packet may stand here with such flags.
    #[inline]
    fn packet_type(&self, first: u8) -> Result<PacketType, DecodeError> {
        let packet = PacketType::from_bits(first >> 4).ok_or(DecodeError::ReservedType(first >> 4))?;
        // [MQTT-2.1.3-1]; [MQTT-2.2.2-2] (3.1.1). PUBLISH looks at its flags itself.
        if first & 0x0F != packet.flags() && packet != PacketType::Publish {
            return Err(DecodeError::FixedHeaderFlags {
                packet,
                flags: first & 0x0F,
            });
        }
        match (self.version, packet) {
            (None, PacketType::Connect) => Ok(packet),
            (None, _) => Err(DecodeError::FirstNotConnect(packet)), // [MQTT-3.1.0-1]
            (Some(Version::V311), PacketType::Auth) => Err(DecodeError::ReservedType(15)),
            (Some(_), _) => Ok(packet),
        }
    }

    fn version_of(&self, packet: &Packet) -> Version {
        match packet {
            Packet::Connect(connect) => connect.version,
            _ => self.version.unwrap_or(Version::V5),
        }
    }

    /// The packet in `fields`, which are part of `frame`.
    #[inline]
    fn body(
        &self,
        packet: PacketType,
        flags: u8,
        frame: &Bytes,
        fields: Fields<'_>,
    ) -> Result<Packet, DecodeError> {
        let version = self.version.unwrap_or(Version::V5); // CONNECT, the only packet without one, tells its own.
        Ok(match packet {
            PacketType::Publish => Packet::Publish(Publish::decode(flags, frame, fields, version)?),
            PacketType::PubAck => Packet::PubAck(Ack::decode(packet, frame, fields, version)?),
            PacketType::PubRec => Packet::PubRec(Ack::decode(packet, frame, fields, version)?),
            PacketType::PubRel => Packet::PubRel(Ack::decode(packet, frame, fields, version)?),
            PacketType::PubComp => Packet::PubComp(Ack::decode(packet, frame, fields, version)?),
            PacketType::PingReq => fields.end().map(|()| Packet::PingReq)?,
            PacketType::PingResp => fields.end().map(|()| Packet::PingResp)?,
            PacketType::Connect => Packet::Connect(Box::new(Connect::decode(frame, fields)?)),
            PacketType::ConnAck => Packet::ConnAck(Box::new(ConnAck::decode(frame, fields, version)?)),
            PacketType::Subscribe => Packet::Subscribe(Box::new(Subscribe::decode(frame, fields, version)?)),
            PacketType::SubAck => Packet::SubAck(Box::new(SubAck::decode(frame, fields, version)?)),
            PacketType::Unsubscribe => {
                Packet::Unsubscribe(Box::new(Unsubscribe::decode(frame, fields, version)?))
            }
            PacketType::UnsubAck => Packet::UnsubAck(Box::new(UnsubAck::decode(frame, fields, version)?)),
            PacketType::Disconnect => {
                Packet::Disconnect(Box::new(Disconnect::decode(frame, fields, version)?))
            }
            PacketType::Auth => Packet::Auth(Box::new(Auth::decode(frame, fields)?)),
        })
    }
}

/// Bytes of the packet that begins `bytes`, fixed header included, as it claims itself; `Ok(None)`: its length is not
/// there yet. For readers that need to know how much is missing; nothing else is checked.
pub fn frame_length(bytes: &[u8]) -> Result<Option<usize>, DecodeError> {
    Ok(FixedHeader::read(bytes)?.map(|header| header.packet_bytes()))
}

/// The version that the CONNECT at the start of `bytes` asks for, if so much is there and it is one of ours: a broker
/// that refuses a CONNECT which does not decode answers in that version.
pub fn connect_version(bytes: &[u8]) -> Option<Version> {
    let header = FixedHeader::read(bytes).ok().flatten()?;
    let mut fields = Fields(bytes.get(header.bytes..)?);
    let is_mqtt = header.first == 0x10 && fields.binary() == Ok(b"MQTT");
    is_mqtt
        .then(|| fields.byte().ok().and_then(Version::from_level))
        .flatten()
}

/// The first byte and the Remaining Length (2.1).
struct FixedHeader {
    first: u8,
    /// Bytes of the fixed header itself, 2 to 5.
    bytes: usize,
    remaining: u32,
}

impl FixedHeader {
    #[inline]
    fn read(bytes: &[u8]) -> Result<Option<Self>, DecodeError> {
        let Some((&first, rest)) = bytes.split_first() else {
            return Ok(None);
        };
        match varint::read(rest) {
            Varint::Value { value, bytes } => Ok(Some(Self {
                first,
                bytes: 1 + bytes,
                remaining: value,
            })),
            Varint::Incomplete => Ok(None),
            Varint::TooLong => Err(DecodeError::VariableByteInteger),
        }
    }

    #[inline]
    const fn packet_bytes(&self) -> usize {
        self.bytes + self.remaining as usize
    }

    #[inline]
    const fn is_shortest(&self) -> bool {
        self.bytes == 1 + varint::length(self.remaining)
    }
}
