//! `kill -9` at any moment, on the real file system: everything that was reported as committed is there.
//!
//! The test starts itself as a child that appends from two threads, and kills it while it does.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use tidegate_log::{
    Ack, AppendError, Batch, Commit, CursorId, Entry, EntryId, Log, Options, ReadLimit, Timestamp, inspect,
};

const DIRECTORY: &str = "TIDEGATE_LOG_KILL_DIRECTORY";
const KEPT: CursorId = CursorId(1);
const CONSUMED: CursorId = CursorId(2);
const ROUNDS: u64 = 8;

fn options() -> Options {
    Options {
        segment_bytes: 256 << 10,
        ..Options::default()
    }
}

fn body(worker: u64, number: u64) -> Vec<u8> {
    let mut body = [worker.to_le_bytes(), number.to_le_bytes()].concat();
    body.resize(16 + (number as usize * 31) % 400, worker as u8);
    body
}

/// What the child does: reports on its standard output, a line each, and never ends by itself.
fn write_for_ever(directory: &Path) {
    let reports = Mutex::new(std::io::stdout());
    let on_commit = move |commit| {
        if let Commit::Durable { through } = commit {
            let mut out = reports.lock().unwrap();
            // A parent that is gone has killed us.
            let _ = writeln!(out, "durable {}", through.0).and_then(|()| out.flush());
        }
    };
    let (log, _) = Log::open(directory, options(), Box::new(on_commit)).unwrap();
    let log = Arc::new(log);
    let workers: Vec<_> = (0..2)
        .map(|worker| {
            let log = Arc::clone(&log);
            std::thread::spawn(move || work(&log, worker))
        })
        .collect();
    for worker in workers {
        worker.join().unwrap();
    }
}

fn work(log: &Log, worker: u64) {
    for number in 0.. {
        let body = body(worker, number);
        let entries = [
            Entry {
                lanes: &[KEPT],
                body: &body[..16],
            },
            Entry {
                lanes: &[CONSUMED],
                body: &body,
            },
        ];
        let mut batch = Batch::default();
        batch.push(Timestamp(number), &entries, &[]).unwrap();
        while let Err(error) = log.append(&mut batch) {
            assert!(matches!(error, AppendError::Full { .. }), "{error}");
            std::thread::yield_now();
        }
        if number % 50 == 49 {
            let pending = log
                .read(
                    CONSUMED,
                    EntryId::START,
                    ReadLimit {
                        entries: 64,
                        bytes: 1 << 20,
                    },
                )
                .unwrap();
            log.ack(
                &pending
                    .deliveries
                    .iter()
                    .map(|one| Ack::one(CONSUMED, one.entry))
                    .collect::<Vec<_>>(),
            );
        }
    }
}

fn start_child(directory: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "committed_appends_survive_kill_nine", "--nocapture"])
        .env(DIRECTORY, directory)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Lets the child commit some times, kills it, and returns the last sequence it reported.
fn kill_after(mut child: Child, commits: u64) -> u64 {
    let mut durable = 0;
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut seen = 0;
    while seen < commits {
        let line = lines.next().expect("the child ended by itself").unwrap();
        if let Some(through) = line.strip_prefix("durable ") {
            (durable, seen) = (through.parse().unwrap(), seen + 1);
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // What was still in the pipe was reported before the kill.
    for line in lines.map_while(Result::ok) {
        durable = line
            .strip_prefix("durable ")
            .and_then(|through| through.parse().ok())
            .unwrap_or(durable);
    }
    durable
}

#[test]
fn committed_appends_survive_kill_nine() {
    if let Some(directory) = std::env::var_os(DIRECTORY) {
        return write_for_ever(Path::new(&directory));
    }
    let directory = tempfile::tempdir().unwrap();
    let mut kept_before = 0;
    for round in 0..ROUNDS {
        let durable = kill_after(start_child(directory.path()), 3 + round * 7);
        inspect(directory.path(), &mut std::io::sink()).unwrap();
        let (log, report) = Log::open(directory.path(), options(), Box::new(|_| {})).unwrap();
        assert_eq!(report.damage, [], "round {round}");
        assert!(
            log.durable().0 >= durable,
            "round {round}: {} of {durable}",
            log.durable()
        );
        let limit = ReadLimit {
            entries: usize::MAX,
            bytes: usize::MAX,
        };
        let read = log.read(KEPT, EntryId::START, limit).unwrap();
        assert_eq!(read.lost, []);
        // Nothing of this cursor was ever acknowledged, and each worker's appends are there without a gap.
        assert!(read.deliveries.len() as u64 > kept_before);
        kept_before = read.deliveries.len() as u64;
        let mut next = [0u64; 2];
        for delivery in &read.deliveries {
            let worker = u64::from_le_bytes(delivery.body[..8].try_into().unwrap()) as usize;
            let number = u64::from_le_bytes(delivery.body[8..16].try_into().unwrap());
            // Each round's workers begin at 0 again.
            assert!(
                number == next[worker] || number == 0,
                "worker {worker}: {number} after {}",
                next[worker]
            );
            next[worker] = number + 1;
        }
        log.close();
    }
}
