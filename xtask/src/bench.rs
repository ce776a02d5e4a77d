//! `cargo xtask bench`: figures beside what they are measured against.

use std::process::Command;

use crate::build::{BuildOptions, surehand, target_folder};
use crate::shell::{Fault, cargo, run, step};
use crate::{system, tools};

/// The public questions that the embedded model is measured by, and the build of llama.cpp it is measured against.
const QUESTIONS: &str = "bfcl-eval==2026.3.23";
const ANCHOR: &str = include_str!("../tools/bench.txt");

/// Runs one of the benches with everything it compares with.
pub(crate) fn bench(args: &[String]) -> Result<(), Fault> {
    match args.split_first() {
        Some((what, rest)) if what == "local" => local(rest),
        Some((what, rest)) if what == "host" => host(rest),
        Some((what, [])) if what == "mcp" => mcp(),
        _ => Err(Fault::usage("usage: cargo xtask bench local|host [ARGS...], or cargo xtask bench mcp")),
    }
}

fn local(args: &[String]) -> Result<(), Fault> {
    system::for_build()?;
    system::for_tests()?;
    let folder = tools::folder();
    step("Installing the anchor (llama.cpp for Python)");
    let anchor = folder.join("bench-venv");
    tools::virtual_environment(&anchor, ANCHOR, &["--only-binary=:all:"])?;
    let questions = folder.join("bfcl");
    tools::unpacked_package(&questions, &anchor.join("bin/python3"), QUESTIONS)?;
    run(cargo()
        .args(["run", "--locked", "--package", "surehand-local", "--example", "bench_local", "--"])
        .args(args)
        .env("SUREHAND_BENCH_QUESTIONS", questions.join("bfcl_eval/data"))
        .env("SUREHAND_BENCH_PYTHON", anchor.join("bin/python3")))
}

fn host(args: &[String]) -> Result<(), Fault> {
    system::for_build()?;
    let binary = surehand(BuildOptions { release: true, without_local: true })?;
    let mut command = cargo();
    command.args([
        "run",
        "--locked",
        "--release",
        "--package",
        "surehand-host",
        "--example",
        "bench_host",
        "--",
    ]);
    run(command.arg(binary).args(args))
}

fn mcp() -> Result<(), Fault> {
    step("Building our server, the floor and the peer");
    run(cargo().args([
        "build",
        "--locked",
        "--release",
        "--package",
        "surehand-bench",
        "--features",
        "peers",
    ]))?;
    let program = target_folder()?.join("release/surehand-bench");
    run(&mut Command::new(program))
}

/// `cargo xtask limits`.
pub(crate) fn limits(args: &[String]) -> Result<(), Fault> {
    let part = match args {
        [] => None,
        [part] if !part.starts_with('-') => Some(part),
        _ => return Err(Fault::usage("usage: cargo xtask limits [PART OF A NAME]")),
    };
    run(cargo().args(["build", "--locked", "--release", "--package", "surehand-bench", "--bin", "limits"]))?;
    let mut command = Command::new(target_folder()?.join("release/limits"));
    run(command.args(part.iter().flat_map(|part| ["only", part])))
}
