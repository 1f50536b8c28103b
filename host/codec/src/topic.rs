//! Topic names and topic filters (section 4.7): checked once, then views of the bytes they came in.
//!
//! Invariant: a [`TopicName`] has no wildcard and a [`TopicFilter`] has them only where they may stand; both are
//! 1 to 65,535 bytes of UTF-8 without U+0000. Deliberately does not: index filters, which the router does.

use std::fmt;

use bytes::Bytes;
use bytestring::ByteString;

/// Why a text is not a topic name or topic filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum InvalidTopic {
    /// [MQTT-4.7.3-1]
    #[error("a topic must have at least one character")]
    Empty,
    /// [MQTT-4.7.3-3]
    #[error("a topic has at most 65,535 bytes, this one has {0}")]
    TooLong(usize),
    /// [MQTT-4.7.3-2] U+0000, or bytes that are not UTF-8 [MQTT-1.5.4-1].
    #[error("a topic is UTF-8 text without U+0000")]
    NotText,
    /// [MQTT-3.3.2-2] a topic name holds no wildcard.
    #[error("a topic name must not contain '+' or '#'")]
    WildcardInName,
    /// [MQTT-4.7.1-1], [MQTT-4.7.1-2]
    #[error("'#' must be the last level and '+' must fill its level")]
    MisplacedWildcard,
    /// [MQTT-4.8.2-1], [MQTT-4.8.2-2]
    #[error("a shared subscription is $share/NAME/FILTER, NAME without '/', '+' and '#'")]
    BadShare,
}

/// Topic name of a PUBLISH: non-empty UTF-8 without wildcards. A view of the bytes it came in.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct TopicName(ByteString);

/// Topic filter of a subscription: non-empty UTF-8 with wildcards where they may stand.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct TopicFilter(ByteString);

/// Both kinds of topic are text over shared bytes.
macro_rules! text_over_bytes {
    ($name:ident, $check:path) => {
        impl $name {
            /// Checks `bytes` and keeps them without copying.
            pub fn from_bytes(bytes: Bytes) -> Result<Self, InvalidTopic> {
                let text = ByteString::try_from(bytes).map_err(|_| InvalidTopic::NotText)?;
                $check(&text)?;
                Ok(Self(text))
            }

            /// Copies `text` after checking it.
            pub fn new(text: &str) -> Result<Self, InvalidTopic> {
                $check(text)?;
                Ok(Self(ByteString::from(text)))
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The shared bytes of the text.
            pub fn bytes(&self) -> &Bytes {
                self.0.as_bytes()
            }

            /// A copy in memory of its own, so that it does not keep a read buffer alive.
            #[must_use]
            pub fn detached(&self) -> Self {
                Self(ByteString::from(self.as_str()))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(self.as_str(), f)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

text_over_bytes!(TopicName, check_name);
text_over_bytes!(TopicFilter, check_filter);

/// `/`-separated levels, the NAME of a shared subscription and matching live beside the filter's own rules.
impl TopicFilter {
    /// NAME and FILTER of `$share/NAME/FILTER`; `None` for an ordinary filter.
    pub fn shared(&self) -> Option<(&str, &str)> {
        self.as_str().strip_prefix("$share/")?.split_once('/')
    }

    /// Whether the (unshared part of the) filter matches `topic`, by section 4.7 of the standard.
    pub fn matches(&self, topic: &TopicName) -> bool {
        let filter = self.shared().map_or(self.as_str(), |(_, filter)| filter);
        let topic = topic.as_str();
        // [MQTT-4.7.2-1] a leading wildcard does not match topics that begin with '$'.
        if topic.starts_with('$') && filter.starts_with(['+', '#']) {
            return false;
        }
        let mut levels = topic.split('/');
        for part in filter.split('/') {
            match (part, levels.next()) {
                ("#", _) => return true,
                (_, None) => return false,
                ("+", Some(_)) => {}
                (part, Some(level)) if part == level => {}
                _ => return false,
            }
        }
        levels.next().is_none()
    }
}

fn check_text(text: &str) -> Result<(), InvalidTopic> {
    if text.is_empty() {
        return Err(InvalidTopic::Empty);
    }
    if text.len() > usize::from(u16::MAX) {
        return Err(InvalidTopic::TooLong(text.len()));
    }
    match text.as_bytes().contains(&0) {
        true => Err(InvalidTopic::NotText),
        false => Ok(()),
    }
}

fn check_name(text: &str) -> Result<(), InvalidTopic> {
    check_text(text)?;
    // [MQTT-4.7.0-1], [MQTT-3.3.2-2]
    match text.bytes().any(|byte| matches!(byte, b'+' | b'#')) {
        true => Err(InvalidTopic::WildcardInName),
        false => Ok(()),
    }
}

fn check_filter(text: &str) -> Result<(), InvalidTopic> {
    check_text(text)?;
    let filter = match text.strip_prefix("$share/") {
        None => text,
        Some(rest) => match rest.split_once('/') {
            Some((name, filter)) if !name.is_empty() && !filter.is_empty() && !name.contains(['+', '#']) => {
                filter
            }
            _ => return Err(InvalidTopic::BadShare),
        },
    };
    let mut levels = filter.split('/').peekable();
    while let Some(level) = levels.next() {
        let wild = level.contains(['+', '#']);
        let alone = level == "+" || (level == "#" && levels.peek().is_none());
        if wild && !alone {
            return Err(InvalidTopic::MisplacedWildcard);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_text_without_wildcards() {
        for name in ["a", "/", "a//b", "$SYS/x", "é/漢/😀", " "] {
            assert_eq!(TopicName::new(name).unwrap().as_str(), name);
        }
        let long = "x".repeat(65_536);
        let cases = [
            ("", InvalidTopic::Empty),              // [MQTT-4.7.3-1]
            ("a/+", InvalidTopic::WildcardInName),  // [MQTT-3.3.2-2]
            ("a#", InvalidTopic::WildcardInName),   // [MQTT-4.7.0-1]
            ("a\0", InvalidTopic::NotText),         // [MQTT-4.7.3-2]
            (&long, InvalidTopic::TooLong(65_536)), // [MQTT-4.7.3-3]
        ];
        for (name, error) in cases {
            assert_eq!(TopicName::new(name), Err(error));
            assert_eq!(
                TopicName::from_bytes(Bytes::copy_from_slice(name.as_bytes())),
                Err(error)
            );
        }
        assert!(TopicName::new(&long[1..]).is_ok());
    }

    #[test]
    fn filters_have_wildcards_where_they_may_stand() {
        for filter in [
            "#",
            "+",
            "a/#",
            "+/+/#",
            "/",
            "a//+",
            "$share/g/#",
            "$share/g//a",
            "$shared/x",
            "$share",
        ] {
            assert_eq!(TopicFilter::new(filter).unwrap().as_str(), filter);
        }
        let cases = [
            ("", InvalidTopic::Empty),
            ("#/a", InvalidTopic::MisplacedWildcard), // [MQTT-4.7.1-1]
            ("a#", InvalidTopic::MisplacedWildcard),  // [MQTT-4.7.1-1]
            ("a+", InvalidTopic::MisplacedWildcard),  // [MQTT-4.7.1-2]
            ("+a/b", InvalidTopic::MisplacedWildcard), // [MQTT-4.7.1-2]
            ("$share/g", InvalidTopic::BadShare),     // [MQTT-4.8.2-2]
            ("$share/g/", InvalidTopic::BadShare),    // [MQTT-4.8.2-2]
            ("$share//a", InvalidTopic::BadShare),    // [MQTT-4.8.2-1]
            ("$share/#/a", InvalidTopic::BadShare),   // [MQTT-4.8.2-1]
            ("$share/g/a#", InvalidTopic::MisplacedWildcard),
        ];
        for (filter, error) in cases {
            assert_eq!(TopicFilter::new(filter), Err(error), "{filter}");
        }
    }

    #[test]
    fn matching_follows_section_4_7() {
        let matches = |filter: &str, topic: &str| {
            TopicFilter::new(filter)
                .unwrap()
                .matches(&TopicName::new(topic).unwrap())
        };
        for (filter, topic) in [
            ("a/b", "a/b"),
            ("a/+", "a/"),
            ("+/+", "/a"),
            ("/+", "/a"),
            ("a/#", "a"), // 4.7.1.2: the parent level too.
            ("a/#", "a/b/c"),
            ("#", "a/b"),
            ("$SYS/#", "$SYS/x"),
            ("$share/g/a/+", "a/b"),
        ] {
            assert!(matches(filter, topic), "{filter} {topic}");
        }
        for (filter, topic) in [
            ("a/b", "a/B"), // 4.7.3: case matters.
            ("a", "/a"),
            ("+", "/a"),
            ("a/+", "a"),
            ("a/+", "a/b/c"),
            ("#", "$SYS/x"),   // [MQTT-4.7.2-1]
            ("+/x", "$SYS/x"), // [MQTT-4.7.2-1]
            ("$share/g/#", "$SYS/x"),
        ] {
            assert!(!matches(filter, topic), "{filter} {topic}");
        }
    }
}
