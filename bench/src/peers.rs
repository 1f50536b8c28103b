//! The brokers that are compared: how each is started with its best settings, which loads they carry, and what came out.

pub mod compare;
pub mod loads;
pub mod recipe;
pub mod running;

pub use compare::{Comparison, Event, Figure, Metric, Run, RunError};
pub use loads::Load;
pub use recipe::{Absent, Peer, Recipe, Setting};
pub use running::{Running, Stage, StartError};
