//! Several workers at once on the real file system: order per worker, receipts, bounds, and what a restart finds.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tidegate_log::{
    Ack, AppendError, Batch, Commit, CursorId, Entry, EntryId, Log, Options, ReadLimit, Sequence, Timestamp,
    inspect,
};

const ALL: CursorId = CursorId(0);
const EVERYTHING: ReadLimit = ReadLimit {
    entries: usize::MAX,
    bytes: usize::MAX,
};
const LONG: Duration = Duration::from_secs(30);

fn options() -> Options {
    Options {
        segment_bytes: 256 << 10,
        ..Options::default()
    }
}

/// A log and the receipts it gives.
fn open(directory: &std::path::Path, options: Options) -> (Log, Receiver<Commit>) {
    let (told, receipts) = sync_channel(100_000);
    let on_commit = move |commit| told.try_send(commit).unwrap();
    (
        Log::open(directory, options, Box::new(on_commit)).unwrap().0,
        receipts,
    )
}

/// Waits until `through` was reported as durable. Reports only ever go forward.
fn wait_for(receipts: &Receiver<Commit>, through: Sequence) {
    let mut last = Sequence(0);
    while last < through {
        match receipts.recv_timeout(LONG) {
            Ok(Commit::Durable { through }) => {
                assert!(through > last);
                last = through;
            }
            Ok(Commit::Poisoned { reason }) => panic!("poisoned: {reason}"),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                panic!("only {last} is durable")
            }
        }
    }
}

#[test]
fn each_workers_appends_keep_their_order() {
    let directory = tempfile::tempdir().unwrap();
    let (log, receipts) = open(directory.path(), options());
    let log = Arc::new(log);
    let last = Mutex::new(Sequence(0));
    std::thread::scope(|scope| {
        for worker in 0..3u8 {
            let (log, last) = (&log, &last);
            scope.spawn(move || {
                let mut batch = Batch::default();
                for number in (0..2_000u32).step_by(10) {
                    for number in number..number + 10 {
                        let body = [&[worker][..], &number.to_le_bytes(), &[9; 200]].concat();
                        let own = CursorId(u32::from(worker) + 1);
                        let entry = Entry {
                            lanes: &[ALL, own],
                            body: &body,
                        };
                        batch.push(Timestamp(1), &[entry], &[]).unwrap();
                    }
                    let appended = loop {
                        match log.append(&mut batch) {
                            Ok(appended) => break appended,
                            Err(AppendError::Full { .. }) => std::thread::yield_now(),
                            Err(error) => panic!("{error}"),
                        }
                    };
                    assert_eq!(appended.last.0 - appended.first.0, 9);
                    assert!(batch.is_empty());
                    let mut last = last.lock().unwrap();
                    *last = appended.last.max(*last);
                }
            });
        }
    });
    let last = last.into_inner().unwrap();
    assert_eq!(last, Sequence(6_000));
    wait_for(&receipts, last);
    let check = |log: &Log| {
        let all = log.read(ALL, EntryId::START, EVERYTHING).unwrap();
        let mut next = [0u32; 3];
        for delivery in &all.deliveries {
            let worker = usize::from(delivery.body[0]);
            assert_eq!(
                u32::from_le_bytes(delivery.body[1..5].try_into().unwrap()),
                next[worker]
            );
            next[worker] += 1;
        }
        assert_eq!(next, [2_000; 3]);
    };
    check(&log);
    drop(log);

    let mut text = Vec::new();
    let report = inspect(directory.path(), &mut text).unwrap();
    assert_eq!(
        (report.frames, report.damage.len(), report.torn),
        (6_000, 0, None)
    );
    let text = String::from_utf8(text).unwrap();
    assert!(
        text.contains("no damage") && text.contains("0: 6000 entries"),
        "{text}"
    );
    check(&open(directory.path(), options()).0);
}

#[test]
fn acknowledged_segments_are_removed_while_the_log_runs() {
    let directory = tempfile::tempdir().unwrap();
    let (log, receipts) = open(directory.path(), options());
    let mut last = Sequence(0);
    for _ in 0..40 {
        let mut batch = Batch::default();
        for _ in 0..100 {
            batch
                .push(
                    Timestamp(1),
                    &[Entry {
                        lanes: &[ALL],
                        body: &[1; 1_000],
                    }],
                    &[],
                )
                .unwrap();
        }
        last = log.append(&mut batch).unwrap().last;
        wait_for(&receipts, last);
        log.ack(&[Ack::all(ALL)]);
    }
    let mut waited = 0;
    while log.stats().segments > 2 {
        waited += 1;
        assert!(waited < 300, "{:?}", log.stats());
        log.wait_past(last, Duration::from_millis(100));
    }
    assert_eq!(log.stats().live_entries, 0);
}

#[test]
fn a_full_hand_over_is_a_value() {
    let directory = tempfile::tempdir().unwrap();
    let (log, receipts) = open(
        directory.path(),
        Options {
            queue_bytes_max: 10_000,
            ..options()
        },
    );
    let fill = |bytes: usize| {
        let mut batch = Batch::default();
        batch
            .push(
                Timestamp(1),
                &[Entry {
                    lanes: &[ALL],
                    body: &vec![0; bytes],
                }],
                &[],
            )
            .unwrap();
        batch
    };
    let refused = log.append(&mut fill(10_000)).unwrap_err();
    assert!(
        matches!(refused, AppendError::TooLarge { max: 10_000, .. }),
        "{refused}"
    );
    let mut taken = Sequence(0);
    let mut batch = fill(4_000);
    let refused = loop {
        match log.append(&mut batch) {
            Ok(appended) => (taken, batch) = (appended.last, fill(4_000)),
            Err(error) => break error,
        }
    };
    assert!(
        matches!(refused, AppendError::Full { limit: 10_000, .. }),
        "{refused}"
    );
    wait_for(&receipts, taken);
    // The very batch that was refused goes in now.
    log.append(&mut batch).unwrap();
}

#[test]
fn an_append_moves_an_entry_from_one_cursor_to_another_at_once() {
    let (dead_letters, directory) = (CursorId(7), tempfile::tempdir().unwrap());
    let (log, receipts) = open(directory.path(), options());
    let mut batch = Batch::default();
    batch
        .push(
            Timestamp(1),
            &[Entry {
                lanes: &[ALL],
                body: b"poison",
            }],
            &[],
        )
        .unwrap();
    let first = log.append(&mut batch).unwrap().last;
    wait_for(&receipts, first);
    let entry = EntryId {
        sequence: first,
        index: 0,
    };
    let moved = Entry {
        lanes: &[dead_letters],
        body: b"poison",
    };
    batch
        .push(Timestamp(2), &[moved], &[Ack::one(ALL, entry)])
        .unwrap();
    let second = log.append(&mut batch).unwrap().last;
    wait_for(&receipts, second);
    assert_eq!(
        (log.pending(ALL).entries, log.pending(dead_letters).entries),
        (0, 1)
    );
    drop(log);
    let (log, _) = open(directory.path(), options());
    assert_eq!(
        (log.pending(ALL).entries, log.pending(dead_letters).entries),
        (0, 1)
    );
    assert_eq!((log.cursors(), log.epoch()), (vec![dead_letters], 2));
}

#[test]
fn one_directory_has_one_open_log() {
    let directory = tempfile::tempdir().unwrap();
    let (log, _) = open(directory.path(), options());
    let refused = Log::open(directory.path(), options(), Box::new(|_| {}));
    let Err(refused) = refused else {
        panic!("opened twice")
    };
    assert!(
        refused.to_string().contains("open in another process"),
        "{refused}"
    );
    drop(log);
    open(directory.path(), options());
}
