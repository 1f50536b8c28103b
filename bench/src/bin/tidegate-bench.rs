//! The bench on its own, without a broker around it.

use clap::Parser;
use tidegate_bench::cli;

#[derive(Debug, Parser)]
#[command(name = "tidegate-bench", version, about)]
struct Bench {
    #[command(flatten)]
    args: cli::Args,
}

fn main() -> anyhow::Result<()> {
    cli::run(Bench::parse().args)
}
