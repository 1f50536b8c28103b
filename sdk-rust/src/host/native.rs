//! The broker's part in unit tests: one desk per test thread, laid by `tidegate::test`.

use std::cell::RefCell;

use crate::log::Level;

/// What a rule under test finds, and what it leaves.
#[derive(Default)]
pub(crate) struct Desk {
    pub(crate) config: Vec<(String, String)>,
    /// Sinks that can be opened: their ids are their positions, counted from one.
    pub(crate) sinks: Vec<String>,
    pub(crate) log: Vec<(Level, String)>,
}

thread_local! {
    static DESK: RefCell<Desk> = RefCell::default();
}

pub(crate) fn with_desk<T>(use_it: impl FnOnce(&mut Desk) -> T) -> T {
    DESK.with_borrow_mut(use_it)
}

pub(crate) fn config() -> Vec<(String, String)> {
    with_desk(|desk| desk.config.clone())
}

pub(crate) fn open_sink(name: &str) -> Result<u32, String> {
    with_desk(|desk| desk.sinks.iter().position(|sink| sink == name))
        .and_then(|position| u32::try_from(position + 1).ok())
        .ok_or_else(|| "not listed under `sinks` in module.toml".to_owned())
}

pub(crate) fn log(level: Level, line: &str) {
    with_desk(|desk| desk.log.push((level, line.to_owned())));
}

pub(crate) fn log_enabled(_: Level) -> bool {
    true
}
