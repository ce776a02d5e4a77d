//! `cargo xtask conformance`: the official suite against our own client and server, held against bars.
//!
//! Every scenario is run by itself: only then does the suite count the exit code and the time-out of a client, and only then do
//! its time windows mean something on a small machine.

mod bars;
mod plan;
mod report;
mod scenario;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::build::target_folder;
use crate::parallel::each;
use crate::server::{RunningServer, free_address};
use crate::shell::{Fault, cargo, run, step};
use crate::tools;

use plan::{Planned, Side};
pub(crate) use scenario::clear;
use scenario::{Finding, Suite};

/// More than two at once miss the suite's time windows.
const AT_ONCE: usize = 2;

struct Options {
    side: Option<Side>,
    scenario: Option<String>,
    revision: Option<String>,
    jobs: usize,
    debug: bool,
}

/// Runs the suite and prints one line a scenario, then the bars; an error where one is not reached.
pub(crate) fn conformance(args: &[String]) -> Result<(), Fault> {
    let options = read(args)?;
    let tools = tools::for_tests()?;
    let folder = target_folder()?;
    let programs = build(&folder, options.debug)?;
    let results = folder.join("conformance");
    clear(&results)?;
    let mut suite = Suite { bin: tools.join("bin"), programs, results, server: None };

    let all = plan::plan(&suite)?;
    let chosen: Vec<Planned> = all.into_iter().filter(|planned| options.wants(planned)).collect();
    if chosen.is_empty() {
        return Err(Fault::usage("no scenario of the suite is meant by that"));
    }
    if chosen.iter().any(|planned| planned.side == Side::Server) {
        let address = free_address()?;
        let mut command = Command::new(suite.programs.join("conformance-server"));
        command.args(["--listen", &address.to_string()]);
        suite.server = Some(RunningServer::start(&mut command, address)?);
    }
    step(&format!("Running {} scenarios of the conformance suite", chosen.len()));
    let findings = run_all(&suite, chosen, options.jobs)?;
    let whole = options.scenario.is_none();
    report::summary(&findings, whole)
}

fn read(args: &[String]) -> Result<Options, Fault> {
    let mut options = Options { side: None, scenario: None, revision: None, jobs: AT_ONCE, debug: false };
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let mut value =
            || rest.next().cloned().ok_or_else(|| Fault::usage(format!("`{arg}` needs a value behind it")));
        match arg.as_str() {
            "client" => options.side = Some(Side::Client),
            "server" => options.side = Some(Side::Server),
            "--scenario" => options.scenario = Some(value()?),
            "--revision" => options.revision = Some(value()?),
            "--jobs" => {
                let text = value()?;
                options.jobs = match text.parse() {
                    Ok(jobs) if (1..=AT_ONCE).contains(&jobs) => jobs,
                    _ => return Err(Fault::usage(format!("--jobs is a number from 1 to {AT_ONCE}"))),
                };
            }
            "--debug" => options.debug = true,
            other => return Err(Fault::usage(format!("`{other}` is no option of this chore"))),
        }
    }
    Ok(options)
}

impl Options {
    fn wants(&self, planned: &Planned) -> bool {
        self.side.is_none_or(|side| side == planned.side)
            && self.scenario.as_ref().is_none_or(|name| *name == planned.name)
            && self.revision.as_ref().is_none_or(|revision| *revision == planned.revision)
    }
}

/// Builds the client and the server that foreign programs talk to, and gives the folder it is in.
pub(crate) fn build(folder: &Path, debug: bool) -> Result<PathBuf, Fault> {
    step("Building the client and the server that are talked to");
    let mut command = cargo();
    command.args(["build", "--quiet", "--locked", "--examples", "--package", "surehand-conformance"]);
    if !debug {
        command.arg("--release");
    }
    run(&mut command)?;
    Ok(folder.join(if debug { "debug" } else { "release" }).join("examples"))
}

/// Runs them, some at once, then those that must have the machine for themselves; the findings stand in the order of the plan.
fn run_all(suite: &Suite, chosen: Vec<Planned>, jobs: usize) -> Result<Vec<Finding>, Fault> {
    let numbered = chosen.into_iter().enumerate();
    let (alone, together): (Vec<_>, Vec<_>) = numbered.partition(|(_, planned)| planned.alone());
    let mut findings = Vec::new();
    for (jobs, batch) in [(jobs, together), (1, alone)] {
        let work = |(place, planned)| (place, scenario::run(suite, planned));
        let done = each(batch, jobs, work, |(_, finding)| {
            if let Ok(finding) = finding {
                report::line(finding);
            }
        });
        findings.extend(done);
    }
    findings.sort_by_key(|(place, _)| *place);
    findings.into_iter().map(|(_, finding)| finding).collect()
}
