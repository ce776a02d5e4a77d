//! The files: found, read with their faults told, and the project's judged by what was agreed to.

use std::path::{Path, PathBuf};

use super::super::file::ConfigFile;
use super::super::jsonc::{self, Fault, Member, Node};
use super::super::server::{Switch, switch_of};
use super::super::settings::{Paths, Problem, Scope, Severity};
use super::super::store::{self, StoreError};
use super::super::trust::{self, Digest, TrustStatus};
use super::super::{provider, shown};

/// A file as it was read.
pub(super) struct Source {
    pub(super) path: PathBuf,
    pub(super) scope: Scope,
    pub(super) text: String,
    pub(super) digest: Digest,
    pub(super) root: Option<Node>,
    pub(super) trusted: bool,
}

pub(super) fn read_source(path: &Path, scope: Scope, problems: &mut Vec<Problem>) -> Option<Source> {
    let mut report = |place: String, what: String, hint: String| {
        problems.push(Problem { severity: Severity::Error, r#where: place, server: None, what, hint });
    };
    let bytes = match store::read(path) {
        Ok(bytes) => bytes?,
        Err(error) => {
            let cause = match &error {
                StoreError::Read { source, .. } => format!(": {source}"),
                _ => String::new(),
            };
            report(path.display().to_string(), format!("{error}{cause}"), String::new());
            return None;
        }
    };
    let digest = Digest::of(&bytes);
    let mut unreadable = |fault: Fault| {
        let what = format!("the file cannot be read, so nothing in it is used: {}", fault.what);
        report(format!("{}:{}", path.display(), fault.at), what, fault.hint);
    };
    let source =
        |text: String, root| Source { path: path.to_owned(), scope, text, digest, root, trusted: true };
    let text = match jsonc::decode(&bytes) {
        Ok(text) => text,
        Err(fault) => {
            unreadable(fault);
            return Some(source(String::new(), None));
        }
    };
    let root = jsonc::parse(text).unwrap_or_else(|fault| {
        unreadable(fault);
        None
    });
    Some(source(text.to_owned(), root))
}

/// `.mcp.json` in the nearest folder upwards that has one, no further than the repository's top or the home directory; where
/// there is none, where a new one belongs: at the repository's top, else here.
pub(super) fn find_project_file(cwd: &Path, home: &Path) -> (PathBuf, bool) {
    for folder in cwd.ancestors() {
        let path = folder.join(".mcp.json");
        if path.exists() {
            return (path, true);
        }
        if folder.join(".git").exists() {
            return (path, false);
        }
        if folder == home {
            break;
        }
    }
    (cwd.join(".mcp.json"), false)
}

pub(super) fn trust_of(paths: &Paths, source: &Source, problems: &mut Vec<Problem>) -> TrustStatus {
    trust::status(paths, &source.path, source.digest).unwrap_or_else(|error| {
        let place = paths.trust_file().display().to_string();
        problems.push(Problem {
            severity: Severity::Error,
            r#where: place,
            server: None,
            what: error.to_string(),
            hint: "until then no project's file is trusted".into(),
        });
        TrustStatus::Untrusted
    })
}

pub(super) fn untrusted(status: TrustStatus) -> &'static str {
    match status {
        TrustStatus::Changed => "the project's file has changed since it was trusted; nothing in it is used",
        _ => "the project's file is not trusted yet; nothing in it is used",
    }
}

/// What a project's file would do besides starting the servers, whose command lines follow once they are read.
pub(super) fn wants(file: &ConfigFile) -> Vec<String> {
    let mut wants = Vec::new();
    for Member { key: name, value: entry, .. } in &file.servers {
        match switch_of(entry) {
            Switch { is_all: true, enabled: Some(false) } => {
                wants.push(format!("switch off the server {name}"))
            }
            Switch { is_all: true, .. } => wants.push(format!("switch on the server {name}")),
            _ => {}
        }
    }
    if let Some(model) = file.model.as_ref().and_then(Node::text) {
        wants.push(format!("ask the model {model}"));
    }
    for provider in &file.providers {
        let is_address = |member: &&Member| provider::is_address_key(&member.key);
        let address = provider.value.members().unwrap_or_default().iter().find(is_address);
        let address = address.and_then(|member| member.value.text());
        let place = address.map(|text| format!(" at {}", shown::address(text))).unwrap_or_default();
        wants.push(format!("use the provider {}{place}", provider.key));
    }
    let parts = [
        (file.policy.is_some(), "add to the policy"),
        (!file.limits.is_empty(), "set limits"),
        (file.sandbox.is_some(), "set the sandbox"),
        (file.gateway.is_some(), "set the gateway"),
    ];
    wants.extend(parts.iter().filter(|(is_there, _)| *is_there).map(|(_, words)| (*words).to_owned()));
    wants.iter().map(|want| shown::visible(want)).collect()
}
