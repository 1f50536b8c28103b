//! What a module may call: one file per interface. Deny by default: what is not defined here traps or does not load.

mod clocks;
mod config;
mod guest;
mod link;
mod log;
mod random;
mod sinks;
mod stdio;

pub(crate) use guest::Guest;
pub(crate) use link::{check_imports, linker};
pub(crate) use log::LogGate;
pub use log::{Level, LogLine};
pub(crate) use random::Random;
pub(crate) use stdio::Lines;
