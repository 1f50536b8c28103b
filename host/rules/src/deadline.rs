//! When a call has had its time. Knows the limit, not the clock: ticks and CPU time are arguments.
//!
//! Invariant: a call that loops is stopped at its limit on an idle machine, and a call that is only kept from running,
//! because the machine is busy, is never stopped before it had half its limit as CPU time. The wall clock alone would
//! blame a module for every preemption; asking for CPU time at every call would cost as much as the call.
//!
//! ```text
//!  call begins                 first look                      stopped
//!      |---- half, by the wall ----|---- half, by CPU time ----|
//! ```

use std::time::Duration;

use crate::ticker::ticks;

/// One call's time.
#[derive(Debug)]
pub(crate) struct Deadline {
    limit: Duration,
    /// CPU time of the thread at the first look.
    looked: Option<Duration>,
}

impl Deadline {
    pub(crate) const fn new(limit: Duration) -> Self {
        Self { limit, looked: None }
    }

    /// Ticks until the first look; from then on there is one every tick.
    pub(crate) fn first_look(limit: Duration) -> u64 {
        ticks(limit / 2)
    }

    /// A call begins.
    pub(crate) fn restart(&mut self, limit: Duration) {
        *self = Self::new(limit);
    }

    /// A look at a thread that has used `cpu_time` so far: is the call to be stopped?
    pub(crate) fn is_over(&mut self, cpu_time: Duration) -> bool {
        let looked = *self.looked.get_or_insert(cpu_time);
        cpu_time.saturating_sub(looked) >= self.limit - self.limit / 2
    }

    pub(crate) const fn limit(&self) -> Duration {
        self.limit
    }
}

/// CPU time that the calling thread has used.
pub(crate) fn thread_cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_loop_is_stopped_when_both_halves_are_used_up() {
        let mut deadline = Deadline::new(10 * MS);
        assert_eq!(Deadline::first_look(10 * MS), 6, "5 ms and the tick under way");
        assert!(!deadline.is_over(100 * MS));
        assert!(!deadline.is_over(104 * MS));
        assert!(deadline.is_over(105 * MS));
        deadline.restart(10 * MS);
        assert!(!deadline.is_over(105 * MS));
    }

    #[test]
    fn a_call_that_is_kept_from_running_is_not_stopped() {
        let mut deadline = Deadline::new(10 * MS);
        for _ in 0..1000 {
            assert!(!deadline.is_over(100 * MS));
        }
        assert!(!deadline.is_over(103 * MS));
    }

    #[test]
    fn this_threads_time_moves() {
        let start = thread_cpu_time();
        while thread_cpu_time() == start {
            std::hint::black_box((0..1000).sum::<u64>());
        }
        assert!(thread_cpu_time() > start);
    }
}
