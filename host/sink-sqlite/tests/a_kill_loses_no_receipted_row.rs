//! `kill -9` in mid-stream: every row whose receipt left the process is in the table, by id.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use common::{Files, common, json};
use tidegate_sink_sqlite::{SqliteSettings, connect};
use tidegate_sinks::fake::{RealClock, record};
use tidegate_sinks::{Outcome, Receipt, ReceiptPort, Wiring, start};

const FILE: &str = "TIDEGATE_TEST_KILL_FILE";
const CREATE: &str = "CREATE TABLE IF NOT EXISTS t (id TEXT PRIMARY KEY, n INTEGER)";
const STATEMENT: &str = "INSERT INTO t VALUES (:id, :n) ON CONFLICT (id) DO NOTHING";

/// Prints the record id of each receipt, in the way an acknowledgement leaves: before anything else happens.
struct Acknowledge;

impl ReceiptPort for Acknowledge {
    fn deliver(&self, receipts: Vec<Receipt>) {
        let mut lines = String::new();
        for receipt in receipts {
            assert_eq!(receipt.outcome, Outcome::Stored);
            lines += &format!("ack {}\n", record(receipt.token.message, "", b"").id);
        }
        std::io::stdout().lock().write_all(lines.as_bytes()).unwrap();
    }

    fn room(&self) {}
}

/// The process that is killed: this same test binary, started with the file to write to. Without one: nothing to do.
#[test]
fn victim() {
    let Some(path) = std::env::var_os(FILE).map(PathBuf::from) else {
        return;
    };
    let settings = SqliteSettings::new(&common(), path, STATEMENT, Some(CREATE)).unwrap();
    let wiring = Wiring {
        connect: connect(settings),
        ports: vec![Arc::new(Acknowledge)],
        dead_letters: None,
        clock: Arc::new(RealClock::default()),
    };
    let sink = start(common(), &wiring).unwrap();
    for first in (0..10_000_000).step_by(50) {
        while !sink.has_room() {
            std::thread::park_timeout(Duration::from_millis(1));
        }
        sink.submit(
            (first..first + 50)
                .map(|s| json(s, &format!(r#"{{"n":{s}}}"#)))
                .collect(),
        );
    }
}

#[test]
fn every_receipted_row_is_in_the_table() {
    for kill_after in [1, 3_000, 20_000] {
        let files = Files::new();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["victim", "--exact", "--nocapture"])
            .env(FILE, files.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut acknowledged = HashSet::new();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut killed = false;
        for line in lines.map_while(Result::ok) {
            acknowledged.extend(line.strip_prefix("ack ").map(str::to_owned));
            if acknowledged.len() >= kill_after && !killed {
                killed = true;
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        assert!(
            killed,
            "the process ended by itself after {} rows",
            acknowledged.len()
        );
        let stored: HashSet<String> = files.column("SELECT id FROM t").into_iter().collect();
        let lost: Vec<_> = acknowledged.difference(&stored).collect();
        assert_eq!(
            lost,
            Vec::<&String>::new(),
            "acknowledged {}, stored {}",
            acknowledged.len(),
            stored.len()
        );
        assert!(!stored.is_empty());
    }
}
