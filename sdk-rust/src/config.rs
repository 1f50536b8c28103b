//! What the operator configured for the rule, and the settings a rule makes of it, once per instance.
//!
//! Invariant: a rule that serves has valid settings; one that cannot read them refuses to start.

use std::fmt::Display;
use std::str::FromStr;

use crate::Error;

/// Keys and texts: the defaults under `[config]` in module.toml, with the operator's values over them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Config {
    entries: Vec<(String, String)>,
}

impl Config {
    pub(crate) fn new(entries: Vec<(String, String)>) -> Self {
        Self { entries }
    }

    /// The value of `key`, if the manifest lists it.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.entries
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value.as_str())
    }

    /// The value of `key`, read as a `T`: `config.parse::<f64>("alarm_above")?`.
    ///
    /// # Errors
    /// [`Error::ConfigMissing`] if the manifest does not list the key, [`Error::ConfigInvalid`] if the value is no `T`.
    pub fn parse<T>(&self, key: &str) -> Result<T, Error>
    where
        T: FromStr<Err: Display>,
    {
        let value = self
            .get(key)
            .ok_or_else(|| Error::ConfigMissing(key.to_owned()))?;
        value
            .parse()
            .map_err(|reason: T::Err| Self::invalid(key, value, &reason))
    }

    /// The error to return for a value that parses and still cannot be used.
    pub fn invalid(key: &str, value: &str, reason: &dyn Display) -> Error {
        Error::ConfigInvalid {
            key: key.to_owned(),
            value: value.to_owned(),
            reason: reason.to_string(),
        }
    }
}

/// What a rule's last argument can be: built from the configuration before the first message.
///
/// ```
/// use tidegate::{Config, Error, Settings};
///
/// struct Limits { alarm_above: f64 }
///
/// impl Settings for Limits {
///     fn from_config(config: &Config) -> Result<Self, Error> {
///         Ok(Self { alarm_above: config.parse("alarm_above")? })
///     }
/// }
/// ```
pub trait Settings: Sized {
    /// Reads the settings. An error refuses the module: the broker keeps what ran before.
    ///
    /// # Errors
    /// Whatever makes the configuration unusable.
    fn from_config(config: &Config) -> Result<Self, Error>;
}

/// For rules without settings.
impl Settings for () {
    fn from_config(_: &Config) -> Result<Self, Error> {
        Ok(())
    }
}

/// For rules that look keys up themselves.
impl Settings for Config {
    fn from_config(config: &Config) -> Result<Self, Error> {
        Ok(config.clone())
    }
}
