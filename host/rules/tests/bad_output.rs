//! Output that breaks the rules of the interface: refused as a whole, with a text that names the module and the cause,
//! and a fresh instance works.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)] // a failure is the test's

mod support;

use support::{
    BODY_BYTES, BODY_ORIGINAL, DEAD_LETTER, EMIT, Guest, Output, PUBLISH, REJECT, REWRITE, Words, batch,
};
use tidegate_rules::{Cause, Code, Outcome};

/// The sink `events`, which is granted.
const EVENTS: u32 = 2;

/// Two messages, whose second has an effect; `change` makes it bad.
fn refused(change: impl FnOnce(&mut Output)) -> String {
    let mut output = Output::codes(&[0, 2]);
    change(&mut output);
    refused_guest(&Guest::answering(&output))
}

fn refused_guest(guest: &Guest) -> String {
    let mut outcome = Outcome::new();
    let mut instance = guest.instance();
    let two = batch(&[b"1", b"2"]);
    let failure = instance.handle(&two, &mut outcome).unwrap_err();
    assert!(
        outcome.codes().is_empty() && outcome.effects().is_empty(),
        "a failed call has no outcome"
    );
    assert!(!instance.is_usable());
    assert!(matches!(failure.cause, Cause::BadOutput(_)), "{failure}");
    assert!(
        instance.handle(&two, &mut outcome).is_err(),
        "an unusable instance is not called"
    );

    let mut fresh = Guest::obeying().instance();
    fresh.handle(&two, &mut outcome).unwrap();
    assert_eq!(outcome.codes(), [Code::Pass; 2]);
    failure.to_string()
}

/// Asserts that `text` names the module and each of `parts`.
#[track_caller]
fn assert_names(text: &str, parts: &[&str]) {
    for part in ["guest@1.0.0"].iter().chain(parts) {
        assert!(text.contains(part), "`{part}` is missing in: {text}");
    }
}

fn second(kind: u32) -> Words {
    Words {
        kind,
        message: 1,
        ..Words::default()
    }
}

#[test]
fn a_wrong_number_of_codes() {
    for codes in [&[0][..], &[0, 0, 0]] {
        let text = refused(|output| output.codes = codes.to_vec());
        assert_names(&text, &[&format!("{} codes for 2 messages", codes.len())]);
    }
}

#[test]
fn a_code_that_does_not_exist() {
    assert_names(
        &refused(|output| output.codes = vec![0, 4]),
        &["message 1 has code 4"],
    );
    assert_names(
        &refused(|output| output.codes = vec![255, 0]),
        &["message 0 has code 255"],
    );
}

#[test]
fn lying_offsets_into_the_arena() {
    for at in [[0, 5], [4, 1], [u32::MAX, u32::MAX], [2, u32::MAX]] {
        let text = refused(|output| {
            output.put(b"1234");
            output.effect(Words {
                body: at,
                flags: BODY_BYTES,
                target: EVENTS,
                ..second(EMIT)
            });
        });
        assert_names(&text, &["effect 0 (emit)", "body is bytes", "arena of 4"]);
    }
}

#[test]
fn lists_that_point_outside_the_memory() {
    // An `ok` whose codes begin at the last byte there could be.
    let mut guest = Guest::new("i32.const 1024");
    let words = [0u32, u32::MAX, 2, 0, 0, 0, 0, 0];
    guest.data = vec![(1024, words.iter().flat_map(|word| word.to_le_bytes()).collect())];
    assert_names(&refused_guest(&guest), &["bounds"]);
}

#[test]
fn a_result_that_is_neither_ok_nor_error() {
    let mut guest = Guest::new("i32.const 1024");
    guest.data = vec![(1024, vec![9; 32])];
    assert_names(&refused_guest(&guest), &["discriminant"]);
}

#[test]
fn a_giant_output() {
    // All three lists claim 3 MiB of the guest's own memory.
    let length = 3u32 << 20;
    let words = [0, 0, length, 0, length / 4, 0, length, 0];
    let mut guest = Guest::new("(drop (memory.grow (i32.const 50))) i32.const 1024");
    guest.data = vec![(1024, words.iter().flat_map(|word| word.to_le_bytes()).collect())];
    assert_names(&refused_guest(&guest), &["too much data"]);
}

#[test]
fn too_many_effects() {
    // 8193 effects of zeroes, 48 bytes each, from the guest's untouched memory.
    let words = [0u32, 1100, 2, 70_000, 8193 * 12, 0, 0, 0];
    let mut guest = Guest::new("(drop (memory.grow (i32.const 10))) i32.const 1024");
    guest.data = vec![
        (1024, words.iter().flat_map(|word| word.to_le_bytes()).collect()),
        (1100, vec![2, 2]),
    ];
    assert_names(&refused_guest(&guest), &["8193 effects", "limit is 8192"]);
}

#[test]
fn effects_that_are_no_whole_number() {
    let words = [0u32, 1100, 2, 1200, 13, 0, 0, 0];
    let mut guest = Guest::new("i32.const 1024");
    guest.data = vec![
        (1024, words.iter().flat_map(|word| word.to_le_bytes()).collect()),
        (1100, vec![2, 2]),
    ];
    assert_names(&refused_guest(&guest), &["13 words", "multiple of 12"]);
}

#[test]
fn a_topic_that_is_not_utf8() {
    let text = refused(|output| {
        let topic = output.put(b"alarms/\xff");
        output.effect(Words {
            topic,
            flags: BODY_ORIGINAL,
            ..second(PUBLISH)
        });
    });
    assert_names(&text, &["effect 0 (publish)", "topic", "UTF-8"]);
}

#[test]
fn a_topic_with_wildcards_or_none() {
    let text = refused(|output| {
        let topic = output.put(b"alarms/+");
        output.effect(Words {
            topic,
            ..second(REWRITE)
        });
    });
    assert_names(&text, &["effect 0 (rewrite)", "alarms/+", "'+'"]);
    let text = refused(|output| {
        output.effect(Words {
            flags: BODY_ORIGINAL,
            ..second(PUBLISH)
        });
    });
    assert_names(&text, &["effect 0 (publish)", "at least one character"]);
}

#[test]
fn a_topic_that_is_not_granted() {
    for (kind, topic, why) in [
        (PUBLISH, &b"plant/a"[..], "manifest"),
        (REWRITE, b"plant/a", "manifest"),
        (PUBLISH, b"alarms/a/b", "does not grant"),
    ] {
        let text = refused(|output| {
            let topic = output.put(topic);
            output.effect(Words {
                topic,
                flags: BODY_ORIGINAL,
                ..second(kind)
            });
        });
        assert_names(&text, &[std::str::from_utf8(topic).unwrap(), why]);
    }
}

#[test]
fn a_sink_that_is_not_granted() {
    // 0 is never an id, 1 is `rows`, which the operator does not grant, 3 does not exist.
    for id in [0, 1, 3, u32::MAX] {
        let text = refused(|output| {
            output.effect(Words {
                target: id,
                flags: BODY_ORIGINAL,
                ..second(EMIT)
            });
        });
        assert_names(&text, &["effect 0 (emit)", &format!("sink id {id}")]);
    }
}

#[test]
fn effects_for_messages_that_have_none() {
    let text = refused(|output| {
        output.effect(Words {
            kind: DEAD_LETTER,
            ..Words::default()
        });
    });
    assert_names(&text, &["message 0 announces no effects"]);
    let text = refused(|output| {
        output.effect(Words {
            message: 2,
            ..second(DEAD_LETTER)
        });
    });
    assert_names(&text, &["no message 2 in the batch of 2"]);
}

#[test]
fn effects_out_of_order() {
    let text = refused(|output| {
        output.codes = vec![2, 2];
        output.effect(second(DEAD_LETTER));
        output.effect(Words {
            message: 0,
            ..second(DEAD_LETTER)
        });
    });
    assert_names(&text, &["effect 1", "message 0 after message 1"]);
}

#[test]
fn two_decisions_on_one_message() {
    let text = refused(|output| {
        output.effect(second(REWRITE));
        output.effect(second(DEAD_LETTER));
    });
    assert_names(&text, &["effect 1 (dead-letter)", "already"]);
    let text = refused(|output| {
        output.codes = vec![0, 3];
        output.effect(second(DEAD_LETTER));
    });
    assert_names(&text, &["dropped by its code"]);
}

#[test]
fn bits_and_parts_that_mean_nothing() {
    let cases = [
        Words {
            flags: 1 << 8,
            ..second(REWRITE)
        },
        Words {
            flags: 1 << 4,
            ..second(REWRITE)
        },
        Words {
            target: 1,
            ..second(REWRITE)
        },
        Words {
            flags: BODY_ORIGINAL | 1,
            topic: [0, 1],
            ..second(PUBLISH)
        },
        Words {
            flags: BODY_ORIGINAL,
            key: [0, 1],
            topic: [0, 1],
            ..second(PUBLISH)
        },
        Words {
            flags: BODY_ORIGINAL,
            target: EVENTS,
            topic: [0, 1],
            ..second(EMIT)
        },
        Words {
            flags: BODY_ORIGINAL,
            target: EVENTS,
            body: [0, 1],
            ..second(EMIT)
        },
        Words {
            target: 0x87,
            headers: [0, 1],
            ..second(REJECT)
        },
        Words {
            headers: [0, 1],
            ..second(REWRITE)
        },
        second(0),
        second(6),
    ];
    for (position, words) in cases.into_iter().enumerate() {
        let text = refused(|output| {
            output.put(b"alarms/a");
            output.effect(words);
        });
        let known = [
            "nothing here",
            "bit 7 is not",
            "kind is not bytes",
            "no effect of kind",
        ];
        assert!(
            known.iter().any(|part| text.contains(part)),
            "case {position}: {text}"
        );
    }
}

#[test]
fn missing_bodies_qos_3_and_reasons_that_are_none() {
    let with_topic = |flags: u32| {
        refused(|output| {
            let topic = output.put(b"alarms/a");
            output.effect(Words {
                topic,
                flags,
                ..second(PUBLISH)
            });
        })
    };
    assert_names(&with_topic(0), &["body is absent"]);
    assert_names(&with_topic(3 << 5), &["body of kind 3"]);
    assert_names(&with_topic(BODY_ORIGINAL | 3 << 2), &["QoS 3"]);
    for code in [0, 0x10, 0x91, 0x100] {
        let text = refused(|output| {
            output.effect(Words {
                target: code,
                ..second(REJECT)
            });
        });
        assert_names(&text, &[&format!("reason code 0x{code:02x}")]);
    }
    let text = refused(|output| {
        let body = output.put(b"\xff");
        output.effect(Words {
            body,
            flags: BODY_BYTES,
            ..second(DEAD_LETTER)
        });
    });
    assert_names(&text, &["reason text is not UTF-8"]);
}

#[test]
fn malformed_properties_and_headers() {
    let text = refused(|output| {
        let [topic, headers] = [output.put(b"alarms/a"), output.put(b"\x23\0\x01")];
        output.effect(Words {
            topic,
            headers,
            flags: BODY_ORIGINAL,
            ..second(PUBLISH)
        });
    });
    assert_names(&text, &["property 0x23"]);
    let text = refused(|output| {
        let headers = output.put(b"\0\x05k");
        output.effect(Words {
            headers,
            flags: BODY_ORIGINAL,
            target: EVENTS,
            ..second(EMIT)
        });
    });
    assert_names(&text, &["header name is cut short"]);
}
