//! Topic aliases the client sets (3.3.2.3.4). They live as long as the link [MQTT-3.3.2-7].
//!
//! Invariant: no alias above the maximum that CONNACK announced is kept [MQTT-3.3.2-9].
//! Deliberately does not: set aliases towards the client; none is ever sent, whatever its Topic Alias Maximum.

use tidegate_codec::{ReasonCode, TopicName};

/// Topic of each alias, index 0 being alias 1.
#[derive(Debug, Default)]
pub(crate) struct Aliases(Vec<Option<TopicName>>);

impl Aliases {
    /// The topic of a PUBLISH with `alias`, which `topic`, if there is one, sets anew. `maximum` is the announced one.
    pub(crate) fn resolve(
        &mut self,
        alias: u16,
        topic: Option<TopicName>,
        maximum: u16,
    ) -> Result<TopicName, ReasonCode> {
        // [MQTT-3.3.2-8], [MQTT-3.3.2-9]
        if alias == 0 || alias > maximum {
            return Err(ReasonCode::TopicAliasInvalid);
        }
        let index = usize::from(alias - 1);
        match topic {
            Some(topic) => {
                if self.0.len() <= index {
                    self.0.resize(index + 1, None);
                }
                if let Some(place) = self.0.get_mut(index) {
                    // In memory of its own: it must not keep a read buffer alive for as long as the link.
                    *place = Some(topic.detached());
                }
                Ok(topic)
            }
            // An alias that was never set (3.3.2.3.4).
            None => self
                .0
                .get(index)
                .cloned()
                .flatten()
                .ok_or(ReasonCode::ProtocolError),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topic(text: &str) -> Option<TopicName> {
        Some(TopicName::new(text).unwrap())
    }

    #[test]
    fn an_alias_stands_for_the_topic_set_last() {
        let mut aliases = Aliases::default();
        assert_eq!(aliases.resolve(3, topic("a"), 4), Ok(topic("a").unwrap()));
        assert_eq!(aliases.resolve(3, None, 4), Ok(topic("a").unwrap()));
        assert_eq!(aliases.resolve(3, topic("b"), 4), Ok(topic("b").unwrap()));
        assert_eq!(aliases.resolve(3, None, 4), Ok(topic("b").unwrap()));
    }

    /// [MQTT-3.3.2-8], [MQTT-3.3.2-9]
    #[test]
    fn an_alias_out_of_range_is_invalid() {
        let mut aliases = Aliases::default();
        assert_eq!(
            aliases.resolve(0, topic("a"), 4),
            Err(ReasonCode::TopicAliasInvalid)
        );
        assert_eq!(
            aliases.resolve(5, topic("a"), 4),
            Err(ReasonCode::TopicAliasInvalid)
        );
        assert_eq!(
            aliases.resolve(1, topic("a"), 0),
            Err(ReasonCode::TopicAliasInvalid)
        );
    }

    #[test]
    fn an_alias_never_set_is_a_protocol_error() {
        let mut aliases = Aliases::default();
        assert_eq!(aliases.resolve(2, None, 4), Err(ReasonCode::ProtocolError));
        aliases.resolve(2, topic("a"), 4).unwrap();
        assert_eq!(aliases.resolve(1, None, 4), Err(ReasonCode::ProtocolError));
    }
}
