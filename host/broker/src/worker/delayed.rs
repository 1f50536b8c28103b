//! Delayed publish: a message on `$delayed/SECONDS/TOPIC` is published to TOPIC when the seconds are over.
//!
//! Invariant: never more messages or bytes than configured. It is acknowledged when it is taken in, and enters the chain
//! when it is due, as its publisher's; its expiry counts from when it was received.
//! Deliberately does not: store anything: a restart loses what waits.

use std::collections::BTreeMap;
use std::time::Duration;

use tidegate_codec::{ReasonCode, TopicName};
use tidegate_session::{Settlement, Time};

use super::tick::{Timer, Worker};
use crate::config::MqttSettings;
use crate::pipeline::{Arrival, Origin};

/// What delayed topics begin with.
const LEVEL: &str = "$delayed";

/// Topics of the broker's own.
const SYS: &str = "$SYS";

/// Messages that wait until they are due.
pub struct Delayed {
    /// By when they are due, then in order of arrival.
    waiting: BTreeMap<(Time, u64), Arrival>,
    sequence: u64,
    bytes: usize,
    messages_max: usize,
    bytes_max: usize,
}

impl Delayed {
    /// One worker's part of what the node may hold.
    pub fn new(settings: &MqttSettings, workers: usize) -> Self {
        Self {
            waiting: BTreeMap::new(),
            sequence: 0,
            bytes: 0,
            messages_max: settings.delayed_messages_max.div_ceil(workers.max(1)),
            bytes_max: settings.delayed_bytes_max.div_ceil(workers.max(1)),
        }
    }

    /// Messages that wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Keeps `arrival` until `due`. `false` if there is no room.
    fn push(&mut self, due: Time, arrival: Arrival) -> bool {
        let bytes = self.bytes + cost(&arrival);
        if self.waiting.len() >= self.messages_max || bytes > self.bytes_max {
            return false;
        }
        self.bytes = bytes;
        self.sequence += 1;
        self.waiting.insert((due, self.sequence), arrival);
        true
    }

    /// The next message that is due at `now`.
    fn pop(&mut self, now: Time) -> Option<Arrival> {
        let first = self.waiting.first_entry().filter(|entry| entry.key().0 <= now)?;
        let arrival = first.remove();
        self.bytes -= cost(&arrival);
        Some(arrival)
    }
}

impl Worker {
    /// Takes in a message on its way into the chain. Topics that begin with '$' may mean something to the broker.
    pub(super) fn arrive(&mut self, arrival: Arrival) {
        match arrival.message.topic.as_str() {
            topic if !topic.starts_with('$') => self.arrivals.push(arrival),
            topic if is_below(topic, SYS) => self.refuse(arrival.origin, ReasonCode::NotAuthorized),
            topic if is_below(topic, LEVEL) => self.delay(arrival),
            _ => self.arrivals.push(arrival),
        }
    }

    fn delay(&mut self, mut arrival: Arrival) {
        let origin = arrival.origin.take();
        let parsed = parse(arrival.message.topic.as_str());
        let Some((delay, topic)) = parsed.filter(|(delay, _)| *delay <= self.settings.delayed_max) else {
            return self.refuse(origin, ReasonCode::TopicNameInvalid);
        };
        arrival.message.topic = topic;
        arrival.message = arrival.message.detached();
        let due = self.now + delay;
        if !self.delayed.push(due, arrival) {
            return self.refuse(origin, ReasonCode::QuotaExceeded);
        }
        self.timers.arm(due, Timer::Delayed);
        if let Some(origin) = origin {
            self.settle(origin, Settlement::Accepted { route: None });
        }
    }

    /// Messages that are due enter the chain.
    pub(super) fn release_delayed(&mut self) {
        while let Some(arrival) = self.delayed.pop(self.now) {
            self.arrivals.push(arrival);
        }
    }

    /// Ends a message before the chain. Version 5 is told why if it waits for an acknowledgement; others cannot be told:
    /// the message is acknowledged, lost and counted.
    fn refuse(&mut self, origin: Option<Origin>, reason: ReasonCode) {
        self.counters.refused_topics += 1;
        if let Some(origin) = origin {
            self.settle(origin, Settlement::Refused(reason));
        }
    }
}

fn cost(arrival: &Arrival) -> usize {
    arrival.cost() + arrival.message.properties.block().len()
}

/// Whether `topic` is `level` or a topic below it.
fn is_below(topic: &str, level: &str) -> bool {
    let rest = topic.strip_prefix(level);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The delay and the topic of `$delayed/SECONDS/TOPIC`; TOPIC is none of the broker's own.
fn parse(topic: &str) -> Option<(Duration, TopicName)> {
    let (seconds, topic) = topic.strip_prefix(LEVEL)?.strip_prefix('/')?.split_once('/')?;
    if !seconds.bytes().all(|byte| byte.is_ascii_digit()) || is_below(topic, SYS) || is_below(topic, LEVEL) {
        return None;
    }
    let seconds: u32 = seconds.parse().ok()?;
    Some((
        Duration::from_secs(u64::from(seconds)),
        TopicName::new(topic).ok()?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_seconds_and_a_topic_are_a_delay() {
        let parsed = parse("$delayed/15/a/b").map(|(delay, topic)| (delay.as_secs(), topic));
        assert_eq!(parsed, Some((15, TopicName::new("a/b").unwrap())));
        assert!(parse("$delayed/0/a").is_some());
        for bad in [
            "$delayed",
            "$delayed/",
            "$delayed/5",
            "$delayed/5/",
            "$delayed//a",
            "$delayed/x/a",
            "$delayed/-1/a",
            "$delayed/+1/a",
            "$delayed/1.5/a",
            "$delayed/99999999999/a",
            "$delayed/1/$SYS/broker/version",
            "$delayed/1/$delayed/1/a",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
