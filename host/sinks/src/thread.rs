//! A lane's thread: one step after the other, asleep in between.
//!
//! Deliberately does not: decide anything; `lane.rs` does, with the time as an argument.

use std::io;
use std::sync::Arc;
use std::thread::Builder;

use crate::lane::{Lane, Next};
use crate::queue::LaneQueue;
use crate::{Clock, SinkState};

/// Starts the thread of `lane`. It ends by an order of the lane's queue.
pub(crate) fn spawn(mut lane: Lane, clock: Arc<dyn Clock>) -> io::Result<()> {
    let stopped = Stopped(lane.queue());
    Builder::new().name(lane.thread_name()).spawn(move || {
        loop {
            let now = clock.now();
            match lane.step(now) {
                Next::Again => {}
                Next::WaitUntil(until) => stopped.0.wait(until.saturating_sub(now)),
                Next::Exit => break,
            }
        }
    })?;
    Ok(())
}

/// However the thread ends, the sink shows it.
struct Stopped(Arc<LaneQueue>);

impl Drop for Stopped {
    fn drop(&mut self) {
        self.0.set_state(SinkState::Stopped);
    }
}
