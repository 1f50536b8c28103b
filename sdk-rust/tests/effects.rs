//! Publications and records come back as they were asked for, and failed ones leave nothing.

use serde_json::json;
use tidegate::test::{Emitted, Published, message, run};
use tidegate::{Effects, Error, Gate, Message, QoS, Verdict, rule};

#[rule(manifest = "tests/manifests/full.toml")]
fn everything(message: &Message<'_>, effects: &mut Effects) -> Result<Verdict, Error> {
    effects.publish("alarms/a").payload("hot")?;
    effects
        .emit("audit")
        .key("k")
        .gate(Gate::Durable)
        .header("a", "1")
        .header("b", [0xff])
        .body([1, 2])?;
    effects
        .publish("alarms/b")
        .qos(QoS::ExactlyOnce)
        .retain(true)
        .properties(&[1, 1])
        .original()?;
    effects.emit("rows").original()?;
    effects
        .emit("rows")
        .gate(Gate::None)
        .json(&json!({ "topic": message.topic() }))?;
    Ok(Verdict::Drop)
}

#[test]
fn every_effect_arrives_with_all_its_parts() {
    let outcomes = run::<everything>([message("a/b").text("97.0").qos(QoS::AtMostOnce), message("a/c")]);
    let published = |topic: &str, payload: &[u8]| Published {
        topic: topic.to_owned(),
        payload: payload.to_vec(),
        qos: QoS::AtMostOnce,
        retain: false,
        properties: Vec::new(),
    };
    let record = |sink: &str, body: &[u8]| Emitted {
        sink: sink.to_owned(),
        key: None,
        body: body.to_vec(),
        gate: None,
        headers: Vec::new(),
    };

    let first = &outcomes[0];
    assert_eq!(first.verdict, Verdict::Drop);
    assert_eq!(
        first.published,
        [
            published("alarms/a", b"hot"),
            Published {
                qos: QoS::ExactlyOnce,
                retain: true,
                properties: vec![1, 1],
                ..published("alarms/b", b"97.0")
            },
        ]
    );
    assert_eq!(
        first.emitted,
        [
            Emitted {
                key: Some(b"k".to_vec()),
                gate: Some(Gate::Durable),
                headers: vec![("a".to_owned(), b"1".to_vec()), ("b".to_owned(), vec![0xff])],
                ..record("audit", &[1, 2])
            },
            record("rows", b"97.0"),
            Emitted {
                gate: Some(Gate::None),
                ..record("rows", br#"{"topic":"a/b"}"#)
            },
        ]
    );
    assert_eq!(outcomes[1].emitted[2].json(), json!({ "topic": "a/c" }));
    assert_eq!(
        outcomes[1].published[0].qos,
        QoS::AtLeastOnce,
        "the publisher's QoS is the default"
    );
}

#[rule(manifest = "tests/manifests/full.toml")]
fn second_thoughts(message: &Message<'_>, effects: &mut Effects) -> Result<Verdict, Error> {
    effects.emit("rows").body("written first")?;
    match message.topic() {
        "unknown-sink" => effects.emit("cellar").body("x")?,
        "wildcard" => effects.publish("alarms/#").payload("x")?,
        "empty-topic" => effects.publish("").payload("x")?,
        "long-header" => effects.emit("rows").header("h", vec![0; 65_536]).body("x")?,
        "no-json" => effects
            .emit("rows")
            .key("k")
            .json(&std::collections::BTreeMap::from([((), 1)]))?,
        "unfinished" => drop(effects.emit("rows").key("left lying").header("h", "v")),
        _ => {}
    }
    Ok(Verdict::Pass)
}

#[test]
fn an_error_dead_letters_its_message_and_takes_its_effects_along() {
    for (topic, reason) in [
        (
            "unknown-sink",
            "sink `cellar`: not listed under `sinks` in module.toml",
        ),
        (
            "wildcard",
            "topic \"alarms/#\" cannot be published to: it contains '+', '#' or NUL",
        ),
        ("empty-topic", "topic \"\" cannot be published to: it is empty"),
        ("long-header", "header `h` is longer than 65535 bytes"),
        ("no-json", "value cannot be written as JSON: key must be a string"),
    ] {
        let outcomes = run::<second_thoughts>([message("good"), message(topic), message("good")]);
        assert_eq!(outcomes[1].verdict, Verdict::dead_letter(reason));
        assert_eq!(outcomes[1].emitted, []);
        assert_eq!(outcomes[0], outcomes[2], "{topic} disturbs its neighbours");
        assert_eq!(outcomes[2].emitted[0].body, b"written first");
    }
}

#[test]
fn an_effect_that_is_not_finished_does_not_happen() {
    let outcomes = run::<second_thoughts>([message("unfinished"), message("good")]);
    for outcome in outcomes {
        assert_eq!(outcome.verdict, Verdict::Pass);
        assert_eq!(outcome.emitted.len(), 1);
        assert_eq!(outcome.emitted[0].body, b"written first");
    }
}

#[rule(manifest = "tests/manifests/full.toml")]
fn trespass(_message: &Message<'_>, effects: &mut Effects) -> Result<Verdict, Error> {
    effects.publish("clean/a/b").original()?;
    Ok(Verdict::Pass)
}

#[test]
fn a_topic_beyond_the_manifest_fails_the_test() {
    let failed = std::panic::catch_unwind(|| run::<trespass>([message("a")])).expect_err("must fail");
    let text = failed.downcast_ref::<String>().expect("a text");
    assert_eq!(
        text,
        "topic \"clean/a/b\" is not covered by `publish` in module.toml"
    );
}
