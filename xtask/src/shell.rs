//! Starting tools and telling about it.

use std::ffi::OsStr;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Why a chore ended early, in words for the person who runs it.
pub(crate) struct Fault {
    pub(crate) message: String,
    pub(crate) code: u8,
}

impl Fault {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: 1 }
    }

    /// The chore was called in a wrong way.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: 2 }
    }
}

/// One line to the person, beside the output of the tools.
pub(crate) fn say(line: &str) {
    eprintln!("{line}");
}

/// Announces a step that takes time.
pub(crate) fn step(line: &str) {
    say(&format!("==> {line}"));
}

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// Cargo itself, as it was called.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    // Set by the `cargo run` around us; a cargo inside must find out for itself.
    for name in ["CARGO_MANIFEST_DIR", "CARGO_MANIFEST_PATH", "CARGO_PKG_NAME", "CARGO_PKG_VERSION"] {
        command.env_remove(name);
    }
    command
}

/// Runs a tool whose output is for the person to see.
pub(crate) fn run(command: &mut Command) -> Result<(), Fault> {
    let status = command.status().map_err(|error| not_started(command, &error))?;
    if status.success() { Ok(()) } else { Err(Fault::new(format!("{} ended with {status}", shown(command)))) }
}

/// Runs a tool whose output matters only if it fails, or as progress on a terminal.
pub(crate) fn run_quietly(command: &mut Command) -> Result<(), Fault> {
    if std::io::stderr().is_terminal() {
        return run(command);
    }
    let output = command.stdin(Stdio::null()).output().map_err(|error| not_started(command, &error))?;
    if output.status.success() {
        return Ok(());
    }
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let last = lines[lines.len().saturating_sub(30)..].join("\n");
    Err(Fault::new(format!("{} ended with {}\n{last}", shown(command), output.status)))
}

/// What a tool prints, where it can be started and succeeds.
pub(crate) fn output_of(program: impl AsRef<OsStr>, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// What a tool prints, which must succeed.
pub(crate) fn output_of_command(command: &mut Command) -> Result<String, Fault> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| not_started(command, &error))?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        return Err(Fault::new(format!(
            "{} ended with {}\n{}",
            shown(command),
            output.status,
            words.trim_end()
        )));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Where a program is found on the search path.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    format!("`{}`", words.join(" "))
}

fn not_started(command: &Command, error: &std::io::Error) -> Fault {
    Fault::new(format!("{} could not be started: {error}", shown(command)))
}
