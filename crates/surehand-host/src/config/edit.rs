//! Changes to a configuration file that touch one entry and not one byte besides.
//!
//! A change is worked out on the text as a few insertions and deletions at places the parser has found, so comments, layout,
//! unknown keys and line endings of everything else cannot change. On disk it is made under a lock, on what the file holds by
//! then, and put in place in one step.

mod layout;
mod member;

use std::path::{Path, PathBuf};

use surehand_model::Json;
use surehand_schema::nearest;
use thiserror::Error;

use self::layout::{Layout, Splice, spliced};
use super::file::{containers, is_root_entry, name_fault};
use super::jsonc::{self, Fault, Member, Node, Value};
use super::server::switch_of;
use super::settings::Paths;
use super::store::{self, Lock, Privacy, StoreError};
use super::trust::{self, Digest, TrustStatus};
use super::{BUNDLED_SERVERS, diff};

/// What is to be done to one server's entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Adds it at the end.
    Add {
        /// Its name.
        name: String,
        /// The entry, an object.
        entry: Json,
        /// Whether an entry of this name may be replaced (in its place).
        replace: bool,
    },
    /// Takes it out, with a comment that follows on its line.
    Remove {
        /// Its name.
        name: String,
    },
    /// Switches it on or off. A bundled server needs no entry for that.
    Switch {
        /// Its name.
        name: String,
        /// On or off.
        enabled: bool,
    },
}

/// How a change is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EditOptions {
    /// Only works out what would change.
    pub dry_run: bool,
}

/// What a change came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// The file that was written, symbolic links followed.
    pub path: PathBuf,
    /// Whether anything is different now (or would be).
    pub changed: bool,
    /// Whether the file was made for it.
    pub created: bool,
    /// The difference in the unified form; empty where nothing changed. It shows the file as it is, secrets included.
    pub diff: String,
}

/// Why a change cannot be made.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ChangeError {
    /// The file is not what the reader can read; it is left alone.
    #[error("it cannot be read at line {}, column {}: {}{}", .0.at.line, .0.at.column, .0.what, after_semicolon(&.0.hint))]
    Unreadable(Fault),
    /// There is an entry of this name.
    #[error("there is a server `{name}` already")]
    Exists {
        /// The name.
        name: String,
    },
    /// There is no entry of this name.
    #[error("there is no server `{name}`{}", did_you_mean(.nearest))]
    Missing {
        /// The name.
        name: String,
        /// Names that come close.
        nearest: Vec<String>,
    },
    /// The name cannot be one.
    #[error("`{name}` cannot be the name of a server: {why}")]
    BadName {
        /// The name.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Something in the file is not the object that would have to be changed.
    #[error("{what} is not an object")]
    NotAnObject {
        /// What.
        what: String,
    },
}

fn after_semicolon(hint: &str) -> String {
    if hint.is_empty() { String::new() } else { format!("; {hint}") }
}

fn did_you_mean(nearest: &[String]) -> String {
    nearest.first().map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}

/// Why a file could not be changed.
#[derive(Debug, Error)]
pub enum EditError {
    /// It could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What it holds does not allow the change.
    #[error("{path} was left as it is", path = path.display())]
    Change {
        /// The file.
        path: PathBuf,
        /// Why.
        source: ChangeError,
    },
}

/// Makes a change in a file, which is created where it is missing.
///
/// Changes by several processes at once all come through, one after the other. The file's mode is kept, and where the path is a
/// symbolic link, what it points at is written. A project's file that was trusted stays so: the change is the user's own.
///
/// # Errors
///
/// [`EditError`]; the file is then as it was.
pub fn edit(paths: &Paths, path: &Path, change: &Change, options: EditOptions) -> Result<Edited, EditError> {
    let target = store::resolve(path);
    let refused = |source| EditError::Change { path: target.clone(), source };
    // Two that only look do not need the lock.
    let _lock = if options.dry_run { None } else { Some(Lock::take(&paths.locks(), &target)?) };
    let bytes = store::read(&target)?;
    let created = bytes.is_none();
    let bytes = bytes.unwrap_or_default();
    let before = jsonc::decode(&bytes).map_err(|fault| refused(ChangeError::Unreadable(fault)))?;
    let after = apply(before, change).map_err(refused)?;
    let changed = before != after;
    let diff = diff::unified(&target.display().to_string(), before, &after);
    if changed && !options.dry_run {
        let privacy = if target.starts_with(&paths.config) { Privacy::Owner } else { Privacy::Usual };
        let was_trusted = created || is_trusted(paths, path, Digest::of(&bytes));
        store::replace(&target, after.as_bytes(), privacy)?;
        if was_trusted && path.file_name().is_some_and(|name| name == ".mcp.json") {
            // Where this fails the file asks for trust again, which is safe.
            let _ = trust::trust(paths, path, Digest::of(after.as_bytes()));
        }
    }
    Ok(Edited { path: target, changed, created: created && changed, diff })
}

fn is_trusted(paths: &Paths, path: &Path, digest: Digest) -> bool {
    matches!(trust::status(paths, path, digest), Ok(TrustStatus::Trusted))
}

/// Makes a change in a text. The empty text, or one of comments only, is a file without entries.
///
/// # Errors
///
/// [`ChangeError`].
pub fn apply(text: &str, change: &Change) -> Result<String, ChangeError> {
    let root = jsonc::parse(text).map_err(ChangeError::Unreadable)?;
    if let Some(root) = &root
        && root.members().is_none()
    {
        return Err(ChangeError::NotAnObject { what: "the file".into() });
    }
    match change {
        Change::Add { name, entry, replace } => {
            if let Some(why) = name_fault(name) {
                return Err(ChangeError::BadName { name: name.clone(), why });
            }
            add(text, root.as_ref(), name, entry, *replace)
        }
        Change::Remove { name } => remove(text, root.as_ref(), name),
        Change::Switch { name, enabled } => switch(text, root.as_ref(), name, *enabled),
    }
}

fn add(
    text: &str,
    root: Option<&Node>,
    name: &str,
    entry: &Json,
    replace: bool,
) -> Result<String, ChangeError> {
    let Some(root) = root else { return Ok(first_entry(text, name, entry)) };
    let layout = Layout::of(text, root);
    if let Some((_, member)) = entries(root).into_iter().rfind(|(_, member)| member.key == name) {
        if !replace {
            return Err(ChangeError::Exists { name: name.to_owned() });
        }
        return Ok(spliced(text, vec![member::replacement(text, &layout, member, entry)]));
    }
    let splices = match holder(root) {
        Holder::Object(object) => member::insertion(text, &layout, object, name, entry),
        Holder::New => {
            let servers = Json::Object(vec![(name.to_owned(), entry.clone())]);
            member::insertion(text, &layout, root, "mcpServers", &servers)
        }
        Holder::Null(member) => {
            let servers = Json::Object(vec![(name.to_owned(), entry.clone())]);
            vec![member::replacement(text, &layout, member, &servers)]
        }
        Holder::Other => return Err(ChangeError::NotAnObject { what: "`mcpServers`".into() }),
    };
    Ok(spliced(text, splices))
}

fn remove(text: &str, root: Option<&Node>, name: &str) -> Result<String, ChangeError> {
    let Some((object, index)) = root.and_then(|root| find(root, name)) else {
        return Err(missing(root, name));
    };
    let mut text = spliced(text, member::removal(text, object, index));
    // A name that stood twice would come back to life with its earlier entry.
    loop {
        let root = jsonc::parse(&text).map_err(ChangeError::Unreadable)?;
        let Some((object, index)) = root.as_ref().and_then(|root| find(root, name)) else { return Ok(text) };
        text = spliced(&text, member::removal(&text, object, index));
    }
}

fn switch(text: &str, root: Option<&Node>, name: &str, enabled: bool) -> Result<String, ChangeError> {
    let Some((object, index)) = root.and_then(|root| find(root, name)) else {
        return match BUNDLED_SERVERS.contains(&name) {
            true if enabled => Ok(text.to_owned()),
            true => add(text, root, name, &Json::Object(vec![("disabled".into(), Json::Bool(true))]), false),
            false => Err(missing(root, name)),
        };
    };
    let Some(entry) = object.members().and_then(|members| members.get(index)).map(|member| &member.value)
    else {
        return Err(missing(root, name));
    };
    let Some(members) = entry.members() else {
        return Err(ChangeError::NotAnObject { what: format!("the entry of `{name}`") });
    };
    if switch_of(entry).enabled.unwrap_or(true) == enabled {
        return Ok(text.to_owned());
    }
    let mut splices: Vec<Splice> = Vec::new();
    for member in members {
        let value = match member.key.as_str() {
            "disabled" => !enabled,
            "enabled" => enabled,
            _ => continue,
        };
        splices.push(Splice { range: member.value.span.clone(), text: value.to_string() });
    }
    if splices.is_empty() {
        let layout = root.map_or_else(Layout::default, |root| Layout::of(text, root));
        splices = member::insertion(text, &layout, entry, "disabled", &Json::Bool(!enabled));
    }
    Ok(spliced(text, splices))
}

/// A file's first entry: what there is of comments stays above.
fn first_entry(text: &str, name: &str, entry: &Json) -> String {
    let layout = Layout::default();
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let whole =
        Json::Object(vec![("mcpServers".to_owned(), Json::Object(vec![(name.to_owned(), entry.clone())]))]);
    let written = layout.written(&whole, "").replace('\n', newline);
    let gap =
        if text.trim_start_matches('\u{feff}').is_empty() || text.ends_with('\n') { "" } else { newline };
    format!("{text}{gap}{written}{newline}")
}

enum Holder<'n> {
    Object(&'n Node),
    /// There is none yet.
    New,
    /// `mcpServers` is `null`.
    Null(&'n Member),
    /// `mcpServers` is something else.
    Other,
}

/// Where a new entry goes.
fn holder(root: &Node) -> Holder<'_> {
    if let Some(object) = containers(root).pop() {
        return Holder::Object(object);
    }
    let members = root.members().unwrap_or_default();
    match members.iter().rfind(|member| member.key == "mcpServers") {
        Some(member) if member.value.value == Value::Null => Holder::Null(member),
        Some(_) => Holder::Other,
        None if members.iter().any(is_root_entry) => Holder::Object(root),
        None => Holder::New,
    }
}

/// Every entry with the object that holds it.
fn entries(root: &Node) -> Vec<(&Node, &Member)> {
    let containers = containers(root);
    if containers.is_empty() {
        return root
            .members()
            .unwrap_or_default()
            .iter()
            .filter(|m| is_root_entry(m))
            .map(|m| (root, m))
            .collect();
    }
    let inner = containers.into_iter();
    inner
        .flat_map(|object| object.members().unwrap_or_default().iter().map(move |member| (object, member)))
        .collect()
}

/// The last entry of this name: the object that holds it and its number there.
fn find<'n>(root: &'n Node, name: &str) -> Option<(&'n Node, usize)> {
    let (object, member) = entries(root).into_iter().rfind(|(_, member)| member.key == name)?;
    let index = object.members()?.iter().position(|other| other.key_span == member.key_span)?;
    Some((object, index))
}

fn missing(root: Option<&Node>, name: &str) -> ChangeError {
    let known = root.map(entries).unwrap_or_default();
    let close = nearest(name, known.iter().map(|(_, member)| member.key.as_str()));
    ChangeError::Missing { name: name.to_owned(), nearest: close.into_iter().map(str::to_owned).collect() }
}

#[cfg(test)]
mod tests;
