//! A lane: one connection and the records on their way to it, a batch in flight at a time.
//!
//! ```text
//! queue -> rest of a chunk -> pieces of the batch, in order -> Sink::write -> receipts
//!                               ^ halved, or a record removed, when the outside system says so
//! ```
//! Invariant: a record leaves a lane exactly once, delivered, dead-lettered, refused or expired, and the records
//! that stay keep their order. Deliberately does not: sleep or ask for the time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use crate::back_off::Series;
use crate::batch::Batch;
use crate::queue::{Fetched, LaneQueue};
use crate::receipts::Receipts;
use crate::{
    Death, LastError, OnRejected, Outcome, Pause, Record, Sink, SinkError, SinkSettings, SinkState, Wiring,
};

/// What the lane's thread does next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Again,
    WaitUntil(Duration),
    Exit,
}

/// Whether there is something to offer.
#[derive(PartialEq, Eq)]
enum Filled {
    Ready,
    Linger(Duration),
    Nothing,
}

/// The lane of one thread.
pub(crate) struct Lane {
    index: usize,
    settings: SinkSettings,
    name: Arc<str>,
    wiring: Wiring,
    queue: Arc<LaneQueue>,
    sink: Option<Box<dyn Sink>>,
    batch: Batch,
    failures: Series,
    failing_since_ms: Option<u64>,
    not_before: Duration,
    next_check: Duration,
}

impl Lane {
    pub(crate) fn new(index: usize, settings: &SinkSettings, wiring: Wiring, queue: Arc<LaneQueue>) -> Self {
        Self {
            index,
            name: settings.name.as_str().into(),
            batch: Batch::new(
                settings.batch_records_max,
                settings.batch_bytes_max,
                settings.expire_after,
            ),
            failures: Series::new(settings.retry, index as u64 + 1),
            settings: settings.clone(),
            wiring,
            queue,
            sink: None,
            failing_since_ms: None,
            not_before: Duration::ZERO,
            next_check: Duration::ZERO,
        }
    }

    pub(crate) fn queue(&self) -> Arc<LaneQueue> {
        Arc::clone(&self.queue)
    }

    /// Linux cuts a thread's name at 15 bytes: the lane stands first, so that it is never cut.
    pub(crate) fn thread_name(&self) -> String {
        format!("sink{}-{}", self.index, self.name)
    }

    /// Does one thing: obeys, connects, offers a piece of a batch, or checks an idle connection.
    pub(crate) fn step(&mut self, now: Duration) -> Next {
        let orders = self.queue.orders();
        if orders.stopped {
            return Next::Exit;
        }
        if orders.paused {
            self.queue.wake_never();
            return Next::WaitUntil(now + self.settings.check_every);
        }
        if now < self.not_before && !orders.hurry {
            return Next::WaitUntil(self.not_before);
        }
        let filled = self.fill(now);
        if orders.draining && filled == Filled::Nothing {
            return Next::Exit;
        }
        match self.offer(now, filled == Filled::Ready) {
            Err(error) => self.failed(&error, now),
            Ok(()) => match filled {
                Filled::Ready => Next::Again,
                Filled::Linger(until) => Next::WaitUntil(until.min(self.next_check)),
                Filled::Nothing => Next::WaitUntil(self.next_check),
            },
        }
    }

    /// Makes sure that there is a piece to offer, or says why there is none.
    fn fill(&mut self, now: Duration) -> Filled {
        if !self.batch.is_empty() {
            return Filled::Ready;
        }
        let rest = self.batch.rest_since();
        match self.queue.fetch(now, rest) {
            Fetched::Chunks(chunks) => self.batch.refill(chunks, now),
            _ if rest.is_some() => self.batch.refill(Vec::new(), now),
            Fetched::Linger(until) => return Filled::Linger(until),
            Fetched::Nothing => return Filled::Nothing,
        }
        let (expired, bytes) = self.batch.take_expired();
        if expired > 0 {
            self.queue
                .settle(expired, bytes, |counts| counts.expired += expired as u64);
        }
        Filled::Ready
    }

    /// Offers the first piece, or checks the connection if there is none and the time has come.
    fn offer(&mut self, now: Duration, has_batch: bool) -> Result<(), SinkError> {
        if self.sink.is_none() {
            let connect = &self.wiring.connect;
            let sink = guarded(|| connect(self.index))?;
            self.sink = Some(sink);
            self.next_check = now;
        }
        let Some(sink) = &mut self.sink else { return Ok(()) };
        if has_batch {
            let Some(piece) = self.batch.first() else {
                return Ok(());
            };
            match guarded(|| sink.write(piece)) {
                Ok(()) => self.stored(),
                Err(error) => self.isolate(error)?,
            }
        } else if now >= self.next_check {
            guarded(|| sink.check())?;
        } else {
            return Ok(());
        }
        self.next_check = now + self.settings.check_every;
        self.recovered();
        Ok(())
    }

    /// The first piece is confirmed: accounts it, then tells who waits.
    fn stored(&mut self) {
        let piece = self.batch.take_first();
        let bytes = piece.iter().map(Record::cost).sum();
        let mut receipts = Receipts::new(self.wiring.ports.len());
        for record in &piece {
            let outcome = match &record.death {
                None => Outcome::Stored,
                Some(death) => {
                    if let Some(account) = &death.account {
                        account.dead_lettered();
                    }
                    Outcome::DeadLettered(death.reason.clone())
                }
            };
            receipts.add(record.token, outcome);
        }
        let count = piece.len();
        self.queue.settle(count, bytes, |counts| {
            counts.delivered += count as u64;
            counts.batches += 1;
        });
        receipts.deliver(&self.wiring.ports);
    }

    /// Acts on what is wrong with the batch itself; hands back what only time or an operator can change.
    fn isolate(&mut self, error: SinkError) -> Result<(), SinkError> {
        let len = self.batch.first().map_or(0, <[Record]>::len);
        match error {
            SinkError::Retry(_) | SinkError::Operator(_) => return Err(error),
            SinkError::TooLarge(_) if len > 1 => self.batch.halve_first(),
            SinkError::TooLarge(reason) => self.reject(0, &reason)?,
            SinkError::Rejected {
                position: Some(position),
                reason,
            } if position < len => {
                self.reject(position, &reason)?;
            }
            SinkError::Rejected { .. } if len > 1 => self.batch.halve_first(),
            SinkError::Rejected { reason, .. } => self.reject(0, &reason)?,
        }
        Ok(())
    }

    /// Takes the record at `position` out of the first piece, for good. If it has nowhere to go it stays.
    fn reject(&mut self, position: usize, reason: &str) -> Result<(), SinkError> {
        let Some(record) = self.batch.first().and_then(|piece| piece.get(position)) else {
            return Ok(());
        };
        let bytes = record.cost();
        if self.settings.on_rejected == OnRejected::Refuse && record.refusable && record.token.is_some() {
            let token = record.token;
            self.batch.remove(position);
            self.queue.settle(1, bytes, |counts| counts.refused += 1);
            let mut receipts = Receipts::new(self.wiring.ports.len());
            receipts.add(token, Outcome::Refused(reason.into()));
            receipts.deliver(&self.wiring.ports);
            return Ok(());
        }
        let Some(letters) = &self.wiring.dead_letters else {
            let id = record.id;
            return Err(SinkError::Operator(format!(
                "record {id} is refused for good and there is no dead-letter store: {reason}"
            )));
        };
        if !letters.has_room() {
            let store = letters.name();
            return Err(SinkError::Retry(format!(
                "{store} is full, a rejected record waits: {reason}"
            )));
        }
        if let Some(mut record) = self.batch.remove(position) {
            record.death = Some(Box::new(Death {
                origin: Arc::clone(&self.name),
                reason: reason.into(),
                dead_at_ms: self.wiring.clock.unix_ms(),
                account: Some(Arc::clone(&self.queue)),
            }));
            self.queue.hand_over(bytes);
            letters.submit(vec![record]);
        }
        Ok(())
    }

    fn recovered(&mut self) {
        self.failures.reset();
        self.failing_since_ms = None;
        self.not_before = Duration::ZERO;
        self.queue.set_state(SinkState::Running);
    }

    fn failed(&mut self, error: &SinkError, now: Duration) -> Next {
        let at_ms = self.wiring.clock.unix_ms();
        let since_ms = *self.failing_since_ms.get_or_insert(at_ms);
        let text = error.to_string();
        let last = LastError {
            at_ms,
            text: text.clone(),
        };
        let state = match error {
            SinkError::Operator(_) => {
                // What an operator changes (credentials, grants, tables) is read when connecting.
                let sink = self.sink.take();
                let _ = guarded(|| {
                    drop(sink);
                    Ok(())
                });
                SinkState::Paused(Pause::Operator {
                    since_ms,
                    error: text,
                })
            }
            _ => SinkState::Retrying {
                since_ms,
                error: text,
            },
        };
        self.queue.failed(state, last);
        self.queue.wake_never();
        self.not_before = now + self.failures.next();
        Next::WaitUntil(self.not_before)
    }
}

/// A panic in a sink is its own failure, not the end of the lane and its records.
fn guarded<T>(call: impl FnOnce() -> Result<T, SinkError>) -> Result<T, SinkError> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("without a text");
        Err(SinkError::Operator(format!("the sink panicked: {text}")))
    })
}
