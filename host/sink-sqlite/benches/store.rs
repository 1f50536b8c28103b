//! Rows a second into SQLite, bare and through the lane, and what the hand-over to a lane costs a worker.
//!
//! `cargo bench -p tidegate-sink-sqlite`; the directory is that of `TIDEGATE_BENCH_DIR`, or the system's temporary one.
#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a bench is a shell"
)]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tidegate_sink_sqlite::{SqliteSettings, connect};
use tidegate_sinks::fake::{MemoryPort, record, wiring};
use tidegate_sinks::{Connect, Record, Sink, SinkError, SinkSettings, start};

const ROWS: u64 = 200_000;
const BATCH: u64 = 1_000;
const CREATE: &str = "CREATE TABLE IF NOT EXISTS telemetry
    (id TEXT PRIMARY KEY, client_id TEXT, topic TEXT, qos INTEGER, payload TEXT, received_at INTEGER) WITHOUT ROWID";
const PLAIN: &str = "CREATE TABLE IF NOT EXISTS telemetry
    (id TEXT, client_id TEXT, topic TEXT, qos INTEGER, payload TEXT, received_at INTEGER)";
const STATEMENT: &str = "INSERT INTO telemetry (id, client_id, topic, qos, payload, received_at)
    VALUES (:id, :client_id, :topic, :qos, :payload, :received_at)";

fn main() {
    let directory = match std::env::var_os("TIDEGATE_BENCH_DIR") {
        Some(directory) => tempfile::tempdir_in(directory).unwrap(),
        None => tempfile::tempdir().unwrap(),
    };
    let plain = sqlite(&directory.path().join("plain.db"), PLAIN, "");
    report("bare sink, no key", || bare(&plain));
    let keyed = sqlite(
        &directory.path().join("keyed.db"),
        CREATE,
        " ON CONFLICT (id) DO NOTHING",
    );
    report("bare sink, unique id", || bare(&keyed));
    let lane = sqlite(&directory.path().join("lane.db"), PLAIN, "");
    report("through the lane, no key", || through_a_lane(lane.clone()));
    hand_over();
}

fn sqlite(path: &Path, create: &str, conflict: &str) -> Connect {
    let common = SinkSettings {
        name: "bench".into(),
        ..SinkSettings::default()
    };
    let statement = format!("{STATEMENT}{conflict}");
    connect(SqliteSettings::new(&common, path, &statement, Some(create)).unwrap())
}

fn report(name: &str, run: impl Fn() -> Duration) {
    let took = run();
    let rate = ROWS as f64 / took.as_secs_f64();
    println!(
        "{name}: {rate:.0} rows/s of 200 B, {:.2} µs a row",
        took.as_secs_f64() * 1e6 / ROWS as f64
    );
}

fn batches() -> Vec<Vec<Record>> {
    let body = [b'x'; 200];
    let batch = |first: u64| {
        (first..first + BATCH)
            .map(|sequence| record(sequence, "key", &body))
            .collect()
    };
    (0..ROWS).step_by(BATCH as usize).map(batch).collect()
}

fn bare(connect: &Connect) -> Duration {
    let mut sink = connect(0).unwrap();
    let batches = batches();
    let begin = Instant::now();
    for batch in &batches {
        sink.write(batch).unwrap();
    }
    begin.elapsed()
}

fn through_a_lane(connect: Connect) -> Duration {
    let port = Arc::new(MemoryPort::default());
    let settings = SinkSettings {
        name: "bench".into(),
        queue_records_max: usize::MAX,
        queue_bytes_max: usize::MAX,
        ..SinkSettings::default()
    };
    let sink = start(settings, &wiring(connect, &port, None)).unwrap();
    let batches = batches();
    let begin = Instant::now();
    batches.into_iter().for_each(|batch| sink.submit(batch));
    assert_eq!(
        port.wait_for(ROWS as usize, Duration::from_secs(60)).len(),
        ROWS as usize
    );
    begin.elapsed()
}

/// A sink that stores nothing: what remains is the lane itself.
struct Nowhere;

impl Sink for Nowhere {
    fn write(&mut self, _: &[Record]) -> Result<(), SinkError> {
        Ok(())
    }

    fn check(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}

fn hand_over() {
    let shapes = [(BATCH, 1), (64, 1), (64, 4), (1, 1)];
    for (size, lanes, busy) in shapes
        .iter()
        .flat_map(|(size, lanes)| [(*size, *lanes, false), (*size, *lanes, true)])
    {
        let port = Arc::new(MemoryPort::default());
        let connect: Connect = Arc::new(|_| Ok(Box::new(Nowhere) as Box<dyn Sink>));
        let settings = SinkSettings {
            name: "bench".into(),
            queue_records_max: usize::MAX,
            queue_bytes_max: usize::MAX,
            lanes,
            ..SinkSettings::default()
        };
        let sink = start(settings, &wiring(connect, &port, None)).unwrap();
        let records: Vec<Record> = batches().into_iter().flatten().collect();
        let mut chunks: Vec<Vec<Record>> = Vec::new();
        let mut records = records.into_iter().peekable();
        while records.peek().is_some() {
            chunks.push(records.by_ref().take(size as usize).collect());
        }
        if busy {
            // A lane that is storing is not woken by a submit; neither is one that is paused.
            sink.pause();
        }
        let begin = Instant::now();
        chunks.into_iter().for_each(|chunk| sink.submit(chunk));
        let submitted = begin.elapsed();
        sink.resume();
        port.wait_for(ROWS as usize, Duration::from_secs(60));
        let per = |took: Duration| took.as_nanos() as f64 / ROWS as f64;
        println!(
            "hand-over, {size} at once, {lanes} {} lanes: worker {:.0} ns a record, to the receipt {:.0} ns",
            if busy { "busy" } else { "idle" },
            per(submitted),
            per(begin.elapsed())
        );
    }
}
