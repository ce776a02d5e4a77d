use std::fmt::Write as _;
use std::io;

use cap_std::fs::{Dir, FileType};
use schemars::JsonSchema;
use serde::Serialize;
use surehand_mcp::{Structured, ToolFailure, nothing_found};

use crate::roots::Roots;

/// How many entries are ever looked at, so that a folder of millions does no harm.
const LOOKED_AT: usize = 100_000;

/// What is in a folder.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Listing {
    /// The folder.
    path: String,
    /// By name.
    entries: Vec<Entry>,
    /// How many more there are.
    left_out: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Entry {
    name: String,
    kind: Kind,
    /// Of a file, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    /// What a link points to, as written in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
}

/// What an entry is; a link is not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    File,
    Directory,
    Link,
    Other,
}

impl From<FileType> for Kind {
    fn from(kind: FileType) -> Self {
        if kind.is_symlink() {
            Self::Link
        } else if kind.is_dir() {
            Self::Directory
        } else if kind.is_file() {
            Self::File
        } else {
            Self::Other
        }
    }
}

/// Lists one folder, sorted by name.
pub(crate) fn list_directory(
    roots: &Roots,
    path: &str,
    limit: usize,
) -> Result<Structured<Listing>, ToolFailure> {
    let place = roots.place(path)?;
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotADirectory if place.dir.is_file(&place.inside) => {
            ToolFailure::new(format!("`{}` is a file, not a folder.", place.shown.display()))
                .code("not_a_directory")
                .suggest("Use read_text_file to read it.")
        }
        _ => roots.explain(&place, &error),
    };
    let folder = place.dir.open_dir(&place.inside).map_err(failed)?;
    let mut names = Vec::new();
    let mut beyond = 0;
    for entry in folder.entries().map_err(failed)? {
        // An entry that vanished meanwhile is no longer in the folder.
        let Ok(entry) = entry else { continue };
        if names.len() < LOOKED_AT { names.push(entry.file_name()) } else { beyond += 1 }
    }
    names.sort_unstable();
    let left_out = names.len().saturating_sub(limit) + beyond;
    names.truncate(limit);
    let entries: Vec<Entry> = names.iter().filter_map(|name| describe(&folder, name).ok()).collect();

    let listing = Listing { path: place.shown.display().to_string(), entries, left_out };
    let text = in_words(&listing);
    Ok(Structured::new(listing).with_text(text))
}

fn describe(folder: &Dir, name: &std::ffi::OsStr) -> io::Result<Entry> {
    let metadata = folder.symlink_metadata(name)?;
    let kind = Kind::from(metadata.file_type());
    let target = (kind == Kind::Link)
        .then(|| folder.read_link_contents(name).ok().map(|target| target.display().to_string()))
        .flatten();
    let size = (kind == Kind::File).then_some(metadata.len());
    Ok(Entry { name: name.to_string_lossy().into_owned(), kind, size, target })
}

fn in_words(listing: &Listing) -> String {
    if listing.entries.is_empty() {
        return nothing_found(&format!("The folder {} is empty.", listing.path));
    }
    let mut text = format!("{}:", listing.path);
    for entry in &listing.entries {
        let name = &entry.name;
        let _ = match (entry.kind, entry.size, &entry.target) {
            (Kind::File, Some(size), _) => write!(text, "\n[FILE] {name} ({size} bytes)"),
            (Kind::Directory, ..) => write!(text, "\n[DIR] {name}/"),
            (Kind::Link, _, Some(target)) => write!(text, "\n[LINK] {name} -> {target}"),
            _ => write!(text, "\n[OTHER] {name}"),
        };
    }
    if listing.left_out > 0 {
        let _ = write!(
            text,
            "\n[{} more are not shown. Use search_files to find one by name.]",
            listing.left_out
        );
    }
    text
}
