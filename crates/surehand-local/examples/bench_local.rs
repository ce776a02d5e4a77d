//! Measures the embedded model: right calls on public and own questions, restraint, speed beside llama.cpp itself.
//!
//! `cargo xtask bench local [--model NAME]` fetches what is compared with and runs this. By hand:
//!
//! ```text
//! bench_local [--model NAME] [--bfcl DIR] [--n COUNT] [--python PYTHON] [--models DIR] [--threads COUNT]
//!             [--only bfcl|own|speed]
//! ```
//!
//! `--bfcl` is the folder with `BFCL_v4_simple_python.json`, `--python` an interpreter that has `xllamacpp`. A part whose inputs are not
//! given is an error unless `--only` leaves it out. Exits with 1 below one of the bars.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a bench prints its figures")]

#[path = "bench_local/arguments.rs"]
mod arguments;
#[path = "bench_local/bfcl.rs"]
mod bfcl;
#[path = "bench_local/own.rs"]
mod own;
#[path = "bench_local/score.rs"]
mod score;
#[path = "bench_local/speed.rs"]
mod speed;

use std::process::ExitCode;

use arguments::Arguments;
use surehand_local::{LocalOptions, LocalProvider};

/// What went wrong, for a person.
type Fault = Box<dyn std::error::Error>;

/// One figure with the bar it must reach.
struct Bar {
    what: String,
    got: f64,
    /// At least this, or at most where `is_most` holds.
    bar: f64,
    is_most: bool,
}

impl Bar {
    fn at_least(what: impl Into<String>, got: f64, bar: f64) -> Self {
        Self { what: what.into(), got, bar, is_most: false }
    }

    fn at_most(what: impl Into<String>, got: f64, bar: f64) -> Self {
        Self { what: what.into(), got, bar, is_most: true }
    }

    fn holds(&self) -> bool {
        if self.is_most { self.got <= self.bar } else { self.got >= self.bar }
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(bars) => {
            println!("\n{:<58} {:>9} {:>9}", "figure", "got", "bar");
            for bar in &bars {
                let sign = if bar.is_most { "<=" } else { ">=" };
                let mark = if bar.holds() { "" } else { "  BELOW THE BAR" };
                println!("{:<58} {:>9.3} {sign}{:>7.3}{mark}", bar.what, bar.got, bar.bar);
            }
            if bars.iter().all(Bar::holds) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(fault) => {
            eprintln!("bench_local: {fault}");
            ExitCode::from(2)
        }
    }
}

async fn run() -> Result<Vec<Bar>, Fault> {
    let arguments = Arguments::read()?;
    println!("model {}", arguments.model);
    let mut bars = Vec::new();
    if arguments.wants("speed") {
        bars.extend(speed::bars(&arguments).await?);
    }
    let options = LocalOptions { threads: arguments.threads, ..LocalOptions::new(&arguments.models_dir) };
    let provider = LocalProvider::open(&arguments.model, &options)?;
    if arguments.wants("own") {
        bars.extend(own::bars(&provider, &arguments).await?);
    }
    if arguments.wants("bfcl") {
        bars.extend(bfcl::bars(&provider, &arguments).await?);
    }
    Ok(bars)
}
