//! Outbound QoS 1 and 2 messages between PUBLISH and PUBACK or PUBCOMP.
//!
//! ```text
//!   packet id    1       2       3       4
//!             ┌───────┬───────┬───────┬───────┐
//!             │ publ. │ free  │ rel.  │ publ. │       order of sending: 3 -> 4 -> 1
//!             └───────┴───────┴───────┴───────┘       sent again so far:  3
//! ```
//! Entries are linked in the order of sending and found by packet identifier; both are O(1), and the memory follows
//! the number in flight. A ring indexed by identifier would be simpler, but one message that is never acknowledged
//! would make it grow by a hole for every later one.
//! Invariants: an identifier is in use exactly once [MQTT-2.2.1-4]; the order is that of the first sending
//! [MQTT-4.6.0-1].
//! Deliberately does not: build packets.

use std::num::NonZeroU64;

use tidegate_codec::PacketId;

use crate::Delivery;

/// The window of messages in flight.
#[derive(Debug, Default)]
pub(crate) struct Inflight {
    /// Index 0 is packet identifier 1.
    entries: Vec<Entry>,
    /// In use, in the order of sending.
    used: Ends,
    /// Not in use, longest free first: an identifier rests as long as possible.
    free: Ends,
    /// First entry that this link has not carried yet; 0 when it has carried all.
    unsent: u16,
    /// Messages in flight.
    len: u16,
    /// Those whose PUBLISH this link has carried: they count against the client's Receive Maximum.
    counted: u16,
}

/// First and last of a linked list, 0 when it is empty.
#[derive(Debug, Default, Clone, Copy)]
struct Ends {
    first: u16,
    last: u16,
}

#[derive(Debug, Default)]
struct Entry {
    previous: u16,
    next: u16,
    stage: Stage,
}

/// How far a message has come.
#[derive(Debug, Default)]
pub(crate) enum Stage {
    /// Identifier not in use.
    #[default]
    Free,
    /// PUBLISH sent. `counted`: over this link.
    Published { delivery: Delivery, counted: bool },
    /// PUBREC came and PUBREL is sent; the message itself is not needed any more. `counted` as above.
    Released {
        log_entry: Option<NonZeroU64>,
        counted: bool,
    },
}

impl Inflight {
    pub(crate) fn len(&self) -> u16 {
        self.len
    }

    /// Messages that count against the client's Receive Maximum.
    pub(crate) fn counted(&self) -> u16 {
        self.counted
    }

    /// Stage of `packet_id`; `None` if it is not in use.
    pub(crate) fn stage(&self, packet_id: PacketId) -> Option<&Stage> {
        let stage = &self.entry(packet_id.get())?.stage;
        (!matches!(stage, Stage::Free)).then_some(stage)
    }

    /// Takes an identifier for `delivery`, sent now. `None` if all are in use.
    pub(crate) fn push(&mut self, delivery: Delivery) -> Option<PacketId> {
        let id = self.take_free()?;
        let counted = true;
        self.append(id, Stage::Published { delivery, counted });
        self.counted += 1;
        PacketId::new(id)
    }

    /// After a restart: `in_flight` in the order of its first sending, none of it sent over this link. Of an identifier
    /// that comes twice the first counts.
    pub(crate) fn restore(in_flight: Vec<(PacketId, Stage)>) -> Self {
        let mut inflight = Self::default();
        let highest = in_flight
            .iter()
            .map(|(packet_id, _)| packet_id.get())
            .max()
            .unwrap_or(0);
        inflight.entries.resize_with(usize::from(highest), Entry::default);
        for (packet_id, stage) in in_flight {
            if inflight.stage(packet_id).is_none() {
                inflight.append(packet_id.get(), stage);
            }
        }
        for id in 1..=highest {
            if inflight
                .entry(id)
                .is_some_and(|entry| matches!(entry.stage, Stage::Free))
            {
                inflight.put_free(id);
            }
        }
        inflight.restart();
        inflight
    }

    /// The client has the QoS 2 message of `packet_id`: forgets it and keeps the identifier. Returns the log entry of a
    /// message that was not released before.
    pub(crate) fn release(&mut self, packet_id: PacketId) -> Option<NonZeroU64> {
        let entry = self.entry_mut(packet_id.get())?;
        let Stage::Published { delivery, counted } = &entry.stage else {
            return None;
        };
        let (log_entry, counted) = (delivery.log_entry, *counted);
        entry.stage = Stage::Released { log_entry, counted };
        log_entry
    }

    /// Frees `packet_id` and returns what it stood for.
    pub(crate) fn remove(&mut self, packet_id: PacketId) -> Option<Stage> {
        let id = packet_id.get();
        let entry = self.entry_mut(id)?;
        let (previous, next) = (entry.previous, entry.next);
        let stage = std::mem::replace(&mut entry.stage, Stage::Free);
        let counted = match stage {
            Stage::Free => return None,
            Stage::Published { counted, .. } | Stage::Released { counted, .. } => counted,
        };
        self.unlink_used(previous, next);
        if self.unsent == id {
            self.unsent = next;
        }
        self.put_free(id);
        self.len -= 1;
        self.counted -= u16::from(counted);
        Some(stage)
    }

    /// A new link: everything in flight is to be sent again, and nothing counts yet.
    pub(crate) fn restart(&mut self) {
        for entry in &mut self.entries {
            if let Stage::Published { counted, .. } | Stage::Released { counted, .. } = &mut entry.stage {
                *counted = false;
            }
        }
        self.unsent = self.used.first;
        self.counted = 0;
    }

    /// First message that this link has not carried yet.
    pub(crate) fn unsent(&self) -> Option<(PacketId, &Stage)> {
        let packet_id = PacketId::new(self.unsent)?;
        self.stage(packet_id).map(|stage| (packet_id, stage))
    }

    /// The message of [`Inflight::unsent`] has been sent again.
    pub(crate) fn resent(&mut self) {
        let Some(entry) = self.entry_mut(self.unsent) else {
            return;
        };
        let next = entry.next;
        if let Stage::Published { counted, .. } = &mut entry.stage {
            *counted = true;
            self.counted += 1;
        }
        self.unsent = next;
    }

    /// Removes the oldest.
    pub(crate) fn pop(&mut self) -> Option<Stage> {
        self.remove(PacketId::new(self.used.first)?)
    }

    fn entry(&self, id: u16) -> Option<&Entry> {
        self.entries.get(usize::from(id.checked_sub(1)?))
    }

    fn entry_mut(&mut self, id: u16) -> Option<&mut Entry> {
        self.entries.get_mut(usize::from(id.checked_sub(1)?))
    }

    /// Puts `id`, which is in no list, at the end of those in use.
    fn append(&mut self, id: u16, stage: Stage) {
        let last = self.used.last;
        if let Some(entry) = self.entry_mut(id) {
            *entry = Entry {
                previous: last,
                next: 0,
                stage,
            };
        }
        match self.entry_mut(last) {
            Some(entry) => entry.next = id,
            None => self.used.first = id,
        }
        self.used.last = id;
        self.len += 1;
    }

    fn unlink_used(&mut self, previous: u16, next: u16) {
        match self.entry_mut(previous) {
            Some(entry) => entry.next = next,
            None => self.used.first = next,
        }
        match self.entry_mut(next) {
            Some(entry) => entry.previous = previous,
            None => self.used.last = previous,
        }
    }

    fn take_free(&mut self) -> Option<u16> {
        if let Some(entry) = self.entry(self.free.first) {
            let (id, next) = (self.free.first, entry.next);
            self.free.first = next;
            if next == 0 {
                self.free.last = 0;
            }
            return Some(id);
        }
        let id = u16::try_from(self.entries.len() + 1).ok()?;
        // Most clients have one message in flight: the usual first growth would be four places.
        if id == 1 {
            self.entries.reserve_exact(1);
        }
        self.entries.push(Entry::default());
        Some(id)
    }

    fn put_free(&mut self, id: u16) {
        if let Some(entry) = self.entry_mut(id) {
            entry.next = 0;
        }
        match self.entry_mut(self.free.last) {
            Some(entry) => entry.next = id,
            None => self.free.first = id,
        }
        self.free.last = id;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tidegate_codec::{Message, Properties, QoS, TopicName};

    use super::*;
    use crate::Time;

    /// A delivery that is told from others by its log entry.
    fn delivery(number: u64) -> Delivery {
        Delivery {
            message: Message {
                topic: TopicName::new("a").unwrap(),
                payload: bytes::Bytes::new(),
                properties: Properties::empty(),
                qos: QoS::ExactlyOnce,
                retain: false,
            },
            qos: QoS::ExactlyOnce,
            retain: false,
            identifiers: Box::default(),
            received: Time(0),
            log_entry: NonZeroU64::new(number),
            group: None,
        }
    }

    fn entry(stage: &Stage) -> u64 {
        let entry = match stage {
            Stage::Free => None,
            Stage::Published { delivery, .. } => delivery.log_entry,
            Stage::Released { log_entry, .. } => *log_entry,
        };
        entry.map_or(0, NonZeroU64::get)
    }

    proptest! {
        /// [MQTT-2.2.1-4], [MQTT-4.6.0-1]: whatever comes and goes, in whatever order, the rest is resent in its own.
        #[test]
        fn agrees_with_a_plain_list(actions in prop::collection::vec((0_u8..9, any::<prop::sample::Index>()), 0..200)) {
            let mut inflight = Inflight::default();
            let mut model: Vec<(PacketId, u64)> = Vec::new();
            for (number, (action, pick)) in (1_u64..).zip(actions) {
                match action {
                    0..=3 => {
                        let packet_id = inflight.push(delivery(number)).unwrap();
                        prop_assert!(model.iter().all(|&(used, _)| used != packet_id));
                        model.push((packet_id, number));
                    }
                    4..=6 if !model.is_empty() => {
                        let (packet_id, number) = model.remove(pick.index(model.len()));
                        prop_assert_eq!(inflight.remove(packet_id).as_ref().map(entry), Some(number));
                        prop_assert!(inflight.remove(packet_id).is_none());
                    }
                    7 if !model.is_empty() => {
                        let (packet_id, number) = *pick.get(&model);
                        let first = inflight.release(packet_id).map(NonZeroU64::get);
                        prop_assert!(first.is_none_or(|entry| entry == number));
                        prop_assert_eq!(inflight.release(packet_id), None);
                    }
                    8 => {
                        inflight.restart();
                        let mut resent = Vec::new();
                        while let Some((packet_id, stage)) = inflight.unsent() {
                            resent.push((packet_id, entry(stage)));
                            inflight.resent();
                        }
                        prop_assert_eq!(&resent, &model);
                    }
                    _ => {}
                }
                prop_assert_eq!(usize::from(inflight.len()), model.len());
                prop_assert!(inflight.counted() <= inflight.len());
            }
        }
    }
}
