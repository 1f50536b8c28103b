//! Each verdict comes back as it was given, from rules of every shape.

use serde::Deserialize;
use tidegate::test::{Setup, logged, message, run};
use tidegate::{Config, Effects, Error, Json, Message, ReasonCode, Rewrite, Settings, Verdict, log, rule};

#[rule(manifest = "tests/manifests/full.toml")]
fn by_topic(message: &Message<'_>, _effects: &mut Effects) -> Verdict {
    match message.topic() {
        "drop" => Verdict::Drop,
        "rewrite-topic" => Verdict::rewrite().topic("clean/a").into(),
        "rewrite-all" => Verdict::rewrite()
            .topic("clean/a")
            .payload("")
            .properties([1, 0])
            .into(),
        "rewrite-badly" => Verdict::rewrite().topic("clean/+").payload("x").into(),
        "reject" => Verdict::reject(ReasonCode::QuotaExceeded, "too many"),
        "dead" => Verdict::dead_letter("because"),
        _ => Verdict::Pass,
    }
}

#[test]
fn every_verdict_arrives() {
    let given = [
        ("pass", Verdict::Pass),
        ("drop", Verdict::Drop),
        ("rewrite-topic", Verdict::rewrite().topic("clean/a").into()),
        (
            "rewrite-all",
            Verdict::rewrite()
                .topic("clean/a")
                .payload("")
                .properties([1, 0])
                .into(),
        ),
        (
            "rewrite-badly",
            Verdict::dead_letter("topic \"clean/+\" cannot be published to: it contains '+', '#' or NUL"),
        ),
        ("reject", Verdict::reject(ReasonCode::QuotaExceeded, "too many")),
        ("dead", Verdict::dead_letter("because")),
        ("pass", Verdict::Pass),
    ];
    let outcomes = run::<by_topic>(given.iter().map(|(topic, _)| message(topic).text("payload")));
    for ((topic, verdict), outcome) in given.iter().zip(outcomes) {
        assert_eq!(&outcome.verdict, verdict, "{topic}");
    }
}

#[derive(Deserialize)]
struct Named<'a> {
    name: &'a str,
}

/// All four arguments, a payload that borrows, an error type of its own.
#[rule(manifest = "tests/manifests/full.toml")]
fn full(
    Json(named): Json<Named<'_>>,
    message: &Message<'_>,
    effects: &mut Effects,
    limits: &Limits,
) -> Result<Rewrite, std::fmt::Error> {
    tidegate::info!("{} says {}", message.client_id().unwrap_or_default(), named.name);
    if named.name.len() > limits.name_bytes_max {
        return Err(std::fmt::Error);
    }
    effects
        .emit("rows")
        .key(named.name)
        .original()
        .map_err(|_| std::fmt::Error)?;
    Ok(Verdict::rewrite().payload(named.name))
}

struct Limits {
    name_bytes_max: usize,
}

impl Settings for Limits {
    fn from_config(config: &Config) -> Result<Self, Error> {
        Ok(Self {
            name_bytes_max: config.parse("limit")?,
        })
    }
}

#[test]
fn payload_settings_and_log_reach_a_rule() {
    let named = || message("a").client_id("pump-7").text(r#"{"name":"abc"}"#);

    let by_default = run::<full>([named()]);
    assert_eq!(by_default[0].verdict, Verdict::rewrite().payload("abc").into());
    assert_eq!(by_default[0].emitted[0].key.as_deref(), Some(&b"abc"[..]));
    assert_eq!(logged(), [(log::Level::Info, "pump-7 says abc".to_owned())]);

    let narrowed = Setup::new().config("limit", "2").run::<full>([named()]);
    assert_eq!(
        narrowed[0].verdict,
        Verdict::dead_letter(std::fmt::Error.to_string())
    );

    let refused = Setup::new()
        .config("limit", "many")
        .try_run::<full>([named()])
        .expect_err("no number");
    assert_eq!(
        refused.to_string(),
        "config key `limit`: \"many\" is not usable: invalid digit found in string"
    );
}

#[test]
fn a_payload_that_is_something_else_is_a_dead_letter_with_line_and_column() {
    for (payload, reason) in [
        (
            &b""[..],
            "payload is not the expected JSON: EOF while parsing a value at line 1 column 0",
        ),
        (
            b"{\n\"name\":",
            "payload is not the expected JSON: EOF while parsing a value at line 2 column 7",
        ),
        (
            b"{}",
            "payload is not the expected JSON: missing field `name` at line 1 column 2",
        ),
        (
            b"{\"name\":\"\xff\"}",
            "payload is not the expected JSON: invalid unicode code point at line 1 column 10",
        ),
    ] {
        let outcomes = run::<full>([message("a").payload(payload)]);
        assert_eq!(outcomes[0].verdict, Verdict::dead_letter(reason));
        assert_eq!(outcomes[0].emitted, []);
    }
}
