//! Commits what a guest call decided: the call has returned ok, and every effect is checked and granted.

use std::sync::Arc;

use bytes::Bytes;
use tidegate_codec::{Message, Properties};
use tidegate_rules::{Action, Body, Code, Effect, Failure, MessageView, Outcome, SinkIndex};
use tidegate_sinks::Gate;

use super::admit::Transit;
use super::{Arrival, Fate, Pipeline};

/// One guest call: which rule, which messages.
pub(super) struct Call<'a> {
    /// Of the rule.
    pub position: usize,
    /// Place in transit of each message of the batch.
    pub messages: &'a [usize],
    /// Milliseconds since the Unix epoch.
    pub unix_ms: u64,
}

/// A message as a module may see it.
pub(super) fn view(transit: &Transit) -> MessageView<'_> {
    let arrival = &transit.arrival;
    let publisher = arrival.publisher.as_deref();
    MessageView {
        topic: &arrival.message.topic,
        payload: &arrival.message.payload,
        qos: arrival.message.qos,
        retain: arrival.message.retain,
        client: arrival.origin.map_or(0, |origin| origin.client.generation),
        received_ms: arrival.received_at_ms,
        client_id: publisher.map_or("", |publisher| publisher.client_id.as_str()),
        username: publisher
            .and_then(|publisher| publisher.username.as_deref())
            .unwrap_or(""),
        properties: arrival.message.properties.block(),
    }
}

impl Pipeline {
    /// Applies codes and effects to the messages of the call, and counts each message once.
    pub(super) fn apply(
        &mut self,
        call: &Call<'_>,
        outcome: &mut Outcome,
        failures: &mut Vec<(u32, Failure)>,
    ) {
        let all_pass = outcome.effects().is_empty() && outcome.codes().iter().all(|code| *code == Code::Pass);
        if all_pass && failures.is_empty() {
            self.count(call, |counts| counts.passed += call.messages.len() as u64);
            return;
        }
        let ends = |code: &Code| matches!(code, Code::Drop | Code::DropWithEffects);
        for (code, index) in outcome.codes().iter().zip(call.messages) {
            if let Some(transit) = self.transit.get_mut(*index).filter(|_| ends(code)) {
                transit.fate = Fate::Ended;
            }
        }
        let mut verdicts = vec![Verdict::Undecided; call.messages.len()];
        for effect in outcome.drain_effects() {
            let position = effect.message as usize;
            let Some(index) = call.messages.get(position).copied() else {
                continue;
            };
            if let (Some(verdict), Some(slot)) =
                (self.commit(call, index, effect), verdicts.get_mut(position))
            {
                *slot = verdict;
            }
        }
        for (message, failure) in failures.drain(..) {
            let position = message as usize;
            let Some(index) = call.messages.get(position).copied() else {
                continue;
            };
            self.dead_letter(call, index, &failure.to_string());
            if let Some(verdict) = verdicts.get_mut(position) {
                *verdict = Verdict::Failed;
            }
        }
        for (verdict, index) in verdicts.iter().zip(call.messages) {
            let routed = self
                .transit
                .get(*index)
                .is_some_and(|transit| transit.fate == Fate::Route);
            self.count(call, |counts| match verdict {
                Verdict::Rejected => counts.rejected += 1,
                Verdict::DeadLettered => counts.dead_lettered += 1,
                Verdict::Failed => counts.failed += 1,
                Verdict::Undecided if routed => counts.passed += 1,
                Verdict::Undecided => counts.dropped += 1,
            });
        }
    }

    fn count(&mut self, call: &Call<'_>, count: impl FnOnce(&mut super::RuleCounts)) {
        if let Some(link) = self.links.get_mut(call.position) {
            count(&mut link.counts);
        }
    }

    fn commit(&mut self, call: &Call<'_>, index: usize, effect: Effect) -> Option<Verdict> {
        match effect.action {
            Action::Rewrite {
                topic,
                payload,
                properties,
            } => {
                let message = &mut self.transit.get_mut(index)?.arrival.message;
                message.topic = topic.unwrap_or_else(|| message.topic.clone());
                message.payload = payload.unwrap_or_else(|| message.payload.clone());
                if let Some(block) = properties {
                    message.properties = checked(block);
                }
                None
            }
            Action::Reject { reason, text } => {
                tracing::debug!(rule = %self.rule_name(call.position), ?reason, %text, "message rejected");
                self.end(index, Fate::Refused(reason));
                Some(Verdict::Rejected)
            }
            Action::DeadLetter { reason } => {
                self.dead_letter(call, index, &reason);
                Some(Verdict::DeadLettered)
            }
            Action::Publish {
                topic,
                body,
                qos,
                retain,
                properties,
            } => {
                let cause = self.transit.get(index)?;
                let payload = self.body(index, body)?;
                let properties = checked(properties);
                let arrival = Arrival {
                    origin: None,
                    message: Message {
                        topic,
                        payload,
                        properties,
                        qos,
                        retain,
                    },
                    publisher: cause.arrival.publisher.clone(),
                    received: cause.arrival.received,
                    received_at_ms: cause.arrival.received_at_ms,
                };
                let root = cause.root;
                self.push(arrival, call.position + 1, Some(root));
                self.count(call, |counts| counts.published += 1);
                None
            }
            Action::Emit {
                sink: SinkIndex(sink),
                gate,
                key,
                body,
                headers,
            } => {
                let sink = sink as usize;
                let own_gate = self.outlets.get(sink)?.gate();
                let gate = gate.map_or(own_gate, |gate| gate_of(gate, own_gate));
                let mut record = self.record(index, gate, &body)?;
                record.key = key.map(|key| Bytes::copy_from_slice(&key));
                record.headers = Bytes::copy_from_slice(&headers);
                self.submit(sink, call.position, record);
                None
            }
        }
    }

    fn body(&self, index: usize, body: Body) -> Option<Bytes> {
        match body {
            Body::Bytes(bytes) => Some(bytes),
            Body::Original => Some(self.transit.get(index)?.arrival.message.payload.clone()),
        }
    }

    /// Ends the message and keeps it: its publisher is acknowledged once the dead letter is stored.
    fn dead_letter(&mut self, call: &Call<'_>, index: usize, reason: &str) {
        self.end(index, Fate::Ended);
        let origin = Arc::clone(&self.rule_name(call.position));
        if let Some(record) = self.record(index, Gate::Durable, &Body::Original) {
            self.dead_letters
                .push(record.dead_letter(origin, reason, call.unix_ms));
        }
    }

    fn end(&mut self, index: usize, fate: Fate) {
        if let Some(transit) = self.transit.get_mut(index) {
            transit.fate = fate;
        }
    }
}

/// A property block of a module. The engine has checked it: an error here would be a difference between two checks.
fn checked(block: Bytes) -> Properties {
    Properties::of_publish(block).unwrap_or_else(|error| {
        tracing::error!(%error, "properties of a module left out");
        Properties::empty()
    })
}

/// What a module decided about one message beyond its code.
#[derive(Debug, Clone, Copy)]
enum Verdict {
    Undecided,
    Rejected,
    DeadLettered,
    Failed,
}

/// The gate a record asks for, as far as its sink can give it: `buffered` without a log is `durable`.
fn gate_of(asked: Gate, own: Gate) -> Gate {
    match asked {
        Gate::Buffered if own != Gate::Buffered => Gate::Durable,
        asked => asked,
    }
}
