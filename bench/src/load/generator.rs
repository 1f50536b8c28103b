//! One thread of the load: a mio loop over its share of the clients.
//!
//! ```text
//!   poll -> ready sockets: one read, all packets, one write -> connect who is due -> publish what is due -> poll
//! ```
//! Invariant: a client is in the poll exactly while it has a link. Sockets are edge-triggered and read again without
//! an event only after a read that filled the buffer. Deliberately knows nothing of other threads or of the broker's
//! process: the controller puts those together.

mod ramp;
mod traffic;

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError};
use std::time::Duration;

use mio::{Events, Poll, Token, Waker};

use super::alarm::Alarm;
use super::client::{Client, Role, Stage};
use super::pace::Schedule;
use super::phase::{Command, Finished, Phase, Report};
use super::plan::{LoadPlan, Pace};
use super::tally::Tally;
use crate::clock::{self, MILLISECOND, SECOND};
use crate::wire::setup;

const ALARM: Token = Token(usize::MAX);
const WAKER: Token = Token(usize::MAX - 1);
/// One read takes at most this much: enough for a window of every client's acknowledgements many times over.
const READ_BYTES: usize = 256 * 1024;
/// Between reports while the controller waits for something to finish.
const REPORT_OFTEN: u64 = 50 * MILLISECOND;
/// How long servers get to close after DISCONNECT before sockets are dropped.
const CLOSE_MAX: u64 = SECOND;

/// A thread's state.
pub struct Generator {
    plan: Arc<LoadPlan>,
    poll: Poll,
    alarm: Alarm,
    commands: Receiver<Command>,
    reports: SyncSender<Report>,
    clients: Vec<Client>,
    /// Place of the first publisher: subscribers come before.
    publishers_from: usize,
    phase: Phase,
    tally: Tally,
    schedule: Schedule,
    /// Clients that connect next, and when the first of all was due.
    next_client: usize,
    ramp_start: u64,
    unanswered: usize,
    /// Clients that may write without waiting for anything.
    writers: Vec<usize>,
    /// Clients whose last read filled the buffer.
    again: Vec<usize>,
    buffer: Vec<u8>,
    out: Vec<u8>,
    reported_cpu: u64,
    reported_sent: u64,
    next_report: u64,
    next_sweep: u64,
    swept: usize,
    close_by: u64,
}

/// How a thread is reached.
pub struct Wiring {
    /// What it is told.
    pub commands: Receiver<Command>,
    /// Where it reports. Full means the controller is behind: the thread counts on and reports later.
    pub reports: SyncSender<Report>,
}

impl Generator {
    /// A thread's state, and what wakes it after a command.
    pub fn new(plan: Arc<LoadPlan>, clients: Vec<Client>, wiring: Wiring) -> io::Result<(Self, Waker)> {
        let poll = Poll::new()?;
        let alarm = Alarm::new(poll.registry(), ALARM)?;
        let waker = Waker::new(poll.registry(), WAKER)?;
        let is_publisher = |client: &Client| matches!(client.seat.role, Role::Publisher(_));
        let publishers_from = clients.iter().position(is_publisher).unwrap_or(clients.len());
        let interval = match plan.publish.pace {
            Pace::Saturated => 0,
            Pace::Every(interval) => u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX),
        };
        let now = clock::now();
        let schedule = Schedule {
            start: 0,
            interval,
            publishers: plan.publish.clients,
            own: u32::try_from(clients.len() - publishers_from).unwrap_or(u32::MAX),
            served: 0,
        };
        let generator = Self {
            plan,
            poll,
            alarm,
            commands: wiring.commands,
            reports: wiring.reports,
            clients,
            publishers_from,
            phase: Phase::Connect,
            tally: Tally::default(),
            schedule,
            next_client: 0,
            ramp_start: now,
            unanswered: 0,
            writers: Vec::new(),
            again: Vec::new(),
            buffer: vec![0; READ_BYTES],
            out: Vec::with_capacity(READ_BYTES),
            reported_cpu: 0,
            reported_sent: 0,
            next_report: now + REPORT_OFTEN,
            next_sweep: now + SECOND,
            swept: 0,
            close_by: u64::MAX,
        };
        Ok((generator, waker))
    }

    /// Runs until told to close.
    pub fn run(mut self) -> io::Result<Finished> {
        let mut events = Events::with_capacity(1024);
        while !self.is_closed() {
            let timeout = self.sleep()?;
            match self.poll.poll(&mut events, timeout) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
            for at in std::mem::take(&mut self.again) {
                self.read(at);
            }
            for event in &events {
                match event.token() {
                    ALARM => self.alarm.fired(),
                    WAKER => {}
                    Token(at) => self.on_event(at, event),
                }
            }
            self.obey();
            self.turn(clock::now());
        }
        for client in &self.clients {
            client.link.iter().for_each(|link| link.close_at_once());
        }
        Ok(Finished {
            clients: self.clients,
            tally: self.tally,
        })
    }

    /// Arms the alarm for whatever comes next; zero when there is work already.
    fn sleep(&mut self) -> io::Result<Option<Duration>> {
        if !self.writers.is_empty() || !self.again.is_empty() {
            return Ok(Some(Duration::ZERO));
        }
        let mut next = self.next_report.min(self.close_by).min(self.next_sweep);
        next = next.min(self.next_connect().unwrap_or(u64::MAX));
        next = next.min(self.next_publish().unwrap_or(u64::MAX));
        self.alarm.set(next)?;
        Ok(None)
    }

    fn turn(&mut self, now: u64) {
        match self.phase {
            Phase::Connect => self.connect_due(now),
            Phase::Publish => self.publish_due(now),
            Phase::Drain | Phase::Close => {}
        }
        if now >= self.next_sweep {
            self.keep_alive(now);
        }
        if now >= self.next_report {
            self.report(now);
        }
    }

    fn on_event(&mut self, at: usize, event: &mio::event::Event) {
        if event.is_writable() {
            self.on_writable(at);
        }
        if event.is_readable() || event.is_read_closed() || event.is_error() {
            self.read(at);
        }
        // The end of the stream may stand behind a short read, and gives no further event.
        if event.is_read_closed() && self.clients.get(at).is_some_and(|client| client.link.is_some()) {
            self.again.push(at);
        }
    }

    fn obey(&mut self) {
        loop {
            let command = match self.commands.try_recv() {
                Ok(command) => command,
                // The controller has given up.
                Err(TryRecvError::Disconnected) if self.phase != Phase::Close => Command::Close,
                Err(_) => return,
            };
            let now = clock::now();
            // What was counted before belongs to the phase that ends here.
            self.report(now);
            match command {
                Command::Publish { start } => {
                    self.give_up_connecting();
                    self.phase = Phase::Publish;
                    self.schedule.start = start;
                    self.next_report = start + self.interval();
                    self.start_publishing();
                }
                Command::Drain => {
                    self.phase = Phase::Drain;
                    self.writers.clear();
                    self.next_report = now + REPORT_OFTEN;
                    self.drain();
                }
                Command::Close => {
                    self.phase = Phase::Close;
                    self.close_by = now + CLOSE_MAX;
                    self.say_goodbye();
                }
            }
        }
    }

    fn report(&mut self, now: u64) {
        let cpu = clock::thread_cpu();
        let (sent, expected) = self.sent_and_expected();
        self.tally.counters.sent += sent - self.reported_sent;
        self.reported_sent = sent;
        let report = Report {
            phase: self.phase,
            at: now,
            tally: std::mem::take(&mut self.tally),
            cpu: cpu - self.reported_cpu,
            is_settled: self.unanswered == 0 && self.next_client == self.clients.len(),
            is_quiet: self
                .publishers()
                .all(|publisher| publisher.is_quiet() && !publisher.is_behind()),
            expected,
        };
        match self.reports.try_send(report) {
            Ok(()) | Err(TrySendError::Disconnected(_)) => self.reported_cpu = cpu,
            Err(TrySendError::Full(mut report)) => self.tally.merge(&mut report.tally),
        }
        let step = match self.phase {
            Phase::Publish => self.interval(),
            _ => REPORT_OFTEN,
        };
        while self.next_report <= now {
            self.next_report += step;
        }
    }

    fn interval(&self) -> u64 {
        u64::try_from(self.plan.interval.as_nanos()).unwrap_or(u64::MAX)
    }

    /// Publishers that can still get answers.
    fn publishers(&self) -> impl Iterator<Item = &super::publisher::Publisher> {
        let ready = |client: &&Client| client.seat.stage == Stage::Ready;
        self.clients
            .iter()
            .filter(ready)
            .filter_map(|client| match &client.seat.role {
                Role::Publisher(publisher) => Some(publisher),
                Role::Subscriber(_) => None,
            })
    }

    /// Messages sent so far, and the deliveries they should cause.
    fn sent_and_expected(&self) -> (u64, u64) {
        let mut sums = (0, 0);
        for client in &self.clients {
            if let Role::Publisher(publisher) = &client.seat.role {
                sums.0 += u64::from(publisher.sent);
                sums.1 += u64::from(publisher.sent) * u64::from(publisher.recipients);
            }
        }
        sums
    }

    fn say_goodbye(&mut self) {
        // A DISCONNECT without properties can always be encoded.
        let goodbye = setup::disconnect(self.plan.version).unwrap_or_default();
        for at in 0..self.clients.len() {
            self.send(at, &goodbye);
        }
    }

    fn is_closed(&self) -> bool {
        let is_over =
            || clock::now() >= self.close_by || self.clients.iter().all(|client| client.link.is_none());
        self.phase == Phase::Close && is_over()
    }
}
