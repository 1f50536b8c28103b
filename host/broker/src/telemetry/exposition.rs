//! The counters as Prometheus reads them (OpenMetrics text).
//!
//! Names: `tidegate_` + what is counted; one metric per identity, with the parts of the identity as a label.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

use super::{Counters, NodeSnapshot, WorkerSnapshot};

/// Media type of [`expose`].
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The text of one scrape.
///
/// # Errors
/// None in practice: writing to a string fails only if a metric's own encoding does.
pub fn expose(snapshot: NodeSnapshot) -> Result<String, fmt::Error> {
    let mut registry = Registry::with_prefix("tidegate");
    registry.register_collector(Box::new(Node(snapshot)));
    let mut out = String::new();
    text::encode(&mut out, &registry)?;
    Ok(out)
}

#[derive(Debug)]
struct Node(NodeSnapshot);

/// One time series: label values (or none) and a value.
type Series<'a> = (Vec<(&'static str, &'a str)>, u64);

/// What a metric reads of each worker.
type Gauge = fn(&WorkerSnapshot) -> usize;
type Count = fn(&Counters) -> u64;

impl Collector for Node {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        self.encode_workers(&mut encoder)?;
        self.encode_rules(&mut encoder)?;
        self.encode_sinks(&mut encoder)
    }
}

impl Node {
    fn encode_workers(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let total = |part: fn(&WorkerSnapshot) -> usize| -> u64 {
            self.0.workers.iter().map(|worker| part(worker) as u64).sum()
        };
        let gauges: [(&str, &str, Gauge); 6] = [
            ("connections", "Open connections", |worker| worker.connections),
            ("sessions", "Sessions, connected or not", |worker| worker.sessions),
            ("subscriptions", "Subscriptions", |worker| worker.subscriptions),
            ("retained_messages", "Retained messages", |worker| worker.retained),
            ("retained_bytes", "Bytes of the same", |worker| {
                worker.retained_bytes
            }),
            ("delayed_messages", "Messages that are not due", |worker| {
                worker.delayed
            }),
        ];
        for (name, help, part) in gauges {
            gauge(encoder, name, help, vec![(vec![], total(part))])?;
        }
        let unsettled = vec![
            (vec![("state", "pending")], total(|worker| worker.pending)),
            (vec![("state", "held")], total(|worker| worker.held)),
        ];
        let help = "Waiting for receipts, or on hold until there is room";
        gauge(encoder, "unsettled_messages", help, unsettled)?;
        self.encode_traffic(encoder)?;
        self.encode_counters(encoder)
    }

    fn encode_traffic(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let attempts = vec![
            (
                vec![("outcome", "accepted")],
                self.sum(|counters| counters.accepted),
            ),
            (
                vec![("outcome", "turned_away")],
                self.sum(|counters| counters.turned_away),
            ),
        ];
        let help = "Connections by what became of them";
        counter(encoder, "connection_attempts", help, attempts)?;
        let publishes: [(&str, &str, Count); 6] = [
            ("in", "0", |counters| counters.received[0]),
            ("in", "1", |counters| counters.received[1]),
            ("in", "2", |counters| counters.received[2]),
            ("out", "0", |counters| counters.sent[0]),
            ("out", "1", |counters| counters.sent[1]),
            ("out", "2", |counters| counters.sent[2]),
        ];
        let series =
            publishes.map(|(way, qos, part)| (vec![("direction", way), ("qos", qos)], self.sum(part)));
        counter(encoder, "publish_packets", "PUBLISH packets", series.into())?;
        let dropped: [(&str, Count); 5] = [
            ("queue_full", |counters| counters.dropped_queue_full),
            ("expired", |counters| counters.dropped_expired),
            ("too_large", |counters| counters.dropped_too_large),
            ("qos0", |counters| counters.dropped_qos0),
            ("no_member", |counters| counters.dropped_no_member),
        ];
        let series = dropped.map(|(cause, part)| (vec![("cause", cause)], self.sum(part)));
        let help = "Deliveries that did not reach a subscriber";
        counter(encoder, "dropped_deliveries", help, series.into())
    }

    fn encode_counters(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let counters: [(&str, &str, Count); 6] = [
            (
                "refused_publishes",
                "Messages on topics of the broker's own, or that could not be delayed",
                |counters| counters.refused_topics,
            ),
            (
                "retained_refused",
                "Messages that found no room to be retained",
                |counters| counters.retained_refused,
            ),
            ("malformed_packets", "Bytes that were no packet", |counters| {
                counters.malformed
            }),
            (
                "forwarded_messages",
                "Messages handed to another worker",
                |counters| counters.forwarded,
            ),
            ("worker_ticks", "Rounds of the workers' loops", |counters| {
                counters.ticks
            }),
            ("socket_reads", "Reads that brought bytes", |counters| {
                counters.reads
            }),
        ];
        for (name, help, part) in counters {
            counter(encoder, name, help, vec![(vec![], self.sum(part))])?;
        }
        Ok(())
    }

    fn sum(&self, part: fn(&Counters) -> u64) -> u64 {
        self.0.workers.iter().map(|worker| part(&worker.counters)).sum()
    }

    fn encode_rules(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let (mut messages, mut calls, mut effects) = (Vec::new(), Vec::new(), Vec::new());
        let mut modules = Vec::new();
        for rule in &self.0.rules {
            let counts = &rule.counts;
            let name = rule.name.as_str();
            let outcomes = [
                ("matched", counts.matched),
                ("passed", counts.passed),
                ("dropped", counts.dropped),
                ("rejected", counts.rejected),
                ("dead_lettered", counts.dead_lettered),
                ("failed", counts.failed),
            ];
            messages
                .extend(outcomes.map(|(outcome, count)| (vec![("rule", name), ("outcome", outcome)], count)));
            if let Some(module) = &rule.module {
                modules.push((vec![("rule", name), ("module", module.as_str())], 1));
            }
            calls.push((vec![("rule", name)], counts.calls));
            effects.push((vec![("rule", name), ("effect", "publish")], counts.published));
            effects.push((vec![("rule", name), ("effect", "emit")], counts.emitted));
        }
        gauge(encoder, "rule_module", "The module that serves a rule", modules)?;
        let help = "Messages of a rule; matched is the sum of the others";
        counter(encoder, "rule_messages", help, messages)?;
        counter(encoder, "rule_calls", "Guest calls of a rule", calls)?;
        counter(
            encoder,
            "rule_effects",
            "Publications and records of a rule",
            effects,
        )
    }

    fn encode_sinks(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let (mut records, mut pending, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
        let (mut batches, mut retries, mut healthy) = (Vec::new(), Vec::new(), Vec::new());
        for (name, sink) in &self.0.sinks {
            let counts = &sink.counts;
            let label = || vec![("sink", name.as_str())];
            let outcomes = [
                ("accepted", counts.accepted),
                ("delivered", counts.delivered),
                ("dead_lettered", counts.dead_lettered),
                ("refused", counts.refused),
                ("dropped", counts.dropped),
                ("expired", counts.expired),
            ];
            let series = |(outcome, count)| (vec![("sink", name.as_str()), ("outcome", outcome)], count);
            records.extend(outcomes.map(series));
            pending.push((label(), counts.pending));
            bytes.push((label(), counts.pending_bytes));
            batches.push((label(), counts.batches));
            retries.push((label(), counts.retries));
            healthy.push((label(), u64::from(sink.state.is_healthy())));
        }
        let help = "Records of a sink; accepted is the sum of the others and of tidegate_sink_pending";
        counter(encoder, "sink_records", help, records)?;
        gauge(
            encoder,
            "sink_pending",
            "Records that wait for their sink",
            pending,
        )?;
        gauge(encoder, "sink_pending_bytes", "Bytes of the same", bytes)?;
        counter(encoder, "sink_batches", "Batches that a sink confirmed", batches)?;
        counter(
            encoder,
            "sink_retries",
            "Batches that had to be tried again",
            retries,
        )?;
        gauge(
            encoder,
            "sink_healthy",
            "1 while a sink stores what it gets",
            healthy,
        )
    }
}

fn counter(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    series: Vec<Series<'_>>,
) -> fmt::Result {
    let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
    for (labels, value) in series {
        let counter = ConstCounter::new(value);
        // A metric without labels has one series.
        if labels.is_empty() {
            return counter.encode(metric);
        }
        counter.encode(metric.encode_family(&labels)?)?;
    }
    Ok(())
}

fn gauge(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    series: Vec<Series<'_>>,
) -> fmt::Result {
    let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
    for (labels, value) in series {
        let value = i64::try_from(value).unwrap_or(i64::MAX);
        let gauge = ConstGauge::new(value);
        // A metric without labels has one series.
        if labels.is_empty() {
            return gauge.encode(metric);
        }
        gauge.encode(metric.encode_family(&labels)?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::RuleCounts;
    use crate::telemetry::RuleSnapshot;
    use tidegate_sinks::SinkSnapshot;

    #[test]
    fn rules_and_sinks_have_their_series() {
        let counts = RuleCounts {
            matched: 3,
            passed: 2,
            dropped: 1,
            ..RuleCounts::default()
        };
        let mut sink = SinkSnapshot::default();
        sink.counts.accepted = 5;
        sink.counts.pending = 5;
        let snapshot = NodeSnapshot {
            workers: vec![
                WorkerSnapshot {
                    connections: 2,
                    ..WorkerSnapshot::default()
                };
                2
            ],
            rules: vec![RuleSnapshot {
                name: "clean".into(),
                module: None,
                counts,
            }],
            sinks: vec![("rows".into(), sink)],
        };
        let text = expose(snapshot).unwrap();
        for line in [
            "tidegate_connections 4",
            "tidegate_rule_messages_total{rule=\"clean\",outcome=\"matched\"} 3",
            "tidegate_rule_messages_total{rule=\"clean\",outcome=\"dropped\"} 1",
            "tidegate_sink_records_total{sink=\"rows\",outcome=\"accepted\"} 5",
            "tidegate_sink_pending{sink=\"rows\"} 5",
            "tidegate_sink_healthy{sink=\"rows\"} 1",
            "# EOF",
        ] {
            assert!(
                text.lines().any(|found| found == line),
                "{line} is not in\n{text}"
            );
        }
    }
}
