//! The contract as tests: what every sink passes, whatever its outside system.
//!
//! A sink crate implements [`Rig`] for its system and calls [`crate::contract_suite!`] with a function that makes
//! one. Each test gets a fresh rig. What is stored is read by a path of the rig's own, never through the sink.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::fake::{MemoryPort, MemorySystem, record, wiring};
use crate::{BackOff, Connect, Outcome, Record, Sink, SinkError, SinkHandle, SinkSettings, SinkState, start};

/// How long a condition may take to come true.
const PATIENCE: Duration = Duration::from_secs(20);

/// An outside system under test.
pub trait Rig {
    /// Makes connections to it.
    fn connect(&self) -> Connect;

    /// The record ids ([`crate::RecordId`] as text) it holds, in the order in which they were stored.
    fn stored(&self) -> Vec<String>;

    /// A body it takes.
    fn body(&self) -> &'static [u8] {
        br#"{"n": 1}"#
    }

    /// A body it refuses for good.
    fn poison(&self) -> &'static [u8];

    /// Makes attempts fail as long as `down`, in a way that time cures.
    fn set_down(&self, down: bool);

    /// Makes attempts fail as long as `broken`, in a way that only an operator cures.
    fn set_broken(&self, broken: bool);

    /// Most lanes it is made for.
    fn lanes(&self) -> usize;
}

/// One `#[test]` per rule of the contract, on rigs made by `$make`.
#[macro_export]
macro_rules! contract_suite {
    ($make:path) => {
        $crate::contract_suite!(
            $make:
            a_batch_is_stored_in_order,
            a_batch_with_a_bad_record_stores_nothing,
            offered_twice_is_stored_once,
            an_empty_batch_is_stored,
            check_tells_whether_records_would_be_taken,
            a_receipt_means_that_the_record_is_stored,
            records_of_one_key_stay_in_order,
            bad_records_are_isolated_and_the_others_stored,
            an_outage_is_waited_out,
            an_operator_error_pauses_and_drops_nothing,
            a_sink_starts_while_its_system_is_down,
            a_pause_holds_and_a_resume_delivers,
            a_drain_delivers_what_is_queued,
            a_drain_that_fails_reports_what_is_left,
        );
    };
    ($make:path: $($rule:ident),* $(,)?) => {
        $(#[test]
        fn $rule() {
            $crate::suite::$rule(&$make());
        })*
    };
}

fn connection(rig: &dyn Rig) -> Box<dyn Sink> {
    rig.connect()(0).unwrap_or_else(|error| panic!("connecting: {error}"))
}

fn records(rig: &dyn Rig, sequences: std::ops::Range<u64>) -> Vec<Record> {
    sequences
        .map(|sequence| record(sequence, &format!("key-{}", sequence % 7), rig.body()))
        .collect()
}

fn ids(sequences: impl IntoIterator<Item = u64>) -> Vec<String> {
    sequences
        .into_iter()
        .map(|sequence| record(sequence, "", b"").id.to_string())
        .collect()
}

/// A sink on the rig with its receipts and its dead letters.
struct Running {
    sink: SinkHandle,
    port: Arc<MemoryPort>,
    letters: MemorySystem,
}

fn running(rig: &dyn Rig, lanes: usize) -> Running {
    let port = Arc::new(MemoryPort::default());
    let letters = MemorySystem::new();
    let retry = BackOff {
        min: Duration::from_millis(5),
        max: Duration::from_millis(50),
    };
    let settings = |name: &str, lanes| SinkSettings {
        name: name.to_owned(),
        retry,
        lanes,
        batch_records_max: 64,
        ..SinkSettings::default()
    };
    let started = |settings, wiring| start(settings, &wiring).unwrap_or_else(|error| panic!("{error}"));
    let letters_sink = started(settings("letters", 1), wiring(letters.connect(), &port, None));
    let sink = started(
        settings("suite", lanes),
        wiring(rig.connect(), &port, Some(letters_sink)),
    );
    Running { sink, port, letters }
}

impl Running {
    fn receipts(&self, count: usize) -> Vec<(u64, Outcome)> {
        let receipts = self.port.wait_for(count, PATIENCE);
        assert_eq!(
            receipts.len(),
            count,
            "receipts; the sink: {:?}",
            self.sink.snapshot()
        );
        self.port.outcomes()
    }

    fn wait_for_state(&self, wanted: impl Fn(&SinkState) -> bool) {
        eventually(
            || wanted(&self.sink.state()),
            || format!("state; the sink: {:?}", self.sink.snapshot()),
        );
    }
}

#[expect(clippy::disallowed_methods, reason = "a test's own deadline")]
fn eventually(condition: impl Fn() -> bool, what: impl Fn() -> String) {
    let begin = Instant::now();
    while !condition() {
        assert!(begin.elapsed() < PATIENCE, "not in {PATIENCE:?}: {}", what());
        std::thread::yield_now();
    }
}

/// `write` stores a batch in its order.
pub fn a_batch_is_stored_in_order(rig: &dyn Rig) {
    let mut sink = connection(rig);
    assert_eq!(sink.write(&records(rig, 0..100)), Ok(()));
    assert_eq!(sink.write(&records(rig, 100..101)), Ok(()));
    assert_eq!(rig.stored(), ids(0..101));
}

/// `write` is all or nothing, and a position that it names is right.
pub fn a_batch_with_a_bad_record_stores_nothing(rig: &dyn Rig) {
    let mut sink = connection(rig);
    let mut batch = records(rig, 0..10);
    batch.insert(6, record(66, "key", rig.poison()));
    match sink.write(&batch) {
        Err(SinkError::Rejected { position, reason }) => {
            assert!(position.is_none_or(|position| position == 6), "{position:?}");
            assert!(!reason.is_empty());
        }
        other => panic!("a bad record must be rejected, not {other:?}"),
    }
    assert_eq!(rig.stored(), Vec::<String>::new());
    batch.remove(6);
    assert_eq!(sink.write(&batch), Ok(()));
    assert_eq!(rig.stored(), ids(0..10));
}

/// The record id makes a retry after a lost answer harmless.
pub fn offered_twice_is_stored_once(rig: &dyn Rig) {
    let mut sink = connection(rig);
    assert_eq!(sink.write(&records(rig, 0..10)), Ok(()));
    assert_eq!(sink.write(&records(rig, 5..15)), Ok(()));
    assert_eq!(rig.stored(), ids(0..15));
}

/// An empty batch is no error.
pub fn an_empty_batch_is_stored(rig: &dyn Rig) {
    assert_eq!(connection(rig).write(&[]), Ok(()));
    assert_eq!(rig.stored(), Vec::<String>::new());
}

/// `check` says what `write` would.
pub fn check_tells_whether_records_would_be_taken(rig: &dyn Rig) {
    let mut sink = connection(rig);
    assert_eq!(sink.check(), Ok(()));
    rig.set_down(true);
    assert!(matches!(sink.check(), Err(SinkError::Retry(text)) if !text.is_empty()));
    assert!(matches!(
        sink.write(&records(rig, 0..1)),
        Err(SinkError::Retry(_))
    ));
    rig.set_down(false);
    assert_eq!(sink.check(), Ok(()));
    assert_eq!(rig.stored(), Vec::<String>::new());
}

/// When a receipt arrives, another reader finds the record.
pub fn a_receipt_means_that_the_record_is_stored(rig: &dyn Rig) {
    let running = running(rig, 1);
    for round in 0..20 {
        running.sink.submit(records(rig, round * 10..(round + 1) * 10));
        running.port.wait_for(1, PATIENCE);
        let receipts = running.port.outcomes();
        let stored = rig.stored();
        for (message, outcome) in receipts {
            assert_eq!(outcome, Outcome::Stored);
            assert!(
                stored.contains(&record(message, "", b"").id.to_string()),
                "{message} is not stored"
            );
        }
    }
    running.receipts(200);
}

/// Order per partition key holds whatever the number of lanes.
pub fn records_of_one_key_stay_in_order(rig: &dyn Rig) {
    let running = running(rig, rig.lanes());
    for round in 0..50 {
        running.sink.submit(records(rig, round * 40..(round + 1) * 40));
    }
    running.receipts(2000);
    let mut last: HashMap<u64, u64> = HashMap::new();
    let sequences: HashMap<String, u64> = (0..2000)
        .map(|s| (record(s, "", b"").id.to_string(), s))
        .collect();
    let stored = rig.stored();
    assert_eq!(stored.len(), 2000);
    for id in stored {
        let sequence = sequences
            .get(&id)
            .copied()
            .unwrap_or_else(|| panic!("{id} was never submitted"));
        let before = last.insert(sequence % 7, sequence);
        assert!(
            before.is_none_or(|before| before < sequence),
            "{sequence} after {before:?}"
        );
    }
}

/// 10 bad records among 1,000: the bad are dead letters with a reason, the others stored in order.
pub fn bad_records_are_isolated_and_the_others_stored(rig: &dyn Rig) {
    let running = running(rig, 1);
    let bad = |sequence: u64| sequence % 100 == 50;
    let body = |sequence| if bad(sequence) { rig.poison() } else { rig.body() };
    running.sink.submit(
        (0..1000)
            .map(|sequence| record(sequence, "key", body(sequence)))
            .collect(),
    );
    let receipts = running.receipts(1000);
    for (message, outcome) in receipts {
        match outcome {
            Outcome::DeadLettered(reason) => {
                assert!(bad(message) && !reason.is_empty(), "{message}: {reason}");
            }
            other => assert!(!bad(message) && other == Outcome::Stored, "{message}: {other:?}"),
        }
    }
    assert_eq!(rig.stored(), ids((0..1000).filter(|sequence| !bad(*sequence))));
    let letters = running.letters.stored();
    assert_eq!(
        letters
            .iter()
            .map(|letter| letter.id.sequence)
            .collect::<Vec<_>>(),
        [50, 150, 250, 350, 450, 550, 650, 750, 850, 950]
    );
    assert!(letters.iter().all(|letter| {
        letter
            .death
            .as_ref()
            .is_some_and(|death| &*death.origin == "suite")
    }));
    let counts = running.sink.snapshot().counts;
    assert_eq!(
        (counts.delivered, counts.dead_lettered, counts.pending),
        (990, 10, 0)
    );
}

/// Nothing is lost or doubled by an outage, and the state tells of it.
pub fn an_outage_is_waited_out(rig: &dyn Rig) {
    let running = running(rig, rig.lanes());
    running.sink.submit(records(rig, 0..100));
    running.receipts(100);
    rig.set_down(true);
    running.sink.submit(records(rig, 100..300));
    running.wait_for_state(|state| matches!(state, SinkState::Retrying { error, .. } if !error.is_empty()));
    assert_eq!(running.port.receipts().len(), 100);
    assert!(running.sink.snapshot().oldest_pending.is_some());
    rig.set_down(false);
    running.receipts(300);
    running.wait_for_state(SinkState::is_healthy);
    let snapshot = running.sink.snapshot();
    assert!(snapshot.counts.retries > 0 && snapshot.last_error.is_some());
    assert_eq!(rig.stored().len(), 300);
}

/// What only an operator can cure is shown as a pause; after the cure everything is delivered.
pub fn an_operator_error_pauses_and_drops_nothing(rig: &dyn Rig) {
    let running = running(rig, 1);
    running.sink.submit(records(rig, 0..10));
    running.receipts(10);
    rig.set_broken(true);
    running.sink.submit(records(rig, 10..30));
    let paused = |state: &SinkState| matches!(state, SinkState::Paused(crate::Pause::Operator { error, .. }) if !error.is_empty());
    running.wait_for_state(paused);
    assert_eq!(running.port.receipts().len(), 10);
    rig.set_broken(false);
    running.receipts(30);
    running.wait_for_state(SinkState::is_healthy);
    assert_eq!(rig.stored().len(), 30);
}

/// The broker starts, and takes records, before the outside system does.
pub fn a_sink_starts_while_its_system_is_down(rig: &dyn Rig) {
    rig.set_down(true);
    let running = running(rig, 1);
    running.sink.submit(records(rig, 0..10));
    running.wait_for_state(|state| !state.is_healthy());
    rig.set_down(false);
    running.receipts(10);
    assert_eq!(rig.stored(), ids(0..10));
}

/// A pause on request holds records; a resume delivers them.
pub fn a_pause_holds_and_a_resume_delivers(rig: &dyn Rig) {
    let running = running(rig, rig.lanes());
    running.sink.pause();
    running.sink.submit(records(rig, 0..10));
    assert_eq!(running.sink.state(), SinkState::Paused(crate::Pause::Requested));
    let drained_while_paused = running.sink.snapshot().counts;
    assert_eq!(
        (drained_while_paused.pending, drained_while_paused.delivered),
        (10, 0)
    );
    running.sink.resume();
    running.receipts(10);
}

/// A drain leaves nothing behind when the system takes records.
pub fn a_drain_delivers_what_is_queued(rig: &dyn Rig) {
    let running = running(rig, rig.lanes());
    running.sink.submit(records(rig, 0..500));
    let drained = running.sink.drain(PATIENCE);
    assert_eq!(drained.left, 0);
    assert_eq!(running.receipts(500).len(), 500);
    assert_eq!(rig.stored().len(), 500);
    assert!(!running.sink.has_room(), "a drained sink takes nothing more");
}

/// A drain that cannot deliver says so within its time, and acknowledges nothing.
pub fn a_drain_that_fails_reports_what_is_left(rig: &dyn Rig) {
    let running = running(rig, 1);
    rig.set_down(true);
    running.sink.submit(records(rig, 0..50));
    running.wait_for_state(|state| !state.is_healthy());
    let drained = running.sink.drain(Duration::from_millis(50));
    assert_eq!(drained.left, 50);
    assert!(!drained.state.is_healthy(), "{drained:?}");
    assert_eq!(running.port.receipts(), []);
}
