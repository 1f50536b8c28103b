//! What a broker's process costs, and which machine it ran on.

pub mod cores;
pub mod machine;
pub mod process;

pub use cores::Cores;
pub use machine::Machine;
pub use process::{ProcessError, ProcessUse, Watch};
