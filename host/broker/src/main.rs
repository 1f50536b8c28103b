//! The `tidegate` command.

use std::process::ExitCode;

use clap::Parser as _;
use tidegate_broker::cli::{Cli, explain, start_log};

/// The workers allocate on their own threads and free on others' (messages, records): mimalloc is made for that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[allow(clippy::print_stderr)] // the last word of the command line
fn main() -> ExitCode {
    match start_log().and_then(|()| Cli::parse().run()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}", explain(&error));
            ExitCode::FAILURE
        }
    }
}
