//! What the person reads: a line a scenario while they run, then the bars.

use crate::shell::Fault;

use super::bars::{BARS, Bar};
use super::plan::{Group, Side};
use super::scenario::Finding;

/// More words than this of one complaint are in the files.
const LONGEST_COMPLAINT: usize = 400;

/// Prints what came of one scenario, and below it what is wrong.
pub(crate) fn line(finding: &Finding) {
    let planned = &finding.planned;
    let checks = &finding.checks;
    println!(
        "{} {}  {}  {:9}  {:48}  {:3} passed  {:2} failed  {:2} warnings  {:5.1} s",
        if finding.is_good() { "ok  " } else { "FAIL" },
        planned.side.name(),
        planned.revision,
        planned.group.name(),
        planned.name,
        checks.passed,
        checks.failed,
        checks.warnings,
        finding.seconds,
    );
    if finding.is_good() {
        return;
    }
    let nothing = (finding.fault.is_none() && checks.of_its_own == 0 && checks.complaints.is_empty())
        .then(|| "nothing of it was looked at".to_owned());
    for words in checks.complaints.iter().chain(&finding.fault).chain(&nothing) {
        let short: String = words.chars().take(LONGEST_COMPLAINT).collect();
        println!("       {}", short.replace('\n', "\n       "));
    }
    println!("       see {}", finding.folder.display());
}

/// Prints the bars of what was run; an error where one is not reached. `whole` says that no scenario of a group was left out.
pub(crate) fn summary(findings: &[Finding], whole: bool) -> Result<(), Fault> {
    let mut below = 0;
    println!();
    for bar in BARS {
        let of_bar: Vec<&Finding> = findings.iter().filter(|finding| bar.is_for(finding)).collect();
        if of_bar.is_empty() {
            continue;
        }
        let (run, good) = (of_bar.len(), of_bar.iter().filter(|finding| finding.is_good()).count());
        let (needed, known) = if whole { (bar.good, bar.scenarios) } else { (run, run) };
        let reached = good >= needed && run == known;
        below += usize::from(!reached);
        let odd = if run == known {
            String::new()
        } else {
            format!("; the suite has {run} where {known} are known")
        };
        println!(
            "{} {}  {}  {:9}  {good:2} of {run:2}, must be {needed:2}: {}{odd}",
            if reached { "ok  " } else { "FAIL" },
            bar.side.name(),
            bar.revision,
            bar.group.name(),
            bar.reason,
        );
    }
    let strangers = findings.iter().filter(|finding| !BARS.iter().any(|bar| bar.is_for(finding))).count();
    println!();
    for side in [Side::Client, Side::Server] {
        let of_side: Vec<&Finding> = findings.iter().filter(|finding| finding.planned.side == side).collect();
        if !of_side.is_empty() {
            total(side, &of_side);
        }
    }
    match (below, strangers) {
        (0, 0) => Ok(()),
        (0, _) => Err(Fault::new(format!("{strangers} scenarios belong to no bar"))),
        _ => Err(Fault::new(format!("{below} of the bars are not reached"))),
    }
}

/// Sums up a side: what the tiers score, what they do not, and the checks of both.
fn total(side: Side, findings: &[&Finding]) {
    let (scored, unscored): (Vec<&Finding>, Vec<&Finding>) =
        findings.iter().partition(|finding| finding.planned.group == Group::Scored);
    let good = |of: &[&Finding]| format!("{} of {}", of.iter().filter(|it| it.is_good()).count(), of.len());
    let sum = |count: fn(&Finding) -> usize| -> usize { findings.iter().map(|finding| count(finding)).sum() };
    println!(
        "{}: {} scored, {} unscored; checks: {} passed, {} failed, {} warnings",
        side.name(),
        good(&scored),
        good(&unscored),
        sum(|finding| finding.checks.passed),
        sum(|finding| finding.checks.failed),
        sum(|finding| finding.checks.warnings),
    );
}

impl Bar {
    fn is_for(&self, finding: &Finding) -> bool {
        let planned = &finding.planned;
        planned.side == self.side && planned.revision == self.revision && planned.group == self.group
    }
}
