//! What a module says about itself and asks for: TOML inside the component, read once when it is loaded.
//!
//! Invariant: a [`Manifest`] is valid; all problems of a bad one are reported together. Does not decide what is granted.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use tidegate_codec::TopicFilter;

use crate::RuleError;
use crate::units;

/// Longest manifest, name or version that is read at all.
const MANIFEST_BYTES_MAX: usize = 64 * 1024;
const NAME_BYTES_MAX: usize = 64;

/// A module's own description. `wit/README.md` has the format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// Lower-case letters, digits, `-`, `_` and `.`.
    pub name: String,
    /// Free text such as `1.2.0`.
    pub version: String,
    /// One line for people; may be empty.
    pub description: String,
    /// What of a message is copied into the module.
    pub input: Projection,
    /// Sinks that it may open, by its own names.
    pub sinks: Vec<String>,
    /// Topics that it may publish to and rewrite topics into.
    pub publish: Vec<TopicFilter>,
    /// What one instance may use.
    pub limits: Limits,
    /// Every key that it reads, with its default.
    pub config: BTreeMap<String, String>,
}

/// What of a message a module wants to see. The topic, QoS, retain, client and time are always there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Projection {
    /// How the payload goes in.
    pub payload: PayloadKind,
    /// Whether the client id does.
    pub client_id: bool,
    /// Whether the user name does.
    pub username: bool,
    /// Whether the MQTT 5.0 properties do.
    pub properties: bool,
}

/// How a payload goes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PayloadKind {
    /// Not at all: the module decides by topic and metadata.
    None,
    /// As it is.
    #[default]
    Bytes,
    /// As it is, marked as text where it is UTF-8, so that the module need not check.
    Text,
}

/// What one instance may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Linear memory, all of the component's memories together.
    pub memory_bytes_max: usize,
    /// Time for one call, whatever the size of its batch. Whole milliseconds, at least one.
    pub deadline: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes_max: 16 << 20,
            deadline: Duration::from_millis(5),
        }
    }
}

impl Manifest {
    /// Reads the manifest inside a component, without checking the rest of it.
    ///
    /// # Errors
    /// There is none, or it is not good; see [`Manifest::parse`].
    pub fn of(wasm: &[u8]) -> Result<Self, RuleError> {
        Self::parse(crate::section::manifest(wasm)?)
    }

    /// Reads and checks the TOML text of a manifest.
    pub fn parse(toml: &[u8]) -> Result<Self, RuleError> {
        if toml.len() > MANIFEST_BYTES_MAX {
            let text = format!("it has {} bytes, the limit is {MANIFEST_BYTES_MAX}", toml.len());
            return Err(RuleError::BadManifest(text));
        }
        let text =
            std::str::from_utf8(toml).map_err(|e| RuleError::BadManifest(format!("not UTF-8: {e}")))?;
        let raw: Raw = toml::from_str(text).map_err(|e| RuleError::BadManifest(e.to_string()))?;
        raw.check()
    }

    /// Name and version in one word, as errors and logs show them.
    pub fn label(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }
}

/// The manifest as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    name: String,
    version: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    sinks: Vec<String>,
    #[serde(default)]
    publish: Vec<String>,
    #[serde(default)]
    input: RawInput,
    #[serde(default)]
    limits: RawLimits,
    #[serde(default)]
    config: BTreeMap<String, String>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct RawInput {
    payload: PayloadKind,
    client_id: bool,
    username: bool,
    properties: bool,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct RawLimits {
    memory: Option<String>,
    deadline: Option<String>,
}

impl Raw {
    fn check(self) -> Result<Manifest, RuleError> {
        let mut problems = Vec::new();
        if !is_name(&self.name) {
            problems.push(format!(
                "name `{}` must be 1 to {NAME_BYTES_MAX} lower-case letters, digits, '-', '_' and '.'",
                self.name.escape_default()
            ));
        }
        if !is_version(&self.version) {
            problems.push(format!(
                "version `{}` must be 1 to {NAME_BYTES_MAX} printable characters without spaces",
                self.version.escape_default()
            ));
        }
        for (position, sink) in self.sinks.iter().enumerate() {
            if sink.is_empty() || self.sinks.iter().take(position).any(|other| other == sink) {
                problems.push(format!("sinks: `{sink}` is empty or listed twice"));
            }
        }
        let publish = self.publish.iter().filter_map(|text| match parse_filter(text) {
            Ok(filter) => Some(filter),
            Err(problem) => {
                problems.push(format!("publish: `{text}`: {problem}"));
                None
            }
        });
        let publish = publish.collect();
        let limits = self.limits.check(&mut problems);
        if !problems.is_empty() {
            return Err(RuleError::BadManifest(problems.join("; ")));
        }
        let RawInput {
            payload,
            client_id,
            username,
            properties,
        } = self.input;
        Ok(Manifest {
            name: self.name,
            version: self.version,
            description: self.description,
            input: Projection {
                payload,
                client_id,
                username,
                properties,
            },
            sinks: self.sinks,
            publish,
            limits,
            config: self.config,
        })
    }
}

impl RawLimits {
    fn check(&self, problems: &mut Vec<String>) -> Limits {
        let mut limits = Limits::default();
        match self.memory.as_deref().map(units::bytes) {
            None => {}
            Some(Ok(bytes)) if bytes > 0 => limits.memory_bytes_max = bytes,
            Some(Ok(_)) => problems.push("limits.memory must not be zero".to_owned()),
            Some(Err(problem)) => problems.push(format!("limits.memory: {problem}")),
        }
        match self.deadline.as_deref().map(units::duration) {
            None => {}
            Some(Ok(deadline)) if !deadline.is_zero() => limits.deadline = whole_ms(deadline),
            Some(Ok(_)) => problems.push("limits.deadline must not be zero".to_owned()),
            Some(Err(problem)) => problems.push(format!("limits.deadline: {problem}")),
        }
        limits
    }
}

/// Deadlines are kept by a clock that ticks once a millisecond.
fn whole_ms(duration: Duration) -> Duration {
    let ms = duration.as_micros().div_ceil(1000);
    Duration::from_millis(u64::try_from(ms).unwrap_or(u64::MAX))
}

fn parse_filter(text: &str) -> Result<TopicFilter, String> {
    let filter = TopicFilter::new(text).map_err(|e| e.to_string())?;
    match filter.shared() {
        None => Ok(filter),
        Some(_) => Err("a shared subscription says nothing about where to publish".to_owned()),
    }
}

fn is_name(text: &str) -> bool {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_' | b'.');
    (1..=NAME_BYTES_MAX).contains(&text.len()) && text.bytes().all(plain) && !text.starts_with('.')
}

fn is_version(text: &str) -> bool {
    (1..=NAME_BYTES_MAX).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic() && b != b'/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_manifest_is_read() {
        let manifest = Manifest::parse(
            br#"
            name = "clean"
            version = "1.2.0"
            description = "Drops readings out of range"
            sinks = ["rows"]
            publish = ["alarms/#"]
            [input]
            payload = "text"
            client_id = true
            [limits]
            memory = "4MiB"
            deadline = "2500us"
            [config]
            unit = "celsius"
            "#,
        )
        .unwrap();
        assert_eq!(manifest.label(), "clean@1.2.0");
        assert_eq!(manifest.input.payload, PayloadKind::Text);
        assert!(manifest.input.client_id && !manifest.input.username && !manifest.input.properties);
        assert_eq!(manifest.sinks, ["rows"]);
        assert_eq!(manifest.publish, [TopicFilter::new("alarms/#").unwrap()]);
        assert_eq!(manifest.limits.memory_bytes_max, 4 << 20);
        assert_eq!(
            manifest.limits.deadline,
            Duration::from_millis(3),
            "rounded up to the tick"
        );
        assert_eq!(manifest.config.get("unit").map(String::as_str), Some("celsius"));
    }

    #[test]
    fn only_name_and_version_are_required() {
        let manifest = Manifest::parse(b"name = \"a\"\nversion = \"1\"").unwrap();
        assert_eq!(manifest.input, Projection::default());
        assert_eq!(manifest.input.payload, PayloadKind::Bytes);
        assert_eq!(manifest.limits, Limits::default());
        assert!(manifest.sinks.is_empty() && manifest.publish.is_empty() && manifest.config.is_empty());
        let text = Manifest::parse(b"name = \"a\"").unwrap_err().to_string();
        assert!(text.contains("version"), "{text}");
    }

    #[test]
    fn an_unknown_key_is_named() {
        let text = Manifest::parse(b"name = \"a\"\nversion = \"1\"\n[input]\npayloads = \"text\"")
            .unwrap_err()
            .to_string();
        assert!(text.contains("payloads"), "{text}");
    }

    #[test]
    fn all_problems_are_listed_together() {
        let text = Manifest::parse(
            br##"
            name = "Clean Up"
            version = ""
            sinks = ["rows", "rows"]
            publish = ["a/#/b"]
            [limits]
            memory = "16"
            deadline = "0ms"
            "##,
        )
        .unwrap_err()
        .to_string();
        for part in [
            "Clean Up",
            "version",
            "`rows`",
            "a/#/b",
            "limits.memory",
            "limits.deadline",
        ] {
            assert!(text.contains(part), "{part} is missing in: {text}");
        }
    }
}
