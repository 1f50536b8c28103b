//! The node: everything started in the right order, and stopped in the right order.

mod data_dir;
mod sinks;
mod start;
mod stop;
mod workers;

pub use sinks::check_sink;
pub use start::{Running, start};
