//! Reads what a module returned into an [`Outcome`], and refuses what it may not say.
//!
//! Invariant: on error the outcome is empty. `wit/tidegate-broker/handler.wit` has the layout; every rule of it is
//! checked here, so that nobody behind this file needs to distrust an effect.

use bytes::Bytes;
use wasmtime::component::{ComponentType, Lift};

use crate::actions::Reader;
use crate::grants::Permissions;
use crate::words::{DEAD_LETTER, EFFECT_WORDS, REJECT, REWRITE, Words};
use crate::{Code, Effect, Outcome};

/// Effects that one call may have.
const EFFECTS_MAX: usize = 8192;

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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tidegate_codec::TopicFilter;

    use super::*;
    use crate::{Action, Grants, Manifest, SinkIndex};

    fn permissions() -> Permissions {
        let manifest = b"name = \"m\"\nversion = \"1\"\nsinks = [\"a\", \"b\"]\npublish = [\"#\"]";
        let grants = Grants {
            publish: vec![TopicFilter::new("a/#").unwrap()],
            sinks: vec![("b".to_owned(), SinkIndex(4))],
        };
        Permissions::new(&Manifest::parse(manifest).unwrap(), &grants)
    }

    /// Words that are mostly small, so that many effects are nearly right.
    fn words() -> impl Strategy<Value = [u32; EFFECT_WORDS]> {
        let word = prop_oneof![8 => 0u32..8, 1 => 0u32..256, 1 => any::<u32>()];
        prop::array::uniform12(word)
    }

    proptest! {
        #[test]
        fn whatever_comes_back_is_refused_whole_or_within_the_grants(
            codes in prop::collection::vec(0u8..5, 0..6),
            effects in prop::collection::vec(words(), 0..4),
            arena in prop::collection::vec(prop_oneof![Just(b'a'), Just(b'/'), any::<u8>()], 0..20),
            messages in 1usize..6,
        ) {
            let output = GuestOutcome { codes, effects: effects.concat(), arena };
            let mut outcome = Outcome::new();
            match output.decode(messages, &permissions(), &mut outcome) {
                Err(_) => prop_assert!(outcome.codes().is_empty() && outcome.effects().is_empty()),
                Ok(()) => {
                    prop_assert_eq!(outcome.codes().len(), messages);
                    prop_assert!(outcome.effects().is_sorted_by_key(|effect| effect.message));
                    for effect in outcome.effects() {
                        let code = outcome.codes().get(effect.message as usize);
                        prop_assert!(matches!(code, Some(Code::Effects | Code::DropWithEffects)));
                        match &effect.action {
                            Action::Emit { sink, .. } => prop_assert_eq!(*sink, SinkIndex(4)),
                            Action::Publish { topic, .. } | Action::Rewrite { topic: Some(topic), .. } => {
                                prop_assert!(topic.as_str() == "a" || topic.as_str().starts_with("a/"));
                            }
                            _ => {}
                        }
                    }
                }
            }
        }
    }
}
