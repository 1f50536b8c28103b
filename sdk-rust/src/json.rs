//! A payload already read: the optional first argument of a rule.

use std::ops::{Deref, DerefMut};

use serde::Deserialize;

use crate::{Error, Message};

/// The payload as a `T`, which may borrow from it (`Json<Reading<'_>>`). A message whose payload is something else
/// becomes a dead letter that says so, and the rule does not see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Json<T>(pub T);

impl<T> Json<T> {
    /// Reads the payload of `message`.
    ///
    /// # Errors
    /// As [`Message::json`].
    #[inline]
    pub fn read<'a>(message: &Message<'a>) -> Result<Self, Error>
    where
        T: Deserialize<'a>,
    {
        message.json().map(Self)
    }
}

impl<T> Deref for Json<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Json<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}
