//! Dead letters: what is kept, how it is listed, and that it outlives the process that wrote it.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use common::{Files, PATIENCE, json};
use tidegate_sink_sqlite::{DeadLetters, dead_letter_settings};
use tidegate_sinks::fake::{MemoryPort, record, wiring};
use tidegate_sinks::{Outcome, Record, SinkHandle, start};

fn store(files: &Files) -> (DeadLetters, SinkHandle, Arc<MemoryPort>) {
    let (letters, port) = (DeadLetters::new(files.0.path()), Arc::new(MemoryPort::default()));
    let sink = start(dead_letter_settings(), &wiring(letters.connect(), &port, None)).unwrap();
    (letters, sink, port)
}

#[test]
fn a_letter_carries_everything_about_its_record() {
    let files = Files::new();
    let (letters, sink, port) = store(&files);
    let full = Record {
        body: Bytes::from_static(b"\x00\xff"),
        headers: Bytes::from_static(b"h"),
        ..record(1, "key", b"")
    };
    let own = Record {
        client_id: None,
        key: None,
        ..record(2, "", b"")
    };
    let dead = |record: Record| record.dead_letter("rule clean".into(), "no celsius", 1_700_000_000_999);
    sink.submit(vec![dead(full), dead(own)]);
    assert_eq!(port.wait_for(2, PATIENCE).len(), 2);
    assert_eq!(
        port.outcomes()[0],
        (1, Outcome::DeadLettered("no celsius".into()))
    );

    let listed = letters.list(0, 10).unwrap();
    let first = &listed[0];
    assert_eq!(
        (first.id.as_str(), first.sink.as_str(), first.reason.as_str()),
        ("1-1-0", "rule clean", "no celsius")
    );
    assert_eq!(
        (first.topic.as_str(), first.client_id.as_deref(), first.qos),
        ("plant/1", Some("client"), 1)
    );
    assert_eq!(
        (first.key.as_deref(), &first.payload[..], &first.headers[..]),
        (Some(&b"key"[..]), &b"\x00\xff"[..], &b"h"[..])
    );
    assert_eq!(
        (first.received_at_ms, first.dead_at_ms),
        (1_700_000_000_001, 1_700_000_000_999)
    );
    assert_eq!(
        (listed[1].client_id.as_deref(), listed[1].key.as_deref()),
        (None, None)
    );
}

#[test]
fn a_listing_goes_on_where_the_last_one_ended() {
    let files = Files::new();
    let (letters, sink, port) = store(&files);
    assert_eq!(
        (letters.count().unwrap(), letters.list(0, 10).unwrap()),
        (0, vec![])
    );
    sink.submit(
        (0..25)
            .map(|s| record(s, "k", b"x").dead_letter("s".into(), "r", 1))
            .collect(),
    );
    port.wait_for(25, PATIENCE);
    assert_eq!(letters.count().unwrap(), 25);
    let mut seen = Vec::new();
    let mut after = 0;
    while let page @ [.., last] = letters.list(after, 10).unwrap().as_slice() {
        seen.extend(page.iter().map(|letter| letter.id.clone()));
        after = last.position;
    }
    assert_eq!(
        seen,
        (0..25)
            .map(|s| record(s, "", b"").id.to_string())
            .collect::<Vec<_>>()
    );
}

#[test]
fn the_same_letter_twice_is_one_and_letters_outlive_their_writer() {
    let files = Files::new();
    for _ in 0..2 {
        let (letters, sink, port) = store(&files);
        sink.submit(vec![record(1, "k", b"x").dead_letter("s".into(), "r", 1)]);
        port.wait_for(1, PATIENCE);
        assert_eq!(sink.drain(PATIENCE).left, 0);
        assert_eq!(letters.count().unwrap(), 1);
    }
}

#[test]
fn a_record_is_dead_lettered_only_when_the_store_has_it() {
    let files = Files::new();
    let create = "CREATE TABLE IF NOT EXISTS t (n NOT NULL)";
    let running = files.start("INSERT INTO t VALUES (:n)", create);
    running.sink.submit(vec![json(0, "{}")]);
    running.outcomes(1);
    let path = files.0.path().join(tidegate_sink_sqlite::DEAD_LETTERS_FILE);
    let lock = rusqlite::Connection::open(path).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    running.sink.submit(vec![json(1, "{}"), json(2, r#"{"n":2}"#)]);
    let outcomes = running.outcomes(2);
    assert_eq!(
        outcomes[1],
        (2, Outcome::Stored),
        "the good record does not wait for the bad one"
    );
    let counts = running.sink.snapshot().counts;
    assert_eq!(
        (counts.dead_lettered, counts.pending, counts.delivered),
        (1, 1, 1)
    );
    assert_eq!(
        running.sink.drain(Duration::from_millis(20)).left,
        1,
        "it has no end yet"
    );
    lock.execute_batch("COMMIT").unwrap();
    running.outcomes(3);
    assert_eq!(running.letters.count().unwrap(), 2);
    let counts = running.sink.snapshot().counts;
    assert_eq!((counts.dead_lettered, counts.pending), (2, 0));
}
