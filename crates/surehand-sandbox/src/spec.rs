use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use surehand_model::Secret;

/// What to start, with which surroundings. Nothing is read from our own environment: all of it is handed in.
#[derive(Clone, Debug, Default)]
pub struct ChildSpec {
    /// An absolute path, a path with a slash (relative to `cwd`), or a bare name that is looked up in the search path.
    /// No shell reads it: `~`, `$NAME` and spaces stand for themselves.
    pub command: String,
    /// The arguments, each handed over as it is.
    pub args: Vec<String>,
    /// Variables set for this child, over everything inherited. A `PATH` in here is also where a bare `command` is looked up.
    pub env: Vec<(String, Secret<String>)>,
    /// The working directory; ours when absent.
    pub cwd: Option<PathBuf>,
    /// Where a bare `command` is looked up, in the form of `PATH`. Relative entries are skipped, so that a project's folder
    /// never decides which program runs.
    pub search_path: OsString,
    /// The environment to choose from; only names for which [`is_passed_on`](crate::is_passed_on) holds reach the child.
    pub inherit: Vec<(OsString, OsString)>,
}

impl ChildSpec {
    /// Where bare names are looked up: the `PATH` set for the child, else `search_path`, else the inherited `PATH`.
    pub(crate) fn lookup_path(&self) -> OsString {
        if let Some((_, path)) = self.env.iter().rev().find(|(name, _)| name == "PATH") {
            return OsString::from(path.expose());
        }
        if !self.search_path.is_empty() {
            return self.search_path.clone();
        }
        self.inherited("PATH").map(OsStr::to_owned).unwrap_or_default()
    }

    pub(crate) fn inherited(&self, name: &str) -> Option<&OsStr> {
        self.inherit.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_os_str())
    }
}
