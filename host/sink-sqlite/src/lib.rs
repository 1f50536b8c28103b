//! The embedded SQLite sink.
