//! What a lane and the workers share: the queued records, the accounting and the orders, under one short lock.
//!
//! ```text
//! workers --submit(Vec)--> [chunk][chunk][chunk] --fetch--> lane --settle--> counts, receipts
//! ```
//! Invariant: whoever takes the lock leaves counts that balance. A batch changes hands as a `Vec`: nothing is done
//! per record under the lock, except dropping. Deliberately does not: know the sink or retry.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::room::Room;
use crate::{Counts, LastError, Pause, Record, SinkState};

/// Records that were submitted together.
pub(crate) struct Chunk {
    pub(crate) records: Vec<Record>,
    pub(crate) bytes: usize,
    pub(crate) at: Duration,
}

/// When a submit should wake the lane.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wake {
    Any,
    Full,
    Never,
}

/// What the shell asks of a lane.
#[derive(Clone, Copy, Default)]
pub(crate) struct Orders {
    pub(crate) paused: bool,
    pub(crate) draining: bool,
    pub(crate) stopped: bool,
    /// Try now, whatever the back-off says; true once per order.
    pub(crate) hurry: bool,
}

/// Bounds of a batch.
#[derive(Clone, Copy)]
pub(crate) struct BatchBounds {
    pub(crate) records: usize,
    pub(crate) bytes: usize,
    pub(crate) linger: Duration,
}

/// Answer to a lane that asks for work.
pub(crate) enum Fetched {
    Chunks(Vec<Chunk>),
    /// Something is queued, but the batch may grow until then.
    Linger(Duration),
    Nothing,
}

struct Shared {
    chunks: VecDeque<Chunk>,
    queued_records: usize,
    queued_bytes: usize,
    counts: Counts,
    state: SinkState,
    last_error: Option<LastError>,
    held_since: Option<Duration>,
    orders: Orders,
    wake: Wake,
    kicked: bool,
}

/// One lane's queue.
pub(crate) struct LaneQueue {
    shared: Mutex<Shared>,
    work: Condvar,
    settled: Condvar,
    bounds: BatchBounds,
    room: Arc<Room>,
}

impl fmt::Debug for LaneQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LaneQueue")
            .field("counts", &self.lock().counts)
            .finish_non_exhaustive()
    }
}

/// The workers' side.
impl LaneQueue {
    pub(crate) fn new(bounds: BatchBounds, room: Arc<Room>) -> Self {
        let shared = Shared {
            chunks: VecDeque::new(),
            queued_records: 0,
            queued_bytes: 0,
            counts: Counts::default(),
            state: SinkState::Running,
            last_error: None,
            held_since: None,
            orders: Orders::default(),
            wake: Wake::Any,
            kicked: false,
        };
        Self {
            shared: Mutex::new(shared),
            work: Condvar::new(),
            settled: Condvar::new(),
            bounds,
            room,
        }
    }

    /// Queues `chunk`.
    pub(crate) fn push(&self, chunk: Chunk) {
        let (records, bytes) = (chunk.records.len(), chunk.bytes);
        self.room.take(records, bytes);
        let mut shared = self.lock();
        shared.counts.accepted += records as u64;
        shared.counts.pending += records as u64;
        shared.counts.pending_bytes += bytes as u64;
        shared.queued_records += records;
        shared.queued_bytes += bytes;
        shared.chunks.push_back(chunk);
        let full = shared.queued_records >= self.bounds.records || shared.queued_bytes >= self.bounds.bytes;
        if shared.wake == Wake::Any || (shared.wake == Wake::Full && full) {
            self.kick(shared);
        }
    }

    /// Accounts records that find no room.
    pub(crate) fn drop_newest(&self, records: usize) {
        let mut shared = self.lock();
        shared.counts.accepted += records as u64;
        shared.counts.dropped += records as u64;
    }

    /// When the oldest record that can still be dropped was submitted.
    pub(crate) fn oldest_queued(&self) -> Option<Duration> {
        self.lock().chunks.front().map(|chunk| chunk.at)
    }

    /// Drops the oldest queued records until the sink is within its bounds or nothing is left in this queue.
    pub(crate) fn drop_oldest(&self) {
        let mut dropped = Vec::new();
        let mut shared = self.lock();
        // Under the lock from here to the release, or two workers would make the same room twice.
        let (mut records, mut bytes) = self.room.excess();
        while records > 0 || bytes > 0 {
            let Some(chunk) = shared.chunks.front_mut() else {
                break;
            };
            let (count, size) = oldest(chunk, records, bytes);
            dropped.extend(chunk.records.drain(..count));
            chunk.bytes -= size;
            if chunk.records.is_empty() {
                shared.chunks.pop_front();
            }
            shared.queued_records -= count;
            shared.queued_bytes -= size;
            shared.counts.pending_bytes -= size as u64;
            records = records.saturating_sub(count);
            bytes = bytes.saturating_sub(size);
        }
        shared.counts.pending -= dropped.len() as u64;
        shared.counts.dropped += dropped.len() as u64;
        self.room
            .release_quietly(dropped.len(), dropped.iter().map(Record::cost).sum());
        drop(shared);
    }

    /// Changes the orders and wakes the lane.
    pub(crate) fn order(&self, change: impl FnOnce(&mut Orders)) {
        let mut shared = self.lock();
        change(&mut shared.orders);
        self.kick(shared);
        self.settled.notify_all();
    }

    /// Waits until nothing is pending; false if `within` is over first, or at once if the lane is paused on request.
    pub(crate) fn wait_settled(&self, within: Duration) -> bool {
        let waiting = |shared: &mut Shared| shared.counts.pending > 0 && !shared.orders.paused;
        let (shared, _) = self
            .settled
            .wait_timeout_while(self.lock(), within, waiting)
            .unwrap_or_else(PoisonError::into_inner);
        shared.counts.pending == 0
    }

    pub(crate) fn counts(&self) -> Counts {
        self.lock().counts
    }

    pub(crate) fn state(&self) -> SinkState {
        let shared = self.lock();
        match shared.orders.paused && shared.state != SinkState::Stopped {
            true => SinkState::Paused(Pause::Requested),
            false => shared.state.clone(),
        }
    }

    pub(crate) fn last_error(&self) -> Option<LastError> {
        self.lock().last_error.clone()
    }

    /// When the oldest record that is queued or being offered was submitted.
    pub(crate) fn oldest(&self) -> Option<Duration> {
        let shared = self.lock();
        shared
            .held_since
            .or_else(|| shared.chunks.front().map(|chunk| chunk.at))
    }
}

/// The lane's side.
impl LaneQueue {
    pub(crate) fn orders(&self) -> Orders {
        let mut shared = self.lock();
        let orders = shared.orders;
        shared.orders.hurry = false;
        orders
    }

    /// Chunks for about one batch; the last may reach beyond it. `held` says that the lane still holds records
    /// of an earlier fetch and since when.
    pub(crate) fn fetch(&self, now: Duration, held: Option<Duration>) -> Fetched {
        let mut shared = self.lock();
        shared.held_since = held;
        let Some(first) = shared.chunks.front().map(|chunk| chunk.at) else {
            shared.wake = Wake::Any;
            return Fetched::Nothing;
        };
        let full = shared.queued_records >= self.bounds.records || shared.queued_bytes >= self.bounds.bytes;
        if !full && held.is_none() && !shared.orders.draining && now < first + self.bounds.linger {
            shared.wake = Wake::Full;
            return Fetched::Linger(first + self.bounds.linger);
        }
        shared.held_since = held.or(Some(first));
        let (mut records, mut bytes) = (0, 0);
        let mut chunks = Vec::new();
        while records < self.bounds.records && bytes < self.bounds.bytes {
            let Some(chunk) = shared.chunks.pop_front() else {
                break;
            };
            records += chunk.records.len();
            bytes += chunk.bytes;
            chunks.push(chunk);
        }
        shared.queued_records -= records;
        shared.queued_bytes -= bytes;
        shared.wake = Wake::Never;
        Fetched::Chunks(chunks)
    }

    /// Sleeps until there is something to do or `timeout` is over.
    pub(crate) fn wait(&self, timeout: Duration) {
        let mut shared = self
            .work
            .wait_timeout_while(self.lock(), timeout, |shared| !shared.kicked)
            .unwrap_or_else(PoisonError::into_inner)
            .0;
        shared.kicked = false;
    }

    /// No submit wakes the lane until its next fetch: it is waiting for the outside system.
    pub(crate) fn wake_never(&self) {
        self.lock().wake = Wake::Never;
    }

    /// Accounts `records` that the lane has done with; `end` adds them where they went.
    pub(crate) fn settle(&self, records: usize, bytes: usize, end: impl FnOnce(&mut Counts)) {
        let mut shared = self.lock();
        shared.counts.pending -= records as u64;
        shared.counts.pending_bytes -= bytes as u64;
        end(&mut shared.counts);
        self.announce(shared);
        self.room.release(records, bytes);
    }

    /// The lane hands a record to the dead letters, where its bytes count from now on. It stays pending here.
    pub(crate) fn hand_over(&self, bytes: usize) {
        self.lock().counts.pending_bytes -= bytes as u64;
        self.room.release(1, bytes);
    }

    /// The dead letters hold a record of this lane.
    pub(crate) fn dead_lettered(&self) {
        let mut shared = self.lock();
        shared.counts.pending -= 1;
        shared.counts.dead_lettered += 1;
        self.announce(shared);
    }

    /// Accounts a failed attempt and shows it.
    pub(crate) fn failed(&self, state: SinkState, error: LastError) {
        let mut shared = self.lock();
        shared.counts.retries += 1;
        shared.last_error = Some(error);
        shared.state = state;
    }

    pub(crate) fn set_state(&self, state: SinkState) {
        let mut shared = self.lock();
        if shared.state != state {
            shared.state = state;
        }
    }

    fn announce(&self, shared: MutexGuard<'_, Shared>) {
        if shared.counts.pending == 0 {
            drop(shared);
            self.settled.notify_all();
        }
    }

    fn kick(&self, mut shared: MutexGuard<'_, Shared>) {
        if !shared.kicked {
            shared.kicked = true;
            drop(shared);
            self.work.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many of the chunk's first records, and their bytes, cover an excess.
fn oldest(chunk: &Chunk, records: usize, bytes: usize) -> (usize, usize) {
    let (mut count, mut size) = (0, 0);
    for record in &chunk.records {
        if count >= records && size >= bytes {
            break;
        }
        count += 1;
        size += record.cost();
    }
    (count, size)
}
