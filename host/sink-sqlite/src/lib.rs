//! The embedded SQLite sink, and the dead-letter store that every sink shares.
//!
//! Owns: one connection, the statement that stores a record, and the meaning of SQLite's errors.
//! Invariant: a batch is one transaction, and `Ok` means committed with `synchronous=FULL`.
//! Deliberately does not: queue, retry or isolate records; the lane of `tidegate-sinks` does.
//!
//! # Storing a record once
//! A batch whose commit was confirmed by SQLite is never offered again, but a process killed between the commit and
//! the acknowledgement leaves rows that the publisher sends again under a new record id. Within the life of a data
//! directory a record id is unique, so a statement makes retries harmless by itself:
//! ```sql
//! CREATE TABLE IF NOT EXISTS telemetry (id TEXT PRIMARY KEY, topic TEXT, celsius REAL, at INTEGER);
//! INSERT INTO telemetry (id, topic, celsius, at) VALUES (:record_id, :topic, :celsius, :received_at)
//!   ON CONFLICT (id) DO NOTHING;
//! ```
//! `INSERT OR IGNORE` is not the same: it also drops rows that break any other constraint, without a word.
//!
//! # Parameters
//! `:record_id` (also `:id`), `:client_id`, `:topic`, `:qos`, `:payload`, `:received_at` (ms) and `:key` come from the
//! record. Any other `:name` is the field of that name at the top level of the JSON body: a missing field is NULL, a
//! nested one its JSON text. A field named like one of the above is reached by
//! `json_extract(:payload, '$.topic')`.
#![deny(missing_docs)]

mod settings;
mod sink;

mod dead_letters;

mod classify;
mod database;

pub use dead_letters::{DEAD_LETTERS_FILE, DeadLetter, DeadLetters, ReadError, dead_letter_settings};
pub use settings::{SqliteConfigError, SqliteSettings};
pub use sink::connect;
