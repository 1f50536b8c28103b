//! What a module may decide, each as a call of a real component.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)] // a failure is the test's

mod support;

use support::{
    BODY_BYTES, BODY_ORIGINAL, DEAD_LETTER, EMIT, Guest, Output, PUBLISH, REJECT, REWRITE, Words, answer,
    batch,
};
use tidegate_codec::{QoS, ReasonCode, TopicName};
use tidegate_rules::{Action, Body, Code, Effect, Outcome, SinkIndex};
use tidegate_sinks::Gate;

#[test]
fn a_pass_through_passes_every_message() {
    let mut instance = Guest::obeying().instance();
    let mut outcome = Outcome::new();
    for messages in [1, 64, 3, 0] {
        instance
            .handle(&batch(&vec![&b"21.5"[..]; messages]), &mut outcome)
            .unwrap();
        assert_eq!(outcome.codes(), vec![Code::Pass; messages]);
        assert!(outcome.effects().is_empty());
    }
}

#[test]
fn each_message_gets_its_own_code() {
    let outcome = answer(&Output::codes(&[0, 1, 2, 3]), 4).unwrap();
    assert_eq!(
        outcome.codes(),
        [Code::Pass, Code::Drop, Code::Effects, Code::DropWithEffects]
    );
    assert!(outcome.effects().is_empty());
}

#[test]
fn a_rewrite_changes_what_it_names_and_keeps_the_rest() {
    let mut output = Output::codes(&[2, 2, 2]);
    let topic = output.put(b"alarms/a");
    let body = output.put(b"{}");
    let headers = output.put(b"\x01\x01");
    output.effect(Words {
        kind: REWRITE,
        flags: BODY_BYTES | 1 << 7,
        topic,
        body,
        headers,
        ..Words::default()
    });
    output.effect(Words {
        kind: REWRITE,
        message: 1,
        flags: BODY_ORIGINAL | 1 << 7,
        ..Words::default()
    });
    output.effect(Words {
        kind: REWRITE,
        message: 2,
        flags: BODY_BYTES,
        ..Words::default()
    });
    let outcome = answer(&output, 3).unwrap();
    let rewrite = |topic: Option<&str>, payload: Option<&'static [u8]>, properties: Option<&'static [u8]>| {
        Action::Rewrite {
            topic: topic.map(|text| TopicName::new(text).unwrap()),
            payload: payload.map(Into::into),
            properties: properties.map(Into::into),
        }
    };
    assert_eq!(
        outcome.effects(),
        [
            Effect {
                message: 0,
                action: rewrite(Some("alarms/a"), Some(b"{}"), Some(b"\x01\x01"))
            },
            Effect {
                message: 1,
                action: rewrite(None, None, Some(b""))
            },
            Effect {
                message: 2,
                action: rewrite(None, Some(b""), None)
            },
        ]
    );
}

#[test]
fn a_reject_and_a_dead_letter_carry_their_reasons() {
    let mut output = Output::codes(&[2, 2, 2]);
    let body = output.put("zu heiß".as_bytes());
    output.effect(Words {
        kind: REJECT,
        target: 0x99,
        flags: BODY_BYTES,
        body,
        ..Words::default()
    });
    output.effect(Words {
        kind: REJECT,
        message: 1,
        target: 0x87,
        ..Words::default()
    });
    output.effect(Words {
        kind: DEAD_LETTER,
        message: 2,
        flags: BODY_BYTES,
        body,
        ..Words::default()
    });
    let outcome = answer(&output, 3).unwrap();
    let actions: Vec<Action> = outcome
        .effects()
        .iter()
        .map(|effect| effect.action.clone())
        .collect();
    assert_eq!(
        actions,
        [
            Action::Reject {
                reason: ReasonCode::PayloadFormatInvalid,
                text: "zu heiß".into()
            },
            Action::Reject {
                reason: ReasonCode::NotAuthorized,
                text: "".into()
            },
            Action::DeadLetter {
                reason: "zu heiß".into()
            },
        ]
    );
}

#[test]
fn publications_carry_topic_body_qos_retain_and_properties() {
    let mut output = Output::codes(&[2]);
    let topic = output.put(b"alarms/hot");
    let body = output.put(b"99");
    let headers = output.put(b"\x26\0\x01k\0\x01v");
    let flags = BODY_BYTES | 2 << 2 | 1 << 4;
    output.effect(Words {
        kind: PUBLISH,
        flags,
        topic,
        body,
        headers,
        ..Words::default()
    });
    output.effect(Words {
        kind: PUBLISH,
        flags: BODY_ORIGINAL,
        topic,
        ..Words::default()
    });
    let outcome = answer(&output, 1).unwrap();
    let topic = TopicName::new("alarms/hot").unwrap();
    let actions: Vec<Action> = outcome
        .effects()
        .iter()
        .map(|effect| effect.action.clone())
        .collect();
    assert_eq!(
        actions,
        [
            Action::Publish {
                topic: topic.clone(),
                body: Body::Bytes(b"99"[..].into()),
                qos: QoS::ExactlyOnce,
                retain: true,
                properties: b"\x26\0\x01k\0\x01v"[..].into(),
            },
            Action::Publish {
                topic,
                body: Body::Original,
                qos: QoS::AtMostOnce,
                retain: false,
                properties: Default::default(),
            },
        ]
    );
}

#[test]
fn records_carry_sink_gate_key_body_and_headers_in_the_order_of_the_messages() {
    let mut output = Output::codes(&[3, 0, 2]);
    let key = output.put(b"a");
    let body = output.put(b"row");
    let headers = output.put(b"\0\x01k\0\x01v");
    output.effect(Words {
        kind: EMIT,
        target: 2,
        flags: BODY_BYTES | 3,
        key,
        body,
        headers,
        ..Words::default()
    });
    output.effect(Words {
        kind: EMIT,
        target: 2,
        flags: BODY_ORIGINAL,
        ..Words::default()
    });
    output.effect(Words {
        kind: EMIT,
        message: 2,
        target: 2,
        flags: BODY_BYTES | 1,
        ..Words::default()
    });
    let outcome = answer(&output, 3).unwrap();
    let emit = |gate, key: Option<&'static [u8]>, body, headers: &'static [u8]| Action::Emit {
        sink: SinkIndex(7),
        gate,
        key: key.map(Into::into),
        body,
        headers: headers.into(),
    };
    assert_eq!(
        outcome.codes(),
        [Code::DropWithEffects, Code::Pass, Code::Effects]
    );
    assert_eq!(
        outcome.effects(),
        [
            Effect {
                message: 0,
                action: emit(
                    Some(Gate::Durable),
                    Some(b"a"),
                    Body::Bytes(b"row"[..].into()),
                    b"\0\x01k\0\x01v"
                )
            },
            Effect {
                message: 0,
                action: emit(None, None, Body::Original, b"")
            },
            Effect {
                message: 2,
                action: emit(Some(Gate::None), None, Body::Bytes(Default::default()), b"")
            },
        ]
    );
}

#[test]
fn an_outcome_forgets_the_call_before() {
    let mut output = Output::codes(&[2]);
    output.effect(Words {
        kind: DEAD_LETTER,
        ..Words::default()
    });
    let mut outcome = Outcome::new();
    Guest::answering(&output)
        .instance()
        .handle(&batch(&[b"1"]), &mut outcome)
        .unwrap();
    assert_eq!(outcome.effects().len(), 1);
    Guest::obeying()
        .instance()
        .handle(&batch(&[b"1", b"2"]), &mut outcome)
        .unwrap();
    assert_eq!(
        (outcome.codes(), outcome.effects()),
        (&[Code::Pass, Code::Pass][..], &[][..])
    );
}
