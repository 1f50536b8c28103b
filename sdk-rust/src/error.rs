//! What can go wrong in a rule. An `Err` returned from it makes the message a dead letter with this text.
//!
//! Deliberately does not: stop a batch. Other messages are decided as if nothing had happened.

/// Why a rule could not decide about a message, or could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The payload is not the JSON that the rule reads. Carries line and column.
    #[error("payload is not the expected JSON: {0}")]
    Payload(#[source] serde_json::Error),
    /// The rule reads payloads and its manifest sets `payload = "none"`.
    #[error("payload is kept from the rule: set `payload` under [input] in module.toml")]
    PayloadOmitted,
    /// A value has no JSON form, as a map whose keys are not texts.
    #[error("value cannot be written as JSON: {0}")]
    Serialize(#[source] serde_json::Error),
    /// A topic to publish to is empty, too long or has wildcards.
    #[error("topic {topic:?} cannot be published to: {reason}")]
    Topic {
        /// The topic.
        topic: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A sink that the manifest does not list or the operator does not grant.
    #[error("sink `{name}`: {reason}")]
    Sink {
        /// Its name.
        name: String,
        /// The broker's answer.
        reason: String,
    },
    /// A record's header name or value takes more than 65,535 bytes.
    #[error("header `{name}` is longer than 65535 bytes")]
    HeaderTooLong {
        /// Its name, cut to 64 characters.
        name: String,
    },
    /// A configuration key that the manifest does not list under `[config]`.
    #[error("config key `{0}` is not listed under [config] in module.toml")]
    ConfigMissing(String),
    /// A configuration value that cannot be used.
    #[error("config key `{key}`: {value:?} is not usable: {reason}")]
    ConfigInvalid {
        /// The key.
        key: String,
        /// Its value.
        value: String,
        /// Why not.
        reason: String,
    },
    /// The rule's own reason: `Err("no such station".into())`.
    #[error("{0}")]
    Rule(String),
}

impl From<String> for Error {
    fn from(reason: String) -> Self {
        Self::Rule(reason)
    }
}

impl From<&str> for Error {
    fn from(reason: &str) -> Self {
        Self::Rule(reason.to_owned())
    }
}
