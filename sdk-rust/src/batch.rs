//! One instance of a rule, and how it takes a batch apart.
//!
//! Invariant: every message of a batch gets exactly one verdict, in order.
//! Deliberately does not: know how bytes reach it; `component.rs` and `test` bring them.

use crate::effects::Packed;
use crate::wire::{MESSAGE_WORDS, word};
use crate::{Config, Effects, Error, Message, Rule, Settings, host};

/// A rule with its settings and its buffers. The broker has one per worker.
pub struct Instance<R: Rule> {
    settings: R::Settings,
    effects: Effects,
}

impl<R: Rule> Instance<R> {
    /// Reads the configuration.
    ///
    /// # Errors
    /// What [`Settings::from_config`] says.
    pub fn start() -> Result<Self, Error> {
        let settings = R::Settings::from_config(&Config::new(host::config()))?;
        Ok(Self {
            settings,
            effects: Effects::default(),
        })
    }

    /// Decides about all messages of a batch.
    ///
    /// # Errors
    /// The length of an index that does not hold whole messages: host and SDK disagree about the layout.
    pub fn handle(&mut self, index: &[u32], arena: &[u8]) -> Result<Packed, usize> {
        let (messages, rest) = index.as_chunks::<MESSAGE_WORDS>();
        if !rest.is_empty() {
            return Err(index.len());
        }
        for (position, words) in messages.iter().enumerate() {
            let message = Message::view(words, arena);
            self.effects.begin(word(position), message.qos());
            let decision = R::decide(&self.settings, &message, &mut self.effects);
            self.effects.close(decision);
        }
        Ok(self.effects.take())
    }
}

#[cfg(test)]
mod tests {
    use super::Instance;
    use crate::wire::{EFFECT_WORDS, MESSAGE_WORDS, code};
    use crate::{Effects, Message, Rule, Verdict};

    /// Drops what carries the retain flag, remarks on what has no topic.
    struct Sieve;

    impl Rule for Sieve {
        type Settings = ();
        const MANIFEST: &'static str = "";

        fn decide((): &(), message: &Message<'_>, effects: &mut Effects) -> Result<Verdict, String> {
            if message.topic().is_empty() {
                effects
                    .publish("remarks")
                    .payload("!")
                    .map_err(|error| error.to_string())?;
            }
            Ok(if message.retain() {
                Verdict::Drop
            } else {
                Verdict::Pass
            })
        }
    }

    fn index(flags: &[(bool, bool)]) -> Vec<u32> {
        let message = |&(topic, retain): &(bool, bool)| {
            let mut words = [0; MESSAGE_WORDS];
            words[1] = u32::from(topic);
            words[4] = u32::from(retain) << 2;
            words
        };
        flags.iter().flat_map(message).collect()
    }

    fn sieve() -> Instance<Sieve> {
        Instance::start().expect("no settings to refuse")
    }

    #[test]
    fn a_batch_that_passes_hands_back_nothing_at_all() {
        let packed = sieve()
            .handle(&index(&[(true, false); 64]), b"t")
            .expect("whole messages");
        assert_eq!(
            (
                packed.codes.capacity(),
                packed.effects.capacity(),
                packed.arena.capacity()
            ),
            (0, 0, 0)
        );
    }

    #[test]
    fn codes_say_drop_and_whether_there_are_effects() {
        let batch = index(&[
            (true, false),
            (true, true),
            (false, false),
            (false, true),
            (true, false),
        ]);
        let mut sieve = sieve();
        for _ in 0..2 {
            let packed = sieve.handle(&batch, b"t").expect("whole messages");
            let expected = [
                code::PASS,
                code::DROP,
                code::PASS_WITH_EFFECTS,
                code::DROP_WITH_EFFECTS,
                code::PASS,
            ];
            assert_eq!(packed.codes, expected);
            let (effects, rest) = packed.effects.as_chunks::<EFFECT_WORDS>();
            assert_eq!(rest, [0; 0]);
            assert_eq!(effects.iter().map(|words| words[1]).collect::<Vec<_>>(), [2, 3]);
        }
    }

    #[test]
    fn spans_outside_the_arena_read_as_absent() {
        let mut words = index(&[(true, false)]);
        words[0] = u32::MAX;
        words[1] = u32::MAX;
        let packed = sieve().handle(&words, b"t").expect("whole messages");
        assert_eq!(packed.codes, [code::PASS_WITH_EFFECTS], "the topic is absent");
    }

    #[test]
    fn half_a_message_is_refused() {
        let index = [0; MESSAGE_WORDS + 3];
        assert_eq!(sieve().handle(&index, b"").expect_err("not whole"), 17);
    }
}
