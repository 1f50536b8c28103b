//! The SQLite sink: records to rows by the user's statement.
//!
//! Deliberately does not: interpret the body beyond the fields the statement asks for.

use std::sync::Arc;

use rusqlite::Statement;
use rusqlite::types::{ToSqlOutput, ValueRef};
use tidegate_sinks::{Connect, Record, Sink, SinkError, Template, Value};

use crate::SqliteSettings;
use crate::database::{BindFailure, Database};

/// Makes the connections of a SQLite sink; hand it to [`tidegate_sinks::start`].
pub fn connect(settings: SqliteSettings) -> Connect {
    Arc::new(move |_lane| {
        let SqliteSettings {
            path,
            statement,
            create,
        } = settings.clone();
        let sql = statement.render(|index| format!("?{}", index + 1));
        let database = Database::open(path, sql, create)?;
        Ok(Box::new(SqliteSink { database, statement }) as Box<dyn Sink>)
    })
}

struct SqliteSink {
    database: Database,
    statement: Template,
}

impl Sink for SqliteSink {
    fn write(&mut self, records: &[Record]) -> Result<(), SinkError> {
        let template = &self.statement;
        self.database
            .store(records, |record, statement| bind(template, record, statement))
    }

    fn check(&mut self) -> Result<(), SinkError> {
        self.database.check()
    }
}

fn bind(template: &Template, record: &Record, statement: &mut Statement<'_>) -> Result<(), BindFailure> {
    let mut values = Vec::with_capacity(template.params().len());
    template
        .bind(record, &mut values)
        .map_err(|error| BindFailure::Record(error.to_string()))?;
    for (index, value) in values.iter().enumerate() {
        statement.raw_bind_parameter(index + 1, to_sql(value))?;
    }
    Ok(())
}

fn to_sql<'v>(value: &'v Value<'_>) -> ToSqlOutput<'v> {
    ToSqlOutput::Borrowed(match value {
        Value::Null => ValueRef::Null,
        Value::Bool(bool) => ValueRef::Integer(i64::from(*bool)),
        Value::Integer(integer) => ValueRef::Integer(*integer),
        Value::Real(real) => ValueRef::Real(*real),
        Value::Text(text) => ValueRef::Text(text.as_bytes()),
        Value::Blob(bytes) => ValueRef::Blob(bytes),
    })
}
