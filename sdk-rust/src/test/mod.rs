//! The broker's part in unit tests: messages in as values, verdicts and effects out as values, through the same
//! packing that crosses the component boundary. No broker, no WebAssembly, no mock to write.
//!
//! ```
//! # use tidegate::{Effects, Message, Verdict, rule, test};
//! # #[rule(manifest = "tests/manifests/doc.toml")]
//! # fn clean(message: &Message<'_>, effects: &mut Effects) -> Result<Verdict, tidegate::Error> {
//! #     effects.publish("alarms/a").original()?;
//! #     Ok(Verdict::Drop) }
//! let outcomes = test::run::<clean>([test::message("plant/a/telemetry").text("97.0")]);
//!
//! assert_eq!(outcomes[0].verdict, Verdict::Drop);
//! assert_eq!(outcomes[0].published[0].topic, "alarms/a");
//! ```
//!
//! Invariant: what the broker would refuse by the module's manifest fails here too.
//! Deliberately does not: know the operator's grants, limits or deadlines.

mod cases;
mod input;
mod manifest;
mod outcome;

pub use cases::cases;
pub use input::{Input, message};
pub use outcome::{Emitted, Outcome, Published};

use crate::batch::Instance;
use crate::host::with_desk;
use crate::log::Level;
use crate::{Error, Rule};
use manifest::Manifest;

/// Runs a rule on one batch with the configuration of its manifest.
///
/// # Panics
/// As [`Setup::run`].
#[track_caller]
pub fn run<R: Rule>(messages: impl IntoIterator<Item = Input>) -> Vec<Outcome> {
    Setup::default().run::<R>(messages)
}

/// A broker's configuration for a rule under test.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    config: Vec<(String, String)>,
}

impl Setup {
    /// With the manifest's defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets one key over the manifest's default, as an operator would.
    pub fn config(mut self, key: &str, value: &str) -> Self {
        self.config.push((key.to_owned(), value.to_owned()));
        self
    }

    /// Starts an instance and runs it on one batch.
    ///
    /// # Panics
    /// If the rule refuses the configuration, if the configuration or the effects go beyond the manifest, or if the
    /// manifest cannot be read.
    #[track_caller]
    pub fn run<R: Rule>(&self, messages: impl IntoIterator<Item = Input>) -> Vec<Outcome> {
        self.try_run::<R>(messages)
            .unwrap_or_else(|error| panic!("the rule does not start: {error}"))
    }

    /// As [`run`](Self::run), for tests of settings that are refused.
    ///
    /// # Errors
    /// What the rule's [`Settings`](crate::Settings) say.
    ///
    /// # Panics
    /// If the configuration or the effects go beyond the manifest, or if that cannot be read.
    #[track_caller]
    pub fn try_run<R: Rule>(&self, messages: impl IntoIterator<Item = Input>) -> Result<Vec<Outcome>, Error> {
        let manifest = Manifest::read(R::MANIFEST);
        let config = manifest.configured(&self.config);
        with_desk(|desk| {
            desk.config = config;
            desk.sinks.clone_from(&manifest.sinks);
            desk.log.clear();
        });
        let messages: Vec<Input> = messages.into_iter().collect();
        let (index, arena) = input::pack(&messages, &manifest.input);
        let packed = match Instance::<R>::start()?.handle(&index, &arena) {
            Ok(packed) => packed,
            Err(length) => panic!("index of {length} words"),
        };
        let outcomes = outcome::unpack(&packed, &messages, &manifest.sinks);
        manifest.covers(&outcomes);
        Ok(outcomes)
    }
}

/// What the rule logged in the last run on this thread.
pub fn logged() -> Vec<(Level, String)> {
    with_desk(|desk| desk.log.clone())
}
