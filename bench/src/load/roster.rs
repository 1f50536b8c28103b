//! Makes the clients of a plan, with all texts rendered, and deals them out to threads.

use std::collections::HashMap;
use std::sync::Arc;

use tidegate_codec::{InvalidTopic, TopicFilter, TopicName};

use super::client::{Client, Opening, Role, Seat};
use super::plan::{LoadPlan, PlanError};
use super::publisher::Publisher;
use super::subscriber::{Expected, Subscriber};
use crate::wire::{PublishFrame, setup};

/// The clients of each thread, subscribers before publishers, in the order in which they connect.
pub fn roster(plan: &LoadPlan, since: u64) -> Result<Vec<Vec<Client>>, PlanError> {
    let topics = topics(plan)?;
    let filters = filters(plan)?;
    let expected = match_up(&topics, &filters);
    let recipients = recipients(&expected, topics.len());
    let stamp = plan.publish.payload.render(0, plan.seed).stamp;
    let mut threads: Vec<Vec<Client>> = Vec::new();
    threads.resize_with(plan.threads, Vec::new);
    for ((index, filter), expected) in (0..).zip(filters).zip(expected) {
        let encode = |source| PlanError::Encode {
            client: index,
            source,
        };
        let subscribe = setup::subscribe(plan.version, filter, plan.subscribe.qos).map_err(encode)?;
        let client_id = plan.subscribe.client_id.render(index, plan.seed);
        let role = Role::Subscriber(Subscriber::new(expected, stamp, since));
        deal(
            &mut threads,
            index,
            seat(plan, (index, role), &client_id, Some(subscribe))?,
        );
    }
    for ((index, topic), recipients) in (0..).zip(topics).zip(recipients) {
        let order = plan.subscribe.clients + index;
        let payload = plan.publish.payload.render(index, plan.seed);
        let frame = PublishFrame::new(
            plan.version,
            topic,
            plan.publish.qos,
            (payload.bytes.into(), payload.stamp),
        )
        .map_err(|source| PlanError::Encode {
            client: order,
            source,
        })?;
        let publisher = Publisher::new(index, plan.publish.qos, frame, plan.publish.window, recipients);
        let client_id = plan.publish.client_id.render(index, plan.seed);
        deal(
            &mut threads,
            index,
            seat(plan, (order, Role::Publisher(publisher)), &client_id, None)?,
        );
    }
    Ok(threads)
}

fn seat(
    plan: &LoadPlan,
    (order, role): (u32, Role),
    client_id: &str,
    subscribe: Option<Vec<u8>>,
) -> Result<Client, PlanError> {
    let (keep_alive, credentials) = (plan.connect.keep_alive, plan.connect.credentials.clone());
    let connect = setup::connect(plan.version, client_id, keep_alive, credentials).map_err(|source| {
        PlanError::Encode {
            client: order,
            source,
        }
    })?;
    Ok(Client {
        link: None,
        seat: Seat::new(order, role, Opening { connect, subscribe }),
    })
}

fn deal(threads: &mut [Vec<Client>], index: u32, client: Client) {
    let turn = usize::try_from(index).unwrap_or(0) % threads.len().max(1);
    if let Some(thread) = threads.get_mut(turn) {
        thread.push(client);
    }
}

fn topics(plan: &LoadPlan) -> Result<Vec<TopicName>, PlanError> {
    let topic = |index| {
        let text = plan.publish.topic.render(index, plan.seed);
        TopicName::new(&text).map_err(|source| invalid("topic", text, source))
    };
    (0..plan.publish.clients).map(topic).collect()
}

fn filters(plan: &LoadPlan) -> Result<Vec<TopicFilter>, PlanError> {
    let filter = |index| {
        let text = plan.subscribe.filter.render(index, plan.seed);
        TopicFilter::new(&text).map_err(|source| invalid("filter", text, source))
    };
    (0..plan.subscribe.clients).map(filter).collect()
}

fn invalid(what: &'static str, text: String, source: InvalidTopic) -> PlanError {
    PlanError::Topic { what, text, source }
}

/// Which publishers each filter should hear of. Equal filters share the answer; those without wildcards look it up.
fn match_up(topics: &[TopicName], filters: &[TopicFilter]) -> Vec<Expected> {
    let mut by_topic: HashMap<&str, Vec<u32>> = HashMap::new();
    for (index, topic) in (0..).zip(topics) {
        by_topic.entry(topic.as_str()).or_default().push(index);
    }
    let mut known: HashMap<&str, Expected> = HashMap::new();
    let answer = |filter: &TopicFilter| -> Expected {
        let found: Vec<u32> = match filter.as_str().contains(['+', '#', '$']) {
            false => by_topic.get(filter.as_str()).cloned().unwrap_or_default(),
            true => (0..)
                .zip(topics)
                .filter(|(_, topic)| filter.matches(topic))
                .map(|(index, _)| index)
                .collect(),
        };
        match found.len() == topics.len() {
            true => Expected::All(u32::try_from(topics.len()).unwrap_or(u32::MAX)),
            false => Expected::Some(Arc::from(found)),
        }
    };
    let mut expected = Vec::with_capacity(filters.len());
    for filter in filters {
        let entry = known.entry(filter.as_str()).or_insert_with(|| answer(filter));
        expected.push(entry.clone());
    }
    expected
}

/// How many subscribers each publisher's messages should reach.
fn recipients(expected: &[Expected], publishers: usize) -> Vec<u32> {
    let mut recipients = vec![0; publishers];
    let mut everyone = 0;
    for expected in expected {
        match expected {
            Expected::All(_) => everyone += 1,
            Expected::Some(some) => {
                for count in some.iter().filter_map(|&index| usize::try_from(index).ok()) {
                    if let Some(count) = recipients.get_mut(count) {
                        *count += 1;
                    }
                }
            }
        }
    }
    recipients.iter_mut().for_each(|count| *count += everyone);
    recipients
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::plan::tests::small;

    #[test]
    fn every_subscriber_knows_whom_it_should_hear() {
        let topics: Vec<_> = ["a/0", "a/1", "b/0"]
            .map(|text| TopicName::new(text).unwrap())
            .into();
        let filters: Vec<_> = ["#", "a/+", "b/0", "c"]
            .map(|text| TopicFilter::new(text).unwrap())
            .into();
        let expected = match_up(&topics, &filters);
        let publishers: Vec<Vec<u32>> = expected.iter().map(|one| one.publishers().collect()).collect();
        assert_eq!(publishers, [vec![0, 1, 2], vec![0, 1], vec![2], vec![]]);
        assert_eq!(recipients(&expected, 3), [2, 2, 2]);
    }

    #[test]
    fn clients_are_dealt_out_evenly() {
        let mut plan = small("127.0.0.1:1".parse().unwrap());
        plan.threads = 2;
        plan.subscribe.clients = 3;
        let threads = roster(&plan, 0).unwrap();
        assert_eq!(threads.iter().map(Vec::len).collect::<Vec<_>>(), [4, 3]);
        assert!(matches!(threads[1][0].seat.role, Role::Subscriber(_)));
        assert!(matches!(threads[1][2].seat.role, Role::Publisher(_)));
    }

    #[test]
    fn a_topic_with_a_wildcard_is_refused_by_name() {
        let mut plan = small("127.0.0.1:1".parse().unwrap());
        plan.publish.topic = "bench/#".parse().unwrap();
        let text = roster(&plan, 0).unwrap_err().to_string();
        assert!(text.contains("topic \"bench/#\""), "{text}");
    }
}
