//! What workers and the admin API hold of a sink.
//!
//! Invariant: handing over a batch costs one short lock per lane it touches, and with one lane no record is copied. Deliberately does not: block, except in [`SinkHandle::drain`].

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use crate::lane::Lane;
use crate::queue::{BatchBounds, Chunk, LaneQueue};
use crate::room::Room;
use crate::thread;
use crate::{
    Clock, Counts, Drained, DropPolicy, Record, SettingsError, SinkSettings, SinkSnapshot, SinkState, Wiring,
};

/// Why a sink does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// At least one setting makes no sense.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Settings(Vec<SettingsError>),
    /// The operating system refuses a thread.
    #[error("sink {sink}: cannot start the thread of lane {lane}")]
    Thread {
        /// Name of the sink.
        sink: String,
        /// Index of the lane.
        lane: usize,
        /// What the system said.
        source: std::io::Error,
    },
}

/// A running sink. Cheap to clone; when the last clone is dropped its lanes stop after the batch they are storing.
#[derive(Clone)]
pub struct SinkHandle(Arc<Running>);

struct Running {
    lanes: Vec<Arc<LaneQueue>>,
    room: Arc<Room>,
    clock: Arc<dyn Clock>,
    settings: SinkSettings,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.lanes
            .iter()
            .for_each(|lane| lane.order(|orders| orders.stopped = true));
    }
}

/// Starts the lanes of a sink. The outside system may be down: the lanes connect on their own threads.
pub fn start(settings: SinkSettings, wiring: &Wiring) -> Result<SinkHandle, StartError> {
    let problems = settings.validate();
    if !problems.is_empty() {
        return Err(StartError::Settings(problems));
    }
    let (handle, lanes) = assemble(settings, wiring);
    for (index, lane) in lanes.into_iter().enumerate() {
        thread::spawn(lane, Arc::clone(&wiring.clock)).map_err(|source| StartError::Thread {
            sink: handle.name().to_owned(),
            lane: index,
            source,
        })?;
    }
    Ok(handle)
}

/// A sink whose lanes nobody drives yet.
pub(crate) fn assemble(settings: SinkSettings, wiring: &Wiring) -> (SinkHandle, Vec<Lane>) {
    let bounds = BatchBounds {
        records: settings.batch_records_max,
        bytes: settings.batch_bytes_max,
        linger: settings.linger,
    };
    let room = Room::new(
        settings.queue_records_max,
        settings.queue_bytes_max,
        wiring.ports.clone(),
    );
    let room = Arc::new(room);
    let queues: Vec<_> = (0..settings.lanes)
        .map(|_| Arc::new(LaneQueue::new(bounds, Arc::clone(&room))))
        .collect();
    let lanes = queues.iter().enumerate();
    let lanes = lanes.map(|(index, queue)| Lane::new(index, &settings, wiring.clone(), Arc::clone(queue)));
    let lanes = lanes.collect();
    let clock = Arc::clone(&wiring.clock);
    (
        SinkHandle(Arc::new(Running {
            lanes: queues,
            room,
            clock,
            settings,
        })),
        lanes,
    )
}

impl SinkHandle {
    /// Name of the sink.
    pub fn name(&self) -> &str {
        &self.0.settings.name
    }

    /// The settings it runs with.
    pub fn settings(&self) -> &SinkSettings {
        &self.0.settings
    }

    /// Whether records may be submitted now; asked before a rule is run. After a no,
    /// [`crate::ReceiptPort::room`] is called on every port when there is room again.
    pub fn has_room(&self) -> bool {
        match self.0.settings.on_full {
            DropPolicy::Hold => self.0.room.ask(),
            DropPolicy::DropOldest | DropPolicy::DropNewest => self.0.room.is_open(),
        }
    }

    /// Queues `records`, in their order. Never fails: what was submitted after `has_room` said yes is taken even
    /// beyond the bound, so that the bound is exceeded by at most one tick's batch per worker.
    pub fn submit(&self, records: Vec<Record>) {
        let Running { lanes, clock, .. } = &*self.0;
        let at = clock.now();
        if let [lane] = lanes.as_slice() {
            return self.submit_to(lane, records, at);
        }
        let share = records.len() / lanes.len() + 4;
        let mut parts: Vec<Vec<Record>> = lanes.iter().map(|_| Vec::with_capacity(share)).collect();
        for record in records {
            let index = lane_of(&record, lanes.len());
            if let Some(part) = parts.get_mut(index) {
                part.push(record);
            }
        }
        for (lane, part) in lanes.iter().zip(parts) {
            self.submit_to(lane, part, at);
        }
    }

    /// The sink at this moment. The accounting identity holds.
    pub fn snapshot(&self) -> SinkSnapshot {
        let lanes = &self.0.lanes;
        let now = self.0.clock.now();
        SinkSnapshot {
            counts: lanes
                .iter()
                .fold(Counts::default(), |sum, lane| sum.plus(&lane.counts())),
            state: self.state(),
            oldest_pending: lanes
                .iter()
                .filter_map(|lane| lane.oldest())
                .min()
                .map(|at| now.saturating_sub(at)),
            last_error: lanes
                .iter()
                .filter_map(|lane| lane.last_error())
                .max_by_key(|error| error.at_ms),
        }
    }

    /// How the worst lane is doing.
    pub fn state(&self) -> SinkState {
        let states = self.0.lanes.iter().map(|lane| lane.state());
        states.reduce(SinkState::worse).unwrap_or_default()
    }

    /// Nothing more is offered to the outside system, after the batches now being stored. Records keep queueing.
    pub fn pause(&self) {
        self.0
            .lanes
            .iter()
            .for_each(|lane| lane.order(|orders| orders.paused = true));
    }

    /// Ends a pause and every wait between attempts: all lanes try now.
    pub fn resume(&self) {
        for lane in &self.0.lanes {
            lane.order(|orders| {
                orders.paused = false;
                orders.hurry = true;
            });
        }
    }

    /// Stores what is queued, then stops; `within` bounds the whole. What is left then is reported and never
    /// acknowledged. Call it when no worker submits any more, and on the dead letters after every other sink.
    /// Blocks the caller.
    pub fn drain(&self, within: Duration) -> Drained {
        let Running { lanes, clock, .. } = &*self.0;
        let end = clock.now() + within;
        self.0.room.close();
        for lane in lanes {
            lane.order(|orders| {
                orders.draining = true;
                orders.hurry = true;
            });
        }
        for lane in lanes {
            lane.wait_settled(end.saturating_sub(clock.now()));
        }
        let state = self.state();
        lanes
            .iter()
            .for_each(|lane| lane.order(|orders| orders.stopped = true));
        Drained {
            left: self.snapshot().counts.pending,
            state,
        }
    }

    fn submit_to(&self, lane: &LaneQueue, records: Vec<Record>, at: Duration) {
        if records.is_empty() {
            return;
        }
        if self.0.settings.on_full == DropPolicy::DropNewest && !self.0.room.is_free() {
            return lane.drop_newest(records.len());
        }
        let bytes = records.iter().map(Record::cost).sum();
        lane.push(Chunk { records, bytes, at });
        if self.0.settings.on_full == DropPolicy::DropOldest {
            self.drop_oldest();
        }
    }

    /// Makes room at the cost of the lane with the oldest queued record; batches being offered are out of reach.
    fn drop_oldest(&self) {
        while self.0.room.excess() != (0, 0) {
            let lanes = self
                .0
                .lanes
                .iter()
                .filter_map(|lane| Some((lane.oldest_queued()?, lane)));
            let Some((_, lane)) = lanes.min_by_key(|(at, _)| *at) else {
                break;
            };
            lane.drop_oldest();
        }
    }
}

/// Records of one key share a lane: the key, or the client, or for messages of the broker's own the topic.
fn lane_of(record: &Record, lanes: usize) -> usize {
    let key = match (&record.key, &record.client_id) {
        (Some(key), _) => key.as_ref(),
        (None, Some(client)) => client.as_str().as_bytes(),
        (None, None) => record.topic.as_str().as_bytes(),
    };
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    usize::try_from(hasher.finish() % lanes as u64).unwrap_or(0)
}
