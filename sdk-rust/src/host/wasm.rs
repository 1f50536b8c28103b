//! The broker's part as the component imports it.

use crate::component::bindings::tidegate::broker;
use crate::log::Level;

pub(crate) fn config() -> Vec<(String, String)> {
    broker::config::get_all()
}

pub(crate) fn open_sink(name: &str) -> Result<u32, String> {
    broker::sinks::open(name)
}

pub(crate) fn log(level: Level, line: &str) {
    broker::log::log(import(level), line);
}

pub(crate) fn log_enabled(level: Level) -> bool {
    broker::log::enabled(import(level))
}

fn import(level: Level) -> broker::log::Level {
    match level {
        Level::Trace => broker::log::Level::Trace,
        Level::Debug => broker::log::Level::Debug,
        Level::Info => broker::log::Level::Info,
        Level::Warn => broker::log::Level::Warn,
        Level::Error => broker::log::Level::Error,
    }
}
