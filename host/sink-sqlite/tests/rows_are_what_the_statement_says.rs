//! From a record to a row: built-ins, JSON fields, types.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::{Files, json};
use rusqlite::types::Value;
use tidegate_sinks::fake::record;
use tidegate_sinks::{Record, SinkError};

#[test]
fn built_in_parameters_are_the_record() {
    let files = Files::new();
    let create = "CREATE TABLE IF NOT EXISTS t (a, b, c, d, e, f, g, h)";
    let statement = "INSERT INTO t VALUES
        (:record_id, :id, :client_id, :topic, :qos, :payload, :received_at, :key);";
    let mut sink = files.connect(statement, create)(0).unwrap();
    let own = Record {
        client_id: None,
        key: None,
        ..record(2, "", b"\xff\x00")
    };
    sink.write(&[json(1, "plain text"), own]).unwrap();

    let text = |text: &str| Value::Text(text.into());
    let rows: Vec<Vec<Value>> = files
        .open()
        .prepare("SELECT * FROM t")
        .unwrap()
        .query_map([], |row| (0..8).map(|column| row.get(column)).collect())
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let at = 1_700_000_000_000;
    assert_eq!(
        rows,
        [
            vec![
                text("1-1-0"),
                text("1-1-0"),
                text("client"),
                text("plant/1"),
                Value::Integer(1),
                text("plain text"),
                Value::Integer(at + 1),
                text("key"),
            ],
            vec![
                text("1-2-0"),
                text("1-2-0"),
                Value::Null,
                text("plant/2"),
                Value::Integer(1),
                Value::Blob(vec![0xff, 0]),
                Value::Integer(at + 2),
                Value::Null,
            ],
        ]
    );
}

#[test]
fn json_fields_become_columns() {
    let files = Files::new();
    let create = "CREATE TABLE IF NOT EXISTS t (n)";
    let mut sink = files.connect("INSERT INTO t VALUES (:n)", create)(0).unwrap();
    let bodies = [
        r#"{"n":7}"#,
        r#"{"n":-2.5}"#,
        r#"{"n":"é"}"#,
        r#"{"n":true}"#,
        r#"{"n":null}"#,
        "{}",
    ];
    let nested = [r#"{"n":{"a":[1,2]}}"#, r#"{"n":[]}"#];
    let records: Vec<Record> = (0..)
        .zip(bodies.iter().chain(&nested))
        .map(|(s, body)| json(s, body))
        .collect();
    sink.write(&records).unwrap();
    let values: Vec<Value> = files.column("SELECT n FROM t ORDER BY rowid");
    assert_eq!(
        values,
        [
            Value::Integer(7),
            Value::Real(-2.5),
            Value::Text("é".into()),
            Value::Integer(1),
            Value::Null,
            Value::Null,
            Value::Text(r#"{"a":[1,2]}"#.into()),
            Value::Text("[]".into()),
        ]
    );
}

#[test]
fn a_row_is_rejected_by_name_and_with_the_reason() {
    let files = Files::new();
    let create = "CREATE TABLE IF NOT EXISTS t (n INTEGER NOT NULL CHECK (n < 100), j TEXT) STRICT";
    let statement = "INSERT INTO t VALUES (:n, json(:j))";
    let mut sink = files.connect(statement, create)(0).unwrap();
    let good = r#"{"n":1,"j":"[]"}"#;
    let cases = [
        (r#"{"j":"[]"}"#, "NOT NULL constraint failed: t.n"),
        (r#"{"n":100,"j":"[]"}"#, "CHECK constraint failed"),
        (
            r#"{"n":"warm","j":"[]"}"#,
            "cannot store TEXT value in INTEGER column t.n",
        ),
        (r#"{"n":1,"j":"{"}"#, "malformed JSON"),
        ("n=1", "asks for field :n, and the body is not a JSON object"),
    ];
    for (body, part) in cases {
        match sink.write(&[json(0, good), json(1, good), json(2, body), json(3, good)]) {
            Err(SinkError::Rejected {
                position: Some(2),
                reason,
            }) if reason.contains(part) => {}
            other => panic!("{body}: {other:?}"),
        }
    }
    assert_eq!(files.column::<i64>("SELECT count(*) FROM t"), [0]);
}

#[test]
fn a_deferred_constraint_rejects_at_the_commit_and_is_isolated() {
    let files = Files::new();
    let create = "CREATE TABLE IF NOT EXISTS kinds (kind TEXT PRIMARY KEY);
        INSERT OR IGNORE INTO kinds VALUES ('temperature');
        CREATE TABLE IF NOT EXISTS t (id TEXT UNIQUE,
          kind TEXT REFERENCES kinds DEFERRABLE INITIALLY DEFERRED)";
    let running = files.start("INSERT INTO t VALUES (:id, :kind)", create);
    let kind = |sequence| {
        if sequence % 40 == 7 {
            "nonsense"
        } else {
            "temperature"
        }
    };
    running.sink.submit(
        (0..100)
            .map(|s| json(s, &format!(r#"{{"kind":"{}"}}"#, kind(s))))
            .collect(),
    );
    running.outcomes(100);
    assert_eq!(files.column::<i64>("SELECT count(*) FROM t"), [97]);
    let letters = running.letters.list(0, 10).unwrap();
    let reasons = letters
        .iter()
        .filter(|letter| letter.reason.contains("FOREIGN KEY constraint failed"));
    assert_eq!(reasons.count(), 3);
}
