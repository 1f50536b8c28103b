//! The checkpoint as its owner holds it: open, look up, scan, close.
//!
//! Invariant: what stands in fjall is the result of exactly the changes up to the position in the same fjall batch. It lags
//! behind the log by a fraction of a second and keeps nothing the log does not have: the owner's own memory is what is
//! current.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use fjall::{Database, Keyspace, KeyspaceCreateOptions};

use super::applier::{Applier, Checkpoint};
use super::change::Malformed;
use crate::{EntryId, Log, Lost, ReadError, Sequence};

/// Why keyed state cannot be opened, read or kept.
#[derive(Debug, thiserror::Error)]
pub enum KeyedError {
    /// fjall refused.
    #[error("keyed state: cannot {action}: {source}")]
    Fjall {
        /// What was being done.
        action: &'static str,
        /// What fjall said.
        source: fjall::Error,
    },
    /// The log cannot be read.
    #[error("keyed state: {0}")]
    Log(#[from] ReadError),
    /// An entry for the keyed cursor that is no change.
    #[error("keyed state: entry {entry} of the log is {source}")]
    Malformed {
        /// The entry.
        entry: EntryId,
        /// What is wrong with it.
        source: Malformed,
    },
    /// The checkpoint and the log do not belong together.
    #[error(
        "keyed state has applied sequence {applied}, the log ends at {log}: one of the two was replaced; restore both together"
    )]
    AheadOfLog {
        /// What the checkpoint has applied.
        applied: Sequence,
        /// Where the log ends.
        log: Sequence,
    },
    /// The thread that applies changes could not be started.
    #[error("keyed state: cannot start its thread: {0}")]
    Thread(std::io::Error),
}

/// An open checkpoint and the thread that keeps it up.
pub struct KeyedState {
    state: Keyspace,
    checkpoint: Arc<Checkpoint>,
    applier: Applier,
}

impl KeyedState {
    /// Opens the checkpoint in `directory` and replays what `log` has beyond it, so that it is complete when this returns.
    pub fn open(log: Arc<Log>, directory: &Path) -> Result<Self, KeyedError> {
        let failed = |action| move |source| KeyedError::Fjall { action, source };
        let database = Database::builder(directory)
            .open()
            .map_err(failed("open the checkpoint"))?;
        let keyspace = |name| database.keyspace(name, KeyspaceCreateOptions::default);
        let state = keyspace("state").map_err(failed("open the state"))?;
        let position = keyspace("position").map_err(failed("open the position"))?;
        let checkpoint = Arc::new(Checkpoint::new(log, database, state.clone(), position)?);
        checkpoint.apply_pending()?;
        let applier = Applier::start(Arc::clone(&checkpoint)).map_err(KeyedError::Thread)?;
        Ok(Self {
            state,
            checkpoint,
            applier,
        })
    }

    /// The value of `key` as far as changes were applied.
    pub fn get(&self, key: &[u8]) -> Result<Option<Bytes>, KeyedError> {
        let value = self.state.get(key).map_err(|source| KeyedError::Fjall {
            action: "look a key up",
            source,
        })?;
        Ok(value.map(|value| Bytes::copy_from_slice(&value)))
    }

    /// All keys that begin with `prefix` and their values, in the order of the keys.
    pub fn scan(&self, prefix: &[u8]) -> impl Iterator<Item = Result<(Bytes, Bytes), KeyedError>> + use<> {
        self.state.prefix(prefix).map(|pair| {
            let (key, value) = pair.into_inner().map_err(|source| KeyedError::Fjall {
                action: "scan keys",
                source,
            })?;
            Ok((Bytes::copy_from_slice(&key), Bytes::copy_from_slice(&value)))
        })
    }

    /// The last change applied.
    pub fn applied(&self) -> EntryId {
        self.checkpoint.position()
    }

    /// Changes that the log lost to damage, since the last time this was asked. Their keys are unknown.
    pub fn take_lost(&self) -> Vec<Lost> {
        self.checkpoint.take_lost()
    }

    /// What stopped the applying, if anything did. The log keeps what is not applied.
    pub fn failure(&self) -> Option<Arc<KeyedError>> {
        self.applier.failure()
    }

    /// Applies what is durable in the log, makes it durable and ends the thread.
    pub fn close(mut self) -> Result<(), KeyedError> {
        self.applier.stop();
        self.checkpoint.apply_pending()
    }
}
