//! The worker's loop and its phases.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use mio::net::TcpListener;
use mio::{Events, Interest, Poll, Token};
use tidegate_session::{Limits, Output, Time};
use tidegate_sinks::Clock as _;

use super::Clock;
use super::clients::{ClientKey, Clients};
use super::delayed::Delayed;
use super::mailbox::Letter;
use super::members::Members;
use super::net::{FIRST_CONNECTION, Net};
use super::pace::Pace;
use super::replays::Replays;
use super::retained::Retention;
use super::rings::Rings;
use super::routes::{Recipient, Routes};
use super::shares::Shares;
use super::sys::Sys;
use super::timers::TimerWheel;
use crate::config::MqttSettings;
use crate::pipeline::{Admitted, Arrival, Pipeline};
use crate::telemetry::Counters;

/// Token of the waker; listeners and connections follow.
pub const WAKER: Token = Token(0);
const LISTENER: Token = Token(1);

/// Events one poll brings at most.
const EVENTS_MAX: usize = 1_024;

/// Messages that go through the pipeline together, once there are so many.
const BATCH_MESSAGES: usize = 256;

/// Connections accepted in one tick at most, so that a storm of them does not starve the others.
const ACCEPTS_PER_TICK: usize = 64;

/// Whom a timer is for.
#[derive(Debug, Clone, Copy)]
pub enum Timer {
    /// A session's deadline; the time tells it from entries of the wheel that an earlier deadline has overtaken.
    Client(ClientKey, Time),
    /// A connection without a session, or on its way out; the second number tells it from later ones with its key.
    Connection(usize, u64),
    /// Messages on `$delayed/…`.
    Delayed,
    /// The next round of `$SYS/…`.
    Sys,
}

/// All a worker is made of; made by the thread that starts it.
pub struct WorkerParts {
    /// Its number.
    pub number: u16,
    /// Where its waker is registered.
    pub poll: Poll,
    /// Its own listening socket.
    pub listener: TcpListener,
    /// Letters from outside.
    pub letters: Receiver<Letter>,
    /// To and from the other workers.
    pub rings: Rings,
    /// Subscriptions.
    pub routes: Routes,
    /// Rules and sinks.
    pub pipeline: Pipeline,
    /// Settings of the MQTT side.
    pub settings: Arc<MqttSettings>,
    /// The same for sessions.
    pub limits: Arc<Limits>,
    /// The time.
    pub clock: Clock,
    /// Number of workers.
    pub workers: usize,
}

/// One worker.
pub struct Worker {
    pub(super) number: u16,
    pub(super) workers: usize,
    poll: Poll,
    pub(super) listener: Option<TcpListener>,
    may_accept_more: bool,
    pub(super) letters: Receiver<Letter>,
    pub(super) rings: Rings,
    pub(super) routes: Routes,
    pub(super) pipeline: Pipeline,
    pub(super) settings: Arc<MqttSettings>,
    pub(super) limits: Arc<Limits>,
    pub(super) clock: Clock,
    pub(super) net: Net,
    pub(super) clients: Clients,
    pub(super) timers: TimerWheel<Timer>,
    pub(super) counters: Counters,
    /// Retained messages of the topics that this worker owns.
    pub(super) retained: Retention,
    /// Retained messages on their way to new subscriptions of this worker's sessions.
    pub(super) replays: Replays,
    /// Shared subscriptions that this worker owns.
    pub(super) shares: Shares,
    /// Shared subscriptions that this worker's sessions are members of.
    pub(super) members: Members,
    pub(super) delayed: Delayed,
    pub(super) sys: Sys,
    /// When this tick began, as sessions count it and since the Unix epoch.
    pub(super) now: Time,
    pub(super) unix_ms: u64,
    /// Messages of this tick, on their way into the pipeline.
    pub(super) arrivals: Vec<Arrival>,
    pub(super) admitted: Vec<Admitted>,
    pub(super) recipients: Vec<Recipient>,
    /// Output lists to use again: one input can cause another while its own list is being worked off.
    pub(super) spare_outputs: Vec<Vec<Output>>,
    pub(super) drain_since: Option<Time>,
    pub(super) serials: u64,
}

impl Worker {
    /// Puts the parts together.
    pub fn new(parts: WorkerParts) -> io::Result<Self> {
        let net = Net::new(parts.poll.registry().try_clone()?);
        let now = parts.clock.time();
        let mut timers = TimerWheel::new(now);
        if parts.number == 0 && !parts.settings.sys_interval.is_zero() {
            timers.arm(now, Timer::Sys);
        }
        let retained = Retention::new(&parts.settings, parts.workers);
        let mut listener = parts.listener;
        parts
            .poll
            .registry()
            .register(&mut listener, LISTENER, Interest::READABLE)?;
        Ok(Self {
            number: parts.number,
            workers: parts.workers,
            poll: parts.poll,
            listener: Some(listener),
            may_accept_more: false,
            letters: parts.letters,
            rings: parts.rings,
            routes: parts.routes,
            pipeline: parts.pipeline,
            limits: parts.limits,
            clock: parts.clock,
            net,
            clients: Clients::default(),
            timers,
            counters: Counters::default(),
            retained,
            replays: Replays::default(),
            shares: Shares::new(parts.settings.shared_strategy, parts.workers),
            members: Members::default(),
            delayed: Delayed::new(&parts.settings, parts.workers),
            sys: Sys::default(),
            settings: parts.settings,
            now,
            unix_ms: 0,
            arrivals: Vec::new(),
            admitted: Vec::new(),
            recipients: Vec::new(),
            spare_outputs: Vec::new(),
            drain_since: None,
            serials: 0,
        })
    }

    /// Ticks until a drain is over.
    pub fn run(mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(EVENTS_MAX);
        let mut pace = Pace::new(self.settings.tick_max);
        let mut began = Duration::ZERO;
        while !self.is_drained() {
            let rest = pace.rest(began, self.clock.elapsed());
            if !rest.is_zero() {
                std::thread::sleep(rest);
            }
            if let Err(error) = self.poll.poll(&mut events, self.timeout())
                && error.kind() != io::ErrorKind::Interrupted
            {
                return Err(error);
            }
            began = self.clock.elapsed();
            let reads = self.tick(&events);
            pace.ticked(began, reads);
        }
        Ok(())
    }

    /// How long to wait for events at most.
    fn timeout(&self) -> Option<Duration> {
        let is_busy = self.replays.has_fresh() || self.retained.has_requests();
        if self.net.has_ready() || self.may_accept_more || self.pipeline.is_due() || is_busy {
            return Some(Duration::ZERO);
        }
        // A full ring has no event of its own: look again soon.
        let backed_up = self.rings.is_backed_up().then_some(Duration::from_micros(100));
        let draining = self.drain_since.map(|_| Duration::from_millis(20));
        let timer = self.timers.next_in(self.clock.time());
        // A slow reader's socket has an event when it takes more, its session has none when its queue empties.
        let replaying = self.replays.has_waiting().then_some(Duration::from_millis(20));
        [backed_up, draining, timer, replaying]
            .into_iter()
            .flatten()
            .min()
    }

    /// One round of the loop. Returns how many sockets were read.
    fn tick(&mut self, events: &Events) -> u32 {
        self.now = self.clock.time();
        self.unix_ms = self.clock.unix_ms();
        self.counters.ticks += 1;
        let reads_before = self.counters.reads;
        self.open_letters();
        self.receive_parcels();
        let ready = self.net.take_ready();
        self.accept(events);
        self.read_events(events);
        self.read_ready(ready);
        self.fire_timers();
        self.routes.refresh();
        self.admit();
        self.replay_retained();
        self.routes.publish_changes();
        self.rings.flush();
        self.route_to_latecomers();
        self.flush();
        u32::try_from(self.counters.reads - reads_before).unwrap_or(u32::MAX)
    }

    fn read_events(&mut self, events: &Events) {
        for event in events {
            let Some(key) = event.token().0.checked_sub(FIRST_CONNECTION) else {
                continue;
            };
            if event.is_writable() {
                self.net.writable(key);
            }
            if event.is_readable() || event.is_read_closed() || event.is_error() {
                self.read(key);
                self.admit_when_full();
            }
        }
    }

    fn read_ready(&mut self, ready: VecDeque<usize>) {
        for key in ready {
            if self.net.take_ready_mark(key) {
                self.read(key);
                self.admit_when_full();
            }
        }
    }

    /// Under saturation a tick brings tens of thousands of messages. Taken through the pipeline all at once they would
    /// fall out of the processor's cache between one step and the next; a batch of this size is as good for the rules.
    fn admit_when_full(&mut self) {
        if self.arrivals.len() >= BATCH_MESSAGES {
            self.routes.refresh();
            self.admit();
        }
    }

    fn accept(&mut self, events: &Events) {
        let is_event = events.iter().any(|event| event.token() == LISTENER);
        if !is_event && !self.may_accept_more {
            return;
        }
        self.may_accept_more = false;
        let Some(listener) = self.listener.take() else {
            return;
        };
        for count in 0.. {
            if count == ACCEPTS_PER_TICK {
                self.may_accept_more = true;
                break;
            }
            match listener.accept() {
                Ok((socket, _)) => self.greet(socket),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(error) => {
                    // Out of files, above all. The connection stays in the backlog; look again when one is closed.
                    tracing::error!(%error, "cannot accept a connection; raise the limit of open files (ulimit -n)");
                    self.timers
                        .arm(Time(self.now.0 + 1_000), Timer::Connection(usize::MAX, 0));
                    self.may_accept_more = false;
                    break;
                }
            }
        }
        self.listener = Some(listener);
    }

    /// Asks the listener again after it ran out of files.
    pub(super) fn retry_accept(&mut self) {
        self.may_accept_more = self.listener.is_some();
    }

    fn flush(&mut self) {
        let mut failed = Vec::new();
        self.net.flush(&mut failed);
        for key in failed {
            self.lose(key);
        }
    }
}
