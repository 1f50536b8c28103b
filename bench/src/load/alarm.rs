//! Wakes a poll at an instant, to the microsecond: epoll's own timeout counts milliseconds.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};

use crate::clock;

/// A one-shot timer of the monotonic clock.
#[derive(Debug)]
pub struct Alarm {
    timer: OwnedFd,
    armed: Option<u64>,
}

impl Alarm {
    /// A timer that makes `token` readable. It is registered edge-triggered and never read.
    pub fn new(registry: &Registry, token: Token) -> io::Result<Self> {
        let timer = timerfd_create(
            TimerfdClockId::Monotonic,
            TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC,
        )?;
        registry.register(&mut SourceFd(&timer.as_raw_fd()), token, Interest::READABLE)?;
        Ok(Self { timer, armed: None })
    }

    /// Fires at `instant`, at once when that is past. Costs nothing when it is set so already.
    pub fn set(&mut self, instant: u64) -> io::Result<()> {
        if self.armed == Some(instant) {
            return Ok(());
        }
        let setting = Itimerspec {
            it_interval: Timespec {
                tv_sec: 0,
                tv_nsec: 0,
            },
            // Zero would disarm it.
            it_value: clock::timespec(instant.max(1)),
        };
        timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &setting)?;
        self.armed = Some(instant);
        Ok(())
    }

    /// To be told when its token was readable.
    pub fn fired(&mut self) {
        self.armed = None;
    }
}
