//! Starts the sinks of the configuration and the store of dead letters. A new kind of sink is one arm here.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use tidegate_sink_sqlite::{DeadLetters, SqliteSettings, connect, dead_letter_settings};
use tidegate_sinks::{BackOff, Connect, OnRejected, ReceiptPort, SinkHandle, SinkSettings, Wiring, start};

use crate::config::{SinkKind, SinkSpec};
use crate::worker::Clock;

/// The running sinks of a node.
pub struct Sinks {
    /// By position in the configuration.
    pub configured: Vec<SinkHandle>,
    /// Where records and messages end that nobody can take.
    pub dead_letters: SinkHandle,
}

impl Sinks {
    /// Starts them all. Outside systems may be down; what the settings say must make sense.
    pub fn start(
        specs: &[SinkSpec],
        data_dir: &Path,
        ports: &[Arc<dyn ReceiptPort>],
        clock: Clock,
    ) -> anyhow::Result<Self> {
        let wiring = |connect, dead_letters| Wiring {
            connect,
            ports: ports.to_vec(),
            dead_letters,
            clock: Arc::new(clock),
        };
        let dead_letters = start(
            dead_letter_settings(),
            &wiring(DeadLetters::new(data_dir).connect(), None),
        )
        .context("cannot start the store of dead letters")?;
        let mut configured = Vec::with_capacity(specs.len());
        for spec in specs {
            let settings = settings_of(spec);
            let connect = connector(spec, &settings, data_dir)?;
            configured.push(start(settings, &wiring(connect, Some(dead_letters.clone())))?);
        }
        Ok(Self {
            configured,
            dead_letters,
        })
    }
}

/// Checks everything about a sink that needs no outside system.
pub fn check_sink(spec: &SinkSpec) -> anyhow::Result<()> {
    let settings = settings_of(spec);
    if let Some(problem) = settings.validate().into_iter().next() {
        return Err(problem.into());
    }
    connector(spec, &settings, Path::new(".")).map(drop)
}

/// What makes the connections of a sink.
fn connector(spec: &SinkSpec, settings: &SinkSettings, data_dir: &Path) -> anyhow::Result<Connect> {
    match &spec.kind {
        SinkKind::Sqlite {
            path,
            create,
            statement,
        } => {
            let path = data_dir.join(path);
            Ok(connect(SqliteSettings::new(
                settings,
                path,
                statement,
                create.as_deref(),
            )?))
        }
    }
}

/// The settings that every kind of sink has.
fn settings_of(spec: &SinkSpec) -> SinkSettings {
    SinkSettings {
        name: spec.name.clone(),
        gate: spec.gate,
        batch_records_max: spec.batch_records_max,
        batch_bytes_max: spec.batch_bytes_max,
        linger: spec.linger,
        queue_records_max: spec.queue_records_max,
        queue_bytes_max: spec.queue_bytes_max,
        retry: BackOff {
            min: spec.retry.0,
            max: spec.retry.1,
        },
        on_rejected: if spec.tell_rejected {
            OnRejected::Refuse
        } else {
            OnRejected::DeadLetter
        },
        ..SinkSettings::default()
    }
}
