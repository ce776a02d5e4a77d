//! What hostile servers and clients cost us, and what the caller is told. Started by `cargo xtask limits`.
//!
//! Each scenario runs in a process of its own, so that its peak memory is its own; the hostile side is another process. Exits 1
//! when a bar is missed.
#![allow(clippy::unwrap_used, reason = "a check that cannot run must say so at once")]
#![expect(clippy::print_stdout, reason = "the table is what this program is for")]
#![expect(clippy::disallowed_methods, reason = "it starts and watches whole processes")]
#![expect(clippy::disallowed_types, reason = "whole processes run in real time")]

mod clients;
mod hostile;
mod hostile_http;
mod servers;

use std::fmt::Write as _;
use std::process::{Command, ExitCode};
use std::time::Instant;

/// What came of a scenario.
pub(crate) struct Finding {
    /// The words that the caller got.
    pub(crate) told: String,
    /// They are the words that they should be.
    pub(crate) is_told_right: bool,
    /// The process group or the connection of the hostile side is gone, where it must be.
    pub(crate) is_gone: bool,
    /// What ran beside was answered.
    pub(crate) others_live: bool,
    /// Peak resident memory in KB; of a process of its own where that is not this one.
    pub(crate) peak: u64,
}

/// A scenario: its name, what it is, and the most memory that it may take, in MB.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
    pub(crate) bar: u64,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        [] => table(""),
        ["only", part] => table(part),
        ["run", name] => {
            run(name);
            ExitCode::SUCCESS
        }
        ["hostile", name, pids] => hostile::serve(name, pids),
        ["hostile-http", name] => hostile_http::serve(name),
        ["serve", mode] => servers::serve(mode),
        _ => ExitCode::from(2),
    }
}

/// One scenario, in this process.
fn run(name: &str) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let finding = runtime.block_on(async {
        match name.split_once(' ') {
            Some(("client", name)) => clients::run(name).await,
            Some(("server", name)) => servers::run(name).await,
            _ => panic!("there is no scenario `{name}`"),
        }
    });
    let Finding { told, is_told_right, is_gone, others_live, peak } = finding;
    println!("{peak}\t{is_told_right}\t{is_gone}\t{others_live}\t{told}");
}

fn table(part: &str) -> ExitCode {
    println!("| what | told | peak MB | at most | s | hostile side gone | others unharmed | |");
    println!("| --- | --- | ---: | ---: | ---: | --- | --- | --- |");
    let mut all_hold = true;
    for (side, scenarios) in [("client", clients::ALL), ("server", servers::ALL)] {
        for scenario in scenarios.iter().filter(|scenario| scenario.name.contains(part)) {
            let (row, holds) = row(side, scenario);
            println!("{row}");
            all_hold &= holds;
        }
    }
    if all_hold { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn row(side: &str, scenario: &Scenario) -> (String, bool) {
    let begun = Instant::now();
    let name = format!("{side} {}", scenario.name);
    let output = Command::new(std::env::current_exe().unwrap()).args(["run", &name]).output().unwrap();
    let seconds = begun.elapsed().as_secs_f64();
    let text = String::from_utf8_lossy(&output.stdout);
    let fields: Vec<&str> = text.trim_end().splitn(5, '\t').collect();
    let [peak, right, gone, others, told] = fields[..] else {
        let words = String::from_utf8_lossy(&output.stderr);
        let row = format!("| {} | the scenario broke: {} | | | | | | MISSED |", scenario.what, words.trim());
        return (row.replace('\n', " "), false);
    };
    let megabytes = peak.parse::<f64>().unwrap() / 1024.0;
    let holds =
        [right, gone, others].iter().all(|field| *field == "true") && megabytes <= scenario.bar as f64;
    let yes = |field: &str| if field == "true" { "yes" } else { "NO" };
    let mut row = format!("| {} | {told}", scenario.what);
    if right != "true" {
        row.push_str(" (NOT WHAT IT SHOULD BE)");
    }
    let verdict = if holds { "ok" } else { "MISSED" };
    write!(
        row,
        " | {megabytes:.1} | {} | {seconds:.1} | {} | {} | {verdict} |",
        scenario.bar,
        yes(gone),
        yes(others)
    )
    .unwrap();
    (row, holds)
}

/// Peak resident memory of a process in KB.
pub(crate) fn peak_of(id: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
