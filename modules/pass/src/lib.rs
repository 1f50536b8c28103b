//! Lets every message pass: what a rule costs when it does nothing, and where a new one starts.

use tidegate::{Effects, Message, Verdict, rule};

/// The rule.
#[rule]
pub fn pass(_message: &Message<'_>, _effects: &mut Effects) -> Verdict {
    Verdict::Pass
}
