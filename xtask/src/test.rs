//! `cargo xtask test` and `cargo xtask fetch-model`.

use std::path::Path;
use std::process::Command;

use crate::build::{BuildOptions, surehand};
use crate::shell::{Fault, cargo, output_of, run, step};
use crate::{system, tools};

/// The model that the tests use.
pub(crate) const TEST_MODEL: &str = "qwen2.5-coder-0.5b";

/// Runs every test of the workspace, with everything they need.
pub(crate) fn test(args: &[String]) -> Result<(), Fault> {
    let for_runner = match args {
        [] => args,
        [dashes, rest @ ..] if dashes == "--" => rest,
        [other, ..] => {
            return Err(Fault::usage(format!(
                "`{other}` is no option of this chore; what is for the test runner goes after `--`"
            )));
        }
    };

    system::for_build()?;
    let tools = tools::for_tests()?;
    let binary = surehand(BuildOptions::default())?;
    pull(&binary, TEST_MODEL)?;

    let prepared = || {
        let mut command = cargo();
        command.env("SUREHAND_TEST_TOOLS", &tools);
        command
    };
    step("Running the examples in the documentation");
    run(prepared().args(["test", "--workspace", "--locked", "--doc", "--quiet"]))?;
    step("Running the tests");
    let has_nextest = output_of(cargo().get_program(), &["nextest", "--version"]).is_some();
    let mut runner = prepared();
    if has_nextest {
        runner.args(["nextest", "run", "--workspace", "--locked", "--no-fail-fast"]).args(for_runner);
    } else {
        // Libraries, binaries, examples and integration tests; the documentation has had its turn.
        runner.args([
            "test",
            "--workspace",
            "--locked",
            "--no-fail-fast",
            "--lib",
            "--bins",
            "--examples",
            "--tests",
        ]);
        runner.args(for_runner);
    }
    run(&mut runner)
}

/// Fetches an embedded model by the binary itself, so that there is one way to do it.
pub(crate) fn fetch_model(args: &[String]) -> Result<(), Fault> {
    let name = match args {
        [] => TEST_MODEL,
        [name] if !name.starts_with('-') => name,
        _ => return Err(Fault::usage("usage: cargo xtask fetch-model [NAME]")),
    };
    pull(&surehand(BuildOptions::default())?, name)
}

fn pull(binary: &Path, model: &str) -> Result<(), Fault> {
    run(Command::new(binary).args(["models", "pull", model, "--yes"]))
}
