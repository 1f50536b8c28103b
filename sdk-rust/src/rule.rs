//! What `#[rule]` makes of a function.

use std::fmt::Display;

use crate::{Effects, Message, Rewrite, Settings, Verdict};

/// A rule as the broker sees it. `#[rule] fn clean(…)` implements it for a type of the function's own name, so that
/// tests can say [`test::run::<clean>`](crate::test::run).
pub trait Rule {
    /// What the rule keeps for the life of an instance.
    type Settings: Settings;
    /// The text of its module.toml.
    const MANIFEST: &'static str;

    /// Decides about one message. `Err` is the reason for which the message becomes a dead letter.
    ///
    /// # Errors
    /// The rule's own, as text.
    fn decide(
        settings: &Self::Settings,
        message: &Message<'_>,
        effects: &mut Effects,
    ) -> Result<Verdict, String>;
}

/// What a rule may return: a [`Verdict`], or a `Result` of what becomes one with any error that has a text.
pub trait IntoVerdict {
    /// The verdict, or why there is none.
    ///
    /// # Errors
    /// The text of the rule's error.
    fn into_verdict(self) -> Result<Verdict, String>;
}

impl IntoVerdict for Verdict {
    #[inline]
    fn into_verdict(self) -> Result<Verdict, String> {
        Ok(self)
    }
}

impl IntoVerdict for Rewrite {
    #[inline]
    fn into_verdict(self) -> Result<Verdict, String> {
        Ok(self.into())
    }
}

impl<V: Into<Verdict>, E: Display> IntoVerdict for Result<V, E> {
    #[inline]
    fn into_verdict(self) -> Result<Verdict, String> {
        self.map(Into::into).map_err(|error| error.to_string())
    }
}
