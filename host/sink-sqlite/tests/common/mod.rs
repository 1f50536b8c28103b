//! A SQLite sink on a file in a directory of its own, with its dead letters and receipts.
#![allow(dead_code, reason = "each test binary uses a part")]
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use rusqlite::Connection;
use tidegate_sink_sqlite::{DeadLetters, SqliteSettings, connect, dead_letter_settings};
use tidegate_sinks::fake::{MemoryPort, record, wiring};
use tidegate_sinks::{BackOff, Connect, Outcome, Pause, Record, SinkHandle, SinkSettings, SinkState, start};

pub const PATIENCE: Duration = Duration::from_secs(20);

pub struct Files(pub tempfile::TempDir);

impl Files {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self) -> PathBuf {
        self.0.path().join("rows.db")
    }

    pub fn open(&self) -> Connection {
        let connection = Connection::open(self.path()).unwrap();
        connection.busy_timeout(PATIENCE).unwrap();
        connection
    }

    pub fn connect(&self, statement: &str, create: &str) -> Connect {
        connect(SqliteSettings::new(&common(), self.path(), statement, Some(create)).unwrap())
    }

    pub fn column<T: rusqlite::types::FromSql>(&self, sql: &str) -> Vec<T> {
        let connection = self.open();
        let mut statement = connection.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    }

    /// A running sink with a dead-letter store in the same directory.
    pub fn start(&self, statement: &str, create: &str) -> Running {
        let port = Arc::new(MemoryPort::default());
        let letters = DeadLetters::new(self.0.path());
        let letters_sink = start(dead_letter_settings(), &wiring(letters.connect(), &port, None)).unwrap();
        let connect = self.connect(statement, create);
        let sink = start(common(), &wiring(connect, &port, Some(letters_sink.clone()))).unwrap();
        Running {
            sink,
            letters_sink,
            letters,
            port,
        }
    }
}

pub struct Running {
    pub sink: SinkHandle,
    pub letters_sink: SinkHandle,
    pub letters: DeadLetters,
    pub port: Arc<MemoryPort>,
}

impl Running {
    pub fn outcomes(&self, count: usize) -> Vec<(u64, Outcome)> {
        let arrived = self.port.wait_for(count, PATIENCE).len();
        assert_eq!(arrived, count, "receipts; the sink: {:?}", self.sink.snapshot());
        self.port.outcomes()
    }

    /// Waits until the sink is not well, and says why.
    pub fn illness(&self) -> (bool, String) {
        until(|| match self.sink.state() {
            SinkState::Retrying { error, .. } => Some((false, error)),
            SinkState::Paused(Pause::Operator { error, .. }) => Some((true, error)),
            _ => None,
        })
    }
}

pub fn until<T>(mut condition: impl FnMut() -> Option<T>) -> T {
    #[expect(clippy::disallowed_methods, reason = "a test's own deadline")]
    let begin = Instant::now();
    loop {
        if let Some(value) = condition() {
            return value;
        }
        assert!(begin.elapsed() < PATIENCE, "not in {PATIENCE:?}");
        std::thread::yield_now();
    }
}

pub fn common() -> SinkSettings {
    let retry = BackOff {
        min: Duration::from_millis(5),
        max: Duration::from_millis(50),
    };
    SinkSettings {
        name: "rows".into(),
        retry,
        ..SinkSettings::default()
    }
}

pub fn json(sequence: u64, body: &str) -> Record {
    Record {
        body: Bytes::copy_from_slice(body.as_bytes()),
        ..record(sequence, "key", b"")
    }
}
