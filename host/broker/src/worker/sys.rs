//! `$SYS/broker/…`: what the broker says of itself to MQTT clients, published by worker 0 as retained messages.
//!
//! ```text
//!  version               name and version
//!  uptime                seconds since the start
//!  clients/connected     open connections
//!  messages/received     PUBLISH packets received since the start
//!  messages/sent         PUBLISH packets sent since the start
//! ```
//!
//! Deliberately does not: replace the metrics, which say all of this and more for each scrape.

use std::time::Duration;

use bytes::Bytes;
use tidegate_codec::{Message, Properties, QoS, TopicName};

use super::rings::Parcel;
use super::tick::{Timer, Worker};
use crate::pipeline::Arrival;

/// One worker's part of the sums.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tally {
    connected: u64,
    received: u64,
    sent: u64,
}

/// The round of questions that worker 0 has under way.
#[derive(Default)]
pub struct Sys {
    sum: Tally,
    answers_left: usize,
}

impl Worker {
    /// The interval is over: ask every worker. Only worker 0 has this timer.
    pub(super) fn begin_sys(&mut self) {
        self.timers.arm(self.now + self.settings.sys_interval, Timer::Sys);
        // A worker that has not answered the last round will: its answer completes that one.
        if self.sys.answers_left > 0 {
            return;
        }
        self.sys = Sys {
            sum: Tally::default(),
            answers_left: self.workers,
        };
        for worker in 1..self.workers {
            self.rings.send(worker, Parcel::AskTally);
        }
        self.count_tally(self.tally());
    }

    /// Answers worker 0.
    pub(super) fn tell_tally(&mut self) {
        let tally = self.tally();
        self.rings.send(0, Parcel::Tally(tally));
    }

    /// A worker has answered; with the last answer the sums are published.
    pub(super) fn count_tally(&mut self, tally: Tally) {
        let sum = &mut self.sys.sum;
        sum.connected += tally.connected;
        sum.received += tally.received;
        sum.sent += tally.sent;
        self.sys.answers_left = self.sys.answers_left.saturating_sub(1);
        if self.sys.answers_left == 0 {
            self.publish_sys();
        }
    }

    fn tally(&self) -> Tally {
        Tally {
            connected: self.net.connections.len() as u64,
            received: self.counters.received.iter().sum(),
            sent: self.counters.sent.iter().sum(),
        }
    }

    fn publish_sys(&mut self) {
        let sum = self.sys.sum;
        let uptime = Duration::from_millis(self.now.0).as_secs();
        let values = [
            (
                "$SYS/broker/version",
                format!("tidegate {}", env!("CARGO_PKG_VERSION")),
            ),
            ("$SYS/broker/uptime", uptime.to_string()),
            ("$SYS/broker/clients/connected", sum.connected.to_string()),
            ("$SYS/broker/messages/received", sum.received.to_string()),
            ("$SYS/broker/messages/sent", sum.sent.to_string()),
        ];
        for (topic, value) in values {
            let Ok(topic) = TopicName::new(topic) else {
                continue;
            };
            self.arrivals.push(Arrival {
                origin: None,
                message: Message {
                    topic,
                    payload: Bytes::from(value),
                    properties: Properties::empty(),
                    qos: QoS::AtMostOnce,
                    retain: self.limits.retain_available,
                },
                publisher: None,
                received: self.now,
                received_at_ms: self.unix_ms,
            });
        }
    }
}
