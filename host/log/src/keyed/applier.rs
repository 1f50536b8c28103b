//! Applies changes from the log to fjall, in the order of the log.
//!
//! Invariant: a change is acknowledged in the log only after fjall has synced it together with its position.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use fjall::{Database, Keyspace, PersistMode};

use super::change::Change;
use super::state::KeyedError;
use crate::core::lock;
use crate::{Ack, CursorId, EntryId, Log, Lost, ReadLimit, Sequence};

/// Time between two rounds: the checkpoint's fsync must not compete with the log's.
const PAUSE: Duration = Duration::from_millis(200);
/// Changes in one fjall batch.
const AT_ONCE: ReadLimit = ReadLimit {
    entries: 4096,
    bytes: 4 << 20,
};
const POSITION_KEY: &[u8] = b"applied";
/// Lost changes that are kept for whoever asks.
const LOST_MAX: usize = 10_000;

/// fjall and the log it follows.
pub(super) struct Checkpoint {
    log: Arc<Log>,
    database: Database,
    state: Keyspace,
    positions: Keyspace,
    position: Mutex<EntryId>,
    lost: Mutex<Vec<Lost>>,
}

impl Checkpoint {
    pub(super) fn new(
        log: Arc<Log>,
        database: Database,
        state: Keyspace,
        positions: Keyspace,
    ) -> Result<Self, KeyedError> {
        let stored = positions.get(POSITION_KEY);
        let stored = stored.map_err(|source| KeyedError::Fjall {
            action: "read the position",
            source,
        })?;
        let position = stored
            .and_then(|bytes| decode_position(&bytes))
            .unwrap_or(EntryId::START);
        if position.sequence > log.durable() {
            return Err(KeyedError::AheadOfLog {
                applied: position.sequence,
                log: log.durable(),
            });
        }
        let (position, lost) = (Mutex::new(position), Mutex::new(Vec::new()));
        Ok(Self {
            log,
            database,
            state,
            positions,
            position,
            lost,
        })
    }

    pub(super) fn position(&self) -> EntryId {
        *lock(&self.position)
    }

    pub(super) fn take_lost(&self) -> Vec<Lost> {
        std::mem::take(&mut *lock(&self.lost))
    }

    /// Applies everything that is durable in the log and makes it durable here.
    pub(super) fn apply_pending(&self) -> Result<(), KeyedError> {
        let mut position = self.position();
        let before = position;
        loop {
            let batch = self.log.read(CursorId::KEYED, position, AT_ONCE)?;
            let Some(last) = batch.last() else { break };
            let mut changes = self.database.batch();
            for delivery in &batch.deliveries {
                let change = Change::decode(&delivery.body).map_err(|source| KeyedError::Malformed {
                    entry: delivery.entry,
                    source,
                })?;
                match change {
                    Change::Put { key, value } => changes.insert(&self.state, key, value),
                    Change::Delete { key } => changes.remove(&self.state, key),
                }
            }
            changes.insert(&self.positions, POSITION_KEY, encode_position(last));
            changes.commit().map_err(|source| KeyedError::Fjall {
                action: "apply changes",
                source,
            })?;
            self.note_lost(batch.lost);
            position = last;
            *lock(&self.position) = last;
        }
        // What an earlier life applied and could not acknowledge any more is still pending in the log.
        let behind = self
            .log
            .pending(CursorId::KEYED)
            .oldest
            .is_some_and(|oldest| oldest <= position);
        if position > before || behind {
            let synced = self.database.persist(PersistMode::SyncAll);
            synced.map_err(|source| KeyedError::Fjall {
                action: "sync the checkpoint",
                source,
            })?;
            self.log.ack(&[Ack::through(CursorId::KEYED, position)]);
        }
        Ok(())
    }

    fn note_lost(&self, found: Vec<Lost>) {
        let mut lost = lock(&self.lost);
        let room = LOST_MAX.saturating_sub(lost.len());
        lost.extend(found.into_iter().take(room));
    }
}

fn encode_position(entry: EntryId) -> Vec<u8> {
    let mut bytes = entry.sequence.0.to_le_bytes().to_vec();
    bytes.extend_from_slice(&entry.index.to_le_bytes());
    bytes
}

fn decode_position(bytes: &[u8]) -> Option<EntryId> {
    let (sequence, rest) = bytes.split_first_chunk()?;
    let index = rest.first_chunk()?;
    let sequence = Sequence(u64::from_le_bytes(*sequence));
    Some(EntryId {
        sequence,
        index: u16::from_le_bytes(*index),
    })
}

/// The thread that applies.
pub(super) struct Applier {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    stopped: Mutex<bool>,
    changed: Condvar,
    failure: Mutex<Option<Arc<KeyedError>>>,
}

impl Applier {
    pub(super) fn start(checkpoint: Arc<Checkpoint>) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let of_thread = Arc::clone(&shared);
        let thread = Builder::new()
            .name("log-keyed".to_owned())
            .spawn(move || of_thread.run(&checkpoint))?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    pub(super) fn failure(&self) -> Option<Arc<KeyedError>> {
        lock(&self.shared.failure).clone()
    }

    pub(super) fn stop(&mut self) {
        *lock(&self.shared.stopped) = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has nothing left to do either.
            let _ = thread.join();
        }
    }
}

impl Drop for Applier {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Shared {
    fn run(&self, checkpoint: &Checkpoint) {
        while !self.pause() {
            if let Err(error) = checkpoint.apply_pending() {
                // Going on would skip a change. The log keeps it, and opening tries again.
                *lock(&self.failure) = Some(Arc::new(error));
                return;
            }
        }
    }

    /// True once it is stopped.
    fn pause(&self) -> bool {
        let stopped = lock(&self.stopped);
        let waited = self
            .changed
            .wait_timeout_while(stopped, PAUSE, |stopped| !*stopped);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}
