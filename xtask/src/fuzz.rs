//! `cargo xtask fuzz`: hostile bytes against everything that reads them first.
//!
//! The targets are laid out for cargo-fuzz, and need neither it nor a nightly compiler: what libFuzzer wants of the compiler are
//! passes of LLVM that the stable one has too. Only the address sanitizer is left out, which code without `unsafe` can spare.

use std::process::Command;

use crate::shell::{Fault, cargo, output_of, root, run, step};

/// Counters at every edge, and what is compared with what.
const INSTRUMENTED: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
     -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1";

const TARGETS: [&str; 4] = ["envelope", "lines", "sse", "http"];

/// Builds the targets and runs each for some seconds, from the inputs in `fuzz/corpus`. New inputs go to `fuzz/target`, so the
/// work tree stays as it is; an input that breaks a target goes to `fuzz/artifacts`.
pub(crate) fn fuzz(args: &[String]) -> Result<(), Fault> {
    let usage = || Fault::usage("usage: cargo xtask fuzz [--seconds N] [envelope|lines|sse|http]");
    let (mut seconds, mut targets) = (60_u32, Vec::new());
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            "--seconds" => {
                seconds = rest.next().and_then(|number| number.parse().ok()).ok_or_else(usage)?;
            }
            name => targets.push(TARGETS.into_iter().find(|target| *target == name).ok_or_else(usage)?),
        }
    }
    if targets.is_empty() {
        targets.extend(TARGETS);
    }
    let host = host()?;
    let folder = root().join("fuzz");
    step("Building the fuzz targets");
    // With `--target`, build scripts and macros are not instrumented.
    run(cargo()
        .current_dir(&folder)
        .args(["build", "--locked", "--release", "--target", &host])
        .env("RUSTFLAGS", INSTRUMENTED))?;
    for target in targets {
        step(&format!("Fuzzing {target} for {seconds} s"));
        let (found, artifacts) = (folder.join("target/found").join(target), folder.join("artifacts/"));
        for made in [&found, &artifacts] {
            std::fs::create_dir_all(made)
                .map_err(|error| Fault::new(format!("{}: {error}", made.display())))?;
        }
        run(Command::new(folder.join("target").join(&host).join("release").join(target))
            .arg(found)
            .arg(folder.join("corpus").join(target))
            .arg(format!("-artifact_prefix={}/{target}-", artifacts.display()))
            .arg(format!("-max_total_time={seconds}"))
            .args([
                "-max_len=4096",
                "-timeout=5",
                "-rss_limit_mb=1024",
                "-print_final_stats=1",
                "-verbosity=0",
            ]))?;
    }
    Ok(())
}

/// The platform that the compiler builds for unless told otherwise.
fn host() -> Result<String, Fault> {
    let facts = output_of(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()), &["-vV"]);
    let host = facts.as_deref().and_then(|facts| facts.lines().find_map(|line| line.strip_prefix("host: ")));
    host.map(str::to_owned).ok_or_else(|| Fault::new("rustc does not say for which platform it builds"))
}
