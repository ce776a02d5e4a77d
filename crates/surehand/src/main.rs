//! The command line of Surehand: commands, rendering, wiring.

mod approve;
mod bundled;
mod cli;
mod coerce;
mod commands;
mod elicit;
mod error;
mod models;
mod render;
mod watch;
mod wiring;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
