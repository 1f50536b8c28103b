//! What a load showed: every interval, the measured time as a whole, and whether the messages add up.

use serde::{Deserialize, Serialize};

use super::phase::Phase;
use super::tally::{Counters, Latency};
use crate::measure::ProcessUse;

/// Latencies in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Percentiles {
    /// How many were counted.
    pub count: u64,
    /// Their mean.
    pub mean: f64,
    /// Half are below.
    pub p50: f64,
    /// Nine in ten are below.
    pub p90: f64,
    /// 99 in 100 are below.
    pub p99: f64,
    /// 999 in 1,000 are below.
    pub p999: f64,
    /// The longest.
    pub max: f64,
}

impl Percentiles {
    /// Those of everything that `latency` recorded.
    pub fn of(latency: &mut Latency) -> Self {
        let histogram = latency.histogram();
        if histogram.is_empty() {
            return Self::default();
        }
        let at = |quantile| histogram.value_at_quantile(quantile) as f64 / 1e3;
        Self {
            count: histogram.len(),
            mean: histogram.mean() / 1e3,
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max: histogram.max() as f64 / 1e3,
        }
    }
}

/// One interval of a run, usually a second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Second {
    /// What the load was doing.
    pub phase: Phase,
    /// Seconds since the run began, at the end of the interval.
    pub elapsed: f64,
    /// Length of the interval in seconds.
    pub seconds: f64,
    /// Events of the interval.
    pub counters: Counters,
    /// Connect times of the interval, in microseconds.
    pub connect_us: Percentiles,
    /// Acknowledgement times of the interval, in microseconds.
    pub acknowledge_us: Percentiles,
    /// End-to-end times of the interval, in microseconds.
    pub deliver_us: Percentiles,
    /// Cores that the generator kept busy.
    pub generator_cores: f64,
    /// Cores that the broker kept busy; absent when its process is not watched.
    pub broker_cores: Option<f64>,
    /// The broker's process at the end of the interval.
    pub broker: Option<ProcessUse>,
}

/// What connecting took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Connected {
    /// Clients that became ready.
    pub ready: u64,
    /// Clients that did not.
    pub failed: u64,
    /// From the first connect to the last answer, in seconds.
    pub seconds: f64,
    /// From the intended connect time to CONNACK or SUBACK, in microseconds.
    pub latency_us: Percentiles,
    /// Processor time of the broker per connection, in microseconds.
    pub broker_cpu_us: Option<f64>,
    /// Private memory of the broker per connection, in bytes, without what the kernel holds for sockets.
    pub private_bytes: Option<f64>,
    /// The broker's process when all were connected and idle.
    pub broker: Option<ProcessUse>,
}

/// The measured time of publishing, after the warm-up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// Its length.
    pub seconds: f64,
    /// Its events.
    pub counters: Counters,
    /// Messages that went through: acknowledged, or at QoS 0 sent.
    pub messages: u64,
    /// The same a second.
    pub rate: f64,
    /// From the intended send time to PUBACK or PUBCOMP, in microseconds.
    pub acknowledge_us: Percentiles,
    /// From the intended send time to the subscriber, in microseconds.
    pub deliver_us: Percentiles,
    /// Processor time of the broker per message, in microseconds.
    pub broker_cpu_us: Option<f64>,
    /// Cores that the broker kept busy: mean, and in the busiest interval.
    pub broker_cores: Option<(f64, f64)>,
    /// Processor time of the generator per message, in microseconds.
    pub generator_cpu_us: f64,
    /// The broker's process at the end.
    pub broker: Option<ProcessUse>,
}

/// Whether every message is accounted for, over the whole run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Messages sent.
    pub sent: u64,
    /// Acknowledged.
    pub acknowledged: u64,
    /// Refused with a reason code.
    pub refused: u64,
    /// Neither, after the drain; 0 at QoS 0.
    pub unacknowledged: u64,
    /// Deliveries that the sent messages should have caused.
    pub expected: u64,
    /// Deliveries.
    pub delivered: u64,
    /// Messages that a subscriber did not receive; absent when payloads carry no stamp.
    pub lost: Option<u64>,
    /// Deliveries of something received before.
    pub duplicated: u64,
    /// Deliveries that came after one sent later by the same publisher.
    pub reordered: u64,
    /// Deliveries that are not of this run.
    pub foreign: u64,
    /// Acknowledgements that nothing waited for.
    pub stray_acknowledgements: u64,
    /// Clients lost after they were ready.
    pub disconnected: u64,
    /// Packets that made no sense.
    pub malformed: u64,
}

impl Totals {
    /// Whether nothing is missing, double, out of order or inexplicable.
    pub fn add_up(&self) -> bool {
        let wrong = [
            self.refused,
            self.unacknowledged,
            self.lost.unwrap_or(0),
            self.duplicated,
            self.reordered,
            self.foreign,
            self.stray_acknowledgements,
            self.disconnected,
            self.malformed,
        ];
        wrong.iter().all(|count| *count == 0)
    }
}

/// What a load showed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Connecting.
    pub connected: Connected,
    /// Publishing; absent when the plan publishes nothing.
    pub published: Option<Published>,
    /// The reconciliation.
    pub totals: Totals,
    /// Every interval.
    pub seconds: Vec<Second>,
}
