//! Packet identifiers of inbound QoS 2 messages, from PUBLISH to PUBREL. Session state: they outlive the link.
//!
//! Invariant: an identifier that is here is never admitted again [MQTT-4.3.3-10].

use std::collections::HashMap;

use tidegate_codec::PacketId;

use crate::number_hash::NumberHash;

/// How far the message of an identifier has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// In the pipeline. `due`: its PUBLISH came over the current link, which therefore gets the PUBREC. After a
    /// reconnect that is so only once the client has sent the PUBLISH again.
    Pending { due: bool },
    /// Accepted and routed: only PUBREL is missing.
    Received,
}

/// The identifiers.
#[derive(Debug, Default)]
pub(crate) struct ReceivedIds(HashMap<PacketId, Stage, NumberHash>);

impl ReceivedIds {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn get(&self, packet_id: PacketId) -> Option<Stage> {
        self.0.get(&packet_id).copied()
    }

    pub(crate) fn set(&mut self, packet_id: PacketId, stage: Stage) {
        self.0.insert(packet_id, stage);
    }

    pub(crate) fn remove(&mut self, packet_id: PacketId) {
        self.0.remove(&packet_id);
    }

    /// The link is gone: no PUBREC is due until the client sends its PUBLISH again.
    pub(crate) fn unlink(&mut self) {
        for stage in self.0.values_mut() {
            if let Stage::Pending { due } = stage {
                *due = false;
            }
        }
    }
}
