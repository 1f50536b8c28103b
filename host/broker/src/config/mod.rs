//! Configuration: a file and flags become [`Settings`], validated once, with every problem reported together.

mod problem;
mod raw;
mod read;
mod rules;
mod sections;
mod settings;
mod sinks;
mod units;

pub use problem::{Problem, Problems};
pub use read::{WORKERS_MAX, read_file, read_text};
pub use rules::is_plain_name;
pub use settings::{AdminSettings, ModuleSource, MqttSettings, RuleSettings, Settings};
pub use sinks::{SinkKind, SinkSpec};
