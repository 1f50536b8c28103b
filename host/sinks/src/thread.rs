//! A lane's thread: one step after the other, asleep in between.
//!
//! Deliberately does not: decide anything; `lane.rs` does, with the time as an argument.

use std::io;
use std::sync::Arc;
use std::thread::Builder;

use crate::lane::{Lane, Next};
use crate::{Clock, SinkState};

/// Starts the thread of `lane`. It ends by an order of the lane's queue.
pub(crate) fn spawn(mut lane: Lane, clock: Arc<dyn Clock>) -> io::Result<()> {
    Builder::new().name(lane.thread_name()).spawn(move || {
        loop {
            let now = clock.now();
            match lane.step(now) {
                Next::Again => {}
                Next::WaitUntil(until) => lane.queue().wait(until.saturating_sub(now)),
                Next::Exit => break,
            }
        }
        lane.queue().set_state(SinkState::Stopped);
    })?;
    Ok(())
}
