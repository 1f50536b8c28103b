//! Rules for the Tidegate MQTT broker, written as plain functions.
//!
//! A rule sees every message published to the topics it is configured for, before anybody receives it, and decides:
//! let it pass, drop it, rewrite it, reject it. On the way it may publish messages of its own and write records to
//! the broker's sinks. `#[rule]` makes the function a WebAssembly component; the same source builds natively, so
//! that a unit test is a function call (see [`mod@test`], which plays the broker's part).
//!
//! ```
//! use serde::{Deserialize, Serialize};
//! use tidegate::{Effects, Error, Json, Message, Verdict, rule};
//!
//! #[derive(Deserialize, Serialize)]
//! struct Reading<'a> { station: &'a str, celsius: f64 }
//!
//! # /*
//! #[rule]
//! # */ #[rule(manifest = "tests/manifests/doc.toml")]
//! fn clean(reading: Json<Reading<'_>>, _: &Message<'_>, effects: &mut Effects) -> Result<Verdict, Error> {
//!     if !(-80.0..=60.0).contains(&reading.celsius) {
//!         return Ok(Verdict::Drop);
//!     }
//!     if reading.celsius > 30.0 {
//!         effects.publish(format!("alarms/{}", reading.station)).retain(true).json(&*reading)?;
//!     }
//!     effects.emit("rows").key(reading.station).original()?;
//!     Ok(Verdict::Pass)
//! }
//! ```
//!
//! Owns: the packing of `wit/tidegate-broker/handler.wit`, so that nobody else has to know it.
//! Invariant: a message that passes costs no allocation and copies nothing.
//! Deliberately does not: wait, open files or sockets, or keep state outside the instance.

mod batch;
mod config;
mod effects;
mod emission;
mod error;
mod host;
mod json;
pub mod log;
mod message;
mod publication;
mod rule;
mod verdict;
mod wire;

#[cfg(target_arch = "wasm32")]
#[doc(hidden)]
pub mod component;
#[cfg(not(target_arch = "wasm32"))]
pub mod test;

pub use config::{Config, Settings};
pub use effects::Effects;
pub use emission::{Emission, Gate};
pub use error::Error;
pub use json::Json;
pub use message::{Client, Message, QoS};
pub use publication::Publication;
pub use rule::{IntoVerdict, Rule};
pub use tidegate_macros::rule;
pub use verdict::{ReasonCode, Rewrite, Verdict};
