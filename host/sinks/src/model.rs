//! A model of lanes under random faults, in virtual time: no threads, every step is the test's.
//!
//! Properties: the accounting identity holds after every action, every record ends exactly once and as its nature
//! says, records of one key are stored in order, and all room is given back.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::{Strategy, any, prop_oneof};
use proptest::{prop_assert, prop_assert_eq, proptest};

use crate::fake::{Fault, ManualClock, MemoryPort, MemorySystem, record};
use crate::handle::assemble;
use crate::lane::Lane;
use crate::{
    BackOff, Clock, Gate, OnRejected, Outcome, ReceiptPort, Record, SinkError, SinkHandle, SinkSettings,
    Wiring,
};

#[derive(Debug, Clone)]
enum Action {
    /// Keys of the records and whether they are poison.
    Submit(Vec<(u8, bool)>),
    Step(usize),
    Advance(u16),
    Fault(Fault),
    LettersFault(Fault),
    Down(bool),
    Pause,
    Resume,
}

#[derive(Debug, Clone)]
struct Shape {
    lanes: usize,
    batch_records_max: usize,
    system_records_max: usize,
    names_position: bool,
    refuse: bool,
}

fn faults() -> impl Strategy<Value = Fault> {
    prop_oneof![
        4 => proptest::strategy::Just(Fault::Fail(SinkError::Retry("away".into()))),
        2 => proptest::strategy::Just(Fault::Fail(SinkError::Operator("forbidden".into()))),
        3 => proptest::strategy::Just(Fault::LoseAnswer),
        1 => proptest::strategy::Just(Fault::Panic),
    ]
}

fn actions() -> impl Strategy<Value = Action> {
    let poison = || proptest::bool::weighted(0.15);
    prop_oneof![
        6 => vec((0..5u8, poison()), 1..12).prop_map(Action::Submit),
        12 => any::<usize>().prop_map(Action::Step),
        4 => (0..400u16).prop_map(Action::Advance),
        2 => faults().prop_map(Action::Fault),
        1 => faults().prop_map(Action::LettersFault),
        1 => any::<bool>().prop_map(Action::Down),
        1 => proptest::strategy::Just(Action::Pause),
        2 => proptest::strategy::Just(Action::Resume),
    ]
}

fn shapes() -> impl Strategy<Value = Shape> {
    (1..4usize, 1..10usize, 1..8usize, any::<bool>(), any::<bool>()).prop_map(
        |(lanes, batch_records_max, system_records_max, names_position, refuse)| Shape {
            lanes,
            batch_records_max,
            system_records_max,
            names_position,
            refuse,
        },
    )
}

/// A sink and its dead letters, each lane stepped by hand.
struct World {
    clock: Arc<ManualClock>,
    port: Arc<MemoryPort>,
    system: MemorySystem,
    letters_system: MemorySystem,
    sink: SinkHandle,
    letters: SinkHandle,
    lanes: Vec<Lane>,
    submitted: Vec<Record>,
}

fn is_poison(record: &Record) -> bool {
    &record.body[..] == b"poison"
}

impl World {
    fn new(shape: &Shape) -> Self {
        let (clock, port) = (Arc::new(ManualClock::default()), Arc::new(MemoryPort::default()));
        let (system, letters_system) = (MemorySystem::new(), MemorySystem::new());
        system.set_poison(is_poison, shape.names_position);
        system.set_records_max(shape.system_records_max);
        letters_system.set_unique_ids();
        let settings = SinkSettings {
            name: "model".into(),
            gate: Gate::Durable,
            lanes: shape.lanes,
            batch_records_max: shape.batch_records_max,
            retry: BackOff {
                min: Duration::from_millis(10),
                max: Duration::from_millis(200),
            },
            on_rejected: if shape.refuse {
                OnRejected::Refuse
            } else {
                OnRejected::DeadLetter
            },
            ..SinkSettings::default()
        };
        let letters_settings = SinkSettings {
            name: "letters".into(),
            batch_records_max: shape.batch_records_max,
            retry: settings.retry,
            queue_records_max: 2,
            ..SinkSettings::default()
        };
        let wiring = |system: &MemorySystem, dead_letters| Wiring {
            connect: system.connect(),
            ports: vec![Arc::clone(&port) as Arc<dyn ReceiptPort>],
            dead_letters,
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
        };
        let (letters, mut lanes) = assemble(letters_settings, &wiring(&letters_system, None));
        let (sink, sink_lanes) = assemble(settings, &wiring(&system, Some(letters.clone())));
        lanes.extend(sink_lanes);
        Self {
            sink,
            letters,
            lanes,
            submitted: Vec::new(),
            system,
            letters_system,
            port,
            clock,
        }
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Submit(records) => self.submit(&records),
            Action::Step(which) => {
                let which = which % self.lanes.len();
                let _ = self.lanes[which].step(self.clock.now());
            }
            Action::Advance(ms) => self.clock.advance(Duration::from_millis(u64::from(ms))),
            Action::Fault(fault) => self.system.fail_next(fault),
            Action::LettersFault(fault) => self.letters_system.fail_next(fault),
            Action::Down(down) => self
                .system
                .set_down(down.then(|| SinkError::Retry("down".into()))),
            Action::Pause => self.sink.pause(),
            Action::Resume => self.sink.resume(),
        }
    }

    fn submit(&mut self, records: &[(u8, bool)]) {
        let first = self.submitted.len() as u64;
        let records: Vec<Record> = (first..)
            .zip(records)
            .map(|(sequence, (key, poison))| {
                let body: &[u8] = if *poison { b"poison" } else { b"good" };
                let record = record(sequence, &format!("key-{key}"), body);
                Record {
                    refusable: sequence % 2 == 0,
                    ..record
                }
            })
            .collect();
        self.submitted.extend_from_slice(&records);
        self.sink.submit(records);
    }

    /// Everything works again: steps until nothing is pending and every lane has noticed.
    fn settle(&mut self) {
        self.system.set_down(None);
        self.sink.resume();
        for _ in 0..10_000 {
            let settled =
                |sink: &SinkHandle| sink.snapshot().counts.pending == 0 && sink.state().is_healthy();
            if settled(&self.sink) && settled(&self.letters) {
                break;
            }
            self.clock.advance(Duration::from_millis(200));
            for lane in &mut self.lanes {
                let _ = lane.step(self.clock.now());
            }
        }
    }

    /// How often a key's records were stored out of order; a repeated offer of stored records is in order.
    fn disorder(&self) -> usize {
        let mut last: HashMap<Vec<u8>, u64> = HashMap::new();
        let mut seen = HashSet::new();
        let stored = self.system.stored();
        let first_times = stored.iter().filter(|record| seen.insert(record.id.sequence));
        first_times
            .filter(|record| {
                let key = record.key.as_ref().map(|key| key.to_vec()).unwrap_or_default();
                let before = last.insert(key, record.id.sequence);
                before.is_some_and(|before| before > record.id.sequence)
            })
            .count()
    }
}

proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(1_000))]
    #[test]
    fn every_record_ends_once_in_order_and_accounted(
        shape in shapes(),
        actions in vec(actions(), 1..120),
    ) {
        let mut world = World::new(&shape);
        for action in actions {
            world.act(action);
            let counts = world.sink.snapshot().counts;
            prop_assert!(counts.balanced(), "{counts:?}");
            prop_assert!(world.letters.snapshot().counts.balanced());
            prop_assert_eq!(counts.accepted, world.submitted.len() as u64);
            let ended = counts.delivered + counts.dead_lettered + counts.refused;
            prop_assert_eq!(ended, world.port.receipts().len() as u64);
            prop_assert_eq!(world.disorder(), 0);
        }
        world.settle();

        let counts = world.sink.snapshot().counts;
        prop_assert_eq!((counts.pending, counts.pending_bytes), (0, 0));
        prop_assert!(world.sink.has_room() && world.sink.snapshot().state.is_healthy());
        let outcomes = world.port.outcomes();
        let ends: HashMap<u64, Outcome> = outcomes.iter().cloned().collect();
        prop_assert_eq!(outcomes.len(), ends.len(), "a record ended twice");
        let kept: HashSet<u64> = world.letters_system.sequences().into_iter().collect();
        let stored: HashSet<u64> = world.system.sequences().into_iter().collect();
        for record in &world.submitted {
            let sequence = record.id.sequence;
            let refused = shape.refuse && record.refusable;
            match ends.get(&sequence) {
                Some(Outcome::Stored) => prop_assert!(!is_poison(record) && stored.contains(&sequence)),
                Some(Outcome::Refused(_)) => prop_assert!(is_poison(record) && refused),
                Some(Outcome::DeadLettered(_)) => {
                    prop_assert!(is_poison(record) && !refused && kept.contains(&sequence));
                }
                None => prop_assert!(false, "record {sequence} never ended"),
            }
        }
        prop_assert_eq!(world.disorder(), 0);
    }
}
