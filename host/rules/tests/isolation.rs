//! One bad message among good ones: found and reported, while the others get their outcome.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)] // a failure is the test's

mod support;

use std::cell::Cell;
use std::time::Duration;

use support::{Guest, batch, settings};
use tidegate_rules::{Backoff, Cause, Code, Failure, Instance, IsolatedRule, Outcome, RuleError};

const NOW: Duration = Duration::from_secs(100);
const BACKOFF: Backoff = Backoff {
    first: Duration::from_secs(1),
    longest: Duration::from_secs(60),
};

type Failures = Vec<(u32, Failure)>;

/// Runs `payloads` once, and tells how many instances that took.
fn run(payloads: &[&[u8]]) -> (Outcome, Failures, u32) {
    let module = Guest::obeying().load();
    let created = Cell::new(0);
    let create = || {
        created.set(created.get() + 1);
        Instance::new(&module, settings())
    };
    let mut rule = IsolatedRule::new(create, BACKOFF).unwrap();
    let (mut outcome, mut failures) = (Outcome::new(), Vec::new());
    rule.run(&batch(payloads), NOW, &mut outcome, &mut failures);
    (outcome, failures, created.get())
}

fn positions(failures: &Failures) -> Vec<u32> {
    failures.iter().map(|(message, _)| *message).collect()
}

#[test]
fn a_good_batch_is_one_call() {
    let (outcome, failures, instances) = run(&[&b"1"[..]; 64]);
    assert_eq!(outcome.codes(), [Code::Pass; 64]);
    assert!(failures.is_empty());
    assert_eq!(instances, 1);
}

#[test]
fn each_bad_message_is_found_wherever_it_stands() {
    for bad in [0, 1, 31, 32, 62, 63] {
        let mut payloads = vec![&b"1"[..]; 64];
        payloads[bad] = b"T";
        let (outcome, failures, _) = run(&payloads);
        assert_eq!(positions(&failures), [bad as u32]);
        assert!(matches!(failures[0].1.cause, Cause::Trap(_)));
        for (message, code) in outcome.codes().iter().enumerate() {
            assert_eq!(
                *code,
                if message == bad { Code::Failed } else { Code::Pass },
                "message {message}"
            );
        }
    }
}

#[test]
fn several_bad_messages_keep_their_own_reasons() {
    let (outcome, failures, instances) = run(&[b"1", b"T", b"1", b"I", b"1", b"1", b"M"]);
    assert_eq!(positions(&failures), [1, 3, 6]);
    assert!(matches!(failures[0].1.cause, Cause::Trap(_)));
    assert!(matches!(failures[1].1.cause, Cause::Invalid(_)));
    assert!(matches!(failures[2].1.cause, Cause::OutOfMemory { .. }));
    use Code::{Failed, Pass};
    assert_eq!(outcome.codes(), [Pass, Failed, Pass, Failed, Pass, Pass, Failed]);
    assert!(instances <= 8, "{instances} instances");
}

#[test]
fn effects_of_the_good_messages_keep_their_positions() {
    // Emits the original payload for the first message of every call, unless some payload begins with T.
    let mut guest = Guest::obeying();
    guest.handle = guest.handle.replace(
        "i32.const 1024",
        "(memory.fill (i32.const 1100) (i32.const 0) (i32.const 64))
         (i32.store8 (i32.const 1100) (i32.const 2))
         (i32.store (i32.const 1028) (i32.const 1100))
         (i32.store (i32.const 1032) (i32.div_u (local.get $words) (i32.const 14)))
         i32.const 1024",
    );
    // One effect: emit, message 0, sink 2, original payload.
    let words = [5u32, 0, 2, 2 << 5, 0, 0, 0, 0, 0, 0, 0, 0];
    let head = [0u32, 0, 0, 1300, 12, 0, 0];
    let bytes = |words: &[u32]| {
        words
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    guest.data = vec![(1024, bytes(&head)), (1300, bytes(&words))];
    let module = guest.load();
    let mut rule = IsolatedRule::new(|| Instance::new(&module, settings()), BACKOFF).unwrap();
    let (mut outcome, mut failures) = (Outcome::new(), Vec::new());
    rule.run(
        &batch(&[b"1", b"1", b"T", b"1"]),
        NOW,
        &mut outcome,
        &mut failures,
    );
    assert_eq!(positions(&failures), [2]);
    assert_eq!(
        outcome.codes(),
        [Code::Effects, Code::Pass, Code::Failed, Code::Effects]
    );
    let messages: Vec<u32> = outcome.effects().iter().map(|effect| effect.message).collect();
    assert_eq!(
        messages,
        [0, 3],
        "one call for messages 0 and 1, one for message 3"
    );
}

#[test]
fn a_loop_costs_a_deadline_per_step_and_only_its_own_message() {
    let (outcome, failures, _) = run(&[b"1", b"1", b"1", b"L"]);
    assert_eq!(positions(&failures), [3]);
    assert!(matches!(failures[0].1.cause, Cause::Timeout { .. }));
    assert_eq!(outcome.codes()[..3], [Code::Pass; 3]);
}

#[test]
fn a_module_that_fails_every_message_is_left_alone_until_its_pause_is_over() {
    let module = Guest::obeying().load();
    let created = Cell::new(0);
    let create = || {
        created.set(created.get() + 1);
        Instance::new(&module, settings())
    };
    let mut rule = IsolatedRule::new(create, BACKOFF).unwrap();
    let (mut outcome, mut failures) = (Outcome::new(), Vec::new());
    rule.run(&batch(&[&b"T"[..]; 64]), NOW, &mut outcome, &mut failures);
    assert_eq!(outcome.codes(), [Code::Failed; 64]);
    assert_eq!(positions(&failures), (0..64).collect::<Vec<u32>>());
    assert!(
        failures[..8]
            .iter()
            .all(|(_, failure)| matches!(failure.cause, Cause::Trap(_)))
    );
    assert!(
        failures[8..]
            .iter()
            .all(|(_, failure)| matches!(failure.cause, Cause::ModuleFailing { .. }))
    );
    let text = failures[8].1.to_string();
    assert!(
        text.contains("guest@1.0.0") && text.contains("1000 ms") && text.contains("unreachable"),
        "{text}"
    );
    assert_eq!(rule.pause(NOW), Some(BACKOFF.first));

    let before = created.get();
    let later = NOW + BACKOFF.first / 2;
    rule.run(&batch(&[b"1"]), later, &mut outcome, &mut failures);
    assert_eq!(outcome.codes(), [Code::Failed], "good messages wait too");
    assert_eq!(created.get(), before, "nothing is called during the pause");

    rule.run(
        &batch(&[b"1", b"1"]),
        NOW + BACKOFF.first,
        &mut outcome,
        &mut failures,
    );
    assert_eq!(outcome.codes(), [Code::Pass; 2]);
    assert!(failures.is_empty() && rule.pause(NOW + BACKOFF.first).is_none());
}

#[test]
fn a_module_that_gives_up_is_not_searched_for_a_bad_message() {
    let (outcome, failures, instances) = run(&[b"1", b"F", b"1", b"1"]);
    assert_eq!(outcome.codes(), [Code::Failed; 4]);
    assert!(
        failures
            .iter()
            .all(|(_, failure)| failure.cause == Cause::Fatal("bad message".to_owned()))
    );
    assert_eq!(instances, 1);
}

#[test]
fn a_spare_that_cannot_be_made_opens_the_breaker() {
    let module = Guest::obeying().load();
    let mut first = true;
    let create = move || match std::mem::take(&mut first) {
        true => Instance::new(&module, settings()),
        false => Err(RuleError::Engine("no room".to_owned())),
    };
    let mut rule = IsolatedRule::new(create, BACKOFF).unwrap();
    let (mut outcome, mut failures) = (Outcome::new(), Vec::new());
    rule.run(&batch(&[b"T", b"1"]), NOW, &mut outcome, &mut failures);
    assert_eq!(outcome.codes(), [Code::Failed; 2]);
    assert!(failures[1].1.to_string().contains("no room"), "{}", failures[1].1);
    assert_eq!(rule.pause(NOW), Some(BACKOFF.first));
}
