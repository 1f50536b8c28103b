//! Why a call into a module gave no outcome. No effect of such a call is visible.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use wasmtime::Trap;

use crate::host::Guest;

/// A failed call: which module, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("module {module}: {cause}")]
pub struct Failure {
    /// Name and version.
    pub module: Arc<str>,
    /// What happened.
    pub cause: Cause,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// The module says that this batch cannot be decided on. The instance is fine.
    #[error("refuses the batch: {0}")]
    Invalid(String),
    /// The module says that it cannot work at all. The instance is fine.
    #[error("gives up: {0}")]
    Fatal(String),
    /// The code trapped. The text holds the reason, the last line written to standard error and a backtrace.
    #[error("trapped: {0}")]
    Trap(String),
    /// The call did not end in time.
    #[error("did not return within its deadline of {} ms", deadline.as_millis())]
    Timeout {
        /// The deadline it had.
        deadline: Duration,
    },
    /// The code wanted more memory than its manifest says, and did not survive being refused.
    #[error("needs more than its memory limit of {limit_bytes} bytes: {text}")]
    OutOfMemory {
        /// The limit.
        limit_bytes: usize,
        /// How it ended.
        text: String,
    },
    /// What came back breaks the rules of the interface.
    #[error("returned bad output: {0}")]
    BadOutput(String),
    /// It failed too often in a row and is not called until its back-off is over.
    #[error("is not called for the next {} ms, because it keeps failing: {last}", pause.as_millis())]
    ModuleFailing {
        /// How long, from the call that reports it.
        pause: Duration,
        /// The failure that opened the breaker.
        last: String,
    },
}

impl Cause {
    /// Whether the instance can be called again after this.
    pub fn spares_instance(&self) -> bool {
        matches!(
            self,
            Self::Invalid(_) | Self::Fatal(_) | Self::ModuleFailing { .. }
        )
    }

    /// Reads what the engine says about a call that ended early.
    pub(crate) fn of(error: &wasmtime::Error, guest: &mut Guest) -> Self {
        let trap = error.downcast_ref::<Trap>().copied();
        if trap == Some(Trap::Interrupt) {
            return Self::Timeout {
                deadline: guest.deadline.limit(),
            };
        }
        // Without a frame of guest code on the stack it is the host that refused what came back.
        let in_guest = trap.is_some() || error.downcast_ref::<wasmtime::WasmBacktrace>().is_some();
        let text = describe(error, guest.take_last_words());
        match guest.memory.was_refused() {
            true => Self::OutOfMemory {
                limit_bytes: guest.memory.limit_bytes(),
                text,
            },
            false if in_guest => Self::Trap(text),
            false => Self::BadOutput(text),
        }
    }
}

/// Longest text of a failure, in bytes: a module's words and names are not to be trusted with more, and one failure may
/// be reported for many messages.
const TEXT_BYTES_MAX: usize = 4096;

/// The beginning of a module's text that is kept.
pub(crate) fn cut(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
    text
}

/// Root cause first, then what the module wrote to standard error, then where it happened.
fn describe(error: &wasmtime::Error, last_words: Option<String>) -> String {
    let mut text = error.root_cause().to_string();
    if let Some(words) = last_words {
        let _ = write!(text, " ({words})");
    }
    if let Some(backtrace) = error.downcast_ref::<wasmtime::WasmBacktrace>() {
        let _ = write!(text, "\n{backtrace}");
    }
    cut(text)
}
