//! What lives exactly as long as one network connection.

use tidegate_codec::{Connect, Version};

use crate::alias::Aliases;
use crate::keepalive::KeepAlive;

/// The client's side of a CONNECT: what the server's packets have to respect.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer {
    pub(crate) version: Version,
    /// Outbound QoS 1 and 2 messages not yet completed (3.1.2.11.3).
    pub(crate) receive_maximum: u16,
    /// Longest packet the client takes, in bytes (3.1.2.11.4).
    pub(crate) packet_bytes_max: u32,
}

impl Peer {
    pub(crate) fn of(connect: &Connect) -> Self {
        Self {
            version: connect.version,
            receive_maximum: connect.properties.receive_maximum().unwrap_or(u16::MAX),
            packet_bytes_max: connect.properties.maximum_packet_size().unwrap_or(u32::MAX),
        }
    }
}

/// State of the current link.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) peer: Peer,
    pub(crate) keep_alive: KeepAlive,
    /// Allocated with the first alias.
    pub(crate) aliases: Option<Box<Aliases>>,
}
