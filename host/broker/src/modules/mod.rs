//! Modules on the control side: kept on disk by name and version, and put to work on every worker.
//!
//! Owns: the registry in the data directory, and which version each rule runs.
//! Invariant: a version's bytes never change; a swap happens on all workers or on none; what is active after a restart
//! is what was active before.
//! Deliberately does not: run on a worker's thread; workers get finished guests by letter.

mod deploy;
mod error;
mod guests;
mod store;

pub use deploy::{Modules, ModulesSettings, Uploaded};
pub use error::ModuleError;
pub use store::{Version, replace};
