//! Reads what a module returned into an [`Outcome`], and refuses what it may not say.
//!
//! Invariant: on error the outcome is empty. `wit/tidegate-broker/handler.wit` has the layout; every rule of it is
//! checked here, so that nobody behind this file needs to distrust an effect.

use bytes::Bytes;
use tidegate_codec::{QoS, ReasonCode, TopicName};
use tidegate_sinks::Gate;
use wasmtime::component::{ComponentType, Lift};

use crate::blocks;
use crate::grants::Permissions;
use crate::{Action, Body, Code, Effect, Outcome};

/// Words of `effects` per effect.
const EFFECT_WORDS: usize = 12;

/// Effects that one call may have.
const EFFECTS_MAX: usize = 8192;

/// Longest reason text of a reject or dead-letter, in bytes: it travels in packets and tables.
const REASON_BYTES_MAX: usize = 1024;

/// `handler.outcome`. Empty lists cost no allocation, so a batch that passes costs none for effects.
#[derive(ComponentType, Lift)]
#[component(record)]
pub(crate) struct GuestOutcome {
    #[component(name = "codes")]
    codes: Vec<u8>,
    #[component(name = "effects")]
    effects: Vec<u32>,
    #[component(name = "arena")]
    arena: Vec<u8>,
}

/// `handler.failure`.
#[derive(ComponentType, Lift)]
#[component(variant)]
pub(crate) enum GuestFailure {
    #[component(name = "invalid")]
    Invalid(String),
    #[component(name = "fatal")]
    Fatal(String),
}

impl GuestOutcome {
    /// Fills `outcome`, which is empty, for a batch of `messages`.
    pub(crate) fn decode(
        self,
        messages: usize,
        permissions: &Permissions,
        outcome: &mut Outcome,
    ) -> Result<(), String> {
        decode_codes(&self.codes, messages, &mut outcome.codes)?;
        let result = match self.effects.is_empty() {
            true => Ok(()),
            false => {
                let arena = Bytes::from(self.arena);
                decode_effects(&self.effects, &Reader { arena, permissions }, outcome)
            }
        };
        if result.is_err() {
            outcome.clear();
        }
        result
    }
}

fn decode_codes(bytes: &[u8], messages: usize, codes: &mut Vec<Code>) -> Result<(), String> {
    if bytes.is_empty() {
        codes.resize(messages, Code::Pass);
        return Ok(());
    }
    if bytes.len() != messages {
        return Err(format!("{} codes for {messages} messages", bytes.len()));
    }
    codes.extend(bytes.iter().map(|byte| match byte {
        0 => Code::Pass,
        1 => Code::Drop,
        2 => Code::Effects,
        // Also what is no code: looked for below, so that this loop has no exit.
        _ => Code::DropWithEffects,
    }));
    match bytes.iter().position(|byte| *byte > 3) {
        None => Ok(()),
        Some(message) => {
            codes.clear();
            let code = bytes.get(message).copied().unwrap_or_default();
            Err(format!("message {message} has code {code}; codes are 0 to 3"))
        }
    }
}

fn decode_effects(words: &[u32], reader: &Reader<'_>, outcome: &mut Outcome) -> Result<(), String> {
    let (effects, rest) = words.as_chunks::<EFFECT_WORDS>();
    if !rest.is_empty() {
        return Err(format!(
            "{} words of effects are no multiple of {EFFECT_WORDS}",
            words.len()
        ));
    }
    if effects.len() > EFFECTS_MAX {
        return Err(format!(
            "{} effects in one call; the limit is {EFFECTS_MAX}",
            effects.len()
        ));
    }
    outcome.effects.reserve(effects.len());
    let mut order = Order::default();
    for (position, words) in effects.iter().enumerate() {
        let effect = Words::split(*words);
        let action = order
            .admit(&effect, &outcome.codes)
            .and_then(|()| reader.action(&effect))
            .map_err(|problem| format!("effect {position} ({}): {problem}", effect.kind_name()))?;
        outcome.effects.push(Effect {
            message: effect.message,
            action,
        });
    }
    Ok(())
}

/// One effect's words under their names.
struct Words {
    kind: u32,
    message: u32,
    target: u32,
    flags: Flags,
    topic: [u32; 2],
    key: [u32; 2],
    body: [u32; 2],
    headers: [u32; 2],
}

const REWRITE: u32 = 1;
const REJECT: u32 = 2;
const DEAD_LETTER: u32 = 3;
const PUBLISH: u32 = 4;
const EMIT: u32 = 5;

impl Words {
    fn split(words: [u32; EFFECT_WORDS]) -> Self {
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

    fn kind_name(&self) -> &'static str {
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
    fn only(&self, flags: u32, unused: &[(&str, [u32; 2])]) -> Result<(), String> {
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
struct Flags(u32);

const GATE: u32 = 0b11;
const QOS: u32 = 0b11 << 2;
const RETAIN: u32 = 1 << 4;
const BODY: u32 = 0b11 << 5;
const PROPERTIES: u32 = 1 << 7;

const BODY_ABSENT: u32 = 0;
const BODY_BYTES: u32 = 1;
const BODY_ORIGINAL: u32 = 2;

impl Flags {
    fn gate(self) -> Option<Gate> {
        match self.0 & GATE {
            1 => Some(Gate::None),
            2 => Some(Gate::Buffered),
            3 => Some(Gate::Durable),
            _ => None,
        }
    }

    fn qos(self) -> Result<QoS, String> {
        u8::try_from((self.0 & QOS) >> 2)
            .ok()
            .and_then(QoS::from_bits)
            .ok_or_else(|| "QoS 3 does not exist [MQTT-3.3.1-4]".to_owned())
    }

    fn body(self) -> u32 {
        (self.0 & BODY) >> 5
    }
}

/// Effects come in the order of the messages, for messages whose code announces them.
#[derive(Default)]
struct Order {
    message: u32,
    /// The current message already has a rewrite, reject or dead-letter.
    decided: bool,
}

impl Order {
    fn admit(&mut self, effect: &Words, codes: &[Code]) -> Result<(), String> {
        let message = effect.message;
        if message < self.message {
            return Err(format!("message {message} after message {}", self.message));
        }
        if message > self.message {
            *self = Self {
                message,
                decided: false,
            };
        }
        let code = usize::try_from(message)
            .ok()
            .and_then(|message| codes.get(message));
        let decides = matches!(effect.kind, REWRITE | REJECT | DEAD_LETTER);
        match code {
            None => Err(format!(
                "there is no message {message} in the batch of {}",
                codes.len()
            )),
            Some(Code::DropWithEffects) if decides => {
                Err(format!("message {message} is dropped by its code"))
            }
            Some(Code::Effects | Code::DropWithEffects) if decides && self.decided => Err(format!(
                "message {message} is already rewritten, rejected or dead-lettered"
            )),
            Some(Code::Effects | Code::DropWithEffects) => {
                self.decided |= decides;
                Ok(())
            }
            Some(_) => Err(format!("the code of message {message} announces no effects")),
        }
    }
}

/// Takes parts out of the arena.
struct Reader<'a> {
    arena: Bytes,
    permissions: &'a Permissions,
}

impl Reader<'_> {
    fn action(&self, effect: &Words) -> Result<Action, String> {
        match effect.kind {
            REWRITE => self.rewrite(effect),
            REJECT => {
                effect.only(
                    BODY,
                    &[
                        ("topic", effect.topic),
                        ("key", effect.key),
                        ("header", effect.headers),
                    ],
                )?;
                Ok(Action::Reject {
                    reason: reason(effect.target)?,
                    text: self.reason_text(effect)?,
                })
            }
            DEAD_LETTER => {
                effect.only(
                    BODY,
                    &[
                        ("topic", effect.topic),
                        ("key", effect.key),
                        ("header", effect.headers),
                    ],
                )?;
                Ok(Action::DeadLetter {
                    reason: self.reason_text(effect)?,
                })
            }
            PUBLISH => self.publish(effect),
            EMIT => self.emit(effect),
            kind => Err(format!("there is no effect of kind {kind}")),
        }
    }

    fn rewrite(&self, effect: &Words) -> Result<Action, String> {
        effect.only(BODY | PROPERTIES, &[("key", effect.key)])?;
        let topic = match effect.topic {
            [_, 0] => None,
            topic => Some(self.topic(topic)?),
        };
        let payload = match self.body(effect)? {
            Some(Body::Bytes(bytes)) => Some(bytes),
            Some(Body::Original) | None => None,
        };
        let properties = match effect.flags.0 & PROPERTIES {
            0 if effect.headers[1] != 0 => {
                return Err("properties are given, but flag bit 7 is not".to_owned());
            }
            0 => None,
            _ => Some(self.properties(effect.headers)?),
        };
        Ok(Action::Rewrite {
            topic,
            payload,
            properties,
        })
    }

    fn publish(&self, effect: &Words) -> Result<Action, String> {
        effect.only(QOS | RETAIN | BODY, &[("key", effect.key)])?;
        Ok(Action::Publish {
            topic: self.topic(effect.topic)?,
            body: self.body(effect)?.ok_or("the body is absent")?,
            qos: effect.flags.qos()?,
            retain: effect.flags.0 & RETAIN != 0,
            properties: self.properties(effect.headers)?,
        })
    }

    fn emit(&self, effect: &Words) -> Result<Action, String> {
        effect.only(GATE | BODY, &[("topic", effect.topic)])?;
        let id = effect.target;
        let sink = self
            .permissions
            .sink(id)
            .ok_or_else(|| format!("sink id {id} is none that `sinks.open` gave out"))?;
        let headers = self.part("headers", effect.headers)?;
        blocks::check_headers(&headers)?;
        let key = self.part("key", effect.key)?;
        Ok(Action::Emit {
            sink,
            gate: effect.flags.gate(),
            key: (!key.is_empty()).then_some(key),
            body: self.body(effect)?.ok_or("the body is absent")?,
            headers,
        })
    }

    fn part(&self, name: &str, [offset, length]: [u32; 2]) -> Result<Bytes, String> {
        if length == 0 {
            return Ok(Bytes::new());
        }
        let (start, end) = (offset as usize, offset as usize + length as usize);
        match end <= self.arena.len() {
            true => Ok(self.arena.slice(start..end)),
            false => Err(format!(
                "its {name} is bytes {start}..{end} of an arena of {}",
                self.arena.len()
            )),
        }
    }

    fn topic(&self, at: [u32; 2]) -> Result<TopicName, String> {
        let bytes = self.part("topic", at)?;
        let shown = String::from_utf8_lossy(bytes.get(..100).unwrap_or(&bytes)).into_owned();
        let topic = TopicName::from_bytes(bytes).map_err(|e| format!("topic `{shown}`: {e}"))?;
        match self.permissions.refuses_topic(&topic) {
            None => Ok(topic),
            Some(why) => Err(format!("topic `{shown}`: {why}")),
        }
    }

    fn body(&self, effect: &Words) -> Result<Option<Body>, String> {
        match (effect.flags.body(), effect.body) {
            (BODY_BYTES, at) => Ok(Some(Body::Bytes(self.part("body", at)?))),
            (_, [_, length]) if length != 0 => Err("a body is given, but its kind is not bytes".to_owned()),
            (BODY_ABSENT, _) => Ok(None),
            (BODY_ORIGINAL, _) => Ok(Some(Body::Original)),
            _ => Err("there is no body of kind 3".to_owned()),
        }
    }

    fn properties(&self, at: [u32; 2]) -> Result<Bytes, String> {
        let block = self.part("properties", at)?;
        blocks::check_properties(&block).map(|()| block)
    }

    fn reason_text(&self, effect: &Words) -> Result<Box<str>, String> {
        let bytes = match self.body(effect)? {
            None => return Ok(Box::default()),
            Some(Body::Bytes(bytes)) => bytes,
            Some(Body::Original) => return Err("the payload is no reason text".to_owned()),
        };
        let text = std::str::from_utf8(&bytes).map_err(|_| "its reason text is not UTF-8".to_owned())?;
        Ok(Box::from(
            text.get(..text.floor_char_boundary(REASON_BYTES_MAX))
                .unwrap_or(text),
        ))
    }
}

/// What a PUBACK or PUBREC may carry as a refusal (tables 3-4 and 3-5) and a module can mean.
fn reason(code: u32) -> Result<ReasonCode, String> {
    match code {
        0x80 => Ok(ReasonCode::UnspecifiedError),
        0x83 => Ok(ReasonCode::ImplementationSpecificError),
        0x87 => Ok(ReasonCode::NotAuthorized),
        0x90 => Ok(ReasonCode::TopicNameInvalid),
        0x97 => Ok(ReasonCode::QuotaExceeded),
        0x99 => Ok(ReasonCode::PayloadFormatInvalid),
        _ => Err(format!(
            "reason code 0x{code:02x}; it must be 0x80, 0x83, 0x87, 0x90, 0x97 or 0x99"
        )),
    }
}
