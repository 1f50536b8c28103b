//! What happens to the file or around it: full disk, locks, wrong or missing tables, not a database, moved away.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use std::time::Duration;

use common::{Files, json};
use tidegate_sinks::{Outcome, Record, SinkError};

const CREATE: &str = "CREATE TABLE IF NOT EXISTS t (id TEXT PRIMARY KEY, n INTEGER NOT NULL, text TEXT)";
const STATEMENT: &str = "INSERT INTO t VALUES (:id, :n, :text) ON CONFLICT (id) DO NOTHING";

fn rows(sequences: std::ops::Range<u64>) -> Vec<Record> {
    sequences
        .map(|sequence| json(sequence, &format!(r#"{{"n":{sequence}}}"#)))
        .collect()
}

fn connect_error(files: &Files, statement: &str, create: &str) -> SinkError {
    match files.connect(statement, create)(0) {
        Ok(_) => panic!("{statement} was taken"),
        Err(error) => error,
    }
}

#[test]
fn a_full_disk_is_named_and_waited_out() {
    let files = Files::new();
    // SQLite answers with SQLITE_FULL at the page limit as it does when write() says ENOSPC.
    let create = format!(
        "{CREATE}; CREATE TABLE IF NOT EXISTS ballast (b); PRAGMA max_page_count = 34;
         INSERT INTO ballast SELECT zeroblob(100000) WHERE NOT EXISTS (SELECT * FROM ballast)"
    );
    let running = files.start(STATEMENT, &create);
    let text = "x".repeat(1_000);
    let big = |sequence| json(sequence, &format!(r#"{{"n":{sequence},"text":"{text}"}}"#));
    running.sink.submit((0..10).map(big).collect());
    running.outcomes(10);
    running.sink.submit((10..40).map(big).collect());
    let (operator, error) = running.illness();
    assert!(
        !operator && error.contains("the disk is full") && error.contains("rows.db"),
        "{error}"
    );
    assert_eq!(running.port.receipts().len(), 10);
    assert_eq!(
        files.column::<i64>("SELECT count(*) FROM t"),
        [10],
        "all or nothing"
    );
    files
        .open()
        .execute_batch("DELETE FROM ballast; INSERT INTO ballast VALUES (1)")
        .unwrap();
    let outcomes = running.outcomes(40);
    assert!(outcomes.iter().all(|(_, outcome)| *outcome == Outcome::Stored));
    assert_eq!(
        files.column::<i64>("SELECT n FROM t ORDER BY n"),
        (0..40).collect::<Vec<_>>()
    );
}

#[test]
fn a_locked_database_is_named_and_waited_out() {
    let files = Files::new();
    let running = files.start(STATEMENT, CREATE);
    running.sink.submit(rows(0..10));
    running.outcomes(10);
    let other = files.open();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    running.sink.submit(rows(10..20));
    let (operator, error) = running.illness();
    assert!(
        !operator && error.contains("locked by another connection"),
        "{error}"
    );
    other.execute_batch("COMMIT").unwrap();
    running.outcomes(20);
    assert_eq!(
        files.column::<i64>("SELECT n FROM t ORDER BY n"),
        (0..20).collect::<Vec<_>>()
    );
}

#[test]
fn a_missing_table_pauses_until_it_is_created() {
    let files = Files::new();
    let running = files.start("INSERT INTO later VALUES (:n)", "");
    running.sink.submit(rows(0..10));
    let (operator, error) = running.illness();
    assert!(operator && error.contains("no such table: later"), "{error}");
    files.open().execute_batch("CREATE TABLE later (n)").unwrap();
    running.outcomes(10);
    assert_eq!(files.column::<i64>("SELECT count(*) FROM later"), [10]);
}

#[test]
fn a_table_dropped_in_mid_stream_blames_no_record() {
    let files = Files::new();
    let running = files.start(STATEMENT, "");
    files.open().execute_batch(CREATE).unwrap();
    running.sink.submit(rows(0..10));
    running.outcomes(10);
    files.open().execute_batch("DROP TABLE t").unwrap();
    running.sink.submit(rows(10..20));
    let (operator, error) = running.illness();
    assert!(operator && error.contains("no such table: t"), "{error}");
    files.open().execute_batch(CREATE).unwrap();
    let outcomes = running.outcomes(20);
    assert!(outcomes.iter().all(|(_, outcome)| *outcome == Outcome::Stored));
    assert_eq!(running.letters.count().unwrap(), 0);
}

#[test]
fn a_file_deleted_under_the_sink_receives_nothing_more() {
    let files = Files::new();
    let running = files.start(STATEMENT, CREATE);
    running.sink.submit(rows(0..10));
    running.outcomes(10);
    for name in ["rows.db", "rows.db-wal", "rows.db-shm"] {
        let _ = std::fs::remove_file(files.0.path().join(name));
    }
    running.sink.submit(rows(10..20));
    running.outcomes(20);
    assert_eq!(
        files.column::<i64>("SELECT n FROM t ORDER BY n"),
        (10..20).collect::<Vec<_>>()
    );
}

#[test]
fn a_statement_that_does_not_fit_is_refused_with_sqlite_s_words() {
    let files = Files::new();
    let cases = [
        (
            "INSERT INTO t (id, colour) VALUES (:id, :n)",
            "t has no column named colour",
        ),
        (
            "INSERT INTO t VALUES (:id)",
            "table t has 3 columns but 1 values were supplied",
        ),
        ("INSERT INTO t VALUES (:id, :n, :n", "incomplete input"),
        ("SELECT * FROM t WHERE id = :id", "must store and return no rows"),
        (
            "INSERT INTO t (id, n) VALUES (:id, :n) RETURNING id",
            "must store and return no rows",
        ),
    ];
    for (statement, part) in cases {
        match connect_error(&files, statement, CREATE) {
            SinkError::Operator(text) if text.contains(part) && text.contains("rows.db") => {}
            other => panic!("{statement}: {other:?}"),
        }
    }
}

#[test]
fn what_is_no_database_needs_an_operator() {
    let files = Files::new();
    std::fs::write(
        files.path(),
        "this is a text file, and long enough to be read as a page header ".repeat(20),
    )
    .unwrap();
    let error = connect_error(&files, STATEMENT, CREATE);
    assert!(
        matches!(&error, SinkError::Operator(text) if text.contains("not a database")),
        "{error:?}"
    );

    let files = Files::new();
    std::fs::create_dir(files.path()).unwrap();
    let error = connect_error(&files, STATEMENT, CREATE);
    assert!(
        matches!(&error, SinkError::Operator(text) if text.contains("unable to open")),
        "{error:?}"
    );

    let files = Files::new();
    std::fs::remove_dir(files.0.path()).unwrap();
    let error = connect_error(&files, STATEMENT, CREATE);
    assert!(
        matches!(&error, SinkError::Operator(text) if text.contains("directory must exist")),
        "{error:?}"
    );
    std::fs::create_dir(files.0.path()).unwrap();
}

#[test]
fn ten_bad_rows_among_ten_thousand_cost_only_themselves() {
    let files = Files::new();
    let running = files.start(STATEMENT, CREATE);
    let bad = |sequence: u64| sequence % 1_000 == 321;
    let body = |sequence| {
        if bad(sequence) {
            "{}".to_owned()
        } else {
            format!(r#"{{"n":{sequence}}}"#)
        }
    };
    running.sink.submit(
        (0..10_000)
            .map(|sequence| json(sequence, &body(sequence)))
            .collect(),
    );
    let outcomes = running.outcomes(10_000);
    assert_eq!(
        outcomes
            .iter()
            .filter(|(_, outcome)| *outcome == Outcome::Stored)
            .count(),
        9_990
    );
    let stored = files.column::<i64>("SELECT n FROM t ORDER BY n");
    let expected = (0..10_000)
        .filter(|sequence| !bad(*sequence))
        .map(|sequence| sequence as i64);
    assert_eq!(stored, expected.collect::<Vec<_>>());
    let letters = running.letters.list(0, 100).unwrap();
    assert_eq!(letters.len(), 10);
    assert!(
        letters
            .iter()
            .all(|letter| letter.reason.contains("NOT NULL constraint failed: t.n"))
    );
    assert_eq!(running.sink.drain(Duration::from_secs(5)).left, 0);
}
