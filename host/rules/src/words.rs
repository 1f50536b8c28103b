//! One packed effect under the names of its words. `wit/tidegate-broker/handler.wit` has the layout.
//! Reads and names; what an effect may say is decided in `decode.rs` and `actions.rs`.

use tidegate_codec::QoS;
use tidegate_sinks::Gate;

/// Words of `effects` per effect.
pub(crate) const EFFECT_WORDS: usize = 12;

/// One effect's words under their names.
pub(crate) struct Words {
    pub(crate) kind: u32,
    pub(crate) message: u32,
    pub(crate) target: u32,
    pub(crate) flags: Flags,
    pub(crate) topic: [u32; 2],
    pub(crate) key: [u32; 2],
    pub(crate) body: [u32; 2],
    pub(crate) headers: [u32; 2],
}

pub(crate) const REWRITE: u32 = 1;
pub(crate) const REJECT: u32 = 2;
pub(crate) const DEAD_LETTER: u32 = 3;
pub(crate) const PUBLISH: u32 = 4;
pub(crate) const EMIT: u32 = 5;

impl Words {
    pub(crate) fn split(words: [u32; EFFECT_WORDS]) -> Self {
        let [kind, message, target, flags, t0, t1, k0, k1, b0, b1, h0, h1] = words;
        Self {
            kind,
            message,
            target,
            flags: Flags(flags),
            topic: [t0, t1],
            key: [k0, k1],
            body: [b0, b1],
            headers: [h0, h1],
        }
    }

    pub(crate) fn kind_name(&self) -> &'static str {
        match self.kind {
            REWRITE => "rewrite",
            REJECT => "reject",
            DEAD_LETTER => "dead-letter",
            PUBLISH => "publish",
            EMIT => "emit",
            _ => "unknown kind",
        }
    }

    /// What a kind has no use for must not be there: it may get a meaning.
    pub(crate) fn only(&self, flags: u32, unused: &[(&str, [u32; 2])]) -> Result<(), String> {
        if self.flags.0 & !flags != 0 {
            return Err(format!(
                "flags 0x{:x} have bits that mean nothing here",
                self.flags.0
            ));
        }
        if self.kind != REJECT && self.kind != EMIT && self.target != 0 {
            return Err(format!("word 2 is {}, but means nothing here", self.target));
        }
        match unused.iter().find(|(_, [_, length])| *length != 0) {
            None => Ok(()),
            Some((name, _)) => Err(format!("a {name} means nothing here")),
        }
    }
}

/// The flags word.
#[derive(Clone, Copy)]
pub(crate) struct Flags(pub(crate) u32);

pub(crate) const GATE: u32 = 0b11;
pub(crate) const QOS: u32 = 0b11 << 2;
pub(crate) const RETAIN: u32 = 1 << 4;
pub(crate) const BODY: u32 = 0b11 << 5;
pub(crate) const PROPERTIES: u32 = 1 << 7;

pub(crate) const BODY_ABSENT: u32 = 0;
pub(crate) const BODY_BYTES: u32 = 1;
pub(crate) const BODY_ORIGINAL: u32 = 2;

impl Flags {
    pub(crate) fn gate(self) -> Option<Gate> {
        match self.0 & GATE {
            1 => Some(Gate::None),
            2 => Some(Gate::Buffered),
            3 => Some(Gate::Durable),
            _ => None,
        }
    }

    pub(crate) fn qos(self) -> Result<QoS, String> {
        u8::try_from((self.0 & QOS) >> 2)
            .ok()
            .and_then(QoS::from_bits)
            .ok_or_else(|| "QoS 3 does not exist [MQTT-3.3.1-4]".to_owned())
    }

    pub(crate) fn body(self) -> u32 {
        (self.0 & BODY) >> 5
    }
}
