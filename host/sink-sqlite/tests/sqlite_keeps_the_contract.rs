//! The contract suite on SQLite, with another connection as the reader and as the one who locks.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::cell::RefCell;
use std::path::PathBuf;

use rusqlite::Connection;
use tidegate_sink_sqlite::{SqliteSettings, connect};
use tidegate_sinks::suite::Rig;
use tidegate_sinks::{Connect, SinkSettings};

const CREATE: &str =
    "CREATE TABLE IF NOT EXISTS rows (place INTEGER PRIMARY KEY, id TEXT UNIQUE, n INTEGER NOT NULL)";
const STATEMENT: &str = "INSERT INTO rows (id, n) VALUES (:id, :n) ON CONFLICT (id) DO NOTHING";

struct Sqlite {
    directory: tempfile::TempDir,
    lock: RefCell<Option<Connection>>,
}

impl Sqlite {
    fn path(&self) -> PathBuf {
        self.directory.path().join("rows.db")
    }

    fn open(&self) -> Connection {
        let connection = Connection::open(self.path()).unwrap();
        connection
            .busy_timeout(std::time::Duration::from_secs(5))
            .unwrap();
        connection
    }
}

impl Rig for Sqlite {
    fn connect(&self) -> Connect {
        let common = SinkSettings {
            name: "rows".into(),
            ..SinkSettings::default()
        };
        connect(SqliteSettings::new(&common, self.path(), STATEMENT, None).unwrap())
    }

    fn stored(&self) -> Vec<String> {
        let connection = self.open();
        let mut statement = connection.prepare("SELECT id FROM rows ORDER BY place").unwrap();
        statement
            .query_map([], |row| row.get(0))
            .unwrap()
            .map(Result::unwrap)
            .collect()
    }

    fn poison(&self) -> &'static [u8] {
        br#"{"n": null}"#
    }

    fn set_down(&self, down: bool) {
        let lock = down.then(|| {
            let connection = self.open();
            connection.execute_batch("BEGIN IMMEDIATE").unwrap();
            connection
        });
        self.lock.replace(lock);
    }

    fn set_broken(&self, broken: bool) {
        let sql = if broken {
            "ALTER TABLE rows RENAME TO away"
        } else {
            "ALTER TABLE away RENAME TO rows"
        };
        self.open().execute_batch(sql).unwrap();
    }

    fn lanes(&self) -> usize {
        1
    }
}

fn sqlite() -> Sqlite {
    let directory = tempfile::tempdir().unwrap();
    let rig = Sqlite {
        directory,
        lock: RefCell::new(None),
    };
    rig.open().execute_batch(CREATE).unwrap();
    rig
}

tidegate_sinks::contract_suite!(sqlite);
