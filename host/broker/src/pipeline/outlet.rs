//! A worker's end of a sink: records collect during a tick and leave in one hand-over.

use tidegate_sinks::{Gate, Record, RecordId, SinkHandle};

/// One sink as one worker sees it.
pub struct Outlet {
    sink: SinkHandle,
    records: Vec<Record>,
}

impl Outlet {
    /// The end of `sink` for one worker.
    pub fn new(sink: SinkHandle) -> Self {
        Self {
            sink,
            records: Vec::new(),
        }
    }

    /// Whether the sink takes more. After a no, the sink sends [`crate::worker::Letter::Room`].
    pub fn has_room(&self) -> bool {
        self.sink.has_room()
    }

    /// The sink's own gate.
    pub fn gate(&self) -> Gate {
        self.sink.settings().gate
    }

    /// Adds a record of this tick.
    pub fn push(&mut self, record: Record) {
        self.records.push(record);
    }

    /// Hands the tick's records over.
    pub fn flush(&mut self) {
        if !self.records.is_empty() {
            self.sink.submit(std::mem::take(&mut self.records));
        }
    }
}

/// Gives out record ids: unique per life of the data directory, rising per worker.
#[derive(Debug)]
pub struct RecordIds {
    epoch: u64,
    next: u64,
}

/// Bits of a sequence that are the worker's own count; the worker's number stands above them.
const COUNT_BITS: u32 = 48;

impl RecordIds {
    /// Ids of `worker` in the life `epoch` of the process.
    pub fn new(epoch: u64, worker: u16) -> Self {
        Self {
            epoch,
            next: u64::from(worker) << COUNT_BITS,
        }
    }

    /// A sequence for one more message.
    pub fn next_sequence(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// The id of that message's record number `index`.
    pub fn id(&self, sequence: u64, index: u32) -> RecordId {
        RecordId {
            epoch: self.epoch,
            sequence,
            index,
        }
    }
}
