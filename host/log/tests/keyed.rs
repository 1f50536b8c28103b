//! Keyed state follows the log: what an append changed is there after any restart, applied or not.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]
#![cfg(feature = "keyed")]

use std::sync::Arc;
use std::time::Duration;

use tidegate_log::keyed::{Change, KeyedError, KeyedState};
use tidegate_log::{Batch, CursorId, Entry, Log, Options, Sequence, Timestamp};

const SESSION: CursorId = CursorId(1);
const LONG: Duration = Duration::from_secs(30);

fn open(directory: &std::path::Path) -> Arc<Log> {
    let options = Options {
        segment_bytes: 256 << 10,
        ..Options::default()
    };
    Arc::new(
        Log::open(&directory.join("log"), options, Box::new(|_| {}))
            .unwrap()
            .0,
    )
}

/// One append: an entry for a session and the change, together.
fn append(log: &Log, change: Change<'_>) -> Sequence {
    let mut body = Vec::new();
    change.encode(&mut body).unwrap();
    let entries = [
        Entry {
            lanes: &[SESSION],
            body: b"message",
        },
        Entry {
            lanes: &[CursorId::KEYED],
            body: &body,
        },
    ];
    let mut batch = Batch::default();
    batch.push(Timestamp(1), &entries, &[]).unwrap();
    log.append(&mut batch).unwrap().last
}

fn commit(log: &Log, through: Sequence) {
    let mut durable = log.durable();
    while durable < through {
        let now = log.wait_past(durable, LONG);
        assert!(now > durable, "nothing was committed within {LONG:?}");
        durable = now;
    }
}

fn state(keyed: &KeyedState) -> Vec<(Vec<u8>, Vec<u8>)> {
    keyed
        .scan(b"")
        .map(|pair| pair.map(|(key, value)| (key.to_vec(), value.to_vec())).unwrap())
        .collect()
}

#[test]
fn changes_beyond_the_checkpoint_are_replayed() {
    let directory = tempfile::tempdir().unwrap();
    let log = open(directory.path());
    append(
        &log,
        Change::Put {
            key: b"a",
            value: b"1",
        },
    );
    let last = append(
        &log,
        Change::Put {
            key: b"b",
            value: b"1",
        },
    );
    commit(&log, last);
    let keyed = KeyedState::open(Arc::clone(&log), &directory.path().join("keyed")).unwrap();
    assert_eq!(keyed.applied().sequence, last);
    assert_eq!(
        log.pending(CursorId::KEYED).entries,
        0,
        "what is applied is acknowledged"
    );
    assert_eq!(log.pending(SESSION).entries, 2);
    keyed.close().unwrap();

    // These are durable in the log alone.
    append(
        &log,
        Change::Put {
            key: b"a",
            value: b"2",
        },
    );
    append(
        &log,
        Change::Put {
            key: b"c",
            value: b"1",
        },
    );
    let last = append(&log, Change::Delete { key: b"b" });
    commit(&log, last);
    drop(log);

    let log = open(directory.path());
    let keyed = KeyedState::open(Arc::clone(&log), &directory.path().join("keyed")).unwrap();
    assert_eq!(
        state(&keyed),
        [(b"a".to_vec(), b"2".to_vec()), (b"c".to_vec(), b"1".to_vec())]
    );
    assert_eq!(keyed.get(b"b").unwrap(), None);
    assert_eq!(keyed.applied().sequence, last);
}

#[test]
fn changes_are_applied_while_the_log_runs() {
    let directory = tempfile::tempdir().unwrap();
    let log = open(directory.path());
    let keyed = KeyedState::open(Arc::clone(&log), &directory.path().join("keyed")).unwrap();
    let mut last = Sequence(0);
    for n in 0..1_000u32 {
        let key = (n % 100).to_be_bytes();
        last = append(
            &log,
            Change::Put {
                key: &key,
                value: &n.to_be_bytes(),
            },
        );
    }
    let mut rounds = 0;
    while keyed.applied().sequence < last {
        assert!(keyed.failure().is_none() && rounds < 600, "{:?}", keyed.failure());
        rounds += 1;
        log.wait_past(Sequence(u64::MAX), Duration::from_millis(50));
    }
    assert_eq!(state(&keyed).len(), 100);
    assert_eq!(
        keyed.get(&99u32.to_be_bytes()).unwrap().as_deref(),
        Some(&999u32.to_be_bytes()[..])
    );
}

#[test]
fn a_checkpoint_of_another_log_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let log = open(directory.path());
    let last = append(
        &log,
        Change::Put {
            key: b"a",
            value: b"1",
        },
    );
    commit(&log, last);
    KeyedState::open(Arc::clone(&log), &directory.path().join("keyed"))
        .unwrap()
        .close()
        .unwrap();
    drop(log);
    std::fs::remove_dir_all(directory.path().join("log")).unwrap();
    let log = open(directory.path());
    let refused = KeyedState::open(log, &directory.path().join("keyed"));
    assert!(matches!(refused, Err(KeyedError::AheadOfLog { .. })));
}
