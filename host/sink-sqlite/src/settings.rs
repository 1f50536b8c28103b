//! What a user sets about a SQLite sink beyond what every sink has.
//!
//! Invariant: settings that pass [`SqliteSettings::new`] can be handed to [`crate::connect`]; whether the statement
//! fits the tables shows when a lane connects.

use std::path::PathBuf;

use tidegate_sinks::{Dialect, SettingsError, SinkSettings, Template, TemplateError};

/// Checked settings of a SQLite sink.
#[derive(Debug, Clone)]
pub struct SqliteSettings {
    pub(crate) path: PathBuf,
    pub(crate) statement: Template,
    pub(crate) create: Option<String>,
}

/// Why settings make no SQLite sink.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SqliteConfigError {
    /// A setting makes no sense.
    #[error(transparent)]
    Setting(#[from] SettingsError),
    /// The statement is no template.
    #[error("sink {sink}: statement: {source}")]
    Statement {
        /// Name of the sink.
        sink: String,
        /// What is wrong with it.
        source: TemplateError,
    },
}

impl SqliteSettings {
    /// Checks the settings of the sink that also has the settings `common`.
    ///
    /// `path`: the database file, created if missing; its directory must exist. `statement`: see the crate's page.
    /// `create`: statements run each time a lane connects, such as `CREATE TABLE IF NOT EXISTS …`.
    pub fn new(
        common: &SinkSettings,
        path: impl Into<PathBuf>,
        statement: &str,
        create: Option<&str>,
    ) -> Result<Self, SqliteConfigError> {
        let path = path.into();
        // SQLite takes `file:` for a URI, which may ask for memory or for no locks.
        let text = path.to_string_lossy();
        if text.is_empty() || text == ":memory:" || text.starts_with("file:") {
            let text = "must name a file: what is only in memory is not stored";
            return Err(common.problem("path", text).into());
        }
        if common.lanes > 1 {
            let text =
                "must be 1: a SQLite file has one writer at a time, more lanes would wait for each other";
            return Err(common.problem("lanes", text).into());
        }
        let statement =
            Template::parse(statement, Dialect::Sqlite).map_err(|source| SqliteConfigError::Statement {
                sink: common.name.clone(),
                source,
            })?;
        Ok(Self {
            path,
            statement,
            create: create.map(str::to_owned),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(change: impl FnOnce(&mut SinkSettings), path: &str, statement: &str) -> String {
        let mut common = SinkSettings {
            name: "rows".into(),
            ..SinkSettings::default()
        };
        change(&mut common);
        SqliteSettings::new(&common, path, statement, None)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn settings_that_make_no_sense_are_refused_with_the_reason() {
        let good = "INSERT INTO t VALUES (:id)";
        assert_eq!(
            refused(|common| common.lanes = 2, "x.db", good),
            "sink rows: lanes: must be 1: a SQLite file has one writer at a time, more lanes would wait for each other"
        );
        assert!(refused(|_| {}, ":memory:", good).contains("path: must name a file"));
        assert!(refused(|_| {}, "file:x?mode=memory", good).contains("path: must name a file"));
        assert!(refused(|_| {}, "", good).contains("path: must name a file"));
        let statement = refused(|_| {}, "x.db", "INSERT INTO t VALUES (?)");
        assert!(
            statement.starts_with("sink rows: statement: the statement has \"?\""),
            "{statement}"
        );
    }
}
