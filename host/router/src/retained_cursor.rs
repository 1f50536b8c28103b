//! The retained messages that match a filter, one at a time.
//!
//! ```text
//! filter  plant/+/temp
//! names   plant␀a␀hum            < plant␀a␀temp        jump there
//!         plant␀a␀temp           found                  go on behind it
//!         plant␀a␀temp␀raw       deeper than the filter jump behind plant␀a
//!         plant␀b␀…
//! ```
//!
//! Invariants: names are taken in one fixed order and the cursor's place is a text, not a reference. So it may rest
//! between any two steps while the store changes; a topic that has a message throughout is found exactly once, and what
//! is found is the message of that moment. No name is looked at whose levels before the first wildcard differ from the
//! filter's; after a wildcard, ranges without a match are jumped over.
//! Deliberately does not send: the outbox asks for the next one when it has room.

use std::time::SystemTime;

use tidegate_codec::TopicFilter;

use crate::retained::{Retained, RetainedStore, SEPARATOR};
use crate::trie::stored;

/// A place in the replay of retained messages to one new subscription.
#[derive(Debug, Clone)]
pub struct RetainedCursor {
    filter: TopicFilter,
    until: u64,
    /// No name before this one is left to look at; `None` at the end.
    from: Option<String>,
}

/// What [`RetainedCursor::advance`] came upon.
#[derive(Debug, PartialEq, Eq)]
pub enum Replay<'a> {
    /// The next message.
    Found(&'a Retained),
    /// The steps allowed are used up; there may be more.
    OutOfSteps,
    /// There are no more, now or later.
    Done,
}

/// How a name compares to the filter.
#[derive(Debug, PartialEq, Eq)]
enum Comparison {
    Matches,
    /// It does not match, and neither does any name before this one.
    Before(String),
    /// It does not match, and neither does any name behind it.
    Behind,
}

impl RetainedCursor {
    /// At the start of what matches `filter`. Shared subscriptions get no retained messages (4.8.2): ask for none.
    pub fn new(filter: &TopicFilter) -> Self {
        let (text, _) = stored(filter);
        Self {
            from: Some(start(text)),
            filter: filter.detached(),
            until: u64::MAX,
        }
    }

    /// Leaves out messages with a sequence above `until`: those that came when the subscription was in force already,
    /// and so were sent as live ones.
    #[must_use]
    pub fn until(self, until: u64) -> Self {
        Self { until, ..self }
    }

    /// The next message that has not expired at `now`. Each name looked at takes one of `steps`, so that a filter that
    /// matches little cannot hold up the caller.
    pub fn advance<'a>(
        &mut self,
        store: &'a RetainedStore,
        now: SystemTime,
        steps: &mut usize,
    ) -> Replay<'a> {
        let (filter, _) = stored(&self.filter);
        while let Some(from) = &mut self.from {
            if *steps == 0 {
                return Replay::OutOfSteps;
            }
            *steps -= 1;
            let Some((name, record)) = store.first_from(from) else {
                break;
            };
            match compare(filter, name) {
                Comparison::Matches => {
                    from.clear();
                    from.push_str(name);
                    from.push(SEPARATOR); // nothing sorts between a name and this
                    if record.sequence <= self.until && record.is_live(now) {
                        return Replay::Found(record);
                    }
                }
                Comparison::Before(next) => *from = next,
                Comparison::Behind => break,
            }
        }
        self.from = None;
        Replay::Done
    }
}

/// The first name that can match `filter`: its levels before the first wildcard.
fn start(filter: &str) -> String {
    let mut start = String::new();
    let mut levels = filter.split('/');
    if let Some(first) = levels.next().filter(|level| !is_wild(level)) {
        start.push_str(first);
        push_literals(&mut start, levels);
    }
    start
}

/// Compares the levels of `name` with those of `filter`, by section 4.7.
fn compare(filter: &str, name: &str) -> Comparison {
    // [MQTT-4.7.2-1] a leading wildcard does not match topics that begin with '$'.
    if name.starts_with('$') && filter.starts_with(['+', '#']) {
        return Comparison::Before("%".to_owned()); // '%' follows '$'
    }
    let mut wanted = filter.split('/');
    let mut levels = name.split(SEPARATOR);
    // Lengths of `name` up to the level reached, without it, and to the end of the last level that `+` matched.
    let (mut matched, mut plus) = (0, None);
    loop {
        match (wanted.next(), levels.next()) {
            (Some("#"), _) | (None, None) => return Comparison::Matches,
            (Some(want), None) => {
                let mut next = name.to_owned();
                push_literals(&mut next, std::iter::once(want).chain(wanted));
                return Comparison::Before(next);
            }
            (None, Some(_)) => return behind(name, plus),
            (Some("+"), Some(level)) => {
                matched += level.len();
                plus = Some(matched);
                matched += 1;
            }
            (Some(want), Some(level)) if want == level => matched += level.len() + 1,
            (Some(want), Some(level)) if level < want => {
                let mut next = name.get(..matched).unwrap_or_default().to_owned();
                next.push_str(want);
                push_literals(&mut next, wanted);
                return Comparison::Before(next);
            }
            (Some(_), Some(_)) => return behind(name, plus),
        }
    }
}

/// Behind everything under the last level that `+` matched: only another value of that level can match again.
fn behind(name: &str, plus: Option<usize>) -> Comparison {
    match plus.and_then(|end| name.get(..end)) {
        Some(prefix) => Comparison::Before(format!("{prefix}\u{1}")), // follows U+0000, the separator
        None => Comparison::Behind,
    }
}

/// Appends levels up to the first wildcard; for a `+` a separator, since what it matches lies below.
fn push_literals<'a>(name: &mut String, levels: impl Iterator<Item = &'a str>) {
    for level in levels {
        if level != "#" {
            name.push(SEPARATOR);
        }
        if is_wild(level) {
            return;
        }
        name.push_str(level);
    }
}

fn is_wild(level: &str) -> bool {
    matches!(level, "+" | "#")
}
