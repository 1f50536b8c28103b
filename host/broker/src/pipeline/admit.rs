//! Admission of a tick's messages: hold, rules, records.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tidegate_codec::{Message, ReasonCode};
use tidegate_rules::{Batch, Body, Failure, Outcome};
use tidegate_sinks::{Gate, Receipt, Record, Token};

use super::effects::{Call, view};
use super::hold::{Hold, blocked_links};
use super::pending::PendingMessages;
use super::{Admitted, Arrival, Fate, Guest, Link, Origin, Outlet, RecordIds, Settled};

use crate::worker::ClientKey;

/// Messages per guest call. More gains nothing: the cost of the call is spread out long before.
const CALL_MESSAGES_MAX: usize = 256;

/// The time of a tick, as everyone needs it.
#[derive(Debug, Clone, Copy)]
pub struct Now {
    /// Since the process started, for back-offs.
    pub elapsed: Duration,
    /// Milliseconds since the Unix epoch.
    pub unix_ms: u64,
}

/// A message inside the chain.
pub(super) struct Transit {
    pub arrival: Arrival,
    pub fate: Fate,
    pub pending: Option<u64>,
    /// First link that sees it: a rule's own publications enter only later rules.
    pub enters_at: usize,
    /// Position of the published message that it was caused by, whose acknowledgement waits for its records.
    pub root: usize,
    /// Sequence of its records, once it has one, and their number.
    pub records: Option<(u64, u32)>,
}

/// The pipeline of one worker.
pub struct Pipeline {
    pub(super) worker: u16,
    /// The chain, in order.
    pub links: Vec<Link>,
    pub(super) outlets: Vec<Outlet>,
    pub(super) dead_letters: Outlet,
    pub(super) ids: RecordIds,
    pub(super) transit: Vec<Transit>,
    pending: PendingMessages,
    hold: Hold,
    selected: Vec<usize>,
    batch: Batch,
    outcome: Outcome,
    failures: Vec<(u32, Failure)>,
}

impl Pipeline {
    /// The pipeline of `worker`; `outlets` by position of the sink in the configuration.
    pub fn new(
        worker: u16,
        links: Vec<Link>,
        outlets: Vec<Outlet>,
        dead_letters: Outlet,
        ids: RecordIds,
    ) -> Self {
        Self {
            worker,
            links,
            outlets,
            dead_letters,
            ids,
            transit: Vec::new(),
            pending: PendingMessages::default(),
            hold: Hold::default(),
            selected: Vec::new(),
            batch: Batch::new(),
            outcome: Outcome::new(),
            failures: Vec::new(),
        }
    }

    /// Takes a tick's messages in order of arrival and appends those that went through the chain to `admitted`, in the
    /// same order, each rule's publications behind them. What has to wait stays here and is told to `held`.
    pub fn admit(
        &mut self,
        arrivals: &mut Vec<Arrival>,
        now: Now,
        admitted: &mut Vec<Admitted>,
        held: &mut impl FnMut(&Arrival, bool),
    ) {
        if arrivals.is_empty() && !self.hold.is_due() {
            return;
        }
        self.enter(arrivals, held);
        for position in 0..self.links.len() {
            self.run_link(position, now);
        }
        for outlet in &mut self.outlets {
            outlet.flush();
        }
        self.dead_letters.flush();
        admitted.extend(self.transit.drain(..).map(|transit| Admitted {
            arrival: transit.arrival,
            fate: transit.fate,
            pending: transit.pending,
        }));
    }

    /// Keeps what to route, or whom to refuse, until the receipts are in.
    pub fn conclude(&mut self, key: u64, route: Option<Message>, fate: Fate) {
        let refused = match fate {
            Fate::Refused(reason) => Some(reason),
            Fate::Route | Fate::Ended => None,
        };
        self.pending.conclude(key, route, refused);
    }

    /// Takes a receipt in; `Some` when it was its message's last.
    pub fn receive(&mut self, receipt: &Receipt) -> Option<Settled> {
        self.pending.receive(receipt)
    }

    /// Has the message of `origin` wait for one more answer, which comes as [`Pipeline::answer`]; `key` is what it waits
    /// by already, if it does.
    pub fn expect_answer(&mut self, mut key: Option<u64>, origin: Origin) -> u64 {
        self.pending.expect_receipt(&mut key, origin)
    }

    /// An answer is in; `Some` when it was the last that its message waited for.
    pub fn answer(&mut self, key: u64, refused: Option<ReasonCode>) -> Option<Settled> {
        self.pending.count_down(key, refused)
    }

    /// Forgets what a lost link has on hold; see [`Hold::forget`].
    pub fn forget_held(&mut self, client: ClientKey) -> u64 {
        self.hold.forget(client)
    }

    /// Tries what is on hold again at the next tick.
    pub fn recheck(&mut self) {
        self.hold.recheck();
    }

    /// Whether messages on hold are to be tried again.
    pub fn is_due(&self) -> bool {
        self.hold.is_due()
    }

    /// Messages that wait for receipts, and messages on hold.
    pub fn waiting(&self) -> (usize, usize) {
        (self.pending.len(), self.hold.len())
    }

    /// Moves what may go now into the chain, and the rest on hold. `held` hears of every message that starts (`true`)
    /// or ends (`false`) waiting.
    fn enter(&mut self, arrivals: &mut Vec<Arrival>, held: &mut impl FnMut(&Arrival, bool)) {
        let blocked = blocked_links(&self.links, &self.outlets, &self.dead_letters);
        let due = self.hold.take_due();
        if blocked.is_empty() && due.is_empty() && self.hold.is_empty() {
            arrivals.drain(..).for_each(|arrival| self.push(arrival, 0, None));
            return;
        }
        let was_held = due.len();
        for (index, mut arrival) in due.into_iter().chain(arrivals.drain(..)).enumerate() {
            let is_blocked =
                |(link, blocked): (&Link, &bool)| *blocked && link.matches(&arrival.message.topic);
            let waits = self.hold.is_behind(&arrival) || self.links.iter().zip(&blocked).any(is_blocked);
            match (waits, index < was_held) {
                (true, true) => self.hold.keep(arrival),
                (true, false) => {
                    held(&arrival, true);
                    // It may wait long, and must not keep a read buffer alive that is larger than itself.
                    arrival.message = arrival.message.detached();
                    self.hold.keep(arrival);
                }
                (false, true) => {
                    held(&arrival, false);
                    self.push(arrival, 0, None);
                }
                (false, false) => self.push(arrival, 0, None),
            }
        }
    }

    /// Puts a message into the chain, before link `enters_at`; `root` is the message that caused it.
    pub(super) fn push(&mut self, arrival: Arrival, enters_at: usize, root: Option<usize>) {
        let root = root.unwrap_or(self.transit.len());
        let fate = Fate::Route;
        self.transit.push(Transit {
            arrival,
            fate,
            pending: None,
            enters_at,
            root,
            records: None,
        });
    }

    /// Passes every message that the rule at `position` applies to through it.
    fn run_link(&mut self, position: usize, now: Now) {
        let Some(link) = self.links.get_mut(position) else {
            return;
        };
        let mut selected = std::mem::take(&mut self.selected);
        let applies = |(index, transit): (usize, &Transit)| {
            let applies = transit.fate == Fate::Route
                && transit.enters_at <= position
                && link.matches(&transit.arrival.message.topic);
            applies.then_some(index)
        };
        selected.extend(self.transit.iter().enumerate().filter_map(applies));
        link.counts.matched += selected.len() as u64;
        if link.has_module {
            let mut from = 0;
            while from < selected.len() {
                from += self.call_module(position, selected.get(from..).unwrap_or_default(), now);
            }
        } else {
            link.counts.passed += selected.len() as u64;
        }
        self.emit_passed(position, &selected);
        selected.clear();
        self.selected = selected;
    }

    /// One guest call for as many of `messages` as one call takes. Returns how many that were.
    fn call_module(&mut self, position: usize, messages: &[usize], now: Now) -> usize {
        let mut batch = std::mem::take(&mut self.batch);
        let mut outcome = std::mem::take(&mut self.outcome);
        let mut failures = std::mem::take(&mut self.failures);
        let taken = self.fill(&mut batch, position, messages);
        if let Some(link) = self.links.get_mut(position)
            && let Some(guest) = &mut link.guest
        {
            link.counts.calls += 1;
            guest.run(&batch, now.elapsed, &mut outcome, &mut failures);
        }
        let call = Call {
            position,
            messages: messages.get(..taken).unwrap_or_default(),
            unix_ms: now.unix_ms,
        };
        self.apply(&call, &mut outcome, &mut failures);
        outcome.clear();
        self.batch = batch;
        self.outcome = outcome;
        self.failures = failures;
        taken.max(1)
    }

    /// Fills `batch` with as many of `messages` as go into one call.
    fn fill(&self, batch: &mut Batch, position: usize, messages: &[usize]) -> usize {
        batch.clear();
        let guest = self.links.get(position).and_then(|link| link.guest.as_ref());
        let projection = guest.map(Guest::projection).unwrap_or_default();
        let candidates = messages.iter().take(CALL_MESSAGES_MAX);
        let fits = |index: &&usize| {
            let view = self.transit.get(**index).map(view);
            view.is_some_and(|view| batch.push(&view, &projection).is_ok())
        };
        candidates.take_while(fits).count()
    }

    /// `emit` of a rule: the messages that passed it become records, without guest code.
    fn emit_passed(&mut self, position: usize, messages: &[usize]) {
        let Some(link) = self.links.get_mut(position) else {
            return;
        };
        if link.emit.is_empty() {
            return;
        }
        let sinks = link.emit.clone();
        let passed = |index: &&usize| {
            self.transit
                .get(**index)
                .is_some_and(|transit| transit.fate == Fate::Route)
        };
        let passed: Vec<usize> = messages.iter().filter(passed).copied().collect();
        for index in passed {
            for sink in &sinks {
                let Some(gate) = self.outlets.get(*sink).map(Outlet::gate) else {
                    continue;
                };
                let Some(record) = self.record(index, gate, &Body::Original) else {
                    continue;
                };
                self.submit(*sink, position, record);
            }
        }
    }

    /// Adds `record` to what the sink at position `sink` gets this tick.
    pub(super) fn submit(&mut self, sink: usize, position: usize, record: Record) {
        if let Some(outlet) = self.outlets.get_mut(sink) {
            outlet.push(record);
        }
        if let Some(link) = self.links.get_mut(position) {
            link.counts.emitted += 1;
        }
    }

    /// A record of the message at `index`; the acknowledgement waits for it if `gate` says so. It owns its memory: it may
    /// wait long, and must not keep a read buffer or a call's output alive that is larger than itself.
    pub(super) fn record(&mut self, index: usize, gate: Gate, body: &Body) -> Option<Record> {
        let root = self.transit.get(index)?.root;
        let cause = self.transit.get_mut(root)?;
        let waits = cause
            .arrival
            .origin
            .filter(|origin| gate != Gate::None && origin.slot.is_some());
        let token = waits.map(|origin| {
            let message = self.pending.expect_receipt(&mut cause.pending, origin);
            Token {
                worker: self.worker,
                message,
            }
        });
        let (sequence, number) = cause.records.get_or_insert_with(|| (self.ids.next_sequence(), 0));
        let id = self.ids.id(*sequence, *number);
        *number += 1;
        let transit = self.transit.get(index)?;
        let arrival = &transit.arrival;
        let publisher = arrival.publisher.as_ref();
        Some(Record {
            id,
            token,
            topic: arrival.message.topic.detached(),
            client_id: publisher.map(|publisher| publisher.client_id.clone()),
            qos: arrival.message.qos,
            received_at_ms: arrival.received_at_ms,
            key: None,
            body: match body {
                Body::Original => Bytes::copy_from_slice(&arrival.message.payload),
                Body::Bytes(bytes) => Bytes::copy_from_slice(bytes),
            },
            headers: Bytes::new(),
            refusable: token.is_some() && publisher.is_some_and(|publisher| publisher.is_v5),
            death: None,
        })
    }

    /// Name of the rule at `position`, shared.
    pub(super) fn rule_name(&self, position: usize) -> Arc<str> {
        self.links
            .get(position)
            .map_or_else(|| Arc::from(""), |link| Arc::clone(&link.name))
    }
}
