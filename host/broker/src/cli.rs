//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Parser, Subcommand};

use crate::config::{Problems, Settings, read_file};
use crate::serve;

/// MQTT broker with a programmable data path.
#[derive(Debug, Parser)]
#[command(name = "tidegate", version, about, max_term_width = 110)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the broker.
    Serve(Serve),
    /// Tell every problem of a configuration file, with its line.
    Check {
        /// The file.
        file: PathBuf,
    },
    /// Measure brokers: load generator, bare server, scenarios, peers.
    Bench(tidegate_bench::cli::Args),
    /// Look into a write-ahead log.
    Log {
        #[command(subcommand)]
        command: LogCommand,
    },
}

#[derive(Debug, Subcommand)]
enum LogCommand {
    /// Tell segments, cursors and damage; changes nothing.
    Inspect {
        /// The log's directory.
        dir: PathBuf,
    },
}

/// Flags override the file.
#[derive(Debug, Args)]
struct Serve {
    /// Configuration file.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Where MQTT clients connect. Port 0 takes any free one.
    #[arg(long, value_name = "ADDR")]
    mqtt: Option<SocketAddr>,
    /// Where the admin API answers; anything but loopback needs a key in the file.
    #[arg(long, value_name = "ADDR")]
    admin: Option<SocketAddr>,
    /// Where modules, dead letters and sink files are kept.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Worker threads; one per core unless told otherwise.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    workers: Option<u16>,
}

impl Cli {
    /// Does what the command line says.
    pub fn run(self) -> anyhow::Result<()> {
        match self.command {
            Command::Serve(flags) => serve::serve(&flags.settings()?),
            Command::Check { file } => {
                let settings = read_file(&file, cores())?;
                serve::check(&settings)?;
                say(&format!(
                    "{}: good ({} sinks, {} rules, {} workers)",
                    file.display(),
                    settings.sinks.len(),
                    settings.rules.len(),
                    settings.workers
                ));
                Ok(())
            }
            Command::Bench(args) => tidegate_bench::cli::run(args),
            Command::Log {
                command: LogCommand::Inspect { dir },
            } => {
                let recovery = tidegate_log::inspect(&dir, &mut std::io::stdout())?;
                anyhow::ensure!(
                    recovery.damage.is_empty(),
                    "{} has {} damaged places",
                    dir.display(),
                    recovery.damage.len()
                );
                Ok(())
            }
        }
    }
}

impl Serve {
    fn settings(self) -> anyhow::Result<Settings> {
        let mut settings = match &self.config {
            Some(file) => read_file(file, cores())?,
            None => Settings::new(cores()),
        };
        settings.mqtt.tcp = self.mqtt.unwrap_or(settings.mqtt.tcp);
        settings.admin.bind = self.admin.unwrap_or(settings.admin.bind);
        settings.data_dir = self.data_dir.unwrap_or(settings.data_dir);
        settings.workers = self.workers.map_or(settings.workers, usize::from);
        anyhow::ensure!(
            settings.admin.bind.ip().is_loopback() || settings.admin.key.is_some(),
            "--admin {} is not loopback: that needs key or key_file in [admin] of a configuration file",
            settings.admin.bind
        );
        Ok(settings)
    }
}

fn cores() -> usize {
    std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(crate::config::WORKERS_MAX)
}

/// Prints a line for the user.
#[allow(clippy::print_stdout)] // this is the command line
pub fn say(line: &str) {
    println!("{line}");
}

/// Tells an error the way a user can act on: problems of a file line by line, anything else with its causes.
pub fn explain(error: &anyhow::Error) -> String {
    match error.downcast_ref::<Problems>() {
        Some(problems) => problems.to_string(),
        None => format!("{error:#}"),
    }
}

/// Sets the log up: level by `TIDEGATE_LOG`, `info` unless told otherwise.
pub fn start_log() -> anyhow::Result<()> {
    let filter = match std::env::var("TIDEGATE_LOG") {
        Ok(text) => {
            tracing_subscriber::EnvFilter::try_new(&text).with_context(|| format!("TIDEGATE_LOG={text}"))?
        }
        Err(_) => tracing_subscriber::EnvFilter::new("info"),
    };
    let is_terminal = std::io::IsTerminal::is_terminal(&std::io::stderr());
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(is_terminal)
        .with_target(false)
        .init();
    Ok(())
}
