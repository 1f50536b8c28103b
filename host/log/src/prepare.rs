//! Segments prepared ahead: created, reserved on the disk and durable by name before a frame needs them.
//!
//! Invariant: room is promised to appends only for segments that are here. A disk without room shows here first, as a
//! value, and stops showing once a segment can be prepared again.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use crate::core::{Core, lock};
use crate::segment::{Header, Segment, name};
use crate::step::Step;

/// Prepared segments, in the order of their numbers.
pub(crate) struct Spares {
    pub ready: VecDeque<Segment>,
    /// Number of the next segment to be prepared.
    pub next_number: u64,
    /// Segments that a cleaned one stands for, whose files are still to be removed.
    pub replaced: Vec<u64>,
}

impl Core {
    /// Prepares segments until enough are ready. True if one was. Called by one thread at a time.
    pub(crate) fn prepare(&self) -> bool {
        let mut prepared = false;
        loop {
            {
                let mut staging = lock(&self.staging);
                if staging.spares >= self.options.spare_segments.max(1) {
                    staging.no_room = None;
                    return prepared;
                }
                if staging.poisoned.is_some() {
                    return prepared;
                }
            }
            // Nobody else gives numbers, and a commit must not wait for the disk here.
            let number = lock(&self.spares).next_number;
            match self.prepare_one(number) {
                Ok(segment) => {
                    {
                        let mut spares = lock(&self.spares);
                        spares.ready.push_back(segment);
                        spares.next_number = number + 1;
                    }
                    let mut staging = lock(&self.staging);
                    staging.spares += 1;
                    staging.no_room = None;
                    prepared = true;
                }
                Err(error) => {
                    lock(&self.staging).no_room = Some(Arc::from(error.to_string()));
                    return prepared;
                }
            }
        }
    }

    fn prepare_one(&self, number: u64) -> io::Result<Segment> {
        let after = lock(&self.staging).next - 1;
        let header = Header {
            number,
            seed: self.checksum.seed,
            epoch: self.epoch,
            after,
            begun: false,
            cleaned: None,
        };
        let name = name(number);
        let file = self.disk.create(&name, self.options.segment_bytes)?;
        // The fsync of its first frames covers the header too; the name has to be there by then.
        let mut written = file.write_at(0, &header.encode());
        if written.is_ok() && !self.omitted.omits(Step::SyncPreparedName) {
            written = self.disk.sync_names();
        }
        if let Err(error) = written {
            // It holds nothing yet: a file left behind is dropped by the next recovery.
            let _ = self.disk.remove(&name);
            return Err(error);
        }
        Ok(Segment::new(&header, file, self.options.segment_bytes))
    }
}
