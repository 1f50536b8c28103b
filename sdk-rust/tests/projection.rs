//! A rule sees of a message what its manifest asks for, and nothing else.

use tidegate::test::{Input, message, run};
use tidegate::{Client, Effects, Error, Json, Message, QoS, Verdict, rule};

fn sent() -> Input {
    message("a/b")
        .text("{}")
        .qos(QoS::ExactlyOnce)
        .retain(true)
        .client(9)
        .client_id("pump-7")
        .username("ada")
        .received_at_ms(1_790_000_000_123)
        .properties([1, 1])
}

#[rule(manifest = "tests/manifests/full.toml")]
fn all(message: &Message<'_>, _effects: &mut Effects) -> Verdict {
    assert_eq!(message.topic(), "a/b");
    assert_eq!(message.payload(), b"{}");
    assert_eq!(message.qos(), QoS::ExactlyOnce);
    assert!(message.retain());
    assert_eq!(message.client(), Client(9));
    assert_eq!(message.client_id(), Some("pump-7"));
    assert_eq!(message.username(), Some("ada"));
    assert_eq!(message.received_at_ms(), 1_790_000_000_123);
    assert_eq!(message.properties(), [1, 1]);
    Verdict::Pass
}

#[rule(manifest = "tests/manifests/blind.toml")]
fn little(message: &Message<'_>, _effects: &mut Effects) -> Verdict {
    assert_eq!(message.topic(), "a/b");
    assert_eq!(message.qos(), QoS::ExactlyOnce);
    assert_eq!(message.client(), Client(9));
    assert_eq!(message.received_at_ms(), 1_790_000_000_123);
    assert_eq!(message.payload(), b"");
    assert_eq!(message.client_id(), None);
    assert_eq!(message.username(), None);
    assert_eq!(message.properties(), b"");
    Verdict::Drop
}

#[test]
fn everything_asked_for_is_there() {
    assert_eq!(run::<all>([sent()])[0].verdict, Verdict::Pass);
}

#[test]
fn nothing_else_is() {
    assert_eq!(run::<little>([sent()])[0].verdict, Verdict::Drop);
}

#[rule(manifest = "tests/manifests/blind.toml")]
fn contradictory(_payload: Json<bool>, _message: &Message<'_>, _effects: &mut Effects) -> Verdict {
    Verdict::Pass
}

#[test]
fn reading_a_payload_that_is_kept_back_says_so() {
    let reason = Verdict::dead_letter(Error::PayloadOmitted.to_string());
    assert_eq!(
        run::<contradictory>([message("a").text("true")])[0].verdict,
        reason
    );
}
