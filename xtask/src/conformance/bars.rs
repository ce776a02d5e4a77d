//! What must be reached, and why that much.

use super::plan::{Group, Side};

/// How many scenarios of a group the suite has at one revision, and how many of them must be good.
pub(crate) struct Bar {
    pub(crate) side: Side,
    pub(crate) revision: &'static str,
    pub(crate) group: Group,
    pub(crate) scenarios: usize,
    pub(crate) good: usize,
    pub(crate) reason: &'static str,
}

/// Every group that is run. Where the suite has another number of scenarios than this, it is another suite, and the bars are to be
/// thought about again.
pub(crate) const BARS: &[Bar] = &[
    bar(
        Side::Client,
        "2025-11-25",
        Group::Scored,
        18,
        "all that the revision requires, which is what the top tier asks",
    ),
    bar(
        Side::Client,
        "2026-07-28",
        Group::Scored,
        32,
        "all that the revision requires, which is what the top tier asks",
    ),
    bar(
        Side::Client,
        "2025-11-25",
        Group::Extension,
        6,
        "whoever may log in by an extension of OAuth must be able to",
    ),
    bar(
        Side::Client,
        "2026-07-28",
        Group::Extension,
        6,
        "whoever may log in by an extension of OAuth must be able to",
    ),
    bar(Side::Client, "2025-11-25", Group::Added, 1, "schemas go through untouched, as all JSON does"),
    bar(Side::Client, "2026-07-28", Group::Added, 1, "schemas go through untouched, as all JSON does"),
    bar(Side::Client, "2025-03-26", Group::Older, 2, "servers of that revision are still logged in to"),
    bar(Side::Client, "2026-07-28", Group::Skills, 4, "skills are instructions: none is loaded unverified"),
    bar(
        Side::Server,
        "2025-11-25",
        Group::Scored,
        30,
        "all that the revision requires, which is what the top tier asks",
    ),
    bar(
        Side::Server,
        "2026-07-28",
        Group::Scored,
        37,
        "all that the revision requires, which is what the top tier asks",
    ),
    bar(Side::Server, "2025-11-25", Group::Added, 1, "a session ends when its client says so"),
    bar(
        Side::Server,
        "2025-11-25",
        Group::Pending,
        2,
        "schemas go through untouched, and a stream may be closed and taken up again",
    ),
    bar(
        Side::Server,
        "2026-07-28",
        Group::Pending,
        3,
        "schemas go through untouched, and headers say what the body says",
    ),
    bar(
        Side::Server,
        "2026-07-28",
        Group::Extension,
        10,
        "long calls are tasks; the suite looks at nothing in one of them",
    ),
    bar(
        Side::Server,
        "2026-07-28",
        Group::Skills,
        3,
        "skills are listed with what a host needs to verify them",
    ),
];

const fn bar(
    side: Side,
    revision: &'static str,
    group: Group,
    scenarios: usize,
    reason: &'static str,
) -> Bar {
    Bar { side, revision, group, scenarios, good: scenarios, reason }
}
