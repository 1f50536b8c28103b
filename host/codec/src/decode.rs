//! Bytes to packets.

use bytes::Bytes;

use crate::{Packet, ReasonCode, Version};

/// Decodes the packets of one connection: what it needs to know between packets fits in 8 bytes.
#[derive(Debug, Clone, Copy)]
pub struct Decoder {
    /// Version of the connection; `None` until CONNECT has told it.
    pub version: Option<Version>,
    /// Longest packet accepted, fixed header included, in bytes [MQTT-3.2.2-15].
    pub packet_bytes_max: u32,
}

impl Decoder {
    /// Takes the first packet off `input`. `Ok(None)`: it is not complete yet and `input` is untouched.
    /// Topic and payload of a packet are views of `input`'s memory.
    pub fn decode(&self, _input: &mut Bytes) -> Result<Option<Packet>, DecodeError> {
        Ok(None)
    }
}

/// Why bytes are not a packet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The packet breaks the format.
    #[error("malformed packet: {0}")]
    Malformed(&'static str),
}

impl DecodeError {
    /// The reason code with which a version 5 connection is closed; a 3.1.1 connection just closes.
    pub fn reason(&self) -> ReasonCode {
        ReasonCode::MalformedPacket
    }
}
