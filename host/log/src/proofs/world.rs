//! A log on a simulated disk beside the reference, and the actions applied to both.
//!
//! A violation is returned as text: the same runs prove that the log is right and that a log with a step missing is not.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

use super::action::{Action, EntryShape};
use super::reference::{Entries, Reference, Taken};
use crate::commit::{Commit, Outcome};
use crate::core::Core;
use crate::disk::sim::SimDisk;
use crate::frame::Checksum;
use crate::id::{CursorId, EntryId, Timestamp};
use crate::open::open_checked;
use crate::recovery::Recovery;
use crate::step::Omitted;
use crate::{Ack, AppendError, Batch, Entry, Limits, Options, ReadLimit};

pub(super) const LANES: [u32; 5] = [0, 1, 2, 300, 70_000];
const SEGMENT_BYTES: u64 = 12 << 10;

pub(super) struct World {
    pub disk: SimDisk,
    pub core: Core,
    pub reference: Reference,
    proof: (Omitted, fn(u32) -> Checksum),
    /// The last sequence that was reported as durable.
    reported: Arc<AtomicU64>,
    accepted: u64,
    full: bool,
    bodies: u64,
}

type Checked = Result<(), String>;

impl World {
    pub(super) fn new(proof: (Omitted, fn(u32) -> Checksum)) -> Self {
        let disk = SimDisk::new();
        let reported = Arc::new(AtomicU64::new(0));
        let (core, _) = open(&disk, proof, &reported).expect("an empty disk opens");
        let reference = Reference::default();
        Self {
            disk,
            core,
            reference,
            proof,
            reported,
            accepted: 0,
            full: false,
            bodies: 0,
        }
    }

    /// Applies `actions`, then crashes and checks once more.
    pub(super) fn run(mut self, actions: &[Action]) -> Checked {
        self.live(actions)?;
        self.crash(1, None)?;
        self.crash(2, None)
    }

    pub(super) fn live(&mut self, actions: &[Action]) -> Checked {
        for action in actions {
            self.apply(action)
                .map_err(|violation| format!("{violation}, at {action:?}"))?;
        }
        Ok(())
    }

    fn apply(&mut self, action: &Action) -> Checked {
        match action {
            Action::Append(entries, ack) => self.append(entries, *ack),
            Action::Commit => self.commit(),
            Action::Prepare => {
                self.core.prepare();
                Ok(())
            }
            Action::Clean => {
                // An error leaves things as they were, which is checked.
                let _ = self.core.clean();
                self.check()
            }
            Action::AckOne(lane, pick) => {
                let lane = lane_of(*lane);
                let Some(id) = self.pick(lane, *pick) else {
                    return Ok(());
                };
                self.ack(lane, Ack::one(CursorId(lane), id), (id, id))
            }
            Action::AckThrough(lane, pick) => {
                let lane = lane_of(*lane);
                let Some(id) = self.pick(lane, *pick) else {
                    return Ok(());
                };
                self.ack(lane, Ack::through(CursorId(lane), id), (EntryId::START, id))
            }
            Action::AckAll(lane) => {
                let lane = lane_of(*lane);
                self.ack(lane, Ack::all(CursorId(lane)), (EntryId::START, EntryId::END))
            }
            Action::Expire(lane, bytes) => self.expire(lane_of(*lane), u64::from(*bytes)),
            Action::Reopen => self.reopen(),
            Action::Kill => self.kill(None),
            Action::Crash(seed, cut) => self.crash(*seed, *cut),
            Action::CutIn(operations) => {
                if !self.disk.is_cut() {
                    self.disk.cut_at(self.disk.operations() + u64::from(*operations));
                }
                Ok(())
            }
            Action::FailSyncs(seed) => self.fail_syncs(*seed),
            Action::Full(full) => {
                self.full = *full;
                self.disk.set_capacity(full.then(|| self.disk.used()));
                if !full && !self.disk.is_cut() {
                    // As the housekeeping does every moment.
                    self.core.prepare();
                }
                Ok(())
            }
        }
    }

    fn append(&mut self, shapes: &[EntryShape], ack: Option<(u8, u8)>) -> Checked {
        let mut taken = Taken::default();
        for (mask, size, fill) in shapes {
            self.bodies += 1;
            let mut body = self.bodies.to_le_bytes().to_vec();
            body.resize(8 + usize::from(*size), *fill);
            let lanes = LANES
                .iter()
                .zip(0..)
                .filter(|(_, bit)| mask >> bit & 1 == 1)
                .map(|(lane, _)| *lane);
            taken.entries.push((lanes.collect(), body));
        }
        let picked = ack.and_then(|(lane, pick)| Some((lane_of(lane), self.pick(lane_of(lane), pick)?)));
        taken.acks.extend(picked);
        let acks: Vec<Ack> = picked
            .iter()
            .map(|(lane, id)| Ack::one(CursorId(*lane), *id))
            .collect();
        let lanes: Vec<Vec<CursorId>> = taken
            .entries
            .iter()
            .map(|(lanes, _)| lanes.iter().map(|lane| CursorId(*lane)).collect())
            .collect();
        let entries: Vec<Entry<'_>> = lanes
            .iter()
            .zip(&taken.entries)
            .map(|(lanes, (_, body))| Entry { lanes, body })
            .collect();
        let mut batch = Batch::default();
        batch
            .push(Timestamp(self.bodies), &entries, &acks)
            .map_err(|error| error.to_string())?;
        match self.core.append(&mut batch) {
            Ok(appended) => {
                self.reference.take(appended.first.0, taken);
                Ok(())
            }
            Err(_) if batch.len() != 1 => Err("a refused batch was emptied".to_owned()),
            Err(AppendError::NoRoom { .. }) if self.full || self.disk.is_cut() => Ok(()),
            Err(AppendError::Full { .. }) => Ok(()),
            Err(AppendError::Poisoned { .. }) if self.disk.is_cut() => Ok(()),
            Err(error) => Err(format!("append: {error}")),
        }
    }

    fn commit(&mut self) -> Checked {
        let waits = self.last_accepted();
        match self.core.commit() {
            Outcome::Committed => {
                self.reference.commit(waits);
                let unlogged = self
                    .core
                    .index
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .has_unlogged();
                if !unlogged {
                    self.reference.harden();
                }
                self.check()
            }
            Outcome::Nothing => Ok(()),
            Outcome::Held if self.full => Ok(()),
            Outcome::Poisoned if self.disk.is_cut() => {
                // Only the mark may have failed, after the report.
                self.reference.commit(self.reported.load(Ordering::Relaxed));
                Ok(())
            }
            other => Err(format!("commit came to {other:?}")),
        }
    }

    fn ack(&mut self, lane: u32, ack: Ack, range: (EntryId, EntryId)) -> Checked {
        let expected = self.reference.ack(lane, range.0, range.1);
        match self.core.ack(&[ack]) {
            entries if entries == expected => Ok(()),
            entries => Err(format!(
                "lane {lane}: {entries} entries acknowledged instead of {expected}"
            )),
        }
    }

    fn expire(&mut self, lane: u32, bytes: u64) -> Checked {
        let limits = Limits {
            bytes_max: Some(bytes),
            age_max: None,
        };
        self.core.set_limits(CursorId(lane), Some(limits));
        let expired = self.core.maintain(Timestamp(0));
        self.core.set_limits(CursorId(lane), None);
        for event in expired {
            let entries = self.reference.ack(lane, EntryId::START, event.through);
            if event.cursor != CursorId(lane) || event.entries != entries {
                return Err(format!("{event:?} instead of {entries} entries of lane {lane}"));
            }
        }
        match self
            .core
            .index
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .cursors
            .pending(CursorId(lane))
        {
            pending if pending.bytes > bytes => Err(format!("{pending:?} is over the limit of {bytes}")),
            _ => Ok(()),
        }
    }

    fn reopen(&mut self) -> Checked {
        if self.disk.is_cut()
            || self
                .core
                .committer
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .holds()
        {
            return Ok(());
        }
        self.disk.set_capacity(None);
        self.full = false;
        self.core.prepare();
        self.core.maintain(Timestamp(0));
        self.core.close();
        if self.disk.is_cut() {
            return self.crash(self.bodies, None);
        }
        self.accepted = self.last_accepted();
        self.reference.commit(self.accepted);
        match open(&self.disk, self.proof, &self.reported) {
            Ok((core, report)) => {
                self.core = core;
                match self.disk.is_cut() {
                    true => self.crash(self.bodies, None),
                    false => self.take_over(&report),
                }
            }
            Err(_) if self.disk.is_cut() => self.crash(self.bodies, None),
            Err(error) => Err(error),
        }
    }

    /// The process dies, the system lives on. Perhaps the power is cut so many disk operations into the recovery.
    pub(super) fn kill(&mut self, cut: Option<(u8, u64)>) -> Checked {
        self.disk.set_capacity(None);
        self.full = false;
        self.accepted = self.last_accepted();
        self.disk.kill();
        if let Some((operations, seed)) = cut {
            self.disk.cut_at(self.disk.operations() + u64::from(operations));
            // What a recovery shows before the cut is shown to nobody here.
            let _ = open(&self.disk, self.proof, &Arc::default());
            self.disk.crash(seed);
        }
        let (core, report) = open(&self.disk, self.proof, &self.reported)?;
        self.core = core;
        self.take_over(&report)
    }

    fn fail_syncs(&mut self, seed: u64) -> Checked {
        self.disk.fail_syncs(true);
        self.append(&[(1, 10, 0)], None)?;
        let waits = self
            .core
            .staging
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .queued;
        let outcome = self.core.commit();
        if !self.disk.is_cut() && waits > 0 && outcome == Outcome::Poisoned {
            let refused = self.append(&[(1, 10, 0)], None);
            if !refused.is_err_and(|error| error.contains("poisoned")) {
                return Err("an append after a failed fsync was not refused".to_owned());
            }
        }
        self.crash(seed, None)
    }

    pub(super) fn crash(&mut self, seed: u64, cut: Option<u8>) -> Checked {
        self.disk.set_capacity(None);
        self.full = false;
        self.accepted = self.last_accepted();
        self.disk.crash(seed);
        if let Some(operations) = cut {
            self.disk.cut_at(self.disk.operations() + u64::from(operations));
            // A recovery without end is no promise; that the next one is whole is.
            let _ = open(&self.disk, self.proof, &Arc::default());
            self.disk.crash(seed.rotate_left(7));
        }
        let (core, report) = open(&self.disk, self.proof, &self.reported)?;
        self.core = core;
        self.take_over(&report)
    }

    /// Compares a log just opened with the reference, which takes over what was uncertain.
    fn take_over(&mut self, report: &Recovery) -> Checked {
        if let Some(damage) = report.damage.first() {
            return Err(format!("{damage} although no byte was changed"));
        }
        let kept = self
            .core
            .index
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .applied;
        let reported = self.reported.load(Ordering::Relaxed);
        if kept < reported || kept > self.accepted {
            let accepted = self.accepted;
            return Err(format!(
                "kept {kept} appends of {reported} reported and {accepted} accepted"
            ));
        }
        self.accepted = kept;
        // What a recovery shows must last.
        self.reported.store(kept, Ordering::Relaxed);
        self.reference.crash(kept);
        for lane in LANES {
            let found: BTreeSet<EntryId> = self.read(lane)?.into_keys().collect();
            self.reference.adopt(lane, &found)?;
        }
        self.check()
    }

    /// Compares everything that can be read with the reference, and the counts with what can be read.
    fn check(&self) -> Checked {
        if self.disk.is_cut() {
            return Ok(());
        }
        let mut entries = 0;
        for lane in LANES {
            let (found, expected) = (self.read(lane)?, self.reference.visible(lane));
            if found != expected {
                let (found, expected): (Vec<_>, Vec<_>) = (found.keys().collect(), expected.keys().collect());
                return Err(format!("lane {lane} reads {found:?} instead of {expected:?}"));
            }
            entries += found.len() as u64;
        }
        let index = self.core.index.lock().unwrap_or_else(PoisonError::into_inner);
        let live: u64 = index.segments.iter().map(|segment| segment.live).sum();
        match live == entries {
            true => Ok(()),
            false => Err(format!(
                "segments count {live} live entries, cursors have {entries}"
            )),
        }
    }

    pub(super) fn read(&self, lane: u32) -> Result<Entries, String> {
        let mut found = Entries::new();
        let mut after = EntryId::START;
        loop {
            let limit = ReadLimit {
                entries: 7,
                bytes: 2_000,
            };
            let batch = self
                .core
                .read(CursorId(lane), after, limit)
                .map_err(|error| error.to_string())?;
            if let Some(lost) = batch.lost.first() {
                return Err(format!(
                    "lane {lane}: entry {} is unreadable: {}",
                    lost.entry, lost.damage
                ));
            }
            let Some(last) = batch.last() else {
                return Ok(found);
            };
            after = last;
            found.extend(
                batch
                    .deliveries
                    .into_iter()
                    .map(|delivery| (delivery.entry, delivery.body.to_vec())),
            );
        }
    }

    /// The last sequence given out, acknowledgements included.
    fn last_accepted(&self) -> u64 {
        self.core
            .staging
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .next
            - 1
    }

    fn pick(&self, lane: u32, pick: u8) -> Option<EntryId> {
        let visible = self.reference.visible(lane);
        let at = usize::from(pick) % visible.len().max(1);
        visible.keys().nth(at).copied()
    }
}

fn lane_of(pick: u8) -> u32 {
    LANES[usize::from(pick) % LANES.len()]
}

fn open(
    disk: &SimDisk,
    proof: (Omitted, fn(u32) -> Checksum),
    reported: &Arc<AtomicU64>,
) -> Result<(Core, Recovery), String> {
    let options = Options {
        segment_bytes: SEGMENT_BYTES,
        seed: Some(0x5eed),
        ..Options::default()
    };
    let reported = Arc::clone(reported);
    let on_commit = Box::new(move |commit| {
        if let Commit::Durable { through } = commit {
            reported.store(through.0, Ordering::Relaxed);
        }
    });
    open_checked(Arc::new(disk.clone()), options, on_commit, proof).map_err(|error| error.to_string())
}
