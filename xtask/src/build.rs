//! Building the binary, and `cargo xtask run`.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::shell::{Fault, cargo, output_of, root, run, say, step};
use crate::system;

/// How the binary is built.
#[derive(Clone, Copy, Default)]
pub(crate) struct BuildOptions {
    pub(crate) release: bool,
    pub(crate) without_local: bool,
}

/// `cargo xtask run`.
pub(crate) fn run_surehand(args: &[String]) -> Result<(), Fault> {
    let mut options = BuildOptions::default();
    let mut rest = args.iter();
    let mut own = Vec::new();
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            "--" => {
                own.extend(rest.by_ref());
                break;
            }
            "--release" => options.release = true,
            "--no-local" => options.without_local = true,
            other => {
                return Err(Fault::usage(format!(
                    "`{other}` is no option of this chore; what is for surehand goes after `--`"
                )));
            }
        }
    }
    let binary = surehand(options)?;
    let error = Command::new(&binary).args(own).exec();
    Err(Fault::new(format!("{} could not be started: {error}", binary.display())))
}

/// Builds the binary and says where it is.
///
/// The development profile is the usual one: the tests share it, so that the heavy dependency, which is optimised in either, is
/// compiled once.
pub(crate) fn surehand(options: BuildOptions) -> Result<PathBuf, Fault> {
    if !options.without_local {
        system::for_build()?;
    }
    let profile = if options.release { "release" } else { "debug" };
    let binary = target_folder()?.join(profile).join("surehand");
    if binary.exists() {
        // Cargo itself says what it does where something has changed.
    } else if options.without_local {
        step("Building surehand");
    } else {
        step(
            "Building surehand. The first build compiles llama.cpp and takes some minutes (about ten on two cores)",
        );
    }
    let mut command = cargo();
    command.args(["build", "--locked", "--package", "surehand", "--bin", "surehand"]);
    if options.release {
        command.arg("--release");
    }
    if options.without_local {
        command.arg("--no-default-features");
    }
    if binary.exists() {
        command.arg("--quiet");
    }
    run(&mut command)?;
    if binary.exists() {
        Ok(binary)
    } else {
        Err(Fault::new(format!("the build did not bring {}", binary.display())))
    }
}

/// Where cargo puts what it builds, as cargo itself says.
pub(crate) fn target_folder() -> Result<PathBuf, Fault> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let manifest = root().join("Cargo.toml");
    let manifest = manifest.to_string_lossy();
    let facts =
        output_of(program, &["metadata", "--format-version", "1", "--no-deps", "--manifest-path", &manifest]);
    // The folder is a plain JSON string in the one line that cargo prints; a path with escapes in it falls back to the default.
    let named = facts
        .as_deref()
        .and_then(|text| text.split_once("\"target_directory\":\""))
        .and_then(|(_, rest)| rest.split_once('"'));
    let folder = named.map_or_else(|| root().join("target"), |(folder, _)| Path::new(folder).to_owned());
    if folder.to_string_lossy().contains('\\') {
        say("the path of the target folder has unusual characters; using `target` beside the workspace");
        return Ok(root().join("target"));
    }
    Ok(folder)
}
