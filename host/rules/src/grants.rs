//! What a module may do in one rule: what its manifest asks for, narrowed by what the operator grants.

use tidegate_codec::{TopicFilter, TopicName};

use crate::Manifest;

/// The broker's number of a sink. Never leaves the host: modules see ids of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SinkIndex(pub u32);

/// What the operator grants a rule. What the manifest does not ask for stays without use.
#[derive(Debug, Clone, Default)]
pub struct Grants {
    /// Topics that the module may publish to and rewrite topics into.
    pub publish: Vec<TopicFilter>,
    /// Sinks by the name that the module uses.
    pub sinks: Vec<(String, SinkIndex)>,
}

/// Manifest and grants together, ready to be asked.
pub(crate) struct Permissions {
    asked: Vec<TopicFilter>,
    granted: Vec<TopicFilter>,
    /// In the order of the manifest; a module's sink id is its position here plus one.
    sinks: Vec<(String, Option<SinkIndex>)>,
}

impl Permissions {
    pub(crate) fn new(manifest: &Manifest, grants: &Grants) -> Self {
        let granted = |name: &str| {
            grants
                .sinks
                .iter()
                .find(|(other, _)| other == name)
                .map(|(_, index)| *index)
        };
        Self {
            asked: manifest.publish.clone(),
            granted: grants.publish.clone(),
            sinks: manifest
                .sinks
                .iter()
                .map(|name| (name.clone(), granted(name)))
                .collect(),
        }
    }

    /// The module's id for one of its sinks, or why it gets none.
    pub(crate) fn open(&self, name: &str) -> Result<u32, String> {
        let found = self
            .sinks
            .iter()
            .zip(1u32..)
            .find(|((known, _), _)| known == name);
        match found {
            Some(((_, Some(_)), id)) => Ok(id),
            Some(((_, None), _)) => Err(format!(
                "sink {name} is not granted: add it to the rule's `sinks` in the broker's config"
            )),
            None => Err(format!(
                "sink {name} is not in the manifest: add it to `sinks` there"
            )),
        }
    }

    /// The sink behind a module's id.
    pub(crate) fn sink(&self, id: u32) -> Option<SinkIndex> {
        let position = usize::try_from(id.checked_sub(1)?).ok()?;
        self.sinks.get(position)?.1
    }

    /// Why the module may not publish to `topic`; `None` if it may.
    pub(crate) fn refuses_topic(&self, topic: &TopicName) -> Option<&'static str> {
        let allows = |filters: &[TopicFilter]| filters.iter().any(|filter| filter.matches(topic));
        match (allows(&self.asked), allows(&self.granted)) {
            (true, true) => None,
            (false, _) => Some("the manifest's `publish` does not list it"),
            (true, false) => Some("the rule's `publish` does not grant it"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn permissions(publish: &[&str], granted: &[&str]) -> Permissions {
        let manifest =
            format!("name = \"m\"\nversion = \"1\"\nsinks = [\"rows\", \"events\"]\npublish = {publish:?}\n");
        let grants = Grants {
            publish: granted
                .iter()
                .map(|text| TopicFilter::new(text).unwrap())
                .collect(),
            sinks: vec![
                ("events".to_owned(), SinkIndex(7)),
                ("unasked".to_owned(), SinkIndex(8)),
            ],
        };
        Permissions::new(&Manifest::parse(manifest.as_bytes()).unwrap(), &grants)
    }

    #[test]
    fn a_topic_needs_both_sides() {
        let both = permissions(&["alarms/#"], &["alarms/+"]);
        let refused = |topic: &str| both.refuses_topic(&TopicName::new(topic).unwrap());
        assert_eq!(refused("alarms/a"), None);
        assert!(refused("alarms/a/b").unwrap().contains("grant"));
        assert!(refused("other").unwrap().contains("manifest"));
        let broad = permissions(&["#"], &["#"]);
        assert!(
            broad.refuses_topic(&TopicName::new("$SYS/x").unwrap()).is_some(),
            "[MQTT-4.7.2-1]"
        );
    }

    #[test]
    fn a_sink_needs_both_sides() {
        let both = permissions(&[], &[]);
        assert_eq!(both.open("events"), Ok(2));
        assert_eq!(both.sink(2), Some(SinkIndex(7)));
        assert!(both.open("rows").unwrap_err().contains("not granted"));
        assert!(both.open("unasked").unwrap_err().contains("manifest"));
        for id in [0, 1, 3, u32::MAX] {
            assert_eq!(both.sink(id), None, "{id}");
        }
    }
}
