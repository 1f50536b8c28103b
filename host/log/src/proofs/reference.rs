//! What a log should hold, as plain maps.

use std::collections::{BTreeMap, BTreeSet};

use crate::id::EntryId;

pub(super) type Entries = BTreeMap<EntryId, Vec<u8>>;

/// An append that was taken.
#[derive(Debug, Clone, Default)]
pub(super) struct Taken {
    /// Lanes and body of each entry.
    pub entries: Vec<(Vec<u32>, Vec<u8>)>,
    /// What it acknowledges.
    pub acks: Vec<(u32, EntryId)>,
}

/// The log as it should be.
#[derive(Debug, Default)]
pub(super) struct Reference {
    /// Taken and not yet shown, by sequence.
    taken: BTreeMap<u64, Taken>,
    /// What each cursor can read.
    visible: BTreeMap<u32, Entries>,
    /// Acknowledged, but a crash may bring it back.
    soft: BTreeMap<u32, Entries>,
}

impl Reference {
    pub(super) fn take(&mut self, sequence: u64, taken: Taken) {
        self.taken.insert(sequence, taken);
    }

    /// Everything up to `through` is durable.
    pub(super) fn commit(&mut self, through: u64) {
        let later = self.taken.split_off(&(through + 1));
        for (sequence, taken) in std::mem::replace(&mut self.taken, later) {
            for ((lanes, body), index) in taken.entries.into_iter().zip(0u16..) {
                for lane in lanes {
                    let id = EntryId::new(sequence, index);
                    self.visible.entry(lane).or_default().insert(id, body.clone());
                }
            }
            for (lane, id) in taken.acks {
                self.visible.entry(lane).or_default().remove(&id);
                self.soft.entry(lane).or_default().remove(&id);
            }
        }
    }

    pub(super) fn visible(&self, lane: u32) -> Entries {
        self.visible.get(&lane).cloned().unwrap_or_default()
    }

    /// Acknowledges what `lane` has up to `last`, or only `last`. Returns how many entries it was.
    pub(super) fn ack(&mut self, lane: u32, first: EntryId, last: EntryId) -> u64 {
        let visible = self.visible.entry(lane).or_default();
        let ids: Vec<EntryId> = visible.range(first..=last).map(|(id, _)| *id).collect();
        for id in &ids {
            if let Some(body) = visible.remove(id) {
                self.soft.entry(lane).or_default().insert(*id, body);
            }
        }
        ids.len() as u64
    }

    /// Every acknowledgement so far is durable.
    pub(super) fn harden(&mut self) {
        self.soft.clear();
    }

    /// A crash that kept the appends up to `through`. The log now says that `lane` has `found`: checks that, and takes it
    /// over.
    pub(super) fn crash(&mut self, through: u64) {
        self.commit(through);
        self.taken.clear();
    }

    pub(super) fn adopt(&mut self, lane: u32, found: &BTreeSet<EntryId>) -> Result<(), String> {
        let visible = self.visible.entry(lane).or_default();
        let soft = self.soft.remove(&lane).unwrap_or_default();
        for id in visible.keys() {
            if !found.contains(id) {
                return Err(format!("lane {lane}: entry {id} was committed and is gone"));
            }
        }
        for id in found {
            match soft.get(id) {
                _ if visible.contains_key(id) => {}
                Some(body) => {
                    visible.insert(*id, body.clone());
                }
                None => {
                    return Err(format!(
                        "lane {lane}: entry {id} is back although its end was committed"
                    ));
                }
            }
        }
        Ok(())
    }
}
