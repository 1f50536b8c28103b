//! The word layouts of `wit/tidegate-broker/handler.wit`, the only place that knows them.
//!
//! Invariant: every word and bit not named there is zero in what is written.
//! Deliberately does not: interpret topics, payloads or verdicts.

/// Words per message in the input index.
pub(crate) const MESSAGE_WORDS: usize = 14;
/// Words per effect in the output.
pub(crate) const EFFECT_WORDS: usize = 12;

/// One message's part of the input index.
pub(crate) type MessageWords = [u32; MESSAGE_WORDS];

/// Codes of the outcome, one per message.
pub(crate) mod code {
    pub(crate) const PASS: u8 = 0;
    pub(crate) const DROP: u8 = 1;
    pub(crate) const PASS_WITH_EFFECTS: u8 = 2;
    pub(crate) const DROP_WITH_EFFECTS: u8 = 3;
}

/// Kinds of payload in the flags of a message: two of four matter to a reader.
pub(crate) mod payload_kind {
    pub(crate) const OMITTED: u32 = 0;
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) const BYTES: u32 = 1;
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) const TEXT: u32 = 2;
}

/// Kinds of effect.
pub(crate) mod kind {
    pub(crate) const REWRITE: u32 = 1;
    pub(crate) const REJECT: u32 = 2;
    pub(crate) const DEAD_LETTER: u32 = 3;
    pub(crate) const PUBLISH: u32 = 4;
    pub(crate) const EMIT: u32 = 5;
}

/// Bits in the flags of an effect.
pub(crate) mod flag {
    pub(crate) const GATE_MASK: u32 = 0b11;
    pub(crate) const QOS_SHIFT: u32 = 2;
    pub(crate) const RETAIN: u32 = 1 << 4;
    pub(crate) const BODY_SHIFT: u32 = 5;
    pub(crate) const BODY_BYTES: u32 = 1 << BODY_SHIFT;
    pub(crate) const BODY_ORIGINAL: u32 = 2 << BODY_SHIFT;
    pub(crate) const PROPERTIES: u32 = 1 << 7;
}

/// A stretch of an arena. Length zero: absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) offset: u32,
    pub(crate) length: u32,
}

impl Span {
    /// The bytes meant. The host promises that every span lies inside; one that does not reads as absent.
    #[inline]
    pub(crate) fn of(self, arena: &[u8]) -> &[u8] {
        let start = self.offset as usize;
        let end = start.saturating_add(self.length as usize);
        arena.get(start..end).unwrap_or_default()
    }

    /// What `arena` has grown by since it was `start` long.
    #[inline]
    pub(crate) fn since(start: usize, arena: &[u8]) -> Self {
        Self {
            offset: word(start),
            length: word(arena.len() - start),
        }
    }
}

/// An effect, field by field.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct EffectRecord {
    pub(crate) kind: u32,
    pub(crate) message: u32,
    /// Sink id or reason code.
    pub(crate) target: u32,
    pub(crate) flags: u32,
    pub(crate) topic: Span,
    pub(crate) key: Span,
    pub(crate) body: Span,
    /// Headers of a record, properties of a publication or rewrite.
    pub(crate) extra: Span,
}

impl EffectRecord {
    pub(crate) fn to_words(self) -> [u32; EFFECT_WORDS] {
        let Self {
            kind,
            message,
            target,
            flags,
            topic,
            key,
            body,
            extra,
        } = self;
        [
            kind,
            message,
            target,
            flags,
            topic.offset,
            topic.length,
            key.offset,
            key.length,
            body.offset,
            body.length,
            extra.offset,
            extra.length,
        ]
    }
}

/// A size as a word. An arena never comes near 4 GiB: a guest's whole memory is smaller.
#[inline]
pub(crate) fn word(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}
