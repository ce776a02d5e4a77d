//! Trust in a project's file: nothing in it has an effect before a person has agreed to exactly this content in exactly this place.
//!
//! Trust is bound to the bytes of the file, not to its name: a changed command, argument or variable asks again. No file that
//! asks for trust can grant it; trust is kept in the state folder, away from any project.

use std::fmt;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use surehand_model::Json;
use thiserror::Error;

use super::settings::Paths;
use super::store::{self, Lock, Privacy, StoreError};

/// SHA-256 of a file's bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

/// 64 lower-case hexadecimal digits.
impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&store::hex(&self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A project's file as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectFile {
    /// Where it was found.
    pub path: PathBuf,
    /// Of the bytes that were read; what a person agrees to.
    pub digest: Digest,
    /// Whether a person has agreed.
    pub trust: TrustStatus,
    /// What it would do, one thing a line, for the person who is asked; secrets covered.
    pub wants: Vec<String>,
}

/// Whether a person has agreed to a project's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrustStatus {
    /// Nobody has agreed to anything at this place.
    Untrusted,
    /// Somebody agreed to another content at this place.
    Changed,
    /// Somebody agreed to this content at this place.
    Trusted,
}

/// Why trust could not be read or kept.
#[derive(Debug, Error)]
pub enum TrustError {
    /// The file of agreements could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file of agreements is damaged.
    #[error("{path} is damaged; remove it and agree again", path = path.display())]
    Damaged {
        /// The file of agreements.
        path: PathBuf,
    },
}

/// What has been agreed to about the file at `path` with this content.
///
/// # Errors
///
/// [`TrustError`]; the file then counts as untrusted.
pub(super) fn status(paths: &Paths, path: &Path, digest: Digest) -> Result<TrustStatus, TrustError> {
    Ok(match read(&paths.trust_file())?.get(&place(path)).and_then(Json::as_str) {
        None => TrustStatus::Untrusted,
        Some(agreed) if agreed == digest.to_string() => TrustStatus::Trusted,
        Some(_) => TrustStatus::Changed,
    })
}

/// Keeps a person's agreement to this content at this place. Give the digest of what the person was shown, not of what
/// the file holds by now.
///
/// # Errors
///
/// [`TrustError`]; nothing is trusted then.
pub fn trust(paths: &Paths, path: &Path, digest: Digest) -> Result<(), TrustError> {
    change(paths, |files| files.set(&place(path), Json::String(digest.to_string())))
}

/// Takes back every agreement about this place.
///
/// # Errors
///
/// [`TrustError`]; the agreement may still stand.
pub fn forget(paths: &Paths, path: &Path) -> Result<(), TrustError> {
    change(paths, |files| {
        files.remove(&place(path));
    })
}

fn change(paths: &Paths, change: impl FnOnce(&mut Json)) -> Result<(), TrustError> {
    let path = paths.trust_file();
    let _lock = Lock::take(&paths.locks(), &path)?;
    let mut files = read(&path)?;
    change(&mut files);
    let whole = Json::Object(vec![("version".into(), Json::Number("1".into())), ("files".into(), files)]);
    Ok(store::replace(&path, format!("{whole}\n").as_bytes(), Privacy::Owner)?)
}

/// The agreements: an object from place to digest.
fn read(path: &Path) -> Result<Json, TrustError> {
    let damaged = || TrustError::Damaged { path: path.to_owned() };
    let Some(bytes) = store::read(path)? else { return Ok(Json::Object(Vec::new())) };
    let text = String::from_utf8(bytes).map_err(|_| damaged())?;
    let whole = Json::parse(&text).map_err(|_| damaged())?;
    whole.get("files").filter(|files| files.as_object().is_some()).cloned().ok_or_else(damaged)
}

/// The folder without symbolic links, and the file's name in it: a link to a trusted folder is that folder.
fn place(path: &Path) -> String {
    let folder = path.parent().and_then(|folder| std::fs::canonicalize(folder).ok());
    let place = match (folder, path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    };
    match place.to_str() {
        Some(text) => text.to_owned(),
        // Two names that look alike once their odd bytes are replaced must not share an agreement.
        None => format!("bytes:{}", store::hex(place.as_os_str().as_encoded_bytes())),
    }
}

#[cfg(test)]
mod tests;
