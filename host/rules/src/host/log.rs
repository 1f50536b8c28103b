//! `tidegate:broker/log`: lines for the broker's log, bounded in size and rate.
//!
//! Invariant: a module cannot make the host log more than [`LINES_PER_SECOND`], or a line longer than [`LINE_BYTES_MAX`],
//! whatever it does; the next line that passes says how many did not. Does not know where lines go.

use std::sync::Arc;

use wasmtime::StoreContextMut;
use wasmtime::component::{ComponentType, Lift, LinkerInstance, Lower, WasmStr};

use super::Guest;

/// Longest line, in bytes; the rest is cut.
const LINE_BYTES_MAX: usize = 4096;

/// Lines of one instance in a second, and how many may come at once.
const LINES_PER_SECOND: u32 = 100;

/// How important a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ComponentType, Lift, Lower)]
#[component(enum)]
#[repr(u8)]
pub enum Level {
    /// For following single messages.
    #[component(name = "trace")]
    Trace,
    /// For finding errors.
    #[component(name = "debug")]
    Debug,
    /// Worth knowing.
    #[component(name = "info")]
    Info,
    /// Worth looking at.
    #[component(name = "warn")]
    Warn,
    /// Something failed.
    #[component(name = "error")]
    Error,
}

/// One line from a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// The rule that it runs in.
    pub rule: Arc<str>,
    /// How important it is.
    pub level: Level,
    /// The text, without a line break at its end.
    pub message: String,
    /// Lines that were dropped since the one before, because they came too fast.
    pub dropped: u64,
}

/// Where one instance's lines go, and how many may.
pub(crate) struct LogGate {
    rule: Arc<str>,
    level_min: Level,
    write: Arc<dyn Fn(LogLine) + Send + Sync>,
    tokens: u32,
    refilled_ms: u64,
    dropped: u64,
}

impl LogGate {
    pub(crate) fn new(rule: Arc<str>, level_min: Level, write: Arc<dyn Fn(LogLine) + Send + Sync>) -> Self {
        Self {
            rule,
            level_min,
            write,
            tokens: LINES_PER_SECOND,
            refilled_ms: 0,
            dropped: 0,
        }
    }

    pub(super) fn enabled(&self, level: Level) -> bool {
        level >= self.level_min
    }

    /// Writes one line, or counts it as dropped.
    pub(super) fn write(&mut self, level: Level, text: &str, now_ms: u64) {
        if !self.enabled(level) {
            return;
        }
        if now_ms.saturating_sub(self.refilled_ms) >= 1000 {
            self.tokens = LINES_PER_SECOND;
            self.refilled_ms = now_ms;
        }
        let Some(left) = self.tokens.checked_sub(1) else {
            self.dropped += 1;
            return;
        };
        self.tokens = left;
        (self.write)(LogLine {
            rule: Arc::clone(&self.rule),
            level,
            message: cut(text.trim_end()).to_owned(),
            dropped: std::mem::take(&mut self.dropped),
        });
    }
}

/// Defines the interface's functions.
pub(super) fn define(instance: &mut LinkerInstance<'_, Guest>) -> wasmtime::Result<()> {
    instance.func_wrap(
        "log",
        |mut store: StoreContextMut<'_, Guest>, (level, message): (Level, WasmStr)| {
            if !store.data().log.enabled(level) {
                return Ok(());
            }
            let text = cut(&message.to_str(&store)?).to_owned();
            let guest = store.data_mut();
            guest.log.write(level, &text, guest.now_ms);
            Ok(())
        },
    )?;
    instance.func_wrap(
        "enabled",
        |store: StoreContextMut<'_, Guest>, (level,): (Level,)| Ok((store.data().log.enabled(level),)),
    )
}

/// The beginning of a text that fits into a line.
fn cut(text: &str) -> &str {
    text.get(..text.floor_char_boundary(LINE_BYTES_MAX))
        .unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    fn gate() -> (LogGate, Arc<Mutex<Vec<LogLine>>>) {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&lines);
        let write = Arc::new(move |line| sink.lock().unwrap().push(line));
        (LogGate::new(Arc::from("clean"), Level::Info, write), lines)
    }

    #[test]
    fn a_flood_is_cut_to_the_rate_and_counted() {
        let (mut gate, lines) = gate();
        for _ in 0..1000 {
            gate.write(Level::Warn, "again", 5_000);
        }
        assert_eq!(lines.lock().unwrap().len(), LINES_PER_SECOND as usize);
        gate.write(Level::Warn, "later", 6_000);
        let lines = lines.lock().unwrap();
        let last = lines.last().unwrap();
        assert_eq!(
            (last.message.as_str(), last.dropped),
            ("later", 1000 - u64::from(LINES_PER_SECOND))
        );
    }

    #[test]
    fn long_lines_are_cut_between_characters() {
        let (mut gate, lines) = gate();
        gate.write(Level::Error, &"é".repeat(LINE_BYTES_MAX), 0);
        gate.write(Level::Debug, "below the level", 0);
        let lines = lines.lock().unwrap();
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].message, "é".repeat(LINE_BYTES_MAX / 2));
    }
}
