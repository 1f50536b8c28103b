//! One link of the chain: a rule's topics, its module's instance on this worker, and its counts.

use std::sync::Arc;

use tidegate_codec::{TopicFilter, TopicName};

use super::Guest;
use crate::config::RuleSettings;

/// Messages per outcome. Identity: matched = passed + dropped + rejected + dead-lettered + failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RuleCounts {
    /// Messages whose topic matched and that were decided on.
    pub matched: u64,
    /// Went on, as they were or rewritten.
    pub passed: u64,
    /// Ended by the module.
    pub dropped: u64,
    /// Refused by the module, the publisher told.
    pub rejected: u64,
    /// Kept as dead letters by the module.
    pub dead_lettered: u64,
    /// The module failed on them; kept as dead letters.
    pub failed: u64,
    /// Guest calls.
    pub calls: u64,
    /// Publications of the module.
    pub published: u64,
    /// Records of the module and of `emit`.
    pub emitted: u64,
}

/// A rule on one worker.
pub struct Link {
    /// The rule's name.
    pub name: Arc<str>,
    /// Whether there is guest code at all, installed or not.
    pub has_module: bool,
    /// The guest that serves; `None` until one is installed.
    pub guest: Option<Guest>,
    /// Sinks the module may write to, by position.
    pub sinks: Vec<usize>,
    /// Sinks that store what passes, by position.
    pub emit: Vec<usize>,
    /// Whether the module may publish or change topics, so that its messages may enter later links.
    pub may_publish: bool,
    /// What has happened so far.
    pub counts: RuleCounts,
    topics: Vec<TopicFilter>,
    matches_all: bool,
}

impl Link {
    /// The link of `rule`, without a guest yet.
    pub fn new(rule: &RuleSettings) -> Self {
        Self {
            name: Arc::from(rule.name.as_str()),
            has_module: rule.module.is_some(),
            guest: None,
            sinks: rule.sinks.clone(),
            emit: rule.emit.clone(),
            may_publish: !rule.publish.is_empty(),
            counts: RuleCounts::default(),
            topics: rule.topics.clone(),
            matches_all: rule.topics.iter().any(|filter| filter.as_str() == "#"),
        }
    }

    /// Whether the rule applies to messages on `topic`.
    pub fn matches(&self, topic: &TopicName) -> bool {
        // [MQTT-4.7.2-1] '#' leaves out topics that begin with '$'.
        (self.matches_all && !topic.as_str().starts_with('$'))
            || self.topics.iter().any(|filter| filter.matches(topic))
    }
}
