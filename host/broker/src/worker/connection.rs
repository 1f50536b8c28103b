//! One socket with what it half received and what it has yet to send.
//!
//! Invariant: at rest it owns no buffer; both exist only while a packet is cut in two or the peer reads slowly.
//! Deliberately does not: know sessions; it moves bytes and cuts them into packets.

use std::io::{self, Read, Write};

use bytes::{Buf, Bytes, BytesMut};
use mio::net::TcpStream;
use tidegate_codec::decode::frame_length;
use tidegate_codec::{DecodeError, Decoder, Packet, Version};

use super::clients::ClientKey;

/// A connection of this worker.
pub struct Connection {
    /// The socket.
    pub socket: TcpStream,
    /// The client, once its CONNECT has been taken.
    pub client: Option<ClientKey>,
    /// Told by CONNECT.
    pub version: Option<Version>,
    /// Bytes of a packet whose rest has not come.
    partial: BytesMut,
    /// Whether whole packets may stand in `partial`: what was read when reading was paused.
    has_kept: bool,
    /// Bytes the socket has not taken.
    pub outbox: BytesMut,
    /// On the list of connections to write to at the end of the tick.
    pub is_dirty: bool,
    /// On the list of connections that may have more to read.
    pub is_ready: bool,
    /// Not read while its messages wait for room.
    pub is_paused: bool,
    /// Not read while it does not read what it asked for.
    pub is_stalled: bool,
    /// To be closed once the outbox is empty.
    pub is_closing: bool,
    /// Tells it from earlier connections with its key.
    pub serial: u64,
}

/// What one read brought.
pub enum Received {
    /// Bytes to cut into packets; there may be more if the read filled its buffer.
    Bytes {
        /// Starting with what an earlier read left over.
        input: Bytes,
        /// Whether the socket may have more right now.
        more: bool,
    },
    /// Nothing that completes a packet; there may be more if the read filled its buffer.
    Incomplete {
        /// Whether the socket may have more right now.
        more: bool,
    },
    /// The peer has closed, or the socket failed.
    Closed,
}

impl Connection {
    /// A connection that has said nothing yet.
    pub fn new(socket: TcpStream) -> Self {
        Self {
            socket,
            client: None,
            version: None,
            partial: BytesMut::new(),
            has_kept: false,
            outbox: BytesMut::new(),
            is_dirty: false,
            is_ready: false,
            is_paused: false,
            is_stalled: false,
            is_closing: false,
            serial: 0,
        }
    }

    /// Reads once into `scratch`. A read that does not fill it has emptied the socket: asking again would cost a
    /// system call to learn nothing (epoll(7), edge-triggered stream sockets).
    pub fn receive(&mut self, scratch: &mut [u8]) -> Result<Received, DecodeError> {
        let count = loop {
            match self.socket.read(scratch) {
                Ok(0) => return Ok(Received::Closed),
                Ok(count) => break count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(Received::Incomplete { more: false });
                }
                Err(_) => return Ok(Received::Closed),
            }
        };
        let more = count == scratch.len();
        let fresh = scratch.get(..count).unwrap_or_default();
        if self.partial.is_empty() {
            return Ok(Received::Bytes {
                input: Bytes::copy_from_slice(fresh),
                more,
            });
        }
        self.partial.extend_from_slice(fresh);
        // A large packet is put together in place, not decoded anew with every read.
        match frame_length(&self.partial)? {
            Some(length) if length <= self.partial.len() => Ok(Received::Bytes {
                input: self.partial.split().freeze(),
                more,
            }),
            _ => Ok(Received::Incomplete { more }),
        }
    }

    /// Cuts the next packet off `input`. `None`: the rest is kept for the next read.
    pub fn next_packet(
        &mut self,
        input: &mut Bytes,
        packet_bytes_max: u32,
    ) -> Result<Option<Packet>, DecodeError> {
        if input.is_empty() {
            self.partial = BytesMut::new();
            return Ok(None);
        }
        let decoder = Decoder {
            version: self.version,
            packet_bytes_max,
        };
        let packet = decoder.decode(input)?;
        if packet.is_none() {
            self.partial = BytesMut::from(&**input);
        }
        Ok(packet)
    }

    /// Puts bytes that were read but not decoded in front of what comes next.
    pub fn keep(&mut self, rest: &[u8]) {
        let mut kept = BytesMut::from(rest);
        kept.extend_from_slice(&self.partial);
        self.partial = kept;
        self.has_kept = true;
    }

    /// Takes back what [`Connection::keep`] kept, to decode it without a read.
    pub fn take_kept(&mut self) -> Option<Bytes> {
        std::mem::take(&mut self.has_kept).then(|| self.partial.split().freeze())
    }

    /// Writes what the socket takes. `Ok(true)`: everything is out.
    pub fn send(&mut self) -> io::Result<bool> {
        while !self.outbox.is_empty() {
            match self.socket.write(&self.outbox) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                // `clear` keeps the buffer's whole capacity for its next use, `advance` wears it down.
                Ok(count) if count == self.outbox.len() => self.outbox.clear(),
                Ok(count) => self.outbox.advance(count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }
}
