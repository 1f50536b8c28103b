//! Finds the bad messages of a batch, so that one publisher's nonsense costs nobody else an outcome.
//!
//! A failed batch is run again in halves, on a fresh instance where the old one is unusable, down to single messages.
//! That is safe because effects of a failed call never become visible. Invariant: every message of a batch gets a normal
//! outcome or is reported with its reason; a module that keeps failing is left alone for a while. On the caller's thread
//! this costs at most one deadline per step, and the breaker bounds the steps: about log2(batch) + 2 × 8, once per
//! back-off. Does not know threads: whoever owns an [`IsolatedRule`] decides where it runs.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use crate::breaker::{Backoff, Breaker};
use crate::{Batch, Cause, Code, Effect, Failure, Instance, Outcome, RuleError};

/// An instance that is replaced when it fails, and the breaker that stops calling a module that always does.
pub struct IsolatedRule<F> {
    create: F,
    instance: Instance,
    breaker: Breaker,
}

/// One batch under way. Messages are settled from the first to the last.
struct Run<'a> {
    batch: &'a Batch,
    now: Duration,
    outcome: &'a mut Outcome,
    failures: &'a mut Vec<(u32, Failure)>,
}

impl<F: FnMut() -> Result<Instance, RuleError>> IsolatedRule<F> {
    /// Creates the first instance with `create`, and later ones when one fails.
    ///
    /// # Errors
    /// Those of `create`.
    pub fn new(mut create: F, backoff: Backoff) -> Result<Self, RuleError> {
        let instance = create()?;
        Ok(Self {
            create,
            instance,
            breaker: Breaker::new(backoff),
        })
    }

    /// The instance that serves now, or failed last.
    pub fn instance(&self) -> &Instance {
        &self.instance
    }

    /// How long the module is left alone from `now` on, because it keeps failing.
    pub fn pause(&self, now: Duration) -> Option<Duration> {
        self.breaker.pause(now)
    }

    /// Decides on a batch. Afterwards `outcome` has one code per message; those with [`Code::Failed`] stand in `failures`
    /// with their position and reason, sorted. Both are cleared first. `now` is when the batch runs, for the back-off:
    /// time since any fixed point that never goes back.
    pub fn run(
        &mut self,
        batch: &Batch,
        now: Duration,
        outcome: &mut Outcome,
        failures: &mut Vec<(u32, Failure)>,
    ) {
        outcome.clear();
        failures.clear();
        let all = 0..batch.len();
        if let Some(failure) = self.breaker.refuses(now) {
            return Run {
                batch,
                now,
                outcome,
                failures,
            }
            .fail(all, &failure);
        }
        // Almost always this is all: the batch goes through whole, into the caller's own outcome.
        match self.attempt(batch, all.clone(), now, outcome) {
            Ok(()) => self.breaker.succeeded(),
            Err(failure) => {
                let mut run = Run {
                    batch,
                    now,
                    outcome,
                    failures,
                };
                self.bisect(&mut run, all, &failure, &mut Outcome::new());
            }
        }
    }

    /// The messages in `range` failed together with `failure`. `part` lends its memory.
    fn bisect(&mut self, run: &mut Run<'_>, range: Range<usize>, failure: &Failure, part: &mut Outcome) {
        match failure.cause {
            // The breaker is open already.
            Cause::ModuleFailing { .. } => return run.fail(range, failure),
            // Nothing can be learned from halves of one message, or if the reason is not the messages.
            _ if range.len() == 1 || matches!(failure.cause, Cause::Fatal(_)) => {
                self.breaker.failed(failure, run.now);
                return run.fail(range, failure);
            }
            _ => {}
        }
        let middle = range.start + range.len() / 2;
        for half in [range.start..middle, middle..range.end] {
            if let Some(failure) = self.breaker.refuses(run.now) {
                run.fail(half, &failure);
                continue;
            }
            match self.attempt(run.batch, half.clone(), run.now, part) {
                Ok(()) => {
                    self.breaker.succeeded();
                    run.append(half.start, part);
                }
                Err(failure) => self.bisect(run, half, &failure, part),
            }
        }
    }

    /// One call, on a usable instance. Where none can be had, the breaker opens.
    fn attempt(
        &mut self,
        batch: &Batch,
        range: Range<usize>,
        now: Duration,
        outcome: &mut Outcome,
    ) -> Result<(), Failure> {
        if !self.instance.is_usable() {
            match (self.create)() {
                Ok(fresh) => self.instance = fresh,
                Err(error) => {
                    let module = Arc::clone(self.instance.module().label());
                    let cause = Cause::Fatal(format!("no new instance: {error}"));
                    self.breaker.open(
                        &Failure {
                            module: Arc::clone(&module),
                            cause: cause.clone(),
                        },
                        now,
                    );
                    return Err(self.breaker.refuses(now).unwrap_or(Failure { module, cause }));
                }
            }
        }
        self.instance.handle_range(batch, range, outcome)
    }
}

impl Run<'_> {
    /// None of `range` gets an outcome.
    fn fail(&mut self, range: Range<usize>, failure: &Failure) {
        self.outcome.codes.resize(range.end, Code::Failed);
        // A batch holds at most `BATCH_MESSAGES_MAX` messages: nothing is cut.
        self.failures
            .extend(range.map(|message| (message as u32, failure.clone())));
    }

    /// Takes over the outcome of the messages from `start` on.
    fn append(&mut self, start: usize, part: &mut Outcome) {
        self.outcome.codes.append(&mut part.codes);
        let moved = part.effects.drain(..).map(|Effect { message, action }| Effect {
            message: message + start as u32,
            action,
        });
        self.outcome.effects.extend(moved);
    }
}
