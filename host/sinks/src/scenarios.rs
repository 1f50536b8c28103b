//! What full, late, ill and stopped mean, one scenario a test, in virtual time: every step is the test's.

use std::sync::Arc;
use std::time::Duration;

use crate::fake::{Fault, ManualClock, MemoryPort, MemorySystem, record};
use crate::handle::assemble;
use crate::lane::{Lane, Next};
use crate::{
    Clock, DropPolicy, Gate, Outcome, Pause, ReceiptPort, Record, SinkError, SinkHandle, SinkSettings,
    SinkState, Token, Wiring,
};

/// A sink of one lane with two workers.
struct World {
    clock: Arc<ManualClock>,
    ports: [Arc<MemoryPort>; 2],
    system: MemorySystem,
    sink: SinkHandle,
    lane: Lane,
}

impl World {
    fn new(change: impl FnOnce(&mut SinkSettings)) -> Self {
        Self::with_letters(None, change)
    }

    fn with_letters(dead_letters: Option<SinkHandle>, change: impl FnOnce(&mut SinkSettings)) -> Self {
        let mut settings = SinkSettings {
            name: "s".into(),
            ..SinkSettings::default()
        };
        change(&mut settings);
        assert_eq!(settings.validate(), []);
        let clock = Arc::new(ManualClock::default());
        let ports = [Arc::new(MemoryPort::default()), Arc::new(MemoryPort::default())];
        let system = MemorySystem::new();
        let wiring = Wiring {
            connect: system.connect(),
            ports: ports
                .iter()
                .map(|port| Arc::clone(port) as Arc<dyn ReceiptPort>)
                .collect(),
            dead_letters,
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
        };
        let (sink, mut lanes) = assemble(settings, &wiring);
        let lane = lanes.remove(0);
        Self {
            clock,
            ports,
            system,
            sink,
            lane,
        }
    }

    fn submit(&self, sequences: std::ops::Range<u64>) {
        self.sink.submit(records(sequences));
    }

    fn step(&mut self) -> Next {
        self.lane.step(self.clock.now())
    }

    /// Steps until the lane waits; says until when, counted from now.
    fn run(&mut self) -> Duration {
        loop {
            match self.step() {
                Next::Again => {}
                Next::WaitUntil(until) => return until.saturating_sub(self.clock.now()),
                Next::Exit => panic!("the lane has ended"),
            }
        }
    }

    fn advance(&self, ms: u64) {
        self.clock.advance(Duration::from_millis(ms));
    }
}

fn records(sequences: std::ops::Range<u64>) -> Vec<Record> {
    sequences
        .map(|sequence| record(sequence, "key", b"body"))
        .collect()
}

fn gate_none(on_full: DropPolicy) -> impl FnOnce(&mut SinkSettings) {
    move |settings| {
        settings.gate = Gate::None;
        settings.queue_records_max = 10;
        settings.on_full = on_full;
    }
}

fn is_operator(state: &SinkState, part: &str) -> bool {
    matches!(state, SinkState::Paused(Pause::Operator { error, .. }) if error.contains(part))
}

#[test]
fn a_full_sink_holds_and_says_when_there_is_room() {
    let mut world = World::new(|settings| settings.queue_records_max = 10);
    world.submit(0..8);
    assert!(world.sink.has_room());
    world.submit(8..16);
    assert!(
        !world.sink.has_room(),
        "submitted after a yes: over the bound by one batch, and full"
    );
    assert_eq!(world.ports[0].rooms(), 0);
    world.run();
    assert_eq!((world.ports[0].rooms(), world.ports[1].rooms()), (1, 1));
    assert!(world.sink.has_room());
    world.submit(16..32);
    world.run();
    assert_eq!(world.ports[0].rooms(), 1, "nobody was waiting");
}

#[test]
fn bytes_fill_a_sink_like_records() {
    let world = World::new(|settings| settings.queue_bytes_max = 1_000);
    let big = Record {
        body: vec![0; 2_000].into(),
        ..record(0, "key", b"")
    };
    world.sink.submit(vec![big]);
    assert!(!world.sink.has_room());
}

#[test]
fn drop_newest_keeps_what_is_queued() {
    let mut world = World::new(gate_none(DropPolicy::DropNewest));
    world.submit(0..10);
    world.submit(10..20);
    assert!(world.sink.has_room(), "a sink that drops never holds publishers");
    world.run();
    assert_eq!(world.system.sequences(), (0..10).collect::<Vec<_>>());
    let counts = world.sink.snapshot().counts;
    assert_eq!((counts.accepted, counts.delivered, counts.dropped), (20, 10, 10));
}

#[test]
fn drop_oldest_keeps_what_came_last() {
    let mut world = World::new(gate_none(DropPolicy::DropOldest));
    world.submit(0..8);
    world.submit(8..16);
    world.submit(16..17);
    let counts = world.sink.snapshot().counts;
    assert!(counts.balanced(), "{counts:?}");
    assert_eq!((counts.pending, counts.dropped), (10, 7));
    world.run();
    assert_eq!(world.system.sequences(), (7..17).collect::<Vec<_>>());
    assert_eq!(world.sink.snapshot().counts.pending_bytes, 0);
}

#[test]
fn what_is_too_old_expires_instead_of_being_offered() {
    let mut world = World::new(|settings| {
        settings.gate = Gate::None;
        settings.expire_after = Some(Duration::from_secs(5));
    });
    world.submit(0..3);
    world.advance(4_000);
    world.submit(3..5);
    world.advance(1_000);
    world.run();
    assert_eq!(world.system.sequences(), [3, 4]);
    let counts = world.sink.snapshot().counts;
    assert_eq!((counts.expired, counts.delivered, counts.pending), (3, 2, 0));
    assert_eq!(counts.pending_bytes, 0);
}

#[test]
fn linger_waits_for_more_but_not_when_full() {
    let mut world = World::new(|settings| {
        settings.linger = Duration::from_millis(20);
        settings.batch_records_max = 4;
    });
    world.run();
    world.submit(0..1);
    world.advance(5);
    world.submit(1..2);
    assert_eq!(world.run(), Duration::from_millis(15));
    assert_eq!(world.system.attempts(), 0);
    world.submit(2..6);
    world.run();
    assert_eq!(
        world.system.sequences(),
        [0, 1, 2, 3, 4, 5],
        "a full batch, and the rest with it"
    );
    world.submit(6..7);
    world.advance(20);
    world.run();
    assert_eq!(world.system.sequences().len(), 7);
}

#[test]
fn a_batch_is_bounded_in_records_and_bytes() {
    let mut world = World::new(|settings| {
        settings.batch_records_max = 4;
        settings.batch_bytes_max = 1_000;
    });
    let mut batch = records(0..9);
    batch[6].body = vec![0; 5_000].into();
    world.sink.submit(batch);
    world.run();
    assert_eq!(world.system.sequences(), (0..9).collect::<Vec<_>>());
    // 4 + 2, then the large one alone, then 2.
    assert_eq!(world.system.attempts(), 4);
}

#[test]
fn receipts_return_to_the_worker_that_waits() {
    let mut world = World::new(|_| {});
    let mut batch = records(0..4);
    for (index, record) in batch.iter_mut().enumerate() {
        record.token = Some(Token {
            worker: (index % 2) as u16,
            message: index as u64,
        });
    }
    batch.push(Record {
        token: None,
        ..record(4, "key", b"")
    });
    world.sink.submit(batch);
    world.run();
    let messages = |port: &MemoryPort| {
        port.outcomes()
            .into_iter()
            .map(|(message, _)| message)
            .collect::<Vec<_>>()
    };
    assert_eq!(messages(&world.ports[0]), [0, 2]);
    assert_eq!(messages(&world.ports[1]), [1, 3]);
    assert_eq!(world.sink.snapshot().counts.delivered, 5);
}

#[test]
fn attempts_back_off_and_a_resume_tries_at_once() {
    let mut world = World::new(|_| {});
    world.system.set_down(Some(SinkError::Retry("away".into())));
    world.submit(0..1);
    let mut waits = Vec::new();
    for _ in 0..12 {
        let wait = world.run();
        world.clock.advance(wait);
        waits.push(wait.as_millis());
    }
    assert!(
        waits[0] <= 50 && waits[11] > 5_000 && waits[11] <= 10_000,
        "{waits:?}"
    );
    world.run();
    assert_eq!(world.sink.snapshot().oldest_pending, Some(world.clock.now()));
    let SinkState::Retrying { since_ms, .. } = world.sink.state() else {
        panic!("{:?}", world.sink.state())
    };
    assert_eq!(
        since_ms, 1_700_000_000_000,
        "when it began, not when it was last tried"
    );
    world.system.set_down(None);
    world.run();
    assert_eq!(world.system.sequences(), [] as [u64; 0], "still waiting");
    world.sink.resume();
    world.run();
    assert_eq!(world.system.sequences(), [0]);
    assert_eq!(world.sink.snapshot().oldest_pending, None);
}

#[test]
fn an_idle_sink_notices_an_outage_and_its_end() {
    let mut world = World::new(|settings| settings.check_every = Duration::from_secs(30));
    assert_eq!(world.run(), Duration::from_secs(30));
    world.system.set_down(Some(SinkError::Retry("away".into())));
    world.advance(30_000);
    let wait = world.run();
    assert!(!world.sink.state().is_healthy());
    world.system.set_down(None);
    world.clock.advance(wait);
    world.run();
    assert!(world.sink.state().is_healthy());
}

#[test]
fn without_a_dead_letter_store_a_bad_record_pauses_the_lane() {
    let mut world = World::new(|_| {});
    world.system.set_poison(|record| record.id.sequence == 1, true);
    world.submit(0..3);
    world.run();
    assert!(
        is_operator(&world.sink.state(), "no dead-letter store: poison"),
        "{:?}",
        world.sink.state()
    );
    assert_eq!(world.sink.snapshot().counts.pending, 3);
    world.system.set_poison(|_| false, true);
    world.sink.resume();
    world.run();
    assert_eq!(world.system.sequences(), [0, 1, 2]);
}

#[test]
fn a_full_dead_letter_store_holds_the_bad_record_back() {
    let mut letters = World::new(|settings| {
        settings.name = "letters".into();
        settings.queue_records_max = 1;
    });
    let mut world = World::with_letters(Some(letters.sink.clone()), |_| {});
    world.system.set_poison(|record| record.id.sequence < 2, true);
    world.submit(0..3);
    let wait = world.run();
    let state = world.sink.state();
    assert!(
        matches!(&state, SinkState::Retrying { error, .. } if error.contains("letters is full")),
        "{state:?}"
    );
    assert_eq!(
        world.sink.snapshot().counts.pending,
        3,
        "one waits in the store's queue, two here"
    );
    letters.run();
    assert_eq!(letters.system.sequences(), [0]);
    world.clock.advance(wait);
    world.run();
    letters.run();
    assert_eq!(
        (letters.system.sequences(), world.system.sequences()),
        (vec![0, 1], vec![2])
    );
    let counts = world.sink.snapshot().counts;
    assert_eq!(
        (counts.dead_lettered, counts.delivered, counts.pending),
        (2, 1, 0)
    );
}

#[test]
fn a_message_that_a_rule_refuses_is_acknowledged_as_a_dead_letter() {
    let mut letters = World::new(|settings| settings.name = "letters".into());
    letters.sink.submit(vec![record(7, "key", b"body").dead_letter(
        "rule clean".into(),
        "no celsius",
        42,
    )]);
    assert_eq!(letters.ports[0].outcomes(), []);
    letters.run();
    assert_eq!(
        letters.ports[0].outcomes(),
        [(7, Outcome::DeadLettered("no celsius".into()))]
    );
    let stored = letters.system.stored();
    let death = stored[0].death.as_ref().unwrap();
    assert_eq!(
        (&*death.origin, &*death.reason, death.dead_at_ms),
        ("rule clean", "no celsius", 42)
    );
}

#[test]
fn a_panic_in_a_sink_loses_no_record() {
    let mut world = World::new(|_| {});
    world.system.fail_next(Fault::Panic);
    world.submit(0..3);
    let wait = world.run();
    assert!(
        is_operator(&world.sink.state(), "panicked: an ordered panic"),
        "{:?}",
        world.sink.state()
    );
    world.clock.advance(wait);
    world.run();
    assert_eq!(world.system.sequences(), [0, 1, 2]);
    assert_eq!(world.system.connects(), 2, "what panicked is not used again");
}

#[test]
fn a_lost_answer_repeats_the_batch_under_the_same_ids() {
    let mut world = World::new(|_| {});
    world.system.set_unique_ids();
    world.system.fail_next(Fault::LoseAnswer);
    world.submit(0..3);
    let wait = world.run();
    assert_eq!(
        world.ports[0].outcomes(),
        [],
        "the answer is not known, so nobody is told"
    );
    world.clock.advance(wait);
    world.run();
    assert_eq!(world.system.sequences(), [0, 1, 2]);
    assert_eq!(world.ports[0].outcomes().len(), 3);
}

#[test]
fn a_drained_sink_takes_nothing_whatever_its_policy() {
    for on_full in [DropPolicy::DropOldest, DropPolicy::DropNewest] {
        let world = World::new(gate_none(on_full));
        assert!(world.sink.has_room());
        assert_eq!(world.sink.drain(Duration::ZERO).left, 0);
        assert!(!world.sink.has_room());
    }
}

#[test]
fn a_sink_whose_handles_are_gone_stops() {
    let World {
        sink,
        mut lane,
        clock,
        ..
    } = World::new(|_| {});
    drop(sink);
    assert_eq!(lane.step(clock.now()), Next::Exit);
}
