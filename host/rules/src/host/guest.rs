//! The host's side of one instance: what its imports read and write. Everything a call may leave behind is here.

use std::collections::BTreeMap;
use std::time::Duration;

use super::log::LogGate;
use super::random::Random;
use super::stdio::Lines;
use crate::deadline::Deadline;
use crate::grants::Permissions;
use crate::limit::MemoryLimit;

/// State behind the imports of one instance.
pub(crate) struct Guest {
    pub(crate) memory: MemoryLimit,
    pub(crate) deadline: Deadline,
    pub(crate) permissions: Permissions,
    pub(crate) config: BTreeMap<String, String>,
    pub(crate) log: LogGate,
    pub(crate) random: Random,
    /// The time that the module sees. It stands still during a call, so that a batch always gives the same outcome.
    pub(crate) now_ms: u64,
    pub(crate) stdout: Lines,
    pub(crate) stderr: Lines,
}

impl Guest {
    /// A call begins.
    pub(crate) fn begin(&mut self, now_ms: u64, limit: Duration) {
        self.deadline.restart(limit);
        self.now_ms = self.now_ms.max(now_ms);
        self.memory.forget_refusals();
        self.stderr.forget_last();
    }

    /// The last line of standard error in this call: mostly why it panicked.
    pub(crate) fn take_last_words(&mut self) -> Option<String> {
        self.flush_output();
        self.stderr.take_last()
    }

    /// Logs what stands in unfinished lines.
    pub(crate) fn flush_output(&mut self) {
        self.stdout.flush(&mut self.log, self.now_ms);
        self.stderr.flush(&mut self.log, self.now_ms);
    }
}
