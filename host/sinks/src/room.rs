//! How much of a sink's bound is taken, over all its lanes, and who waits for that to change.
//!
//! Invariant: a worker that was told there is no room is told when there is. The bound is soft by one submitted
//! batch per worker: room is asked for before a rule is run and taken after it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::ReceiptPort;

/// Counters beside the lanes' locks, so that asking costs two loads. All orderings are `SeqCst`: "no room" is
/// written before the counters are read again, and the counters before "no room" is read, or a wake could be lost.
pub(crate) struct Room {
    records: AtomicUsize,
    bytes: AtomicUsize,
    records_max: usize,
    bytes_max: usize,
    somebody_waits: AtomicBool,
    closed: AtomicBool,
    ports: Vec<Arc<dyn ReceiptPort>>,
}

impl Room {
    pub(crate) fn new(records_max: usize, bytes_max: usize, ports: Vec<Arc<dyn ReceiptPort>>) -> Self {
        Self {
            records: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
            records_max,
            bytes_max,
            somebody_waits: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            ports,
        }
    }

    /// Whether there is room; if not, [`ReceiptPort::room`] will say when.
    pub(crate) fn ask(&self) -> bool {
        if self.is_free() {
            return true;
        }
        self.somebody_waits.store(true, Ordering::SeqCst);
        self.is_free()
    }

    /// Nothing will be stored any more: there is never room again.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_open(&self) -> bool {
        !self.closed.load(Ordering::SeqCst)
    }

    pub(crate) fn is_free(&self) -> bool {
        self.is_open()
            && self.records.load(Ordering::SeqCst) < self.records_max
            && self.bytes.load(Ordering::SeqCst) < self.bytes_max
    }

    /// Records and bytes above the bound.
    pub(crate) fn excess(&self) -> (usize, usize) {
        let records = self
            .records
            .load(Ordering::SeqCst)
            .saturating_sub(self.records_max);
        (
            records,
            self.bytes.load(Ordering::SeqCst).saturating_sub(self.bytes_max),
        )
    }

    /// As `release`, where nobody can be waiting.
    pub(crate) fn release_quietly(&self, records: usize, bytes: usize) {
        self.records.fetch_sub(records, Ordering::SeqCst);
        self.bytes.fetch_sub(bytes, Ordering::SeqCst);
    }

    pub(crate) fn take(&self, records: usize, bytes: usize) {
        self.records.fetch_add(records, Ordering::SeqCst);
        self.bytes.fetch_add(bytes, Ordering::SeqCst);
    }

    /// Takes back what ended, and tells those who wait. Not to be called under a lane's lock: it calls the ports.
    pub(crate) fn release(&self, records: usize, bytes: usize) {
        self.release_quietly(records, bytes);
        if self.is_free() && self.somebody_waits.swap(false, Ordering::SeqCst) {
            self.ports.iter().for_each(|port| port.room());
        }
    }
}
