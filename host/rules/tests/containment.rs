//! Code that misbehaves: stopped, named, and gone with its instance, while the next instance works at once.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)] // a failure is the test's

mod support;

use std::time::{Duration, Instant};

use support::{Guest, batch, logged_settings, settings};
use tidegate_rules::{Cause, Code, Failure, Instance, Outcome};

/// What the guest does with the first byte of a payload, and that a following good call works.
fn failed(payload: &[u8]) -> Failure {
    let module = Guest::obeying().load();
    let mut instance = Instance::new(&module, settings()).unwrap();
    let mut outcome = Outcome::new();
    instance.handle(&batch(&[b"1"]), &mut outcome).unwrap();
    let failure = instance
        .handle(&batch(&[b"1", payload, b"1"]), &mut outcome)
        .unwrap_err();
    assert!(outcome.codes().is_empty());
    if !failure.cause.spares_instance() {
        assert!(!instance.is_usable());
        instance = Instance::new(&module, settings()).unwrap();
    }
    instance.handle(&batch(&[b"1", b"2"]), &mut outcome).unwrap();
    assert_eq!(outcome.codes(), [Code::Pass; 2]);
    assert!(failure.to_string().contains("guest@1.0.0"), "{failure}");
    failure
}

#[test]
fn a_trap_names_its_reason_and_the_functions_it_came_through() {
    let failure = failed(b"T");
    assert!(matches!(failure.cause, Cause::Trap(_)), "{failure}");
    let text = failure.to_string();
    for part in ["unreachable", "backtrace", "explode"] {
        assert!(text.contains(part), "{part} is missing in: {text}");
    }
}

#[test]
#[allow(clippy::disallowed_methods)] // the test measures real time
fn an_endless_loop_is_stopped_at_its_deadline() {
    let module = Guest::obeying().load();
    let mut instance = Instance::new(&module, settings()).unwrap();
    let mut outcome = Outcome::new();
    let start = Instant::now();
    let failure = instance.handle(&batch(&[b"L"]), &mut outcome).unwrap_err();
    let took = start.elapsed();
    assert_eq!(
        failure.cause,
        Cause::Timeout {
            deadline: Duration::from_millis(20)
        }
    );
    assert!(
        failure.to_string().contains("guest@1.0.0") && failure.to_string().contains("20 ms"),
        "{failure}"
    );
    assert!(took >= Duration::from_millis(20), "stopped after {took:?}");
    assert!(took < Duration::from_secs(2), "stopped after {took:?}");
    failed(b"L");
}

#[test]
fn a_memory_bomb_is_refused_its_memory() {
    let failure = failed(b"M");
    assert!(
        matches!(
            failure.cause,
            Cause::OutOfMemory {
                limit_bytes: 4_194_304,
                ..
            }
        ),
        "{failure}"
    );
    assert!(failure.to_string().contains("4194304 bytes"), "{failure}");
}

#[test]
fn being_refused_memory_is_no_failure_by_itself() {
    let mut instance = Guest::obeying().instance();
    let mut outcome = Outcome::new();
    instance.handle(&batch(&[b"G"]), &mut outcome).unwrap();
    assert_eq!(outcome.codes(), [Code::Pass]);
    let failure = instance.handle(&batch(&[b"T"]), &mut outcome).unwrap_err();
    assert!(
        matches!(failure.cause, Cause::Trap(_)),
        "an old refusal explains no new trap: {failure}"
    );
}

#[test]
fn a_batch_larger_than_the_memory_is_the_batchs_failure() {
    let large = vec![b'1'; 5 << 20];
    let mut instance = Guest::obeying().instance();
    let failure = instance
        .handle(&batch(&[&large]), &mut Outcome::new())
        .unwrap_err();
    assert!(matches!(failure.cause, Cause::OutOfMemory { .. }), "{failure}");
}

#[test]
fn deep_recursion_ends_in_a_trap() {
    let failure = failed(b"R");
    assert!(matches!(failure.cause, Cause::Trap(_)), "{failure}");
    let text = failure.to_string();
    assert!(
        text.contains("call stack exhausted") && text.contains("recurse"),
        "{text}"
    );
    assert!(text.lines().count() < 40, "the backtrace is bounded: {text}");
}

#[test]
fn a_module_can_refuse_a_batch_or_give_up_and_stays_usable() {
    assert_eq!(failed(b"I").cause, Cause::Invalid("bad message".to_owned()));
    assert_eq!(failed(b"F").cause, Cause::Fatal("bad message".to_owned()));
}

#[test]
fn a_log_flood_is_cut_to_its_rate_and_counted() {
    // 5,000 times the first ten bytes of memory, which are text.
    let mut guest = Guest::new(
        "(local.set $end (i32.const 5000))
         (loop $again
           (call $log (i32.const 3) (i32.const 16) (i32.const 10))
           (br_if $again (local.tee $end (i32.sub (local.get $end) (i32.const 1)))))
         i32.const 1024",
    );
    guest.imports = support::LOG_IMPORT.to_owned();
    guest.core_imports = support::LOG_CORE_IMPORT.to_owned();
    guest.data = vec![(16, b"flood line".to_vec()), (1024, vec![0; 28])];
    let (settings, lines) = logged_settings();
    let mut instance = Instance::new(&guest.load(), settings).unwrap();
    let mut outcome = Outcome::new();
    instance.handle(&batch(&[b"1"]), &mut outcome).unwrap();
    assert_eq!(
        outcome.codes(),
        [Code::Pass],
        "a flood harms nobody but the log lines"
    );
    let lines = lines.lock().unwrap();
    assert_eq!(lines.len(), 100);
    assert!(
        lines
            .iter()
            .all(|line| line.message == "flood line" && &*line.rule == "clean")
    );
}

#[test]
fn instances_of_one_module_do_not_share_their_fate() {
    let module = Guest::obeying().load();
    let mut good = Instance::new(&module, settings()).unwrap();
    let mut bad = Instance::new(&module, settings()).unwrap();
    let mut outcome = Outcome::new();
    bad.handle(&batch(&[b"T"]), &mut outcome).unwrap_err();
    good.handle(&batch(&[b"1"]), &mut outcome).unwrap();
    assert_eq!(outcome.codes(), [Code::Pass]);
}
