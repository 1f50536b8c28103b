//! Stops a node: no new messages, then everything admitted is settled, then what is queued is stored.

use std::time::Duration;

use anyhow::{Context as _, anyhow};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::Running;
use crate::worker::Letter;

/// How long the sinks may take to store what is queued.
const SINK_WAIT: Duration = Duration::from_secs(10);

/// How long requests of the admin API may take to end.
const ADMIN_WAIT: Duration = Duration::from_secs(2);

/// The signals that end a node.
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Watches from now on; needs a runtime around it.
    pub fn watch() -> anyhow::Result<Self> {
        let watch = |kind, name| signal(kind).with_context(|| format!("cannot watch for {name}"));
        Ok(Self {
            terminate: watch(SignalKind::terminate(), "SIGTERM")?,
            interrupt: watch(SignalKind::interrupt(), "SIGINT")?,
        })
    }
}

impl Running {
    /// Waits for SIGTERM or SIGINT and returns its name.
    ///
    /// # Errors
    /// A worker has ended, which only a defect or the operating system can cause: the process must not go on without it.
    pub fn wait(&mut self) -> anyhow::Result<&'static str> {
        let (ends, signals) = (&mut self.ends, &mut self.signals);
        self.runtime.block_on(async {
            tokio::select! {
                _ = signals.terminate.recv() => Ok("SIGTERM"),
                _ = signals.interrupt.recv() => Ok("SIGINT"),
                end = ends.recv() => match end {
                    Some(Err(reason)) => Err(anyhow!(reason)),
                    Some(Ok(())) | None => Err(anyhow!("a worker has ended by itself")),
                },
            }
        })
    }

    /// Drains and ends. Whatever is left then was never acknowledged, or had gate `none`.
    pub fn stop(self) {
        for mailbox in &self.mailboxes {
            mailbox.post(Letter::Drain);
        }
        for thread in self.threads {
            if thread.join().is_err() {
                tracing::error!("a worker ended by panic");
            }
        }
        // The server may have ended by itself; then nobody listens.
        let _ = self.stop_admin.send(());
        self.runtime.shutdown_timeout(ADMIN_WAIT);
        for sink in self.sinks.configured.iter().chain([&self.sinks.dead_letters]) {
            let drained = sink.drain(SINK_WAIT);
            if drained.left > 0 {
                tracing::warn!(sink = sink.name(), left = drained.left, state = ?drained.state, "records were not stored");
            }
        }
    }
}
