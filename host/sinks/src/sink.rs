//! The trait every sink implements. CONTRACT.md says in words what it promises.

use crate::Record;

/// A sink's connection to its outside system. One thread, its lane, owns it and calls it with a batch at a time,
/// so it may block; order within a lane is the order of calls.
pub trait Sink: Send {
    /// Stores `records`, all or none. `Ok` means that the outside system has confirmed every one of them as durable.
    fn write(&mut self, records: &[Record]) -> Result<(), SinkError>;

    /// Whether the outside system can be reached and would take records now.
    fn check(&mut self) -> Result<(), SinkError>;
}

/// Why a batch is not stored. The variant says what can help; the text names the system, the object and the cause.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SinkError {
    /// The same batch later can succeed: back off and try again, for ever.
    #[error("{0}")]
    Retry(String),
    /// Only an operator can help: pause, raise the alarm, drop nothing, look again from time to time.
    #[error("{0}")]
    Operator(String),
    /// The batch is too large as a whole: halve it. A single record that is too large is rejected.
    #[error("{0}")]
    TooLarge(String),
    /// At least one record can never be stored. `position` names it where the system tells; otherwise bisect.
    #[error("{reason}")]
    Rejected {
        /// Index in the batch, if known.
        position: Option<usize>,
        /// What the outside system said.
        reason: String,
    },
}
