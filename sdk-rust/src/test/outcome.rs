//! What a rule under test did, unpacked from the words it handed back.
//!
//! Invariant: reads them as the broker does, and fails on what the broker would refuse.

use serde_json::Value;

use super::Input;
use crate::effects::Packed;
use crate::wire::{EFFECT_WORDS, EffectRecord, Span, code, flag, kind};
use crate::{Gate, QoS, ReasonCode, Rewrite, Verdict};

/// What became of one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The rule's word on it. An `Err` from the rule shows as [`Verdict::DeadLetter`].
    pub verdict: Verdict,
    /// Messages the rule published, in order.
    pub published: Vec<Published>,
    /// Records the rule wrote, in order.
    pub emitted: Vec<Emitted>,
}

/// A message that a rule published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// Its topic.
    pub topic: String,
    /// Its payload.
    pub payload: Vec<u8>,
    /// Its QoS.
    pub qos: QoS,
    /// Whether it is retained.
    pub retain: bool,
    /// Its MQTT 5.0 property block.
    pub properties: Vec<u8>,
}

/// A record that a rule wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Emitted {
    /// The sink's name.
    pub sink: String,
    /// Its partition key, if not the client identifier.
    pub key: Option<Vec<u8>>,
    /// What is stored.
    pub body: Vec<u8>,
    /// Its gate, if not the sink's own.
    pub gate: Option<Gate>,
    /// Its headers.
    pub headers: Vec<(String, Vec<u8>)>,
}

impl Published {
    /// The payload as JSON; `null` if it is something else.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.payload).unwrap_or_default()
    }
}

impl Emitted {
    /// The body as JSON; `null` if it is something else.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

impl Outcome {
    /// The rewritten payload as JSON; `null` if there is none or it is something else.
    pub fn rewritten_json(&self) -> Value {
        match &self.verdict {
            Verdict::Rewrite(Rewrite {
                payload: Some(payload),
                ..
            }) => serde_json::from_slice(payload).unwrap_or_default(),
            _ => Value::Null,
        }
    }
}

#[track_caller]
pub(super) fn unpack(packed: &Packed, messages: &[Input], sinks: &[String]) -> Vec<Outcome> {
    assert!(
        packed.codes.is_empty() || packed.codes.len() == messages.len(),
        "{} codes for {} messages",
        packed.codes.len(),
        messages.len()
    );
    let (records, rest) = packed.effects.as_chunks::<EFFECT_WORDS>();
    assert!(
        rest.is_empty(),
        "{} words are no whole effects",
        packed.effects.len()
    );
    let records: Vec<EffectRecord> = records.iter().map(EffectRecord::from_words).collect();
    assert!(
        records.is_sorted_by_key(|record| record.message),
        "effects are not in the order of their messages"
    );
    let read = |(position, input): (usize, &Input)| {
        let own = records
            .iter()
            .filter(|record| record.message as usize == position);
        let code = packed.codes.get(position).copied().unwrap_or(code::PASS);
        Reader {
            input,
            arena: &packed.arena,
            sinks,
        }
        .outcome(code, own)
    };
    messages.iter().enumerate().map(read).collect()
}

struct Reader<'a> {
    input: &'a Input,
    arena: &'a [u8],
    sinks: &'a [String],
}

impl Reader<'_> {
    #[track_caller]
    fn outcome<'r>(&self, code: u8, records: impl Iterator<Item = &'r EffectRecord>) -> Outcome {
        let drops = matches!(code, code::DROP | code::DROP_WITH_EFFECTS);
        let verdict = if drops { Verdict::Drop } else { Verdict::Pass };
        let mut outcome = Outcome {
            verdict,
            published: Vec::new(),
            emitted: Vec::new(),
        };
        let mut verdicts = 0;
        for record in records {
            assert!(
                matches!(code, code::PASS_WITH_EFFECTS | code::DROP_WITH_EFFECTS),
                "code {code} hides an effect"
            );
            match record.kind {
                kind::PUBLISH => outcome.published.push(self.published(record)),
                kind::EMIT => outcome.emitted.push(self.emitted(record)),
                _ => {
                    outcome.verdict = self.verdict(record);
                    verdicts += 1;
                }
            }
        }
        assert!(
            verdicts <= usize::from(!drops),
            "more than one verdict on a message"
        );
        outcome
    }

    #[track_caller]
    fn verdict(&self, record: &EffectRecord) -> Verdict {
        let own_body = record.flags & flag::BODY_BYTES != 0;
        match record.kind {
            kind::REWRITE => Verdict::Rewrite(Rewrite {
                topic: Some(self.text(record.topic))
                    .filter(|topic| !topic.is_empty())
                    .map(Into::into),
                payload: own_body.then(|| self.bytes(record.body)),
                properties: (record.flags & flag::PROPERTIES != 0).then(|| self.bytes(record.extra)),
            }),
            kind::REJECT => Verdict::reject(reason_code(record.target), self.text(record.body)),
            kind::DEAD_LETTER => Verdict::dead_letter(self.text(record.body)),
            other => panic!("effect of unknown kind {other}"),
        }
    }

    fn published(&self, record: &EffectRecord) -> Published {
        Published {
            topic: self.text(record.topic),
            payload: self.body(record),
            qos: QoS::from_bits(record.flags >> flag::QOS_SHIFT),
            retain: record.flags & flag::RETAIN != 0,
            properties: self.bytes(record.extra),
        }
    }

    #[track_caller]
    fn emitted(&self, record: &EffectRecord) -> Emitted {
        let sink = (record.target as usize)
            .checked_sub(1)
            .and_then(|position| self.sinks.get(position));
        Emitted {
            sink: sink
                .cloned()
                .unwrap_or_else(|| panic!("sink id {} was never given", record.target)),
            key: Some(self.bytes(record.key)).filter(|key| !key.is_empty()),
            body: self.body(record),
            gate: match record.flags & flag::GATE_MASK {
                1 => Some(Gate::None),
                2 => Some(Gate::Buffered),
                3 => Some(Gate::Durable),
                _ => None,
            },
            headers: headers(record.extra.of(self.arena)),
        }
    }

    fn body(&self, record: &EffectRecord) -> Vec<u8> {
        if record.flags & flag::BODY_ORIGINAL != 0 {
            return self.input.payload.clone();
        }
        self.bytes(record.body)
    }

    fn bytes(&self, span: Span) -> Vec<u8> {
        span.of(self.arena).to_vec()
    }

    #[track_caller]
    fn text(&self, span: Span) -> String {
        String::from_utf8(self.bytes(span)).unwrap_or_else(|error| panic!("text is not UTF-8: {error}"))
    }
}

#[track_caller]
fn reason_code(code: u32) -> ReasonCode {
    use ReasonCode::{
        ImplementationSpecificError, NotAuthorized, PayloadFormatInvalid, QuotaExceeded, TopicNameInvalid,
        UnspecifiedError,
    };
    [
        UnspecifiedError,
        ImplementationSpecificError,
        NotAuthorized,
        TopicNameInvalid,
        QuotaExceeded,
        PayloadFormatInvalid,
    ]
    .into_iter()
    .find(|known| *known as u32 == code)
    .unwrap_or_else(|| panic!("unknown reason code {code:#04x}"))
}

#[track_caller]
fn headers(mut block: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut part = move || -> Option<&[u8]> {
        let (length, rest) = block.split_first_chunk::<2>()?;
        let (part, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
        block = rest;
        Some(part)
    };
    let mut pairs = Vec::new();
    while let (Some(name), Some(value)) = (part(), part()) {
        pairs.push((String::from_utf8_lossy(name).into_owned(), value.to_vec()));
    }
    pairs
}

impl EffectRecord {
    fn from_words(words: &[u32; EFFECT_WORDS]) -> Self {
        let span = |offset, length| Span { offset, length };
        let &[kind, message, target, flags, t, tl, k, kl, b, bl, e, el] = words;
        let (topic, key, body, extra) = (span(t, tl), span(k, kl), span(b, bl), span(e, el));
        Self {
            kind,
            message,
            target,
            flags,
            topic,
            key,
            body,
            extra,
        }
    }
}
