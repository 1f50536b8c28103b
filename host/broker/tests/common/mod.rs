//! What the scenarios share: a broker in this process on free ports, an MQTT client that shows every packet, HTTP.
//!
//! Nothing here sleeps: whoever waits, waits for a condition with a deadline.
#![allow(dead_code)] // each scenario uses its part

pub mod client;
pub mod http;
pub mod modules;
pub mod process;
pub mod streams;

use std::path::Path;
use std::time::{Duration, Instant};

use tidegate_broker::config::{Settings, read_text};
use tidegate_broker::node::{Running, start};

/// Every scenario holds on one worker and on several.
pub const WORKERS: [usize; 2] = [1, 3];

/// Longest wait for anything that must happen. Generous: machines are shared.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// A broker, its directory, and its end with the test.
pub struct Broker {
    running: Option<Running>,
    pub mqtt: std::net::SocketAddr,
    pub admin: std::net::SocketAddr,
    pub dir: tempfile::TempDir,
}

impl Broker {
    /// Starts a broker of `workers` workers with what `config` says beyond addresses and directory.
    pub fn start(workers: usize, config: &str) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), workers, config)
    }

    /// The same in a directory that may hold an earlier broker's data.
    pub fn start_in(dir: tempfile::TempDir, workers: usize, config: &str) -> Self {
        let settings = settings(dir.path(), workers, config);
        let running = start(&settings).unwrap_or_else(|error| panic!("{error:#}"));
        let (mqtt, admin) = (running.mqtt, running.admin);
        Self {
            running: Some(running),
            mqtt,
            admin,
            dir,
        }
    }

    /// Drains and ends; the directory stays for the next one.
    pub fn stop(mut self) -> tempfile::TempDir {
        self.running.take().unwrap().stop();
        let path = std::mem::replace(&mut self.dir, tempfile::tempdir().unwrap());
        drop(self);
        path
    }

    /// Uploads `wasm` as `name@version` and makes it serve.
    pub fn deploy(&self, name: &str, version: &str, wasm: &[u8]) {
        http::deploy(self.admin, name, version, wasm);
    }

    /// Value of one series of `/metrics`.
    pub fn metric(&self, series: &str) -> u64 {
        http::metric(self.admin, series)
    }

    /// A file of the data directory.
    pub fn file(&self, name: &str) -> std::path::PathBuf {
        self.dir.path().join("data").join(name)
    }

    /// Rows of `query` on the SQLite file `name` of the data directory.
    pub fn query(&self, name: &str, query: &str) -> Vec<Vec<String>> {
        query_file(&self.file(name), query)
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            running.stop();
        }
    }
}

/// Settings for a broker in `dir`.
pub fn settings(dir: &Path, workers: usize, config: &str) -> Settings {
    let data_dir = dir.join("data");
    let text = format!(
        "data_dir = {data_dir:?}\nworkers = {workers}\n[mqtt.tcp]\nbind = \"127.0.0.1:0\"\n[admin]\nbind = \"127.0.0.1:0\"\n{config}"
    );
    read_text(&dir.join("tidegate.toml"), &text, 2).unwrap_or_else(|problems| panic!("{problems}"))
}

/// Runs `query` on an SQLite file; every value as text, NULL as "NULL".
pub fn query_file(path: &Path, query: &str) -> Vec<Vec<String>> {
    let connection = rusqlite::Connection::open(path).unwrap();
    connection.busy_timeout(DEADLINE).unwrap();
    let mut statement = connection.prepare(query).unwrap();
    let columns = statement.column_count();
    let text = |row: &rusqlite::Row<'_>, column| match row.get_ref(column).unwrap() {
        rusqlite::types::ValueRef::Null => "NULL".to_owned(),
        rusqlite::types::ValueRef::Integer(value) => value.to_string(),
        rusqlite::types::ValueRef::Real(value) => value.to_string(),
        rusqlite::types::ValueRef::Text(value) | rusqlite::types::ValueRef::Blob(value) => {
            String::from_utf8_lossy(value).into_owned()
        }
    };
    let rows = statement
        .query_map([], |row| {
            Ok((0..columns).map(|column| text(row, column)).collect())
        })
        .unwrap();
    rows.map(Result::unwrap).collect()
}

/// Waits until `condition` gives something.
pub fn wait_for<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(found) = condition() {
            return found;
        }
        assert!(Instant::now() < deadline, "waited too long for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
