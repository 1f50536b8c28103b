//! Turns one packed effect into an [`Action`], or says why the module may not have it.
//!
//! Invariant: every part lies in the arena, texts are UTF-8, topics and sinks are granted, and nothing is set that has no
//! meaning for the kind. Parts share the arena's bytes.

use bytes::Bytes;
use tidegate_codec::{ReasonCode, TopicName};

use crate::blocks;
use crate::grants::Permissions;
use crate::words::{
    BODY, BODY_ABSENT, BODY_BYTES, BODY_ORIGINAL, DEAD_LETTER, EMIT, GATE, PROPERTIES, PUBLISH, QOS, REJECT,
    RETAIN, REWRITE, Words,
};
use crate::{Action, Body};

/// Longest reason text of a reject or dead-letter, in bytes: it travels in packets and tables.
const REASON_BYTES_MAX: usize = 1024;

/// Takes parts out of the arena.
pub(crate) struct Reader<'a> {
    pub(crate) arena: Bytes,
    pub(crate) permissions: &'a Permissions,
}

impl Reader<'_> {
    pub(crate) fn action(&self, effect: &Words) -> Result<Action, String> {
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
