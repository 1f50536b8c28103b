//! One instance of a module: its memory, its limits, and the call. One thread calls it at a time.
//!
//! Invariant: an instance whose code did not come back in order is never called again. Does not look for the bad message
//! of a batch: that is [`crate::IsolatedRule`].

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use wasmtime::component::TypedFunc;
use wasmtime::{Store, UpdateDeadline};

use crate::deadline::{Deadline, thread_cpu_time};
use crate::decode::GuestFailure;
use crate::failure::cut;
use crate::grants::Permissions;
use crate::host::{Guest, Level, Lines, LogGate, LogLine, Random};
use crate::limit::MemoryLimit;
use crate::module::{HandleParams, HandleResults, InitResults};
use crate::{Batch, Cause, Failure, Grants, Outcome, RuleError, RuleModule};

/// Time for start-up code and `lifecycle.init` together.
pub(crate) const INIT_DEADLINE: Duration = Duration::from_secs(1);

/// Bytes that a call may return, on top of twice what went in: enough to rewrite everything and emit it too.
const OUTPUT_BYTES_MAX: usize = 4 << 20;

/// How a module is used in a rule.
#[derive(Clone)]
pub struct InstanceSettings {
    /// Name of the rule, for log lines and errors.
    pub rule_name: String,
    /// What the operator grants.
    pub grants: Grants,
    /// The operator's values for keys of the manifest's `[config]`.
    pub config: BTreeMap<String, String>,
    /// Lines below this level are not kept.
    pub log_level: Level,
    /// Gets the module's log lines, from within the call: it must not block.
    pub log: Arc<dyn Fn(LogLine) + Send + Sync>,
    /// Seed of the module's random numbers: from the system, or the recorded one for a replay.
    pub seed: [u8; 32],
    /// Time that `init` sees, milliseconds since the Unix epoch. Later the batch brings the time.
    pub now_ms: u64,
}

/// An instance that serves.
pub struct Instance {
    module: Arc<RuleModule>,
    store: Store<Guest>,
    handle: TypedFunc<HandleParams<'static>, HandleResults>,
    /// Ticks from the beginning of a call to the first look at its CPU time.
    first_look: u64,
    usable: bool,
}

impl Instance {
    /// Instantiates the module and runs its `init`, if it has one.
    ///
    /// # Errors
    /// [`RuleError::UnknownConfigKey`], or what the module's own code did wrong.
    pub fn new(module: &Arc<RuleModule>, settings: InstanceSettings) -> Result<Self, RuleError> {
        let rule = settings.rule_name.clone();
        let guest = guest(module, settings)?;
        let mut store = Store::new(module.pre.engine(), guest);
        store.limiter(|guest| &mut guest.memory);
        store.set_hostcall_fuel(OUTPUT_BYTES_MAX);
        let ticker = Arc::clone(&module.ticker);
        store.epoch_deadline_callback(move |mut store| {
            ticker.arm();
            Ok(match store.data_mut().deadline.is_over(thread_cpu_time()) {
                true => UpdateDeadline::Interrupt,
                false => UpdateDeadline::Continue(1),
            })
        });
        store.set_epoch_deadline(Deadline::first_look(INIT_DEADLINE));
        module.ticker.arm();
        let failed = |store: &mut Store<Guest>, error: &wasmtime::Error| Failure {
            module: Arc::clone(module.label()),
            cause: Cause::of(error, store.data_mut()),
        };
        let instance = module
            .pre
            .instantiate(&mut store)
            .map_err(|e| RuleError::Instantiate {
                rule: rule.clone(),
                module: module.label().to_string(),
                problem: failed(&mut store, &e).cause.to_string(),
            })?;
        let handle =
            instance
                .get_typed_func(&mut store, module.handle)
                .map_err(|e| RuleError::Instantiate {
                    rule: rule.clone(),
                    module: module.label().to_string(),
                    problem: e.to_string(),
                })?;
        if let Some(init) = module.init {
            let result = instance
                .get_typed_func::<(), InitResults>(&mut store, init)
                .and_then(|init| init.call(&mut store, ()));
            store.data_mut().flush_output();
            match result {
                Ok((Ok(()),)) => {}
                Ok((Err(problem),)) => {
                    return Err(RuleError::InitRefused {
                        rule,
                        module: module.label().to_string(),
                        problem: cut(problem),
                    });
                }
                Err(e) => {
                    return Err(RuleError::InitFailed {
                        rule,
                        failure: failed(&mut store, &e),
                    });
                }
            }
        }
        let first_look = Deadline::first_look(module.manifest().limits.deadline);
        Ok(Self {
            module: Arc::clone(module),
            store,
            handle,
            first_look,
            usable: true,
        })
    }

    /// The module it runs.
    pub fn module(&self) -> &Arc<RuleModule> {
        &self.module
    }

    /// Whether it can be called. After a trap, a timeout or bad output a new one has to take its place.
    pub fn is_usable(&self) -> bool {
        self.usable
    }

    /// Decides on a batch. `outcome` is cleared first and holds nothing if this fails.
    ///
    /// # Errors
    /// What the module did wrong; see [`Instance::is_usable`] for what it means for the next call.
    pub fn handle(&mut self, batch: &Batch, outcome: &mut Outcome) -> Result<(), Failure> {
        self.handle_range(batch, 0..batch.len(), outcome)
    }

    /// Decides on some of the messages; positions in `outcome` count from the start of `range`.
    pub(crate) fn handle_range(
        &mut self,
        batch: &Batch,
        range: Range<usize>,
        outcome: &mut Outcome,
    ) -> Result<(), Failure> {
        outcome.clear();
        if range.is_empty() {
            return Ok(());
        }
        self.call(batch, range, outcome).map_err(|cause| {
            self.usable &= cause.spares_instance();
            Failure {
                module: Arc::clone(self.module.label()),
                cause,
            }
        })
    }

    fn call(&mut self, batch: &Batch, range: Range<usize>, outcome: &mut Outcome) -> Result<(), Cause> {
        if !self.usable {
            return Err(Cause::Trap(
                "the instance has failed before and cannot be called again".to_owned(),
            ));
        }
        let messages = range.len();
        let lists @ (_, arena) = batch.lists(range);
        self.store
            .data_mut()
            .begin(batch.newest_ms(), self.module.manifest().limits.deadline);
        self.store
            .set_hostcall_fuel(OUTPUT_BYTES_MAX.saturating_add(2 * arena.len()));
        self.store.set_epoch_deadline(self.first_look);
        self.module.ticker.arm();
        let result = self.handle.call(&mut self.store, lists);
        let guest = self.store.data_mut();
        guest.flush_output();
        match result {
            Ok((Ok(output),)) => output
                .decode(messages, &guest.permissions, outcome)
                .map_err(Cause::BadOutput),
            Ok((Err(GuestFailure::Invalid(text)),)) => Err(Cause::Invalid(cut(text))),
            Ok((Err(GuestFailure::Fatal(text)),)) => Err(Cause::Fatal(cut(text))),
            Err(e) => Err(Cause::of(&e, guest)),
        }
    }
}

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instance")
            .field("module", &self.module)
            .field("usable", &self.usable)
            .finish()
    }
}

/// The host's side of a new instance.
fn guest(module: &RuleModule, settings: InstanceSettings) -> Result<Guest, RuleError> {
    let manifest = module.manifest();
    let mut config = manifest.config.clone();
    for (key, value) in settings.config {
        let Some(slot) = config.get_mut(&key) else {
            let known: Vec<&str> = manifest.config.keys().map(String::as_str).collect();
            let known = if known.is_empty() {
                "none".to_owned()
            } else {
                known.join(", ")
            };
            let (rule, module) = (settings.rule_name, module.label().to_string());
            return Err(RuleError::UnknownConfigKey {
                rule,
                module,
                key,
                known,
            });
        };
        *slot = value;
    }
    Ok(Guest {
        deadline: Deadline::new(INIT_DEADLINE),
        memory: MemoryLimit::new(manifest.limits.memory_bytes_max),
        permissions: Permissions::new(manifest, &settings.grants),
        config,
        log: LogGate::new(Arc::from(settings.rule_name), settings.log_level, settings.log),
        random: Random::new(settings.seed),
        now_ms: settings.now_ms,
        stdout: Lines::new(Level::Info),
        stderr: Lines::new(Level::Warn),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instance_can_be_made_on_one_thread_and_serve_on_another() {
        fn moves<T: Send>() {}
        moves::<Instance>();
    }
}
