//! Puts the threads' reports together, interval by interval.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use crate::clock::{self, MILLISECOND};
use crate::load::outcome::{Percentiles, Second};
use crate::load::phase::{Phase, Report};
use crate::load::plan::LoadPlan;
use crate::load::tally::Tally;
use crate::measure::{ProcessUse, Watch};

use super::LoadError;

/// A thread that does not report for this long has ended.
const SILENCE_MAX: Duration = Duration::from_secs(30);

/// What was reported so far.
pub struct Collector<'a> {
    reports: Receiver<Report>,
    threads: usize,
    broker: Option<&'a Watch>,
    began: u64,
    interval: u64,
    current: Current,
    /// Everything since the run began.
    pub run_total: Tally,
    /// Everything since it was last taken.
    pub window_total: Tally,
    /// Processor time of the generator so far, in nanoseconds.
    pub generator_cpu: u64,
    /// Every interval so far.
    pub seconds: Vec<Second>,
    // The latest of each round of reports, one a thread.
    round: Round,
    is_publishing: bool,
    expected: u64,
}

/// The interval that is being collected.
struct Current {
    tally: Tally,
    cpu: u64,
    since: u64,
    broker: Option<ProcessUse>,
}

/// One report of every thread.
struct Round {
    phase: Phase,
    reports: usize,
    is_settled: bool,
    is_quiet: bool,
    expected: u64,
    at: u64,
}

impl Round {
    fn of(phase: Phase) -> Self {
        Self {
            phase,
            reports: 0,
            is_settled: true,
            is_quiet: true,
            expected: 0,
            at: 0,
        }
    }
}

impl<'a> Collector<'a> {
    /// Begins the first interval.
    pub fn new(
        reports: Receiver<Report>,
        plan: &LoadPlan,
        broker: Option<&'a Watch>,
    ) -> Result<Self, LoadError> {
        let began = clock::now();
        Ok(Self {
            reports,
            threads: plan.threads,
            broker,
            began,
            interval: u64::try_from(plan.interval.as_nanos()).unwrap_or(u64::MAX),
            current: Current {
                tally: Tally::default(),
                cpu: 0,
                since: began,
                broker: broker.map(Watch::read).transpose()?,
            },
            run_total: Tally::default(),
            window_total: Tally::default(),
            generator_cpu: 0,
            seconds: Vec::new(),
            round: Round::of(Phase::Connect),
            is_publishing: false,
            expected: 0,
        })
    }

    /// The broker's process now.
    pub fn read_broker(&self) -> Result<Option<ProcessUse>, LoadError> {
        Ok(self.broker.map(Watch::read).transpose()?)
    }

    /// Deliveries that everything sent should cause.
    pub fn expected(&self) -> u64 {
        self.expected
    }

    /// Collects until every client is ready or gone, or none got through for `stall`.
    pub fn until_settled(
        &mut self,
        stall: Duration,
        observe: &mut dyn FnMut(&Second),
    ) -> Result<(), LoadError> {
        self.until_still(stall, observe, |collector, round| {
            let counters = &collector.run_total.counters;
            (round.is_settled, counters.ready + counters.failed)
        })
    }

    /// Collects for so long, at least.
    pub fn for_duration(
        &mut self,
        time: Duration,
        observe: &mut dyn FnMut(&Second),
    ) -> Result<(), LoadError> {
        let until = clock::now() + u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        while clock::now() < until {
            self.next_round(Phase::Connect, observe)?;
        }
        Ok(())
    }

    /// Ends the last interval of a run that publishes nothing.
    pub fn finish(&mut self, observe: &mut dyn FnMut(&Second)) -> Result<(), LoadError> {
        self.emit(Phase::Connect, clock::now(), observe)
    }

    /// Collects the intervals of publishing up to `time` after `start`.
    pub fn publish(
        &mut self,
        start: u64,
        time: Duration,
        observe: &mut dyn FnMut(&Second),
    ) -> Result<(), LoadError> {
        if !self.is_publishing {
            self.is_publishing = true;
            self.emit(Phase::Connect, start, observe)?;
            self.current.since = start;
        }
        let intervals = u64::try_from(time.as_nanos())
            .unwrap_or(u64::MAX)
            .div_ceil(self.interval);
        while self.current.since < start + intervals * self.interval {
            let round = self.next_round(Phase::Publish, observe)?;
            self.emit(Phase::Publish, round.at, observe)?;
        }
        Ok(())
    }

    /// Collects until everything that was sent has arrived, or nothing moved for `stall`.
    pub fn until_drained(
        &mut self,
        stall: Duration,
        observe: &mut dyn FnMut(&Second),
    ) -> Result<(), LoadError> {
        self.until_still(stall, observe, |collector, round| {
            let counters = &collector.run_total.counters;
            let arrived = counters.delivered - counters.duplicated - counters.foreign;
            let is_over = round.is_quiet && arrived >= round.expected;
            (is_over, counters.acknowledged + counters.delivered)
        })?;
        self.emit(Phase::Drain, clock::now(), observe)
    }

    fn until_still(
        &mut self,
        stall: Duration,
        observe: &mut dyn FnMut(&Second),
        look: impl Fn(&Self, &Round) -> (bool, u64),
    ) -> Result<(), LoadError> {
        let phase = if self.is_publishing {
            Phase::Drain
        } else {
            Phase::Connect
        };
        let (mut moved_at, mut last) = (clock::now(), 0);
        loop {
            let round = self.next_round(phase, observe)?;
            let (is_over, moved) = look(self, &round);
            if moved != last {
                (moved_at, last) = (clock::now(), moved);
            }
            let still = Duration::from_nanos(clock::now() - moved_at);
            if is_over || still > stall {
                return Ok(());
            }
        }
    }

    /// Waits for a report of every thread about `phase`; those about an earlier phase are counted on the way.
    fn next_round(&mut self, phase: Phase, observe: &mut dyn FnMut(&Second)) -> Result<Round, LoadError> {
        if self.round.phase != phase {
            self.round = Round::of(phase);
        }
        loop {
            let mut report = match self.reports.recv_timeout(SILENCE_MAX) {
                Ok(report) => report,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    return Err(LoadError::ThreadEnded);
                }
            };
            self.count(&mut report);
            if report.phase != phase {
                continue;
            }
            let round = &mut self.round;
            round.is_settled &= report.is_settled;
            round.is_quiet &= report.is_quiet;
            round.expected += report.expected;
            round.at = round.at.max(report.at);
            round.reports += 1;
            if round.reports >= self.threads {
                let round = std::mem::replace(&mut self.round, Round::of(phase));
                self.expected = round.expected;
                if phase != Phase::Publish
                    && round.at.saturating_sub(self.current.since) + MILLISECOND >= self.interval
                {
                    self.emit(phase, round.at, observe)?;
                }
                return Ok(round);
            }
        }
    }

    fn count(&mut self, report: &mut Report) {
        self.current.cpu += report.cpu;
        self.generator_cpu += report.cpu;
        self.current.tally.merge(&mut report.tally);
        self.run_total.merge(&mut report.tally);
        self.window_total.merge(&mut report.tally);
    }

    fn emit(&mut self, phase: Phase, at: u64, observe: &mut dyn FnMut(&Second)) -> Result<(), LoadError> {
        let broker = self.read_broker()?;
        let mut tally = std::mem::take(&mut self.current.tally);
        let elapsed = at.saturating_sub(self.current.since).max(1) as f64;
        let second = Second {
            phase,
            elapsed: at.saturating_sub(self.began) as f64 / 1e9,
            seconds: elapsed / 1e9,
            counters: tally.counters,
            connect_us: Percentiles::of(&mut tally.connect),
            acknowledge_us: Percentiles::of(&mut tally.acknowledge),
            deliver_us: Percentiles::of(&mut tally.deliver),
            generator_cores: self.current.cpu as f64 / elapsed,
            broker_cores: broker
                .zip(self.current.broker)
                .map(|(now, before)| now.cores_since(&before)),
            broker,
        };
        observe(&second);
        self.seconds.push(second);
        self.current = Current {
            tally,
            cpu: 0,
            since: at,
            broker,
        };
        self.current.tally = Tally::default();
        Ok(())
    }
}
