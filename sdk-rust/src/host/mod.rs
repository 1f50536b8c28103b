//! What a rule can ask of the broker, in two forms: the component's imports, and `tidegate::test` standing in for them.

#[cfg(not(target_arch = "wasm32"))]
mod native;
#[cfg(target_arch = "wasm32")]
mod wasm;

#[cfg(not(target_arch = "wasm32"))]
pub(crate) use native::{config, log, log_enabled, open_sink, with_desk};
#[cfg(target_arch = "wasm32")]
pub(crate) use wasm::{config, log, log_enabled, open_sink};
