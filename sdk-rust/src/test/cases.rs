//! cases.json: what a module is to do, as data that lies beside it.
//!
//! Invariant: an expectation that nothing can meet, such as a misspelt key, fails.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Emitted, Input, Outcome, Published, Setup, message};
use crate::{Gate, QoS, Rewrite, Rule, Verdict};

/// Runs every case of a cases.json on a rule: `test::cases::<clean>(include_str!("../cases.json"))`.
///
/// ```json
/// [{ "name": "hot",
///    "config":  { "alarm_above": "30" },
///    "message": { "topic": "plant/a/telemetry", "json": { "celsius": 31.5 }, "qos": 1 },
///    "expect":  { "verdict": "pass",
///                 "publish": [{ "topic": "alarms/a", "json": { "celsius": 31.5 } }],
///                 "emit":    [{ "sink": "rows", "key": "a", "json": { "celsius": 31.5 } }] } }]
/// ```
///
/// A message has a `topic` and `json` or `text`, and may have `qos`, `retain`, `client_id` and `username`. A verdict is
/// `pass`, `drop`, `rewrite` (with `topic`, `json` or `text`), `reject` (with `code` and `reason`) or `dead-letter`
/// (with `reason`, a part of which is enough). Publications (`topic`, `json` or `text`, `qos`, `retain`) and records
/// (`sink`, `key`, `json` or `text`, `gate`) are compared in order and number, none if not named; of each, only what
/// the case names.
///
/// # Panics
/// With all differences, if there are any; if the text is not such a list; and as [`Setup::run`].
#[track_caller]
pub fn cases<R: Rule>(text: &str) {
    let cases: Vec<Case> =
        serde_json::from_str(text).unwrap_or_else(|error| panic!("cases cannot be read: {error}"));
    assert!(!cases.is_empty(), "there is no case");
    let mut differences = Vec::new();
    for case in cases {
        let setup = case
            .config
            .iter()
            .fold(Setup::new(), |setup, (key, value)| setup.config(key, value));
        let expected = case.expect.complete();
        for outcome in setup.run::<R>([case.message.input()]) {
            compare(&case.name, &expected, &actual(&outcome), &mut differences);
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    #[serde(default)]
    config: BTreeMap<String, String>,
    message: Sent,
    expect: Expected,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent {
    topic: String,
    json: Option<Value>,
    text: Option<String>,
    qos: Option<u32>,
    retain: Option<bool>,
    client_id: Option<String>,
    username: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Expected(Map<String, Value>);

impl Sent {
    fn input(self) -> Input {
        let mut input = message(&self.topic);
        if let Some(value) = self.json {
            input = input.json(&value);
        }
        if let Some(text) = self.text {
            input = input.text(&text);
        }
        if let Some(qos) = self.qos {
            input = input.qos(QoS::from_bits(qos));
        }
        if let Some(client_id) = self.client_id {
            input = input.client_id(&client_id);
        }
        input
            .username(&self.username.unwrap_or_default())
            .retain(self.retain.unwrap_or_default())
    }
}

impl Expected {
    /// With what an expectation says by leaving it out.
    fn complete(self) -> Value {
        let mut expected = self.0;
        expected
            .entry("verdict")
            .or_insert_with(|| "(the case names no verdict)".into());
        for effects in ["publish", "emit"] {
            expected.entry(effects).or_insert_with(|| json!([]));
        }
        Value::Object(expected)
    }
}

fn actual(outcome: &Outcome) -> Value {
    let mut fields = verdict(&outcome.verdict);
    fields.insert(
        "publish".to_owned(),
        outcome.published.iter().map(publication).collect(),
    );
    fields.insert("emit".to_owned(), outcome.emitted.iter().map(record).collect());
    Value::Object(fields)
}

fn verdict(verdict: &Verdict) -> Map<String, Value> {
    let mut fields = Map::new();
    let name = match verdict {
        Verdict::Pass => "pass",
        Verdict::Drop => "drop",
        Verdict::Rewrite(Rewrite { topic, payload, .. }) => {
            fields = payload.as_deref().map(body).unwrap_or_default();
            fields.insert("topic".to_owned(), topic.as_deref().into());
            "rewrite"
        }
        Verdict::Reject(code, reason) => {
            fields.insert("code".to_owned(), (*code as u8).into());
            fields.insert("reason".to_owned(), reason.as_ref().into());
            "reject"
        }
        Verdict::DeadLetter(reason) => {
            fields.insert("reason".to_owned(), reason.as_ref().into());
            "dead-letter"
        }
    };
    fields.insert("verdict".to_owned(), name.into());
    fields
}

fn publication(published: &Published) -> Value {
    let mut fields = body(&published.payload);
    fields.insert("topic".to_owned(), published.topic.as_str().into());
    fields.insert("qos".to_owned(), published.qos.bits().into());
    fields.insert("retain".to_owned(), published.retain.into());
    Value::Object(fields)
}

fn record(emitted: &Emitted) -> Value {
    let mut fields = body(&emitted.body);
    fields.insert("sink".to_owned(), emitted.sink.as_str().into());
    fields.insert(
        "key".to_owned(),
        emitted.key.as_deref().map(String::from_utf8_lossy).into(),
    );
    let gate = emitted.gate.map(|gate| match gate {
        Gate::None => "none",
        Gate::Buffered => "buffered",
        Gate::Durable => "durable",
    });
    fields.insert("gate".to_owned(), gate.into());
    Value::Object(fields)
}

fn body(bytes: &[u8]) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("text".to_owned(), String::from_utf8_lossy(bytes).into());
    if let Ok(value) = serde_json::from_slice(bytes) {
        fields.insert("json".to_owned(), value);
    }
    fields
}

/// Whether everything `expected` names is so; `json` and single values exactly, a reason in part.
fn compare(at: &str, expected: &Value, actual: &Value, differences: &mut Vec<String>) {
    match (expected, actual) {
        (Value::Object(expected), Value::Object(actual)) if !at.ends_with(".json") => {
            for (key, value) in expected {
                let found = actual.get(key).unwrap_or(&Value::Null);
                compare(&format!("{at}.{key}"), value, found, differences);
            }
        }
        (Value::Array(expected), Value::Array(actual))
            if !at.ends_with(".json") && expected.len() == actual.len() =>
        {
            for (position, (value, found)) in expected.iter().zip(actual).enumerate() {
                compare(&format!("{at}[{position}]"), value, found, differences);
            }
        }
        (Value::String(part), Value::String(whole)) if at.ends_with(".reason") && whole.contains(part) => {}
        _ if expected == actual => {}
        _ => differences.push(format!("{at}: expected {expected}, got {actual}")),
    }
}
