//! Real threads: workers that hold when told so and go on only when called, small bounds, faults in between.
//! A lost wake, on either side, would leave this test waiting until its deadline.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use tidegate_sinks::fake::{Fault, MemoryPort, MemorySystem, RealClock, record};
use tidegate_sinks::{
    BackOff, Outcome, Receipt, ReceiptPort, Record, SinkError, SinkHandle, SinkSettings, Token, Wiring, start,
};

const PATIENCE: Duration = Duration::from_secs(30);
const WORKERS: u64 = 3;
const PER_WORKER: u64 = 20_000;

/// A worker's mailbox: wakes it for room, as the broker's does.
#[derive(Default)]
struct Mailbox {
    receipts: MemoryPort,
    room: Mutex<bool>,
    called: Condvar,
}

impl ReceiptPort for Mailbox {
    fn deliver(&self, receipts: Vec<Receipt>) {
        self.receipts.deliver(receipts);
    }

    fn room(&self) {
        *self.room.lock().unwrap() = true;
        self.called.notify_one();
    }
}

impl Mailbox {
    fn wait_for_room(&self) {
        let room = self.room.lock().unwrap();
        let (mut room, timeout) = self
            .called
            .wait_timeout_while(room, PATIENCE, |room| !*room)
            .unwrap();
        assert!(
            !timeout.timed_out(),
            "told that there is no room, and never that there is"
        );
        *room = false;
    }
}

fn work(worker: u64, sink: &SinkHandle, mailbox: &Mailbox) {
    let mut sequence = 0;
    while sequence < PER_WORKER {
        if !sink.has_room() {
            mailbox.wait_for_room();
            continue;
        }
        let until = (sequence + 1 + sequence % 37).min(PER_WORKER);
        let records = (sequence..until).map(|sequence| {
            let token = Some(Token {
                worker: worker as u16,
                message: sequence,
            });
            let key = format!("{worker}-{}", sequence % 11);
            let body: &[u8] = if sequence % 1_000 == 500 {
                b"poison"
            } else {
                b"good"
            };
            Record {
                token,
                ..record(worker * PER_WORKER + sequence, &key, body)
            }
        });
        sink.submit(records.collect());
        sequence = until;
    }
}

fn a_sink(system: &MemorySystem, mailboxes: &[Arc<Mailbox>], letters: Option<SinkHandle>) -> SinkHandle {
    let settings = SinkSettings {
        name: "threads".into(),
        lanes: if letters.is_some() { 3 } else { 1 },
        batch_records_max: 50,
        queue_records_max: 100,
        retry: BackOff {
            min: Duration::from_millis(1),
            max: Duration::from_millis(2),
        },
        ..SinkSettings::default()
    };
    let wiring = Wiring {
        connect: system.connect(),
        ports: mailboxes
            .iter()
            .map(|mailbox| Arc::clone(mailbox) as Arc<dyn ReceiptPort>)
            .collect(),
        dead_letters: letters,
        clock: Arc::new(RealClock::default()),
    };
    start(settings, &wiring).unwrap()
}

#[test]
fn workers_and_lanes_always_find_each_other() {
    let mailboxes: Vec<Arc<Mailbox>> = (0..WORKERS).map(|_| Arc::default()).collect();
    let system = MemorySystem::new();
    system.set_poison(|record| &record.body[..] == b"poison", true);
    let letters = a_sink(&MemorySystem::new(), &mailboxes, None);
    let sink = a_sink(&system, &mailboxes, Some(letters));
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS)
            .map(|worker| {
                let (sink, mailbox) = (sink.clone(), Arc::clone(&mailboxes[worker as usize]));
                scope.spawn(move || work(worker, &sink, &mailbox))
            })
            .collect();
        scope.spawn(|| {
            let mut next_fault = 0;
            while !done.load(Ordering::Relaxed) {
                let counts = sink.snapshot().counts;
                assert!(counts.balanced(), "{counts:?}");
                assert!(counts.pending <= 100 + WORKERS * 37 + 100, "bounded: {counts:?}");
                if system.attempts() >= next_fault {
                    next_fault = system.attempts() + 20;
                    system.fail_next(Fault::Fail(SinkError::Retry("hiccup".into())));
                }
                thread::yield_now();
            }
        });
        let joined: Vec<_> = workers.into_iter().map(|worker| worker.join()).collect();
        done.store(true, Ordering::Relaxed);
        assert!(joined.iter().all(Result::is_ok), "{joined:?}");
    });
    for mailbox in &mailboxes {
        let receipts = mailbox.receipts.wait_for(PER_WORKER as usize, PATIENCE);
        assert_eq!(receipts.len() as u64, PER_WORKER, "{:?}", sink.snapshot());
        let dead = receipts
            .iter()
            .filter(|receipt| matches!(receipt.outcome, Outcome::DeadLettered(_)));
        assert_eq!(dead.count() as u64, PER_WORKER / 1_000);
    }
    assert_eq!(sink.drain(PATIENCE).left, 0);
}
