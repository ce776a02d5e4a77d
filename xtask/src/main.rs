//! Chores of the workspace: `cargo xtask help`.
//!
//! Two of them are what a newcomer meets first: `run` sees to what the build needs, builds and starts Surehand; `test` sees to
//! what the tests need and runs them all. Both do only what is missing, so the second time is quick.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "chores start tools, read the environment and look at the clock and talk to the person who runs them"
)]

mod bench;
mod build;
mod check;
mod conformance;
mod fuzz;
mod interop;
mod parallel;
mod server;
mod shell;
mod system;
mod test;
mod tools;
mod vectors;
mod waiting;

use std::process::ExitCode;

use shell::{Fault, say};

const HELP: &str = "\
Chores of the Surehand workspace

    cargo xtask run [--release] [--no-local] -- ARGS...
        Installs what the build needs, builds surehand and runs it with ARGS.
        --no-local leaves the embedded model out: no C++ compiler, cmake or libclang is needed then.
    cargo xtask test [-- ARGS...]
        Installs what the tests need, builds, fetches the small embedded model and runs every test.
        ARGS go to the test runner.
    cargo xtask fetch-model [NAME]
        Fetches an embedded model (the small one that the tests use, unless named).
    cargo xtask bench local|host [ARGS...]
        Prints figures of the embedded model, or of the host, beside what they are measured against.
    cargo xtask conformance [client|server] [--scenario NAME] [--revision REVISION] [--jobs N] [--debug]
        Runs the protocol's official conformance suite, each scenario by itself, and holds what comes of it against our bars.
        --debug takes the build that the tests use. What the suite wrote stays in target/conformance.
    cargo xtask bench mcp
        Prints what a call, a start and a session cost our server beside a floor written by hand and a peer.
    cargo xtask limits [PART OF A NAME]
        Prints what endless lines, huge results, deep JSON and silence cost us and what the caller is told; fails where a bar
        is missed.
    cargo xtask interop [PEER]
        Has our client talk to servers nobody here wrote, and clients nobody here wrote to our server, over every transport and in
        every era they have, and prints what came of it. PEER is a part of a name.
    cargo xtask vectors --data DIR
        Checks every message of our client and our server in every revision against the official schemas, which are read from
        DIR/mcp-schema.
    cargo xtask fuzz [--seconds N] [envelope|lines|sse|http]
        Runs the fuzz targets, each for a minute unless told otherwise. No nightly compiler is needed.
    cargo xtask prepare
        Installs what the build and the tests need, and does nothing else.
    cargo xtask deny
        Checks licences, sources and bans of everything in the dependency tree.

What is installed for the tests goes to target/test-tools; Debian packages are installed through apt where that is allowed,
and named where it is not.";

fn main() -> ExitCode {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let task = if args.is_empty() { "help".to_owned() } else { args.remove(0) };
    let outcome = match task.as_str() {
        "run" => build::run_surehand(&args),
        "test" => test::test(&args),
        "fetch-model" => test::fetch_model(&args),
        "bench" => bench::bench(&args),
        "conformance" => conformance::conformance(&args),
        "limits" => bench::limits(&args),
        "vectors" => vectors::vectors(&args),
        "fuzz" => fuzz::fuzz(&args),
        "interop" => interop::interop(&args),
        "prepare" => system::for_build().and_then(|()| tools::for_tests().map(drop)),
        "deny" => check::deny(),
        "help" | "--help" | "-h" => {
            println!("{HELP}");
            Ok(())
        }
        other => Err(Fault::usage(format!("there is no chore `{other}`; see cargo xtask help"))),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            say(&format!("error: {}", fault.message));
            ExitCode::from(fault.code)
        }
    }
}
