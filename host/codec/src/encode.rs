//! Packets to bytes.

use bytes::BytesMut;

use crate::{Packet, Version};

/// Appends `packet` as `version` writes it.
pub fn encode(_packet: &Packet, _version: Version, _out: &mut BytesMut) {}
