//! What SQLite's errors mean for a batch.
//!
//! Source: <https://www.sqlite.org/rescode.html>. Invariant: an error that time can cure never costs a record, and
//! one that names a row's own fault never stops the others.

use rusqlite::{Error, ErrorCode};
use tidegate_sinks::SinkError;

/// What can help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Time.
    Retry,
    /// Time, but not on this connection.
    Reconnect,
    /// An operator.
    Operator,
    /// Nothing: the row itself is refused.
    Row,
    /// Either the row or the statement; preparing the statement again tells.
    RowOrStatement,
}

pub(crate) fn class_of(error: &Error) -> Class {
    let Some(code) = error.sqlite_error_code() else {
        // What rusqlite finds by itself is about the statement: it returns rows, or counts parameters otherwise.
        return Class::Operator;
    };
    match code {
        ErrorCode::DatabaseBusy
        | ErrorCode::DatabaseLocked
        | ErrorCode::FileLockingProtocolFailed
        | ErrorCode::DiskFull
        | ErrorCode::OutOfMemory
        | ErrorCode::OperationInterrupted
        | ErrorCode::OperationAborted
        | ErrorCode::SchemaChanged => Class::Retry,
        // After a failed write or fsync the connection's view of the file is not to be trusted.
        ErrorCode::SystemIoFailure => Class::Reconnect,
        ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch | ErrorCode::TooBig => Class::Row,
        // SQLITE_ERROR: from a function such as json() given a bad value, or from a table dropped meanwhile.
        ErrorCode::Unknown => Class::RowOrStatement,
        _ => Class::Operator,
    }
}

/// `error` for the lane; `position` is the row being stored, if it was one.
pub(crate) fn sink_error(path: &str, error: &Error, position: Option<usize>) -> SinkError {
    let text = match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => format!("sqlite {path}: the disk is full ({error}); free some space"),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            format!("sqlite {path}: locked by another connection ({error})")
        }
        Some(ErrorCode::CannotOpen) => {
            format!("sqlite {path}: {error}; the directory must exist and be writable for the broker")
        }
        _ => format!("sqlite {path}: {error}"),
    };
    match class_of(error) {
        Class::Retry | Class::Reconnect => SinkError::Retry(text),
        Class::Row => SinkError::Rejected {
            position,
            reason: text,
        },
        Class::Operator | Class::RowOrStatement => SinkError::Operator(text),
    }
}
