//! Packets to bytes: the fixed header around what each packet's own file in [`crate::packet`] writes.
//!
//! Invariant: what is written decodes to the same packet, or nothing is written. Deliberately does not: know the
//! receiver's Maximum Packet Size; who sends compares the length of what was written.

mod error;
#[cfg(test)]
mod tests;

use bytes::{BufMut, BytesMut};

use crate::properties::{Carrier, Properties};
use crate::{Packet, PacketType, Version, varint};

pub use error::EncodeError;

/// Appends `packet` as `version` writes it (CONNECT: as its own version does). In 3.1.1 properties are left out, and
/// reasons become return codes or are left out. On an error `out` is as before.
pub fn encode(packet: &Packet, version: Version, out: &mut BytesMut) -> Result<(), EncodeError> {
    let start = out.len();
    let written = match packet {
        Packet::Publish(publish) => publish.encode(version, out),
        Packet::PubAck(ack) => ack.encode(PacketType::PubAck, version, out),
        Packet::PubRec(ack) => ack.encode(PacketType::PubRec, version, out),
        Packet::PubRel(ack) => ack.encode(PacketType::PubRel, version, out),
        Packet::PubComp(ack) => ack.encode(PacketType::PubComp, version, out),
        Packet::PingReq | Packet::PingResp => {
            out.put_slice(&[packet.packet_type().first_byte(), 0]);
            Ok(())
        }
        Packet::Connect(connect) => connect.encode(out),
        Packet::ConnAck(connack) => connack.encode(version, out),
        Packet::Subscribe(subscribe) => subscribe.encode(version, out),
        Packet::SubAck(suback) => suback.encode(version, out),
        Packet::Unsubscribe(unsubscribe) => unsubscribe.encode(version, out),
        Packet::UnsubAck(unsuback) => unsuback.encode(version, out),
        Packet::Disconnect(disconnect) => disconnect.encode(version, out),
        Packet::Auth(auth) => auth.encode(version, out),
    };
    if written.is_err() {
        out.truncate(start);
    }
    written
}

/// Writes the fixed header of `packet` around what `body` writes. The length is known only after the body, which is
/// then moved if it takes more than one byte: these packets are rare and nearly always short.
pub(crate) fn frame(
    packet: PacketType,
    out: &mut BytesMut,
    body: impl FnOnce(&mut BytesMut) -> Result<(), EncodeError>,
) -> Result<(), EncodeError> {
    let start = out.len();
    out.put_slice(&[packet.first_byte(), 0]);
    let body_start = out.len();
    body(out)?;
    let remaining = remaining_length(out.len() - body_start)?;
    let more = varint::length(remaining) - 1;
    if more == 0 {
        out.iter_mut()
            .skip(start + 1)
            .take(1)
            .for_each(|length| *length = remaining as u8);
        return Ok(());
    }
    let body = out.split_off(body_start);
    out.truncate(start + 1);
    out.reserve(1 + more + body.len());
    varint::put(remaining, out);
    out.put_slice(&body);
    Ok(())
}

/// `bytes` as a Remaining Length, if it can be one.
#[inline]
pub(crate) fn remaining_length(bytes: usize) -> Result<u32, EncodeError> {
    match u32::try_from(bytes) {
        Ok(length) if length <= varint::MAX => Ok(length),
        _ => Err(EncodeError::PacketTooLong { bytes }),
    }
}

/// Appends `bytes` (a text or binary data) with its length before it.
#[inline]
pub(crate) fn put_binary(bytes: &[u8], out: &mut BytesMut) -> Result<(), EncodeError> {
    let length = u16::try_from(bytes.len()).map_err(|_| EncodeError::FieldTooLong { bytes: bytes.len() })?;
    out.put_u16(length);
    out.put_slice(bytes);
    Ok(())
}

/// Appends `text` with its length before it, unless it holds U+0000 [MQTT-1.5.4-2].
pub(crate) fn put_text(text: &str, out: &mut BytesMut) -> Result<(), EncodeError> {
    match text.contains('\0') {
        true => Err(EncodeError::NullCharacter),
        false => put_binary(text.as_bytes(), out),
    }
}

/// Appends `properties` with their length, if `carrier` may carry every one of them.
pub(crate) fn put_properties(
    properties: &Properties,
    carrier: Carrier,
    out: &mut BytesMut,
) -> Result<(), EncodeError> {
    properties.check_for(carrier)?;
    varint::put(remaining_length(properties.block().len())?, out);
    out.put_slice(properties.block());
    Ok(())
}
