//! Why a module cannot be stored or put to work.

use std::io;
use std::path::PathBuf;

use tidegate_rules::RuleError;

/// Names the module and says what to do.
#[derive(Debug, thiserror::Error)]
pub enum ModuleError {
    /// It would become part of a path.
    #[error("\"{text}\" cannot name a module or a version: use up to 64 letters, digits, '-', '_' and '.'")]
    BadName {
        /// As asked for.
        text: String,
    },
    /// The manifest inside names another module or version.
    #[error(
        "the component says it is {found}, and the request says {asked}: change module.toml or the address"
    )]
    NameMismatch {
        /// From the manifest.
        found: String,
        /// From the request.
        asked: String,
    },
    /// Versions are for ever.
    #[error("{label} exists with other bytes (sha256:{digest}): give the new component a new version")]
    OtherBytes {
        /// `NAME@VERSION`.
        label: String,
        /// Of the bytes that are there.
        digest: String,
    },
    /// No such module or version.
    #[error("there is no module {label}: upload it with PUT /api/v1/modules/NAME/versions/VERSION")]
    Unknown {
        /// `NAME` or `NAME@VERSION`.
        label: String,
    },
    /// There was never another version.
    #[error("module {name} has no earlier version to go back to")]
    NothingToRollBackTo {
        /// The module.
        name: String,
    },
    /// Too many versions.
    #[error("module {name} has {max} versions, which is the limit: delete files of old ones from {dir}")]
    Full {
        /// The module.
        name: String,
        /// The limit.
        max: usize,
        /// Where they lie.
        dir: PathBuf,
    },
    /// The component, or an instance of it, is not good.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// The data directory cannot be used.
    #[error("{doing} {path}: {source}", path = path.display())]
    Storage {
        /// What was being done.
        doing: &'static str,
        /// To what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The broker is shutting down.
    #[error("the broker is shutting down")]
    Stopping,
}
