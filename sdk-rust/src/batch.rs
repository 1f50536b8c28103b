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
