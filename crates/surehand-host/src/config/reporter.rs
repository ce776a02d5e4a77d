//! Collects what a reader met, each thing with its place.

use std::cmp::Ordering;
use std::path::Path;

use super::jsonc::{Node, Position};
use super::settings::{Problem, Severity};
use super::shown::visible;

/// How many problems of one file are told; more would hide the first.
const LIMIT: usize = 200;

/// Collects [`Problem`]s about one file.
pub(super) struct Reporter<'a> {
    file: &'a Path,
    text: &'a str,
    problems: &'a mut Vec<Problem>,
    told: usize,
}

/// What a [`Problem`] is about: server and key, each where it applies.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct About<'a> {
    pub(super) server: Option<&'a str>,
    pub(super) key: Option<&'a str>,
}

impl<'a> Reporter<'a> {
    pub(super) fn new(file: &'a Path, text: &'a str, problems: &'a mut Vec<Problem>) -> Self {
        Self { file, text, problems, told: 0 }
    }

    /// The file with line and column of a node, the server and the key.
    pub(super) fn place(&self, node: &Node, about: About<'_>) -> String {
        let position = Position::of(self.text, node.span.start);
        let mut place = format!("{}:{position}", self.file.display());
        if let Some(server) = about.server {
            place.push_str(&format!(", server `{server}`"));
        }
        if let Some(key) = about.key {
            place.push_str(&format!(", `{key}`"));
        }
        visible(&place)
    }

    pub(super) fn say(
        &mut self,
        severity: Severity,
        node: &Node,
        about: About<'_>,
        what: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.told += 1;
        let (what, hint) = match self.told.cmp(&LIMIT) {
            Ordering::Less => (what.into(), hint.into()),
            Ordering::Equal => (
                "there is more to say about this file".to_owned(),
                "mend what is told above first".to_owned(),
            ),
            Ordering::Greater => return,
        };
        // A project's file is told about before anybody trusts it.
        self.problems.push(Problem {
            severity,
            r#where: self.place(node, about),
            server: about.server.map(visible),
            what: visible(&what),
            hint: visible(&hint),
        });
    }
}
