//! A home directory for one test, and a way to run the binary in it.

use std::fmt;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A home with nothing in it, and a project folder `work` in it where commands run.
pub(crate) struct Home {
    folder: TempDir,
}

/// What a run came to, with the home's path shown as `~` and times as `0 ms`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: i32,
}

impl Home {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("work")).unwrap();
        Self { folder }
    }

    /// A home with a scripted model in `work/model.jsonl`.
    pub(crate) fn with_script(lines: &[&str]) -> Self {
        let home = Self::new();
        home.write("work/model.jsonl", &lines.join("\n"));
        home
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs the binary with nothing on stdin.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, "", &[])
    }

    /// Runs the binary with this on stdin and these variables besides the home's own.
    pub(crate) fn run_with(&self, arguments: &[&str], stdin: &str, variables: &[(&str, &str)]) -> Ran {
        let mut child = self.command(arguments, variables).spawn().unwrap();
        // A program that does not read its input closes the pipe early; that is its right.
        let _closed_early = child.stdin.take().unwrap().write_all(stdin.as_bytes());
        self.smooth(&child.wait_with_output().unwrap())
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "starts the program under test, in an environment of its own"
    )]
    pub(crate) fn command(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Command {
        let home = self.folder.path();
        let mut command = Command::new(env!("CARGO_BIN_EXE_surehand"));
        command
            .args(arguments)
            .current_dir(home.join("work"))
            .env_clear()
            .env("HOME", home)
            .env("PATH", "/usr/bin:/bin")
            .env("XDG_CONFIG_HOME", home.join("config"))
            .env("XDG_STATE_HOME", home.join("state"))
            .env("XDG_CACHE_HOME", home.join("cache"))
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn smooth(&self, output: &Output) -> Ran {
        let text = |bytes: &[u8]| self.smooth_text(str::from_utf8(bytes).unwrap());
        Ran {
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
            code: output.status.code().unwrap_or(-1),
        }
    }

    fn smooth_text(&self, text: &str) -> String {
        let real = fs::canonicalize(self.folder.path()).unwrap();
        let text = text
            .replace(&real.display().to_string(), "~")
            .replace(&self.folder.path().display().to_string(), "~");
        let text = smooth_number_after(&text, "\"started_ms\":");
        let text = smooth_number_after(&text, "\"duration_ms\":");
        smooth_durations(&text)
    }
}

/// The number behind every `marker` becomes 0.
fn smooth_number_after(text: &str, marker: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(marker) {
        let (before, after) = rest.split_at(at + marker.len());
        out.push_str(before);
        out.push('0');
        rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    out + rest
}

/// `(12 ms, 104 B)` and the like become `(0 ms, 0 B)`: times vary, and sizes where a path is part of the result.
fn smooth_durations(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('(') {
        let (before, after) = rest.split_at(at + 1);
        out.push_str(before);
        rest = after;
        let Some((facts, behind)) = after.split_once(')') else { continue };
        let parts: Vec<&str> = facts.split([' ', ',']).filter(|part| !part.is_empty()).collect();
        if let [time, "ms" | "s", size, "B" | "kB"] = parts.as_slice()
            && [time, size].iter().all(|number| number.parse::<f64>().is_ok())
        {
            out.push_str("0 ms, 0 B)");
            rest = behind;
        }
    }
    out + rest
}

/// Exit code, stdout, stderr: what a snapshot shows.
impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "exit {}", self.code)?;
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                write!(f, "--- {name}\n{text}")?;
                if !text.ends_with('\n') {
                    writeln!(f, "⏎ missing")?;
                }
            }
        }
        Ok(())
    }
}
