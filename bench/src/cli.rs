//! `tidegate bench …`: reads the arguments and carries out the subcommand.
//!
//! The broker's command line embeds [`Args`]; `tidegate-bench` is the same on its own.

mod broker;
mod load;
mod output;
mod scenarios;
mod value;

use anyhow::Context as _;
use clap::Subcommand;

pub use self::load::LoadArgs;
pub use self::scenarios::{ConnectionsArgs, LatencyArgs, PeersArgs};

/// Measure a broker: connections, latency, throughput, and how it stands beside others.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Many idle connections: connect time, processor, memory
    Connections(ConnectionsArgs),
    /// One message a second from each of many publishers to its subscriber: end-to-end and PUBACK times
    Latency(LatencyArgs),
    /// The same loads on several brokers in turn, as multiples of a bare server
    Peers(PeersArgs),
    /// A load of your own on any broker
    Load(Box<LoadArgs>),
    /// Run the bare server that the others are compared with
    Floor(FloorArgs),
    /// Write RESULTS.md from runs that were recorded with --record
    Results(ResultsArgs),
}

#[derive(Debug, clap::Args)]
struct FloorArgs {
    /// Address to listen on
    #[arg(long, default_value = "127.0.0.1:1883")]
    bind: std::net::SocketAddr,
    /// Threads
    #[arg(long, default_value_t = 1)]
    threads: usize,
}

#[derive(Debug, clap::Args)]
struct ResultsArgs {
    /// Directory that runs were recorded in
    #[arg(long, default_value = "bench/results")]
    from: std::path::PathBuf,
    /// File to write
    #[arg(long, default_value = "bench/RESULTS.md")]
    to: std::path::PathBuf,
}

/// Carries out what `args` ask for. An error also when the messages of a run do not add up.
pub fn run(args: Args) -> anyhow::Result<()> {
    match args.command {
        Command::Connections(args) => scenarios::connections(&args),
        Command::Latency(args) => scenarios::latency(&args),
        Command::Peers(args) => scenarios::peers(&args),
        Command::Load(args) => load::load(&args),
        Command::Results(args) => output::write_results(&args.from, &args.to),
        Command::Floor(args) => floor(&args),
    }
}

fn floor(args: &FloorArgs) -> anyhow::Result<()> {
    crate::load::plan::allow_all_files();
    let floor = crate::floor::start(args.bind, args.threads.max(1))
        .with_context(|| format!("the floor server cannot listen on {}", args.bind))?;
    floor.join().context("the floor server ended")
}
