use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use glob::{MatchOptions, Pattern};
use schemars::JsonSchema;
use serde::Serialize;
use surehand_mcp::{Structured, ToolFailure, nothing_found};

use crate::roots::Roots;
use crate::server::Limits;

/// `*` stays inside one folder, `**` goes through all; hidden files are files; large and small letters are the same.
const MATCHING: MatchOptions = MatchOptions {
    case_sensitive: false,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

/// How deep folders are looked into.
const DEPTH: usize = 64;

/// What a search found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Found {
    /// Paths, those near the start first.
    matches: Vec<String>,
    /// Why there may be more, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    incomplete: Option<String>,
}

/// Looks through a folder and all folders below, near ones first. Links are not followed.
pub(crate) fn search(
    roots: &Roots,
    path: &str,
    pattern: &str,
    exclude: &[String],
    limits: Limits,
    stop: &AtomicBool,
) -> Result<Structured<Found>, ToolFailure> {
    let wanted = Wanted::parse(pattern)?;
    let exclude = exclude.iter().map(|pattern| Wanted::parse(pattern)).collect::<Result<Vec<_>, _>>()?;
    let place = roots.place(path)?;
    let start = place.dir.open_dir(&place.inside).map_err(|error| roots.explain(&place, &error))?;

    let mut matches = Vec::new();
    let mut incomplete = None;
    let mut visited = 0;
    let mut unreadable = 0;
    let mut folders = VecDeque::from([PathBuf::new()]);
    'folders: while let Some(folder) = folders.pop_front() {
        let opened = if folder.as_os_str().is_empty() { start.entries() } else { start.read_dir(&folder) };
        let Ok(entries) = opened else {
            unreadable += 1;
            continue;
        };
        let mut entries: Vec<_> =
            entries.filter_map(Result::ok).take(limits.visited.saturating_sub(visited) + 1).collect();
        entries.sort_unstable_by_key(cap_std::fs::DirEntry::file_name);
        for entry in entries {
            if stop.load(Ordering::Relaxed) {
                return Err(ToolFailure::new("The search was stopped."));
            }
            visited += 1;
            if visited > limits.visited {
                incomplete = Some(format!("the first {} files and folders were looked at", limits.visited));
                break 'folders;
            }
            let inside = folder.join(entry.file_name());
            if exclude.iter().any(|pattern| pattern.matches(&inside)) {
                continue;
            }
            if wanted.matches(&inside) {
                if matches.len() == limits.matches {
                    incomplete = Some(format!("no more than {} are shown", limits.matches));
                    break 'folders;
                }
                matches.push(place.shown.join(&inside).display().to_string());
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if inside.components().count() < DEPTH {
                    folders.push_back(inside);
                } else {
                    incomplete = Some(format!("folders deeper than {DEPTH} were left out"));
                }
            }
        }
    }
    if incomplete.is_none() && unreadable > 0 {
        incomplete = Some(format!("{unreadable} folders could not be read"));
    }
    let found = Found { matches, incomplete };
    let text = in_words(&found, pattern, &place.shown);
    Ok(Structured::new(found).with_text(text))
}

fn in_words(found: &Found, pattern: &str, folder: &Path) -> String {
    let mut text = if found.matches.is_empty() {
        let more =
            found.incomplete.as_ref().map(|why| format!(" There may be some: {why}.")).unwrap_or_default();
        return nothing_found(&format!("Nothing below {} matches `{pattern}`.{more}", folder.display()));
    } else {
        found.matches.join("\n")
    };
    if let Some(why) = &found.incomplete {
        text.push_str(&format!("\n[There may be more: {why}.]"));
    }
    text
}

/// What is looked for, or left out.
enum Wanted {
    /// Every name that contains it; in small letters.
    Word(String),
    /// The name alone, or the whole path where the pattern names folders.
    Globs { globs: Vec<Pattern>, whole_path: bool },
}

impl Wanted {
    fn parse(pattern: &str) -> Result<Self, ToolFailure> {
        let pattern = pattern.trim().trim_start_matches("./");
        if pattern.is_empty() {
            return Err(invalid(pattern, "it is empty"));
        }
        if !pattern.contains(['*', '?', '[', '{', '/']) {
            return Ok(Self::Word(pattern.to_lowercase()));
        }
        let globs = alternatives(pattern)
            .iter()
            .map(|glob| Pattern::new(glob).map_err(|error| invalid(pattern, error.msg)))
            .collect::<Result<_, _>>()?;
        Ok(Self::Globs { globs, whole_path: pattern.contains('/') })
    }

    fn matches(&self, inside: &Path) -> bool {
        let name = inside.file_name().unwrap_or_default().to_string_lossy();
        match self {
            Self::Word(word) => name.to_lowercase().contains(word),
            Self::Globs { globs, whole_path: true } => {
                globs.iter().any(|glob| glob.matches_path_with(inside, MATCHING))
            }
            Self::Globs { globs, whole_path: false } => {
                globs.iter().any(|glob| glob.matches_with(&name, MATCHING))
            }
        }
    }
}

/// Writes out `{a,b}`, at most 64 ways; what is beyond or is not closed stays as it is.
fn alternatives(pattern: &str) -> Vec<String> {
    let mut done = Vec::new();
    let mut open = VecDeque::from([pattern.to_owned()]);
    while let Some(next) = open.pop_front() {
        let braces = next.find('{').and_then(|start| Some((start, start + next[start..].find('}')?)));
        match braces {
            Some((start, end)) if done.len() + open.len() < 64 => {
                let choices = next[start + 1..end].split(',');
                open.extend(choices.map(|choice| format!("{}{choice}{}", &next[..start], &next[end + 1..])));
            }
            _ => done.push(next),
        }
    }
    done
}

fn invalid(pattern: &str, why: &str) -> ToolFailure {
    ToolFailure::new(format!("`{pattern}` is not a pattern: {why}.")).code("invalid_pattern")
}
