//! An outside system in memory, with faults to order, and the edges that go with it: a port, clocks, records.
//!
//! Invariant: [`MemorySystem`] stores all of a batch or none of it, and remembers every attempt.
//! For tests of this crate, of sinks and of the broker.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tidegate_codec::{ClientId, QoS, TopicName};

use crate::{
    Clock, Connect, Outcome, Receipt, ReceiptPort, Record, RecordId, Sink, SinkError, SinkHandle, Token,
    Wiring,
};

/// What the system does with the next attempt, before its standing rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Refuses the attempt.
    Fail(SinkError),
    /// Stores the batch and loses the answer: what a cut connection looks like.
    LoseAnswer,
    /// Panics.
    Panic,
}

/// What the system holds and how it behaves.
#[derive(Debug, Default)]
struct System {
    stored: Vec<Record>,
    faults: VecDeque<Fault>,
    down: Option<SinkError>,
    poison: Option<fn(&Record) -> bool>,
    names_position: bool,
    records_max: Option<usize>,
    unique_ids: bool,
    attempts: usize,
    connects: usize,
}

/// The outside system. Clones are the same system.
#[derive(Debug, Clone, Default)]
pub struct MemorySystem(Arc<Mutex<System>>);

impl MemorySystem {
    /// A system that stores everything.
    pub fn new() -> Self {
        Self::default()
    }

    /// Orders a fault for one of the next attempts; faults happen in the order given.
    pub fn fail_next(&self, fault: Fault) {
        self.lock().faults.push_back(fault);
    }

    /// Every attempt, connect and check fails with `error` until `None` is set.
    pub fn set_down(&self, error: Option<SinkError>) {
        self.lock().down = error;
    }

    /// Records that are rejected, and whether the error names their position.
    pub fn set_poison(&self, poison: fn(&Record) -> bool, names_position: bool) {
        let mut system = self.lock();
        system.poison = Some(poison);
        system.names_position = names_position;
    }

    /// Batches of more records are too large.
    pub fn set_records_max(&self, records_max: usize) {
        self.lock().records_max = Some(records_max);
    }

    /// A record whose id is stored already is not stored again, as with a unique key.
    pub fn set_unique_ids(&self) {
        self.lock().unique_ids = true;
    }

    /// What is stored, in order.
    pub fn stored(&self) -> Vec<Record> {
        self.lock().stored.clone()
    }

    /// Sequences of the ids of what is stored.
    pub fn sequences(&self) -> Vec<u64> {
        self.lock()
            .stored
            .iter()
            .map(|record| record.id.sequence)
            .collect()
    }

    /// How often something was offered.
    pub fn attempts(&self) -> usize {
        self.lock().attempts
    }

    /// How often a lane connected.
    pub fn connects(&self) -> usize {
        self.lock().connects
    }

    /// Makes connections to this system.
    pub fn connect(&self) -> Connect {
        let system = self.clone();
        Arc::new(move |_lane| {
            let mut inner = system.lock();
            inner.connects += 1;
            inner.reachable()?;
            drop(inner);
            Ok(Box::new(MemorySink {
                system: system.clone(),
            }) as Box<dyn Sink>)
        })
    }

    fn lock(&self) -> MutexGuard<'_, System> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl System {
    fn reachable(&self) -> Result<(), SinkError> {
        self.down.clone().map_or(Ok(()), Err)
    }

    fn write(&mut self, records: &[Record]) -> Result<(), SinkError> {
        self.attempts += 1;
        self.reachable()?;
        let fault = self.faults.pop_front();
        if let Some(Fault::Fail(error)) = fault {
            return Err(error);
        }
        assert!(fault != Some(Fault::Panic), "an ordered panic");
        if self.records_max.is_some_and(|max| records.len() > max) {
            return Err(SinkError::TooLarge(format!("{} records at once", records.len())));
        }
        if let Some(bad) = self.poison.and_then(|poison| records.iter().position(poison)) {
            let position = self.names_position.then_some(bad);
            return Err(SinkError::Rejected {
                position,
                reason: "poison".into(),
            });
        }
        let known = |stored: &[Record], record: &Record| stored.iter().any(|other| other.id == record.id);
        for record in records {
            if !self.unique_ids || !known(&self.stored, record) {
                self.stored.push(record.clone());
            }
        }
        match fault {
            Some(Fault::LoseAnswer) => Err(SinkError::Retry("connection lost before the answer".into())),
            _ => Ok(()),
        }
    }
}

/// A connection to a [`MemorySystem`].
struct MemorySink {
    system: MemorySystem,
}

impl Sink for MemorySink {
    fn write(&mut self, records: &[Record]) -> Result<(), SinkError> {
        self.system.lock().write(records)
    }

    fn check(&mut self) -> Result<(), SinkError> {
        self.system.lock().reachable()
    }
}

/// A worker's mailbox that keeps everything.
#[derive(Debug, Default)]
pub struct MemoryPort {
    receipts: Mutex<Vec<Receipt>>,
    rooms: Mutex<usize>,
    arrived: Condvar,
}

impl ReceiptPort for MemoryPort {
    fn deliver(&self, receipts: Vec<Receipt>) {
        self.receipts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(receipts);
        self.arrived.notify_all();
    }

    fn room(&self) {
        *self.rooms.lock().unwrap_or_else(PoisonError::into_inner) += 1;
    }
}

impl MemoryPort {
    /// All receipts so far.
    pub fn receipts(&self) -> Vec<Receipt> {
        self.receipts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// How the messages ended, by key, in order of arrival.
    pub fn outcomes(&self) -> Vec<(u64, Outcome)> {
        self.receipts()
            .into_iter()
            .map(|receipt| (receipt.token.message, receipt.outcome))
            .collect()
    }

    /// How often room was announced.
    pub fn rooms(&self) -> usize {
        *self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for `count` receipts, at most `within`, and returns what has arrived.
    pub fn wait_for(&self, count: usize, within: Duration) -> Vec<Receipt> {
        let receipts = self.receipts.lock().unwrap_or_else(PoisonError::into_inner);
        let (receipts, _) = self
            .arrived
            .wait_timeout_while(receipts, within, |receipts| receipts.len() < count)
            .unwrap_or_else(PoisonError::into_inner);
        receipts.clone()
    }
}

/// A clock that stands still until it is moved.
#[derive(Debug, Default)]
pub struct ManualClock(Mutex<Duration>);

impl ManualClock {
    /// Moves the clock.
    pub fn advance(&self, by: Duration) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) += by;
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Duration {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unix_ms(&self) -> u64 {
        1_700_000_000_000 + u64::try_from(self.now().as_millis()).unwrap_or(u64::MAX)
    }
}

/// The machine's clock, for tests with real threads.
#[derive(Debug)]
pub struct RealClock(std::time::Instant);

impl Default for RealClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "tests with real threads have no shell that owns the clock"
    )]
    fn default() -> Self {
        Self(std::time::Instant::now())
    }
}

impl Clock for RealClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn unix_ms(&self) -> u64 {
        1_700_000_000_000 + u64::try_from(self.now().as_millis()).unwrap_or(u64::MAX)
    }
}

/// Wiring of a sink to one worker, with the machine's clock.
pub fn wiring(connect: Connect, port: &Arc<MemoryPort>, dead_letters: Option<SinkHandle>) -> Wiring {
    Wiring {
        connect,
        ports: vec![Arc::clone(port) as Arc<dyn ReceiptPort>],
        dead_letters,
        clock: Arc::new(RealClock::default()),
    }
}

/// A record with `sequence` in its id, its token (worker 0), its topic and its time.
pub fn record(sequence: u64, key: &str, body: &[u8]) -> Record {
    let topic = format!("plant/{sequence}");
    Record {
        id: RecordId {
            epoch: 1,
            sequence,
            index: 0,
        },
        token: Some(Token {
            worker: 0,
            message: sequence,
        }),
        topic: TopicName::from_bytes(Bytes::from(topic)).unwrap_or_else(|error| panic!("{error}")),
        client_id: ClientId::new("client"),
        qos: QoS::AtLeastOnce,
        received_at_ms: 1_700_000_000_000 + sequence,
        key: Some(Bytes::copy_from_slice(key.as_bytes())),
        body: Bytes::copy_from_slice(body),
        headers: Bytes::new(),
        refusable: false,
        death: None,
    }
}
