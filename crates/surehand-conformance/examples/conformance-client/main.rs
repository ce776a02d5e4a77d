//! The client that the conformance suite drives: one scenario, one connection, and out. It does only what any user of the
//! library would do; what the suite judges is the library.
//!
//! The exit code is 0 when the scenario went through and 1, with words on stderr, when something was refused or broke.

mod auth;
mod person;
mod scenarios;

use std::env;
use std::error::Error;
use std::io::{Write, stderr};
use std::process::ExitCode;

use surehand_conformance::Assignment;

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to tell where stderr is closed.
            let _ = writeln!(stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let last = env::args().skip(1).last();
    #[expect(clippy::disallowed_methods, reason = "the suite hands out its assignments in variables")]
    let assignment = Assignment::read(last.as_deref(), |name| env::var(name).ok())?;
    scenarios::run(&assignment).await
}
