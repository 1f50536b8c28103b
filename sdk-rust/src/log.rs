//! Lines in the broker's log, marked with the rule's name: `tidegate::info!("{} stations", count)`.
//!
//! Invariant: a line whose level is off is never formatted.
//! Deliberately does not: buffer; the broker limits rate and size.

use std::fmt;

use crate::host;

/// How much a line matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Every step.
    Trace,
    /// For finding faults.
    Debug,
    /// Normal and worth knowing.
    Info,
    /// Works, and somebody should look.
    Warn,
    /// Does not work.
    Error,
}

/// Whether the broker keeps lines of this level.
pub fn enabled(level: Level) -> bool {
    host::log_enabled(level)
}

/// Writes one line; the macros ask [`enabled`] first.
pub fn write(level: Level, line: fmt::Arguments<'_>) {
    match line.as_str() {
        Some(text) => host::log(level, text),
        None => host::log(level, &line.to_string()),
    }
}

/// Logs at a given [`Level`](crate::log::Level).
#[macro_export]
macro_rules! log {
    ($level:expr, $($line:tt)+) => {{
        let level: $crate::log::Level = $level;
        if $crate::log::enabled(level) {
            $crate::log::write(level, ::core::format_args!($($line)+));
        }
    }};
}

/// Logs a line at level `error`.
#[macro_export]
macro_rules! error {
    ($($line:tt)+) => { $crate::log!($crate::log::Level::Error, $($line)+) };
}

/// Logs a line at level `warn`.
#[macro_export]
macro_rules! warn {
    ($($line:tt)+) => { $crate::log!($crate::log::Level::Warn, $($line)+) };
}

/// Logs a line at level `info`.
#[macro_export]
macro_rules! info {
    ($($line:tt)+) => { $crate::log!($crate::log::Level::Info, $($line)+) };
}

/// Logs a line at level `debug`.
#[macro_export]
macro_rules! debug {
    ($($line:tt)+) => { $crate::log!($crate::log::Level::Debug, $($line)+) };
}

/// Logs a line at level `trace`.
#[macro_export]
macro_rules! trace {
    ($($line:tt)+) => { $crate::log!($crate::log::Level::Trace, $($line)+) };
}
