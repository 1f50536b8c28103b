//! A lane's thread: one step after the other, asleep in between.
//!
//! Deliberately does not: decide anything; `lane.rs` does, with the time as an argument.

use std::io;
use std::sync::Arc;
use std::thread::Builder;

use crate::lane::{Lane, Next};
use crate::queue::LaneQueue;
use crate::{SinkSettings, SinkState, Wiring};

/// Starts the thread of lane `index`. It ends by an order of the queue.
pub(crate) fn spawn(
    index: usize,
    settings: &SinkSettings,
    wiring: Wiring,
    queue: Arc<LaneQueue>,
) -> io::Result<()> {
    let clock = Arc::clone(&wiring.clock);
    let settings = settings.clone();
    // Linux cuts a thread's name at 15 bytes: the lane stands first so that it is never cut.
    let thread = Builder::new().name(format!("sink{index}-{}", settings.name));
    thread.spawn(move || {
        let mut lane = Lane::new(index, settings, wiring, Arc::clone(&queue));
        loop {
            let now = clock.now();
            match lane.step(now) {
                Next::Again => {}
                Next::WaitUntil(until) => queue.wait(until.saturating_sub(now)),
                Next::Exit => break,
            }
        }
        queue.set_state(SinkState::Stopped);
    })?;
    Ok(())
}
