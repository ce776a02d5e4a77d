//! Which scenarios there are: the suite's own frozen lists, and those that stand in no list.

use std::process::Command;

use crate::shell::{Fault, output_of_command};

use super::scenario::Suite;

/// Which of ours the suite talks to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Client,
    Server,
}

/// Why a scenario is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    /// Part of the frozen requirements of its revision: what the tiers score.
    Scored,
    /// Of an extension of the protocol; never scored.
    Extension,
    /// Came to the suite after the list was frozen; never scored.
    Added,
    /// The suite's own reference does not pass it; never scored.
    Pending,
    /// Of the skills extension, which the lists leave out.
    Skills,
    /// Of the revision before the first list.
    Older,
}

impl Group {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Scored => "scored",
            Self::Extension => "extension",
            Self::Added => "added",
            Self::Pending => "pending",
            Self::Skills => "skills",
            Self::Older => "older",
        }
    }
}

impl Side {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}

/// One scenario at one revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Planned {
    pub(crate) side: Side,
    pub(crate) revision: String,
    pub(crate) group: Group,
    pub(crate) name: String,
}

/// The revisions with a frozen list.
const LISTED: &[&str] = &["2025-11-25", "2026-07-28"];

/// Scenarios that are in no list of the suite and run by name only.
const UNLISTED: &[(Side, &str, Group, &str)] = &[
    (Side::Client, "2025-03-26", Group::Older, "auth/2025-03-26-oauth-metadata-backcompat"),
    (Side::Client, "2025-03-26", Group::Older, "auth/2025-03-26-oauth-endpoint-fallback"),
    (Side::Client, "2026-07-28", Group::Skills, "sep-2640-client-no-prefetch"),
    (Side::Client, "2026-07-28", Group::Skills, "sep-2640-client-verify-digest"),
    (Side::Client, "2026-07-28", Group::Skills, "sep-2640-client-verify-size"),
    (Side::Client, "2026-07-28", Group::Skills, "sep-2640-client-verify-frontmatter"),
    (Side::Server, "2026-07-28", Group::Skills, "sep-2640-skills-enumeration"),
    (Side::Server, "2026-07-28", Group::Skills, "sep-2640-skills-manifest"),
    (Side::Server, "2026-07-28", Group::Skills, "sep-2640-skills-directory"),
];

/// Scenarios that measure time: another one beside them would spoil the window.
const ALONE: &[&str] = &["sse-retry", "server-sse-polling"];

/// Scenarios that the suite itself always leaves out.
const LEFT_OUT: &[&str] = &["tasks-status-notifications"];

impl Planned {
    /// Whether nothing else may run beside it.
    pub(crate) fn alone(&self) -> bool {
        ALONE.contains(&self.name.as_str())
    }

    /// Whether the suite looks at nothing in it.
    pub(crate) fn left_out(&self) -> bool {
        LEFT_OUT.contains(&self.name.as_str())
    }
}

/// Asks the suite for its lists and adds what is in none.
pub(crate) fn plan(suite: &Suite) -> Result<Vec<Planned>, Fault> {
    let mut all = Vec::new();
    for revision in LISTED {
        let mut command: Command = suite.command();
        command.args(["list", "--requirements", revision]);
        all.extend(listed(&output_of_command(&mut command)?, revision));
    }
    all.extend(UNLISTED.iter().map(|(side, revision, group, name)| Planned {
        side: *side,
        revision: (*revision).to_owned(),
        group: *group,
        name: (*name).to_owned(),
    }));
    all.sort_by_key(|planned| planned.side.name());
    Ok(all)
}

/// Reads a list as the suite prints it. Scored ones stand under a heading of their side, the others under one of their reason with
/// the side behind each.
fn listed(text: &str, revision: &str) -> Vec<Planned> {
    let mut all = Vec::new();
    let (mut side, mut group) = (None, Group::Scored);
    for line in text.lines().map(str::trim) {
        if let Some(entry) = line.strip_prefix("- ") {
            let (name, own_side) = match entry.split_once(" [") {
                Some((name, behind)) => (name, side_named(behind.trim_end_matches(']'))),
                None => (entry, side),
            };
            if let Some(side) = own_side {
                all.push(Planned { side, revision: revision.to_owned(), group, name: name.to_owned() });
            }
        } else if let Some(word) = line.strip_suffix(':').and_then(|line| line.split_whitespace().next()) {
            match word {
                "Server" | "Client" => (side, group) = (side_named(&word.to_lowercase()), Group::Scored),
                "extension" => (side, group) = (None, Group::Extension),
                "added-after-release" => (side, group) = (None, Group::Added),
                "pending" => (side, group) = (None, Group::Pending),
                _ => side = None,
            }
        }
    }
    all
}

fn side_named(word: &str) -> Option<Side> {
    match word {
        "client" => Some(Side::Client),
        "server" => Some(Side::Server),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_by_its_headings_and_the_side_behind_a_name() {
        let text = "\
Required for 2026-07-28 (69 scenarios, frozen; run at the 2026-07-28 wire):

Server scenarios (test against a server):
  - ping

Client scenarios (test against a client):
  - auth/iss-supported
  - tools_call

Run and reported, but never scored:
  extension (2):
    - auth/dpop [client]
    - tasks-lifecycle [server]
  added-after-release (1):
    - json-schema-2020-12-preservation [client]
";
        let planned = |side, group, name: &str| Planned {
            side,
            revision: "2026-07-28".to_owned(),
            group,
            name: name.to_owned(),
        };
        assert_eq!(
            listed(text, "2026-07-28"),
            [
                planned(Side::Server, Group::Scored, "ping"),
                planned(Side::Client, Group::Scored, "auth/iss-supported"),
                planned(Side::Client, Group::Scored, "tools_call"),
                planned(Side::Client, Group::Extension, "auth/dpop"),
                planned(Side::Server, Group::Extension, "tasks-lifecycle"),
                planned(Side::Client, Group::Added, "json-schema-2020-12-preservation"),
            ]
        );
    }
}
