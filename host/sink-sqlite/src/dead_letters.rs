//! The dead-letter store: a SQLite file in the data directory, written by a lane like any other sink and read by
//! whoever asks.
//!
//! Invariant: a record is dead-lettered only when this file has committed it. Deliberately does not: replay.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OpenFlags, Row, Statement};
use tidegate_sinks::{Connect, Record, Sink, SinkError, SinkSettings};

use crate::database::{BindFailure, Database};

/// Name of the file in the data directory.
pub const DEAD_LETTERS_FILE: &str = "dead-letters.sqlite";

const CREATE: &str = "CREATE TABLE IF NOT EXISTS dead_letters (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL, sink TEXT NOT NULL, reason TEXT NOT NULL,
  topic TEXT NOT NULL, client_id TEXT, qos INTEGER NOT NULL, key BLOB, payload BLOB NOT NULL, headers BLOB NOT NULL,
  received_at INTEGER NOT NULL, dead_at INTEGER NOT NULL,
  UNIQUE (id, sink))";

// A record offered again after a lost answer is the same dead letter.
const INSERT: &str = "INSERT INTO dead_letters
  (id, sink, reason, topic, client_id, qos, key, payload, headers, received_at, dead_at)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT (id, sink) DO NOTHING";

/// Settings to start the dead-letter store with: nothing in it is ever dropped.
pub fn dead_letter_settings() -> SinkSettings {
    SinkSettings {
        name: "dead-letters".into(),
        queue_records_max: 10_000,
        ..SinkSettings::default()
    }
}

/// Readers and writers of the dead letters of one data directory.
#[derive(Debug, Clone)]
pub struct DeadLetters {
    path: PathBuf,
}

/// One stored dead letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetter {
    /// Place in the store, ascending by time of storing; the cursor of a listing.
    pub position: i64,
    /// Id of the record.
    pub id: String,
    /// The sink, or the rule, that refused it.
    pub sink: String,
    /// Why.
    pub reason: String,
    /// Topic of the message that caused it.
    pub topic: String,
    /// Client that published the message.
    pub client_id: Option<String>,
    /// QoS at which it was published.
    pub qos: u8,
    /// Partition key.
    pub key: Option<Vec<u8>>,
    /// What should have been stored.
    pub payload: Vec<u8>,
    /// Headers, packed.
    pub headers: Vec<u8>,
    /// When the message was received, in milliseconds since the Unix epoch.
    pub received_at_ms: i64,
    /// When it was refused, in milliseconds since the Unix epoch.
    pub dead_at_ms: i64,
}

/// Why dead letters cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("dead letters in {path}: {source}")]
pub struct ReadError {
    /// The file.
    pub path: String,
    /// What SQLite says.
    pub source: rusqlite::Error,
}

impl DeadLetters {
    /// The store in `data_dir`, which must exist. The file is created by the first connection.
    pub fn new(data_dir: &Path) -> Self {
        Self {
            path: data_dir.join(DEAD_LETTERS_FILE),
        }
    }

    /// Makes the connection of the store's lane; hand it to [`tidegate_sinks::start`].
    pub fn connect(&self) -> Connect {
        let path = self.path.clone();
        Arc::new(move |_lane| {
            let database = Database::open(path.clone(), INSERT.to_owned(), Some(CREATE.to_owned()))?;
            Ok(Box::new(DeadLetterSink { database }) as Box<dyn Sink>)
        })
    }

    /// How many there are.
    pub fn count(&self) -> Result<u64, ReadError> {
        let count = self.read(0, |connection| {
            connection.query_row("SELECT count(*) FROM dead_letters", [], |row| {
                row.get::<_, i64>(0)
            })
        });
        Ok(u64::try_from(count?).unwrap_or(0))
    }

    /// At most `limit` letters behind `after` (0 for the first), oldest first.
    pub fn list(&self, after: i64, limit: u32) -> Result<Vec<DeadLetter>, ReadError> {
        self.read(Vec::new(), |connection| {
            let mut statement = connection.prepare(
                "SELECT position, id, sink, reason, topic, client_id, qos, key, payload, headers, received_at, dead_at
                 FROM dead_letters WHERE position > ?1 ORDER BY position LIMIT ?2",
            )?;
            let letters = statement.query_map((after, limit), letter)?;
            letters.collect()
        })
    }

    /// A connection per call: reading is rare, and the writer's must stay on its lane.
    fn read<T>(
        &self,
        none: T,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, ReadError> {
        if !self.path.exists() {
            return Ok(none);
        }
        let answer = Connection::open_with_flags(&self.path, OpenFlags::SQLITE_OPEN_READ_WRITE).and_then(
            |connection| {
                // The writer may be between making the file and making the table.
                connection.execute_batch(CREATE)?;
                query(&connection)
            },
        );
        answer.map_err(|source| ReadError {
            path: self.path.display().to_string(),
            source,
        })
    }
}

fn letter(row: &Row<'_>) -> rusqlite::Result<DeadLetter> {
    Ok(DeadLetter {
        position: row.get(0)?,
        id: row.get(1)?,
        sink: row.get(2)?,
        reason: row.get(3)?,
        topic: row.get(4)?,
        client_id: row.get(5)?,
        qos: row.get(6)?,
        key: row.get(7)?,
        payload: row.get(8)?,
        headers: row.get(9)?,
        received_at_ms: row.get(10)?,
        dead_at_ms: row.get(11)?,
    })
}

struct DeadLetterSink {
    database: Database,
}

impl Sink for DeadLetterSink {
    fn write(&mut self, records: &[Record]) -> Result<(), SinkError> {
        self.database.store(records, bind)
    }

    fn check(&mut self) -> Result<(), SinkError> {
        self.database.check()
    }
}

fn bind(record: &Record, statement: &mut Statement<'_>) -> Result<(), BindFailure> {
    let Some(death) = &record.death else {
        return Err(BindFailure::Record(
            "not a dead letter: nothing says why it was refused".into(),
        ));
    };
    let bytes = |bytes| ToSqlOutput::Borrowed(ValueRef::Blob(bytes));
    statement.raw_bind_parameter(1, record.id.to_string())?;
    statement.raw_bind_parameter(2, &*death.origin)?;
    statement.raw_bind_parameter(3, &*death.reason)?;
    statement.raw_bind_parameter(4, record.topic.as_str())?;
    statement.raw_bind_parameter(5, record.client_id.as_ref().map(|client| client.as_str()))?;
    statement.raw_bind_parameter(6, record.qos as u8)?;
    statement.raw_bind_parameter(7, record.key.as_ref().map(|key| bytes(key)))?;
    statement.raw_bind_parameter(8, bytes(&record.body))?;
    statement.raw_bind_parameter(9, bytes(&record.headers))?;
    statement.raw_bind_parameter(10, milliseconds(record.received_at_ms))?;
    statement.raw_bind_parameter(11, milliseconds(death.dead_at_ms))?;
    Ok(())
}

fn milliseconds(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
