//! The bench on its own, without a broker around it.

use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser;
use tidegate_bench::cli;

#[derive(Debug, Parser)]
#[command(name = "tidegate-bench", version, about)]
struct Bench {
    #[command(flatten)]
    args: cli::Args,
}

fn main() -> ExitCode {
    match cli::run(Bench::parse().args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The whole chain on one line; a closed standard error leaves the exit code.
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn arguments_are_consistent() {
        Bench::command().debug_assert();
    }

    #[test]
    fn contradictions_are_refused() {
        for args in [
            &["latency", "--quick", "--published"][..],
            &["load", "--target", "127.0.0.1:1", "--peer", "floor"],
            &["load", "--pid", "1"],
            &["peers", "--unpinned", "--broker-cores", "0"],
            &["load", "--qos", "3"],
            &["load", "--payload", "huge:1"],
        ] {
            let args = std::iter::once("tidegate-bench").chain(args.iter().copied());
            assert!(
                Bench::try_parse_from(args.clone()).is_err(),
                "{:?}",
                args.collect::<Vec<_>>()
            );
        }
    }
}
