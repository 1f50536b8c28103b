//! A worker's mailbox for everything that is not a socket or another worker: sinks and the admin side.
//!
//! Bounded: a sender that finds it full waits, which only a worker that no longer ticks can cause.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use mio::Waker;
use tidegate_sinks::{Receipt, ReceiptPort};
use tokio::sync::oneshot;

use crate::pipeline::Guest;
use crate::telemetry::WorkerSnapshot;

/// Letters a mailbox holds.
const LETTERS_MAX: usize = 1_024;

/// What a worker is told from outside.
pub enum Letter {
    /// Records have ended.
    Receipts(Vec<Receipt>),
    /// A sink that was full has room again.
    Room,
    /// From the next batch on, the rule at this place of the chain runs this guest.
    Install {
        /// Place in the chain.
        rule: usize,
        /// Initialised and ready.
        guest: Box<Guest>,
        /// Told when it serves.
        done: oneshot::Sender<()>,
    },
    /// Tell your counters, all of one moment.
    Snapshot(oneshot::Sender<WorkerSnapshot>),
    /// Stop accepting and reading, settle what is admitted, say goodbye, and end.
    Drain,
}

/// The sending end; cheap to clone.
#[derive(Clone)]
pub struct Mailbox {
    letters: SyncSender<Letter>,
    waker: Arc<Waker>,
}

impl Mailbox {
    /// A mailbox whose worker is woken by `waker`.
    pub fn new(waker: Arc<Waker>) -> (Self, Receiver<Letter>) {
        let (letters, receiver) = sync_channel(LETTERS_MAX);
        (Self { letters, waker }, receiver)
    }

    /// Posts `letter` and wakes the worker. `false` when the worker has ended.
    pub fn post(&self, letter: Letter) -> bool {
        let taken = self.letters.send(letter).is_ok();
        if let Err(error) = self.waker.wake() {
            tracing::error!(%error, "cannot wake a worker");
        }
        taken
    }
}

impl ReceiptPort for Mailbox {
    fn deliver(&self, receipts: Vec<Receipt>) {
        self.post(Letter::Receipts(receipts));
    }

    fn room(&self) {
        self.post(Letter::Room);
    }
}
