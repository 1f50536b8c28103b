//! A connection to a database file: opened for durability, and a batch stored as one transaction.
//!
//! Invariant: after [`Database::store`] all of the batch is committed with `synchronous=FULL`, or none of it is.
//! A file that was moved or deleted under the connection is noticed before a batch is written into nowhere.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Statement, TransactionBehavior};
use tidegate_sinks::{Record, SinkError};

use crate::classify::{Class, class_of, sink_error};

/// How long a lock of another connection is waited for before the lane backs off.
const BUSY_TIMEOUT: Duration = Duration::from_millis(500);

/// Pages in the write-ahead log before they are moved to the database file, 16 MiB of the usual size: at SQLite's own
/// 1,000 every tenth batch would pay for a second fsync.
const CHECKPOINT_PAGES: i64 = 4_000;

/// Device and inode.
type FileId = (u64, u64);

/// Why a record is not bound to the statement.
pub(crate) enum BindFailure {
    Sqlite(rusqlite::Error),
    Record(String),
}

impl From<rusqlite::Error> for BindFailure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

/// A database file and the one statement that is run on it.
pub(crate) struct Database {
    path: PathBuf,
    label: String,
    create: Option<String>,
    statement: String,
    open: Option<(Connection, FileId)>,
}

impl Database {
    /// Opens the file and checks the statement against its tables.
    pub(crate) fn open(path: PathBuf, statement: String, create: Option<String>) -> Result<Self, SinkError> {
        let label = path.display().to_string();
        let mut database = Self {
            path,
            label,
            create,
            statement,
            open: None,
        };
        database.ready()?;
        Ok(database)
    }

    /// Whether a batch could be written now.
    pub(crate) fn check(&mut self) -> Result<(), SinkError> {
        self.ready()?;
        self.transact(|_| Ok(()))
    }

    /// Stores `records` in one transaction, each by `bind` and the statement.
    pub(crate) fn store(
        &mut self,
        records: &[Record],
        mut bind: impl FnMut(&Record, &mut Statement<'_>) -> Result<(), BindFailure>,
    ) -> Result<(), SinkError> {
        self.ready()?;
        self.transact(|statement| {
            for (position, record) in records.iter().enumerate() {
                let stored = bind(record, statement).and_then(|()| {
                    statement.raw_execute()?;
                    Ok(())
                });
                stored.map_err(|failure| (failure, position))?;
            }
            Ok(())
        })
    }

    /// Opens the file if need be; notices when the open file is no longer the one at the path.
    fn ready(&mut self) -> Result<(), SinkError> {
        if let Some((_, opened)) = &self.open {
            if file_id(&self.path).is_some_and(|id| id == *opened) {
                return Ok(());
            }
            self.open = None;
        }
        self.open = Some(self.opened()?);
        Ok(())
    }

    fn opened(&self) -> Result<(Connection, FileId), SinkError> {
        let refuse = |error| sink_error(&self.label, &error, None);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.path, flags).map_err(refuse)?;
        self.prepare_connection(&connection).map_err(refuse)?;
        let statement = connection.prepare_cached(&self.statement).map_err(refuse)?;
        if statement.readonly() || statement.column_count() > 0 {
            let text = "the statement must store and return no rows; use INSERT without RETURNING";
            return Err(SinkError::Operator(format!("sqlite {}: {text}", self.label)));
        }
        drop(statement);
        let moved = || SinkError::Retry(format!("sqlite {}: deleted while being opened", self.label));
        let id = file_id(&self.path).ok_or_else(moved)?;
        Ok((connection, id))
    }

    fn prepare_connection(&self, connection: &Connection) -> rusqlite::Result<()> {
        connection.busy_timeout(BUSY_TIMEOUT)?;
        // Answers with the mode it has; where WAL is impossible the rollback journal is as durable, and slower.
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
        match &self.create {
            None => Ok(()),
            Some(create) => connection.execute_batch(create),
        }
    }

    /// Runs `body` in a transaction and commits it; rolls back on any failure.
    fn transact(
        &mut self,
        body: impl FnOnce(&mut Statement<'_>) -> Result<(), (BindFailure, usize)>,
    ) -> Result<(), SinkError> {
        let Some((connection, _)) = &mut self.open else {
            return Ok(());
        };
        let outcome = run(connection, &self.statement, body);
        let Err((error, position)) = outcome else {
            return Ok(());
        };
        let (error, class) = match error {
            BindFailure::Record(reason) => return Err(SinkError::Rejected { position, reason }),
            BindFailure::Sqlite(error) => {
                let class = class_of(&error);
                (error, class)
            }
        };
        if class == Class::RowOrStatement && position.is_some() {
            connection.flush_prepared_statement_cache();
            if connection.prepare(&self.statement).is_ok() {
                return Err(SinkError::Rejected {
                    position,
                    reason: format!("sqlite {}: {error}", self.label),
                });
            }
        }
        if class == Class::Reconnect {
            self.open = None;
        }
        Err(sink_error(&self.label, &error, position))
    }
}

/// The transaction itself. Dropping it without a commit rolls back; so does a commit that fails.
fn run(
    connection: &mut Connection,
    sql: &str,
    body: impl FnOnce(&mut Statement<'_>) -> Result<(), (BindFailure, usize)>,
) -> Result<(), (BindFailure, Option<usize>)> {
    let outside = |error: rusqlite::Error| (BindFailure::Sqlite(error), None);
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(outside)?;
    let mut statement = transaction.prepare_cached(sql).map_err(outside)?;
    body(&mut statement).map_err(|(failure, position)| (failure, Some(position)))?;
    drop(statement);
    transaction.commit().map_err(outside)
}

fn file_id(path: &Path) -> Option<FileId> {
    std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_synced_to_the_disk() {
        let directory = tempfile::tempdir().unwrap();
        let create = "CREATE TABLE t (a)".to_owned();
        let path = directory.path().join("t.db");
        let database = Database::open(path, "INSERT INTO t VALUES (?1)".to_owned(), Some(create)).unwrap();
        let (connection, _) = database.open.as_ref().unwrap();
        let pragma =
            |name| connection.pragma_query_value(None, name, |row| row.get::<_, rusqlite::types::Value>(0));
        // 2 is FULL: in WAL mode anything less syncs at checkpoints only.
        assert_eq!(pragma("synchronous").unwrap(), rusqlite::types::Value::Integer(2));
        assert_eq!(
            pragma("journal_mode").unwrap(),
            rusqlite::types::Value::Text("wal".into())
        );
    }
}
