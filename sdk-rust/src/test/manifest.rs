//! The part of module.toml that decides what a rule sees and may do.
//!
//! Deliberately does not: validate the rest; `tidegate` does on upload.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Outcome;
use crate::{Rewrite, Verdict};

#[derive(Debug, Deserialize)]
pub(super) struct Manifest {
    #[serde(default)]
    pub(super) sinks: Vec<String>,
    #[serde(default)]
    publish: Vec<String>,
    #[serde(default)]
    pub(super) input: Projections,
    #[serde(default)]
    config: BTreeMap<String, String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Projections {
    pub(super) payload: Projection,
    pub(super) client_id: bool,
    pub(super) username: bool,
    pub(super) properties: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Projection {
    None,
    #[default]
    Bytes,
    Text,
}

impl Manifest {
    #[track_caller]
    pub(super) fn read(text: &str) -> Self {
        toml::from_str(text).unwrap_or_else(|error| panic!("module.toml cannot be read: {error}"))
    }

    /// Defaults with `set` over them, sorted by key.
    #[track_caller]
    pub(super) fn configured(&self, set: &[(String, String)]) -> Vec<(String, String)> {
        let mut config = self.config.clone();
        for (key, value) in set {
            assert!(
                config.contains_key(key),
                "config key `{key}` is not listed under [config] in module.toml"
            );
            config.insert(key.clone(), value.clone());
        }
        config.into_iter().collect()
    }

    /// Fails if a topic in `outcomes` is not covered by `publish`.
    #[track_caller]
    pub(super) fn covers(&self, outcomes: &[Outcome]) {
        for outcome in outcomes {
            let rewritten = match &outcome.verdict {
                Verdict::Rewrite(Rewrite {
                    topic: Some(topic), ..
                }) => Some(topic.as_ref()),
                _ => None,
            };
            for topic in outcome
                .published
                .iter()
                .map(|message| message.topic.as_str())
                .chain(rewritten)
            {
                assert!(
                    self.publish.iter().any(|filter| covers(filter, topic)),
                    "topic {topic:?} is not covered by `publish` in module.toml"
                );
            }
        }
    }
}

/// Whether a topic filter matches a topic (MQTT 5.0, 4.7.1).
fn covers(filter: &str, topic: &str) -> bool {
    let (mut levels, mut names) = (filter.split('/'), topic.split('/'));
    loop {
        match (levels.next(), names.next()) {
            (Some("#"), _) | (None, None) => return true,
            (Some(level), Some(name)) if level == "+" || level == name => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::covers;

    #[test]
    fn filters_cover_what_mqtt_says() {
        for (filter, topic, expected) in [
            ("alarms/#", "alarms/a", true),
            ("alarms/#", "alarms", true),
            ("alarms/+", "alarms/a/b", false),
            ("alarms/+/x", "alarms/a/x", true),
            ("alarms/a", "alarms/b", false),
            ("#", "a/b", true),
            ("a/b", "a", false),
        ] {
            assert_eq!(covers(filter, topic), expected, "{filter} and {topic}");
        }
    }
}
