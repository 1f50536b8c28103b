//! What a thread counts between two reports: numbers of events, and latencies.

use hdrhistogram::Histogram;

/// Longest latency told apart from longer ones: 60 s, in nanoseconds.
const LATENCY_MAX: u64 = 60_000_000_000;

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Numbers of events. Every one only grows.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub struct Counters {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl std::ops::AddAssign for Counters {
            fn add_assign(&mut self, other: Self) {
                $(self.$name += other.$name;)*
            }
        }
    };
}

counters! {
    /// Clients that were welcomed (and, if they subscribe, subscribed).
    ready,
    /// Clients that were refused, or lost before they were ready.
    failed,
    /// Clients that were lost after they were ready.
    disconnected,
    /// Messages handed to the kernel or to a client's own queue for it.
    sent,
    /// Messages whose PUBACK or PUBCOMP came.
    acknowledged,
    /// Messages that the broker refused with a reason code.
    refused,
    /// Acknowledgements that nothing waited for.
    stray_acknowledgements,
    /// Messages that subscribers received.
    delivered,
    /// Deliveries that came after one sent later by the same publisher.
    reordered,
    /// Deliveries that came again.
    duplicated,
    /// Deliveries without a stamp of this run.
    foreign,
    /// Packets that made no sense at all.
    malformed,
}

/// Latencies of one kind, in nanoseconds.
#[derive(Debug, Clone)]
pub struct Latency {
    histogram: Histogram<u64>,
    // Messages of one write are acknowledged in one read: equal values come in runs, and are recorded as one.
    run: (u64, u64),
}

impl Default for Latency {
    #[allow(clippy::expect_used)] // the bounds are constants that a test constructs
    fn default() -> Self {
        Self {
            histogram: Histogram::new_with_bounds(1, LATENCY_MAX, 3).expect("constant bounds are valid"),
            run: (0, 0),
        }
    }
}

impl Latency {
    /// Counts one latency. Longer ones than a minute count as a minute.
    #[inline]
    pub fn record(&mut self, nanoseconds: u64) {
        if self.run.0 == nanoseconds {
            self.run.1 += 1;
        } else {
            self.finish_run();
            self.run = (nanoseconds, 1);
        }
    }

    /// The histogram with everything recorded so far.
    pub fn histogram(&mut self) -> &Histogram<u64> {
        self.finish_run();
        &self.histogram
    }

    /// Adds everything that `other` recorded.
    pub fn merge(&mut self, other: &mut Self) {
        // Both have the same bounds, so this cannot fail.
        let _ = self.histogram.add(other.histogram());
    }

    fn finish_run(&mut self) {
        let (value, count) = std::mem::take(&mut self.run);
        if count > 0 {
            self.histogram.saturating_record_n(value.max(1), count);
        }
    }
}

/// Everything that is counted.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// Numbers of events.
    pub counters: Counters,
    /// From the intended connect time to CONNACK, and for subscribers to SUBACK.
    pub connect: Latency,
    /// From the intended send time to PUBACK or PUBCOMP.
    pub acknowledge: Latency,
    /// From the intended send time to a subscriber.
    pub deliver: Latency,
}

impl Tally {
    /// Adds everything that `other` counted.
    pub fn merge(&mut self, other: &mut Self) {
        self.counters += other.counters;
        self.connect.merge(&mut other.connect);
        self.acknowledge.merge(&mut other.acknowledge);
        self.deliver.merge(&mut other.deliver);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_equal_latencies_are_all_counted() {
        let mut latency = Latency::default();
        for value in [1_000, 1_000, 1_000, 2_000, 1_000, 0, u64::MAX] {
            latency.record(value);
        }
        let mut all = Latency::default();
        all.record(5_000);
        all.merge(&mut latency);
        let histogram = all.histogram();
        assert_eq!(histogram.len(), 8);
        assert_eq!(histogram.count_between(1_000, 1_000), 4);
        assert!(histogram.max() >= LATENCY_MAX);
    }
}
