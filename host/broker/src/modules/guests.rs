//! Raises guests: one instance per worker, with the rule's grants and config.

use std::sync::Arc;

use tidegate_rules::{Grants, InstanceSettings, Level, LogLine, RuleModule, SinkIndex};
use tidegate_sinks::Clock as _;

use super::ModuleError;
use crate::config::RuleSettings;
use crate::pipeline::Guest;
use crate::worker::Clock;

/// What all guests have in common.
pub struct Nursery {
    sinks: Vec<String>,
}

impl Nursery {
    /// `sinks`: names by position.
    pub fn new(sinks: Vec<String>) -> Self {
        Self { sinks }
    }

    /// `count` guests of `module` for `rule`, all initialised, or none.
    pub fn raise(
        &self,
        rule: &RuleSettings,
        module: &Arc<RuleModule>,
        count: usize,
    ) -> Result<Vec<Guest>, ModuleError> {
        let mut guests = Vec::with_capacity(count);
        for _ in 0..count {
            guests.push(Guest::new(module, self.settings(rule, module))?);
        }
        Ok(guests)
    }

    fn settings(&self, rule: &RuleSettings, module: &Arc<RuleModule>) -> InstanceSettings {
        let name = |position: &usize| {
            Some((
                self.sinks.get(*position)?.clone(),
                SinkIndex(u32::try_from(*position).ok()?),
            ))
        };
        let label = Arc::clone(module.label());
        InstanceSettings {
            rule_name: rule.name.clone(),
            grants: Grants {
                publish: rule.publish.clone(),
                sinks: rule.sinks.iter().filter_map(name).collect(),
            },
            config: rule.config.clone(),
            log_level: Level::Info,
            log: Arc::new(move |line| tell(&label, &line)),
            seed: seed(),
            now_ms: Clock::start().unix_ms(),
        }
    }
}

/// A module's log line among the broker's own.
fn tell(module: &str, line: &LogLine) {
    let LogLine {
        rule,
        message,
        dropped,
        ..
    } = line;
    match line.level {
        Level::Error => tracing::error!(target: "module", %rule, module, dropped, "{message}"),
        Level::Warn => tracing::warn!(target: "module", %rule, module, dropped, "{message}"),
        Level::Info => tracing::info!(target: "module", %rule, module, dropped, "{message}"),
        Level::Debug => tracing::debug!(target: "module", %rule, module, dropped, "{message}"),
        Level::Trace => tracing::trace!(target: "module", %rule, module, dropped, "{message}"),
    }
}

/// Random bytes: the standard library's hash keys come from the system, one fresh pair per call.
fn seed() -> [u8; 32] {
    use std::hash::{BuildHasher, RandomState};
    let mut seed = [0; 32];
    for chunk in seed.chunks_mut(8) {
        chunk.copy_from_slice(&RandomState::new().hash_one(0).to_le_bytes());
    }
    seed
}
