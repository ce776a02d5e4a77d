use std::fmt::Write as _;
use std::io;

use cap_std::fs::{Metadata, PermissionsExt};
use cap_std::time::SystemTime;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use surehand_mcp::{Structured, ToolFailure};

use crate::list::Kind;
use crate::roots::Roots;

/// Facts about a file or folder.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FileInfo {
    path: String,
    /// Of the entry itself: a link is not followed.
    kind: Kind,
    /// In bytes.
    size: u64,
    /// Unix permissions in octal.
    permissions: String,
    /// ISO 8601, UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    modified: Option<String>,
    /// ISO 8601, UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    created: Option<String>,
    /// What a link points to, as written in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
}

/// Tells what an entry is.
pub(crate) fn file_info(roots: &Roots, path: &str) -> Result<Structured<FileInfo>, ToolFailure> {
    let place = roots.place(path)?;
    let metadata =
        place.dir.symlink_metadata(&place.inside).map_err(|error| roots.explain(&place, &error))?;
    let kind = Kind::from(metadata.file_type());
    let target = if kind == Kind::Link { place.dir.read_link_contents(&place.inside).ok() } else { None };
    let info = FileInfo {
        path: place.shown.display().to_string(),
        kind,
        size: metadata.len(),
        permissions: permissions(&metadata),
        modified: in_utc(metadata.modified()),
        created: in_utc(metadata.created()),
        target: target.map(|target| target.display().to_string()),
    };
    let text = in_words(&info);
    Ok(Structured::new(info).with_text(text))
}

fn permissions(metadata: &Metadata) -> String {
    format!("{:03o}", metadata.permissions().mode() & 0o7777)
}

fn in_utc(time: io::Result<SystemTime>) -> Option<String> {
    let time = Timestamp::try_from(time.ok()?.into_std()).ok()?;
    Some(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

fn in_words(info: &FileInfo) -> String {
    let kind = match info.kind {
        Kind::File => "file",
        Kind::Directory => "folder",
        Kind::Link => "link",
        Kind::Other => "device, pipe or socket",
    };
    let mut text = format!("{}: {kind}", info.path);
    if info.kind == Kind::File {
        let _ = write!(text, ", {} bytes", info.size);
    }
    let _ = write!(text, ", permissions {}", info.permissions);
    for (word, time) in [("modified", &info.modified), ("created", &info.created)] {
        if let Some(time) = time {
            let _ = write!(text, ", {word} {time}");
        }
    }
    if let Some(target) = &info.target {
        let _ = write!(text, ", points to {target}");
    }
    text
}
