//! A PUBLISH encoded once for many receivers.
//!
//! Invariant: what differs between receivers of one version (packet identifier, DUP) lies at known places, so that a
//! fan-out encodes once per version and options, and patches. Does not know who receives.

use bytes::{BufMut, Bytes, BytesMut};

use super::delivery::{DUP, Delivery, encode_publish};
use crate::{EncodeError, PacketId, Version};

/// A PUBLISH encoded once, to be written to many receivers of one version. Cheap to clone.
#[derive(Debug, Clone)]
pub struct EncodedPublish {
    bytes: Bytes,
    packet_id_position: Option<usize>,
}

impl EncodedPublish {
    /// Encodes `delivery`; its packet identifier and DUP are given anew for each receiver, and here may be anything
    /// that its QoS allows.
    pub fn new(delivery: &Delivery<'_>, version: Version) -> Result<Self, EncodeError> {
        let mut out = BytesMut::new();
        let packet_id_position = encode_publish(delivery, version, &mut out)?;
        Ok(Self {
            bytes: out.freeze(),
            packet_id_position,
        })
    }

    /// Length of the packet in bytes: to be compared with the receiver's Maximum Packet Size [MQTT-3.1.2-24].
    pub const fn packet_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Appends the packet as one receiver gets it. `packet_id` is there exactly when the QoS is above 0.
    #[inline]
    pub fn put(&self, packet_id: Option<PacketId>, dup: bool, out: &mut BytesMut) -> Result<(), EncodeError> {
        let start = out.len();
        match (self.packet_id_position, packet_id) {
            (None, None) if dup => return Err(EncodeError::DupAtQoS0), // [MQTT-3.3.1-2]
            (None, None) => out.put_slice(&self.bytes),
            (Some(position), Some(packet_id)) => {
                out.put_slice(&self.bytes);
                if let Some(place) = out.get_mut(start + position..start + position + 2) {
                    place.copy_from_slice(&packet_id.get().to_be_bytes());
                }
                if let Some(first) = out.get_mut(start) {
                    *first = *first & !DUP | if dup { DUP } else { 0 };
                }
            }
            _ => return Err(EncodeError::PacketIdAgainstQoS), // [MQTT-2.2.1-2]
        }
        Ok(())
    }
}
