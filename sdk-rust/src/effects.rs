//! What a rule does beside its verdict, packed as it goes.
//!
//! Invariant: a failed or abandoned effect is not in the index, and after an `Err` from the rule
//! nothing of that message is in the output.
//! Deliberately does not: commit. The broker does, for a whole batch, once the module has returned.

use std::mem;

use serde::Serialize;

use crate::verdict::{Rewrite, Verdict};
use crate::wire::{EFFECT_WORDS, EffectRecord, Span, code, flag, kind};
use crate::{Emission, Error, Publication, QoS, host};

/// Where a rule puts messages of its own and records for sinks.
#[derive(Debug, Default)]
pub struct Effects {
    words: Vec<u32>,
    arena: Vec<u8>,
    codes: Vec<u8>,
    /// Answers of the host by sink name: asked once per instance.
    sinks: Vec<(String, Result<u32, String>)>,
    /// The message being decided: its position, its QoS, and how much was there before it.
    message: u32,
    qos: QoS,
    words_before: usize,
    arena_before: usize,
    /// Sizes of the last batch with effects, so that the next allocates once.
    words_expected: usize,
    arena_expected: usize,
}

/// What a batch hands back, in the layout of the WIT record `outcome`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Packed {
    /// One code per message, or empty: all pass.
    pub codes: Vec<u8>,
    /// Twelve words per effect.
    pub effects: Vec<u32>,
    /// What they point into.
    pub arena: Vec<u8>,
}

impl Effects {
    /// Publishes a message of the rule's own, to a topic that `publish` in the manifest covers. Rules later in the
    /// chain see it, this one does not. Finish with `.json(…)`, `.payload(…)` or `.original()`.
    #[inline]
    pub fn publish(&mut self, topic: impl AsRef<str>) -> Publication<'_> {
        let qos = self.qos;
        Publication::new(self.draft(kind::PUBLISH), topic.as_ref(), qos)
    }

    /// Writes a record to a sink that `sinks` in the manifest lists. Finish with `.json(…)`, `.body(…)` or
    /// `.original()`.
    #[inline]
    pub fn emit(&mut self, sink: &str) -> Emission<'_> {
        let opened = self.open(sink);
        let mut draft = self.draft(kind::EMIT);
        match opened {
            Ok(id) => draft.record.target = id,
            Err(error) => draft.fail(error),
        }
        Emission::new(draft)
    }

    #[inline]
    pub(crate) fn begin(&mut self, message: u32, qos: QoS) {
        self.message = message;
        self.qos = qos;
        self.words_before = self.words.len();
        self.arena_before = self.arena.len();
    }

    /// Packs the verdict on the message begun last.
    #[inline]
    pub(crate) fn close(&mut self, decision: Result<Verdict, String>) {
        // The way of most messages, short enough to stand in the loop over the batch.
        let passes = matches!(decision, Ok(Verdict::Pass));
        if !passes || !self.codes.is_empty() || self.words.len() != self.words_before {
            self.pack(decision);
        }
    }

    fn pack(&mut self, decision: Result<Verdict, String>) {
        let code = match decision {
            Ok(Verdict::Pass) if self.words.len() == self.words_before => code::PASS,
            Ok(Verdict::Pass) => code::PASS_WITH_EFFECTS,
            Ok(Verdict::Drop) if self.words.len() == self.words_before => code::DROP,
            Ok(Verdict::Drop) => code::DROP_WITH_EFFECTS,
            Ok(Verdict::Rewrite(rewrite)) => match self.rewrite(rewrite) {
                Ok(()) => code::PASS_WITH_EFFECTS,
                Err(error) => self.abandon(&error.to_string()),
            },
            Ok(Verdict::Reject(reason, text)) => self.conclude(kind::REJECT, reason as u32, &text),
            Ok(Verdict::DeadLetter(reason)) => self.conclude(kind::DEAD_LETTER, 0, &reason),
            Err(reason) => self.abandon(&reason),
        };
        self.code(code);
    }

    /// Hands the batch out and starts an empty one.
    pub(crate) fn take(&mut self) -> Packed {
        if !self.words.is_empty() {
            self.words_expected = self.words.len();
            self.arena_expected = self.arena.len();
        }
        let codes = mem::take(&mut self.codes);
        Packed {
            codes,
            effects: mem::take(&mut self.words),
            arena: mem::take(&mut self.arena),
        }
    }

    #[inline]
    fn code(&mut self, code: u8) {
        // An empty list says that all pass, so the first code that says more brings the ones before it along.
        if code != code::PASS || !self.codes.is_empty() {
            self.codes.resize(self.message as usize, code::PASS);
            self.codes.push(code);
        }
    }

    fn abandon(&mut self, reason: &str) -> u8 {
        self.words.truncate(self.words_before);
        self.arena.truncate(self.arena_before);
        self.conclude(kind::DEAD_LETTER, 0, reason)
    }

    fn conclude(&mut self, kind: u32, target: u32, text: &str) -> u8 {
        let mut draft = self.draft(kind);
        draft.record.target = target;
        draft.record.body = draft.append(text.as_bytes());
        draft.record.flags = flag::BODY_BYTES;
        draft.commit();
        code::PASS_WITH_EFFECTS
    }

    fn rewrite(&mut self, rewrite: Rewrite) -> Result<(), Error> {
        let mut draft = self.draft(kind::REWRITE);
        if let Some(topic) = &rewrite.topic {
            draft.topic(topic);
        }
        if let Some(block) = &rewrite.properties {
            draft.record.extra = draft.append(block);
            draft.record.flags |= flag::PROPERTIES;
        }
        match rewrite.payload {
            Some(payload) => draft.finish(&payload),
            None => draft.finish_original(),
        }
    }

    #[inline]
    fn open(&mut self, name: &str) -> Result<u32, Error> {
        match self.sinks.iter().find(|(sink, _)| sink == name) {
            Some((_, Ok(id))) => Ok(*id),
            _ => self.ask(name),
        }
    }

    #[cold]
    fn ask(&mut self, name: &str) -> Result<u32, Error> {
        let known = self
            .sinks
            .iter()
            .find(|(sink, _)| sink == name)
            .map(|(_, answer)| answer.clone());
        let answer = known.unwrap_or_else(|| {
            let answer = host::open_sink(name);
            self.sinks.push((name.to_owned(), answer.clone()));
            answer
        });
        answer.map_err(|reason| Error::Sink {
            name: name.to_owned(),
            reason,
        })
    }

    #[inline]
    fn draft(&mut self, kind: u32) -> Draft<'_> {
        if self.words.is_empty() {
            self.words.reserve(self.words_expected.max(EFFECT_WORDS));
            self.arena.reserve(self.arena_expected);
        }
        let start = self.arena.len();
        let record = EffectRecord {
            kind,
            message: self.message,
            ..EffectRecord::default()
        };
        Draft {
            effects: self,
            record,
            start,
            error: None,
        }
    }
}

/// An effect being written: its parts are in the arena already, its record is not in the index yet.
pub(crate) struct Draft<'e> {
    effects: &'e mut Effects,
    pub(crate) record: EffectRecord,
    start: usize,
    error: Option<Error>,
}

impl Draft<'_> {
    #[inline]
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Span {
        let start = self.effects.arena.len();
        self.effects.arena.extend_from_slice(bytes);
        Span::since(start, &self.effects.arena)
    }

    /// [MQTT-3.3.2-2] and [MQTT-4.7.3-1]: no wildcards, no NUL, at least one character, at most 65,535 bytes.
    pub(crate) fn topic(&mut self, topic: &str) {
        let reason = match topic.as_bytes() {
            [] => "it is empty",
            bytes if bytes.len() > usize::from(u16::MAX) => "it is longer than 65535 bytes",
            bytes if bytes.iter().any(|byte| matches!(byte, b'+' | b'#' | 0)) => {
                "it contains '+', '#' or NUL"
            }
            bytes => {
                self.record.topic = self.append(bytes);
                return;
            }
        };
        self.fail(Error::Topic {
            topic: topic.chars().take(64).collect(),
            reason,
        });
    }

    /// Keeps the first error for whoever finishes the effect.
    pub(crate) fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }

    #[inline]
    pub(crate) fn finish(mut self, body: &[u8]) -> Result<(), Error> {
        if self.error.is_none() {
            self.record.body = self.append(body);
            self.record.flags |= flag::BODY_BYTES;
        }
        self.end()
    }

    #[inline]
    pub(crate) fn finish_json<T: Serialize + ?Sized>(mut self, value: &T) -> Result<(), Error> {
        if self.error.is_none() {
            let start = self.effects.arena.len();
            match serde_json::to_writer(&mut self.effects.arena, value) {
                Ok(()) => self.record.body = Span::since(start, &self.effects.arena),
                Err(error) => self.fail(Error::Serialize(error)),
            }
            self.record.flags |= flag::BODY_BYTES;
        }
        self.end()
    }

    #[inline]
    pub(crate) fn finish_original(mut self) -> Result<(), Error> {
        self.record.flags |= flag::BODY_ORIGINAL;
        self.end()
    }

    #[inline]
    fn end(mut self) -> Result<(), Error> {
        match self.error.take() {
            Some(error) => {
                self.effects.arena.truncate(self.start);
                Err(error)
            }
            None => {
                self.commit();
                Ok(())
            }
        }
    }

    #[inline]
    fn commit(self) {
        self.effects.words.extend_from_slice(&self.record.to_words());
    }
}
