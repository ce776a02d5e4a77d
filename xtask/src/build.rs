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
    match facts.as_deref().and_then(named_folder) {
        Some(folder) => Ok(folder),
        None => {
            say("cargo does not say where it builds; looking into `target` beside the workspace");
            Ok(root().join("target"))
        }
    }
}

/// The target folder in the one line of JSON that cargo prints; none where its path is written with escapes.
fn named_folder(facts: &str) -> Option<PathBuf> {
    let (_, rest) = facts.split_once("\"target_directory\":\"")?;
    let (folder, _) = rest.split_once('"')?;
    (!folder.contains('\\')).then(|| Path::new(folder).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_folder_is_read_from_what_cargo_says() {
        let facts = r#"{"packages":[],"target_directory":"/home/me/a b/target","version":1}"#;
        assert_eq!(named_folder(facts), Some(PathBuf::from("/home/me/a b/target")));
        assert_eq!(named_folder(r#"{"target_directory":"/a\\"b"}"#), None);
        assert_eq!(named_folder("{}"), None);
    }
}
