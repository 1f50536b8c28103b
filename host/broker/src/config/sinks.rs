//! `[sinks.NAME]`, validated: what all kinds share and what each kind needs.

use std::path::PathBuf;
use std::time::Duration;

use tidegate_sinks::Gate;
use toml::Spanned;

use super::problem::Collector;
use super::raw::RawSink;
use super::units::{Size, Span};

/// One sink of the configuration.
#[derive(Debug, Clone)]
pub struct SinkSpec {
    /// Key of the table: what rules and metrics call it.
    pub name: String,
    /// When acknowledgements may leave, unless a record says otherwise. Default `durable`.
    pub gate: Gate,
    /// Records per batch at most. Default 1,000.
    pub batch_records_max: usize,
    /// Bytes per batch at most. Default `1MiB`.
    pub batch_bytes_max: usize,
    /// How long a batch may wait to fill. Default 0: what is queued goes.
    pub linger: Duration,
    /// Records waiting at most; full holds publishers. Default 100,000.
    pub queue_records_max: usize,
    /// Bytes of the same. Default `64MiB`.
    pub queue_bytes_max: usize,
    /// First and longest pause between tries. Default `100ms` to `10s`.
    pub retry: (Duration, Duration),
    /// Whether a publisher of version 5 is told of a record refused for good (otherwise it is acknowledged
    /// once the record is a dead letter). Default false.
    pub tell_rejected: bool,
    /// The outside system.
    pub kind: SinkKind,
}

/// The outside system of a sink.
#[derive(Debug, Clone)]
pub enum SinkKind {
    /// An SQLite file.
    Sqlite {
        /// Database file; relative paths start at the data directory.
        path: PathBuf,
        /// DDL to run once on connecting, such as `CREATE TABLE IF NOT EXISTS …`.
        create: Option<String>,
        /// INSERT with named parameters.
        statement: String,
    },
}

/// Validates one table; `None` when something in it is wrong (and noted).
pub fn read_sink(name: &str, table: Spanned<RawSink>, problems: &mut Collector<'_>) -> Option<SinkSpec> {
    let span = table.span();
    let raw = table.into_inner();
    let gate = read_gate(name, raw.gate.as_ref(), problems)?;
    let tell_rejected = match raw
        .on_rejected
        .as_ref()
        .map(|text| (text.get_ref().as_str(), text.span()))
    {
        None | Some(("dead-letter", _)) => false,
        Some(("refuse", _)) => true,
        Some((other, span)) => {
            problems.at(
                span,
                format!("sinks.{name}.on_rejected: \"{other}\" is neither \"dead-letter\" nor \"refuse\""),
            );
            return None;
        }
    };
    let kind = match raw.kind.get_ref().as_str() {
        "sqlite" => read_sqlite(name, &raw, span, problems)?,
        other => {
            problems.at(
                raw.kind.span(),
                format!("sinks.{name}.type: \"{other}\" is not a sink of this build; there is \"sqlite\""),
            );
            return None;
        }
    };
    Some(SinkSpec {
        name: name.to_owned(),
        gate,
        batch_records_max: positive(name, "batch_records", raw.batch_records, 1_000, problems)?,
        batch_bytes_max: bytes(raw.batch_bytes, 1 << 20),
        linger: time(raw.linger, Duration::ZERO),
        queue_records_max: positive(name, "queue_records", raw.queue_records, 100_000, problems)?,
        queue_bytes_max: bytes(raw.queue_bytes, 64 << 20),
        retry: (
            time(raw.retry_min, Duration::from_millis(100)),
            time(raw.retry_max, Duration::from_secs(10)),
        ),
        tell_rejected,
        kind,
    })
}

fn read_gate(name: &str, gate: Option<&Spanned<String>>, problems: &mut Collector<'_>) -> Option<Gate> {
    let Some(gate) = gate else {
        return Some(Gate::Durable);
    };
    match gate.get_ref().as_str() {
        "none" => Some(Gate::None),
        "durable" => Some(Gate::Durable),
        other => {
            let text = format!(
                "sinks.{name}.gate: \"{other}\" is not a gate of this build; there are \"none\" and \"durable\""
            );
            problems.at(gate.span(), text);
            None
        }
    }
}

fn read_sqlite(
    name: &str,
    raw: &RawSink,
    span: std::ops::Range<usize>,
    problems: &mut Collector<'_>,
) -> Option<SinkKind> {
    let Some(path) = &raw.path else {
        problems.at(span, format!("sinks.{name}: a sqlite sink needs path = \"FILE\""));
        return None;
    };
    let Some(statement) = &raw.statement else {
        problems.at(
            span,
            format!(
                "sinks.{name}: a sqlite sink needs statement = \"INSERT INTO … VALUES (:topic, :payload, …)\""
            ),
        );
        return None;
    };
    Some(SinkKind::Sqlite {
        path: PathBuf::from(path.get_ref()),
        create: raw.create.as_ref().map(|text| text.get_ref().clone()),
        statement: statement.get_ref().clone(),
    })
}

fn positive(
    sink: &str,
    key: &str,
    value: Option<Spanned<usize>>,
    default: usize,
    problems: &mut Collector<'_>,
) -> Option<usize> {
    match value {
        None => Some(default),
        Some(value) if *value.get_ref() == 0 => {
            problems.at(value.span(), format!("sinks.{sink}.{key} must be at least 1"));
            None
        }
        Some(value) => Some(value.into_inner()),
    }
}

fn bytes(value: Option<Size>, default: usize) -> usize {
    value.map_or(default, |size| usize::try_from(size.0).unwrap_or(usize::MAX))
}

fn time(value: Option<Span>, default: Duration) -> Duration {
    value.map_or(default, |span| span.0)
}
