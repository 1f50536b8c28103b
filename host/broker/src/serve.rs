//! `tidegate serve` and `tidegate check`: from settings to a running node, until a signal ends it.

use anyhow::Context as _;
use tidegate_rules::{Engine, EngineSettings};

use crate::cli::say;
use crate::config::{ModuleSource, Settings};
use crate::node::{check_sink, start};

/// Runs the broker until SIGTERM or SIGINT, then drains it.
pub fn serve(settings: &Settings) -> anyhow::Result<()> {
    let mut running = start(settings)?;
    say(&format!("mqtt  {}", running.mqtt));
    say(&format!("admin http://{}", running.admin));
    tracing::info!(mqtt = %running.mqtt, admin = %running.admin, workers = settings.workers, "serving");
    let signal = running.wait()?;
    tracing::info!(signal, "draining");
    running.stop();
    tracing::info!("stopped");
    Ok(())
}

/// What a configuration file cannot tell by its text alone: statements of sinks, and modules that are files.
pub fn check(settings: &Settings) -> anyhow::Result<()> {
    for sink in &settings.sinks {
        check_sink(sink)?;
    }
    let mut engine = None;
    for rule in &settings.rules {
        let Some(ModuleSource::File(path)) = &rule.module else {
            continue;
        };
        let wasm = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let engine = match &engine {
            Some(engine) => engine,
            None => engine.insert(Engine::new(EngineSettings::default())?),
        };
        engine
            .load(&wasm)
            .with_context(|| format!("rule {}: {}", rule.name, path.display()))?;
    }
    Ok(())
}
