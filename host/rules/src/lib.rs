//! Rule modules: WebAssembly components in the publish path.
//!
//! Owns: loading and checking components, their manifests and grants, the batches that go in and the effects that come
//! out. Invariant: an effect is visible only after the call returned ok and every byte of its output was checked; what
//! a module does wrong costs at most its deadline and its own messages. Deliberately does not: route, store or
//! acknowledge anything, know a socket, or ask for the time (it is an argument).
//!
//! ```text
//!  bytes -> Engine::load -> RuleModule --InstanceSettings--> Instance   (one per worker)
//!  MessageView, Projection -> Batch -> Instance::handle -> Outcome: codes, effects
//!                                      IsolatedRule::run -> Outcome and the messages that failed
//! ```

mod actions;
mod batch;
mod blocks;
mod breaker;
mod cache;
mod deadline;
mod decode;
mod engine;
mod error;
mod failure;
mod grants;
mod host;
mod instance;
mod isolate;
mod limit;
mod manifest;
mod module;
mod outcome;
mod section;
mod ticker;
mod units;
mod words;

pub use batch::{BATCH_BYTES_MAX, BATCH_MESSAGES_MAX, Batch, BatchFull, MessageView};
pub use breaker::Backoff;
pub use engine::{Engine, EngineSettings};
pub use error::RuleError;
pub use failure::{Cause, Failure};
pub use grants::{Grants, SinkIndex};
pub use host::{Level, LogLine};
pub use instance::{Instance, InstanceSettings};
pub use isolate::IsolatedRule;
pub use manifest::{Limits, Manifest, PayloadKind, Projection};
pub use module::{Digest, RuleModule};
pub use outcome::{Action, Body, Code, Effect, Outcome};
