//! What is shown while a run goes on: progress on standard error, lines of JSON on standard output.

use std::io::Write as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::format::{count, micros, number};
use crate::load::{Outcome, Phase, Second};

/// The terminal.
pub struct Screen {
    bar: ProgressBar,
    is_json: bool,
    what: String,
}

/// A line of an interval.
#[derive(Serialize)]
struct SecondLine<'a> {
    r#type: &'static str,
    run: &'a str,
    #[serde(flatten)]
    second: &'a Second,
}

/// A line of an ended run: its outcome without the intervals, which have had their lines.
#[derive(Serialize)]
struct RunLine<'a> {
    r#type: &'static str,
    run: &'a str,
    connected: &'a crate::load::Connected,
    published: &'a Option<crate::load::Published>,
    totals: &'a crate::load::Totals,
}

/// The closing line.
#[derive(Serialize)]
struct ResultLine<'a, T> {
    r#type: &'static str,
    #[serde(flatten)]
    result: &'a T,
}

impl Screen {
    /// A screen for `steps` runs; with lines of JSON if asked for.
    pub fn new(steps: usize, is_json: bool) -> Self {
        let bar = ProgressBar::new(u64::try_from(steps).unwrap_or(0));
        // The template is constant; the default style would do as well.
        if let Ok(style) =
            ProgressStyle::with_template("{spinner} [{pos}/{len}] {elapsed_precise} {prefix} {msg}")
        {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        Self {
            bar,
            is_json,
            what: String::new(),
        }
    }

    /// A run begins.
    pub fn begin(&mut self, what: &str) {
        what.clone_into(&mut self.what);
        self.bar.set_prefix(what.to_owned());
        self.bar.set_message("");
    }

    /// An interval has passed.
    pub fn second(&mut self, second: &Second) {
        self.bar.set_message(message(second));
        self.line(&SecondLine {
            r#type: "second",
            run: &self.what,
            second,
        });
    }

    /// A run has ended.
    pub fn end(&mut self, outcome: &Outcome) {
        self.line(&RunLine {
            r#type: "run",
            run: &self.what,
            connected: &outcome.connected,
            published: &outcome.published,
            totals: &outcome.totals,
        });
        self.bar.inc(1);
    }

    /// Something that the user should know; it stays on the screen.
    pub fn say(&self, text: &str) {
        self.bar.suspend(|| error_line(text));
    }

    /// The closing line.
    pub fn close(&self, result: &impl Serialize) {
        self.bar.finish_and_clear();
        self.line(&ResultLine {
            r#type: "result",
            result,
        });
    }

    /// Text for people, instead of JSON for programs.
    pub fn print(&self, text: &str) {
        if !self.is_json {
            output_line(text);
        }
    }

    fn line(&self, value: &impl Serialize) {
        if !self.is_json {
            return;
        }
        // These types always serialise; a reader who went away wants no lines.
        if let Ok(line) = serde_json::to_string(value) {
            self.bar.suspend(|| output_line(&line));
        }
    }
}

fn message(second: &Second) -> String {
    let per_second = |events: u64| count((events as f64 / second.seconds.max(1e-9)) as u64);
    let counters = &second.counters;
    let cores = second
        .broker_cores
        .map_or_else(String::new, |cores| format!(", broker {} cores", number(cores)));
    match second.phase {
        Phase::Connect => format!(
            "{} connections/s, p99 {}{cores}",
            per_second(counters.ready),
            micros(second.connect_us.p99)
        ),
        _ => format!(
            "{} messages/s, acknowledged p99 {}, delivered {}/s p99 {}{cores}",
            per_second(counters.sent),
            micros(second.acknowledge_us.p99),
            per_second(counters.delivered),
            micros(second.deliver_us.p99),
        ),
    }
}

fn output_line(text: &str) {
    // A closed pipe is the reader's wish, not an error.
    let _ = writeln!(std::io::stdout(), "{text}");
}

fn error_line(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
