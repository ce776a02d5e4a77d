//! One scenario, run by itself, and what the suite wrote about it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::server::RunningServer;
use crate::shell::Fault;
use crate::waiting::{Ended, run_within};

use super::plan::{Planned, Side};

/// What the suite gives a client or a request.
const SUITE_LIMIT: Duration = Duration::from_secs(60);
/// What we give the suite: its own limit, and time to start and to write.
const LIMIT: Duration = Duration::from_secs(90);

/// The check that stands in most scenarios, beside theirs: what was sent fits the protocol's schema.
const EVERYWHERE: &str = "wire-schema-valid";

/// Where the suite, what it talks to and what it writes are.
pub(crate) struct Suite {
    pub(crate) bin: PathBuf,
    pub(crate) programs: PathBuf,
    pub(crate) results: PathBuf,
    /// Only where a scenario of the server side is run.
    pub(crate) server: Option<RunningServer>,
}

/// What came of one scenario.
pub(crate) struct Finding {
    pub(crate) planned: Planned,
    pub(crate) checks: Checks,
    /// Why it counts as failed beside its checks.
    pub(crate) fault: Option<String>,
    pub(crate) seconds: f64,
    /// What the suite and the program under test said.
    pub(crate) folder: PathBuf,
}

/// The suite's checks, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Checks {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) warnings: usize,
    pub(crate) skipped: usize,
    /// Of those passed, the ones that no other scenario has.
    pub(crate) of_its_own: usize,
    /// Of what failed or warned: which check, and why.
    pub(crate) complaints: Vec<String>,
}

impl Finding {
    /// Whether everything was looked at and found good.
    pub(crate) fn is_good(&self) -> bool {
        let looked_at = self.checks.of_its_own > 0 || (self.planned.left_out() && self.checks.skipped > 0);
        self.fault.is_none() && looked_at && self.checks.failed == 0 && self.checks.warnings == 0
    }
}

impl Suite {
    /// The suite, with the Node.js it needs first on the search path, started beside what it talks to.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(self.bin.join("conformance"));
        let rest = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(self.bin.clone()).chain(std::env::split_paths(&rest));
        if let Ok(path) = std::env::join_paths(folders) {
            command.env("PATH", path);
        }
        command.current_dir(&self.programs);
        command
    }
}

/// Runs one scenario. A fault is for what keeps all of them from running.
pub(crate) fn run(suite: &Suite, planned: Planned) -> Result<Finding, Fault> {
    let place = format!("{}-{}-{}", planned.side.name(), planned.revision, planned.name.replace('/', "-"));
    let folder = suite.results.join(place);
    fs::create_dir_all(&folder).map_err(|error| at(&folder, &error))?;
    let log = folder.join("suite.txt");
    let output = File::create(&log).map_err(|error| at(&log, &error))?;
    let errors = output.try_clone().map_err(|error| at(&log, &error))?;

    let mut command = suite.command();
    match planned.side {
        // The suite splits the command at spaces, so the place of the program must not be in it.
        Side::Client => command.args(["client", "--command", "./conformance-client"]),
        Side::Server => {
            let server = suite.server.as_ref().ok_or_else(|| Fault::new("the server is not running"))?;
            command.args(["server", "--url", &format!("http://{}/mcp", server.address)])
        }
    };
    command.args(["--scenario", &planned.name, "--spec-version", &planned.revision]);
    // Without force the suite leaves out what is of an extension, and calls that a success.
    command.args(["--force", "--timeout", &SUITE_LIMIT.as_millis().to_string(), "--output-dir"]).arg(&folder);
    command.stdin(std::process::Stdio::null()).stdout(output).stderr(errors);

    let started = Instant::now();
    let ended = run_within(&mut command, LIMIT)
        .map_err(|error| Fault::new(format!("the conformance suite could not be run: {error}")))?;
    let seconds = started.elapsed().as_secs_f64();
    let (checks, fault) = match (ended, checks_in(&folder)) {
        (Ended::Late, _) => (Checks::default(), Some(format!("not done after {} s", LIMIT.as_secs()))),
        (Ended::With(_), Err(words)) => (Checks::default(), Some(words)),
        (Ended::With(status), Ok(checks)) => {
            // Where every check is good, what is left is the exit code or the time-out of the program under test.
            let quiet = checks.failed == 0 && checks.warnings == 0;
            let fault = (quiet && !status.success()).then(|| last_words(&folder, &log));
            (checks, fault)
        }
    };
    Ok(Finding { planned, checks, fault, seconds, folder })
}

/// The checks that the suite wrote below this folder.
fn checks_in(folder: &Path) -> Result<Checks, String> {
    let file = below(folder, "checks.json").ok_or("the suite wrote no checks")?;
    let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    counted(&text)
}

/// A file of that name: the suite makes a folder with a time in its name, and where the scenario's name has a slash, one more.
fn below(folder: &Path, name: &str) -> Option<PathBuf> {
    let entries: Vec<PathBuf> = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect();
    let direct = entries.iter().find(|path| path.is_file() && path.file_name().is_some_and(|it| it == name));
    direct.cloned().or_else(|| entries.iter().filter(|path| path.is_dir()).find_map(|path| below(path, name)))
}

/// Counts checks as the suite writes them: a list of objects with a `status`.
fn counted(text: &str) -> Result<Checks, String> {
    let list: Vec<Value> = serde_json::from_str(text).map_err(|error| format!("checks.json: {error}"))?;
    let mut checks = Checks::default();
    for check in &list {
        let word = |name: &str| check.get(name).and_then(Value::as_str).unwrap_or_default();
        match word("status") {
            "SUCCESS" => {
                checks.passed += 1;
                checks.of_its_own += usize::from(word("id") != EVERYWHERE);
            }
            "FAILURE" => checks.failed += 1,
            "WARNING" => checks.warnings += 1,
            "SKIPPED" => checks.skipped += 1,
            _ => {}
        }
        if matches!(word("status"), "FAILURE" | "WARNING") {
            let why =
                if word("errorMessage").is_empty() { word("description") } else { word("errorMessage") };
            checks.complaints.push(format!("{}: {why}", word("id")));
        }
    }
    Ok(checks)
}

/// What the program under test said last, or else what the suite did.
fn last_words(folder: &Path, log: &Path) -> String {
    let line = |file: &Path| {
        let text = fs::read_to_string(file).unwrap_or_default();
        text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_owned)
    };
    below(folder, "stderr.txt")
        .and_then(|file| line(&file))
        .or_else(|| line(log))
        .unwrap_or_else(|| "it ended badly, without a word".to_owned())
}

/// Leaves an empty folder, so that nothing of an earlier run is read.
pub(crate) fn clear(folder: &Path) -> Result<(), Fault> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(at(folder, &error)),
        _ => {}
    }
    fs::create_dir_all(folder).map_err(|error| at(folder, &error))
}

fn at(path: &Path, error: &io::Error) -> Fault {
    Fault::new(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_counted_and_what_is_wrong_is_kept_in_words() {
        let text = r#"[
            {"id":"a","status":"SUCCESS"},
            {"id":"wire-schema-valid","status":"SUCCESS"},
            {"id":"b","status":"FAILURE","description":"d","errorMessage":"no header"},
            {"id":"c","status":"WARNING","description":"should be there"},
            {"id":"d","status":"SKIPPED"},
            {"id":"e","status":"INFO"}
        ]"#;
        let complaints = vec!["b: no header".to_owned(), "c: should be there".to_owned()];
        let checks = Checks { passed: 2, failed: 1, warnings: 1, skipped: 1, of_its_own: 1, complaints };
        assert_eq!(counted(text), Ok(checks));
        assert!(counted("{}").is_err());
    }
}
