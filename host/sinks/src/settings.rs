//! What a user may set about a sink, whatever its type, and the checks that turn it into something to start.
//!
//! Invariant: a [`SinkSettings`] that passed [`SinkSettings::validate`] can be started; all problems are reported
//! together. Deliberately does not: read files or know the settings of one type of sink.

use std::time::Duration;

use crate::Gate;

/// The settings every sink has. `Default` is a usable set once `name` is filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct SinkSettings {
    /// Name of the sink in config, metrics and API.
    pub name: String,
    /// What a publisher's acknowledgement waits for. Default `durable`.
    pub gate: Gate,
    /// Most records offered to the outside system at once. Default 1,000.
    pub batch_records_max: usize,
    /// Most bytes ([`crate::Record::cost`]) offered at once; a single larger record goes alone. Default 4 MiB.
    pub batch_bytes_max: usize,
    /// How long a batch that is not full waits for more. Default zero: while one batch is being stored the next
    /// one forms by itself.
    pub linger: Duration,
    /// Queued records beyond which the sink is full. Default 100,000.
    pub queue_records_max: usize,
    /// Queued bytes beyond which the sink is full. Default 64 MiB.
    pub queue_bytes_max: usize,
    /// Threads, each with a connection of its own. Records of one partition key share a lane. Default 1.
    pub lanes: usize,
    /// Waits between attempts.
    pub retry: BackOff,
    /// What full means. Anything but [`DropPolicy::Hold`] needs gate `none`.
    pub on_full: DropPolicy,
    /// Age at which a queued record is given up instead of being offered. Needs gate `none`. Default: never.
    pub expire_after: Option<Duration>,
    /// What happens to a record the outside system refuses for good.
    pub on_rejected: OnRejected,
    /// How often an idle lane asks its sink whether it would take records. Default 30 s.
    pub check_every: Duration,
}

impl Default for SinkSettings {
    fn default() -> Self {
        Self {
            name: String::new(),
            gate: Gate::Durable,
            batch_records_max: 1_000,
            batch_bytes_max: 4 << 20,
            linger: Duration::ZERO,
            queue_records_max: 100_000,
            queue_bytes_max: 64 << 20,
            lanes: 1,
            retry: BackOff::default(),
            on_full: DropPolicy::Hold,
            expire_after: None,
            on_rejected: OnRejected::DeadLetter,
            check_every: Duration::from_secs(30),
        }
    }
}

/// Bounds of the wait between two attempts. The wait doubles from `min` to `max`, each time with jitter: somewhere
/// between half of it and all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackOff {
    /// Wait after the first failure. Default 50 ms.
    pub min: Duration,
    /// Longest wait. Default 10 s.
    pub max: Duration,
}

impl Default for BackOff {
    fn default() -> Self {
        Self {
            min: Duration::from_millis(50),
            max: Duration::from_secs(10),
        }
    }
}

/// What a full queue means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DropPolicy {
    /// Publishers are held back until there is room. Nothing is lost.
    #[default]
    Hold,
    /// The oldest queued records make room, and are counted as dropped.
    DropOldest,
    /// Records that find no room are dropped and counted.
    DropNewest,
}

/// What happens to a record that can never be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnRejected {
    /// It is kept as a dead letter; its publisher is acknowledged once that is committed.
    #[default]
    DeadLetter,
    /// Its publisher is told no, where that is possible ([`crate::Record::refusable`]); else as `DeadLetter`.
    Refuse,
}

/// A setting that makes no sense. The text names the setting and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("sink {sink}: {setting}: {problem}")]
pub struct SettingsError {
    /// Name of the sink.
    pub sink: String,
    /// Name of the setting, as in the config file.
    pub setting: &'static str,
    /// What is wrong with it and what to do.
    pub problem: String,
}

impl SinkSettings {
    /// Every problem of these settings; none means that they can be started.
    pub fn validate(&self) -> Vec<SettingsError> {
        let mut problems = Vec::new();
        let mut problem = |setting, text: &str| problems.push(self.problem(setting, text));
        if self.name.is_empty() {
            problem("name", "must not be empty");
        }
        if self.gate == Gate::Buffered {
            problem(
                "gate",
                "\"buffered\" needs the node's log as the source of records, and this sink has a memory queue; \
                 use \"durable\" (acknowledged when stored) or \"none\" (acknowledged at once)",
            );
        }
        let sizes = [
            ("batch_records_max", self.batch_records_max),
            ("batch_bytes_max", self.batch_bytes_max),
            ("queue_records_max", self.queue_records_max),
            ("queue_bytes_max", self.queue_bytes_max),
            ("lanes", self.lanes),
        ];
        for (setting, _) in sizes.iter().filter(|(_, size)| *size == 0) {
            problem(setting, "must be at least 1");
        }
        if self.retry.min.is_zero() || self.retry.min > self.retry.max {
            problem("retry", "min must be above zero and at most max");
        }
        if self.check_every.is_zero() {
            problem("check_every", "must be above zero");
        }
        if self.gate != Gate::None && self.on_full != DropPolicy::Hold {
            problem(
                "on_full",
                "only a sink with gate \"none\" may drop records; use \"hold\"",
            );
        }
        if self.gate != Gate::None && self.expire_after.is_some() {
            problem(
                "expire_after",
                "only a sink with gate \"none\" may let records expire; remove it",
            );
        }
        problems
    }

    /// A problem with one of this sink's settings; also for the settings of one type of sink.
    pub fn problem(&self, setting: &'static str, text: &str) -> SettingsError {
        SettingsError {
            sink: self.name.clone(),
            setting,
            problem: text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings_refused(change: impl FnOnce(&mut SinkSettings)) -> Vec<&'static str> {
        let mut settings = SinkSettings {
            name: "s".into(),
            ..SinkSettings::default()
        };
        change(&mut settings);
        settings
            .validate()
            .into_iter()
            .map(|problem| problem.setting)
            .collect()
    }

    #[test]
    fn defaults_are_usable() {
        assert_eq!(settings_refused(|_| {}), Vec::<&str>::new());
    }

    #[test]
    fn buffered_is_refused_with_what_to_write_instead() {
        let settings = SinkSettings {
            name: "w".into(),
            gate: Gate::Buffered,
            ..SinkSettings::default()
        };
        let text = settings.validate().remove(0).to_string();
        assert!(text.starts_with("sink w: gate: \"buffered\" needs"), "{text}");
        assert!(text.contains("\"durable\""), "{text}");
    }

    #[test]
    fn only_gate_none_may_lose_records() {
        let lossy = |settings: &mut SinkSettings| {
            settings.on_full = DropPolicy::DropOldest;
            settings.expire_after = Some(Duration::from_secs(1));
        };
        assert_eq!(settings_refused(lossy), ["on_full", "expire_after"]);
        assert!(
            settings_refused(|settings| {
                lossy(settings);
                settings.gate = Gate::None;
            })
            .is_empty()
        );
    }

    #[test]
    fn all_problems_are_reported_together() {
        let refused = settings_refused(|settings| {
            settings.lanes = 0;
            settings.batch_records_max = 0;
            settings.retry.max = Duration::ZERO;
        });
        assert_eq!(refused, ["batch_records_max", "lanes", "retry"]);
    }
}
