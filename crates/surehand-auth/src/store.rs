use std::collections::HashMap;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sha2::{Digest, Sha256};
use surehand_model::Secret;
use tokio::time::{Instant, sleep};

use crate::error::AuthError;

/// How long another process may hold the lock.
const LOCK_PATIENCE: Duration = Duration::from_secs(60);
/// How often a held lock is looked at.
const LOCK_PACE: Duration = Duration::from_millis(50);

/// Keeps registrations and tokens: in a folder that only its owner can read, or in memory.
///
/// Each record is a small file of its own that is replaced as a whole, so that a reader sees the old one or the new one.
#[derive(Debug)]
pub struct CredentialStore {
    place: Place,
}

#[derive(Debug)]
enum Place {
    Folder(PathBuf),
    Memory(Mutex<HashMap<String, Secret<String>>>),
}

/// What a record is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Record<'a> {
    /// Who gives tokens for a server, by its address.
    Server(&'a str),
    /// Who we are to an issuer.
    Client(&'a str),
    /// Tokens of an issuer for a resource.
    Tokens(&'a str, &'a str),
}

/// Keeps other processes out of a record until it is dropped.
#[derive(Debug)]
pub(crate) struct RecordLock {
    /// Closing it lets go.
    _file: Option<File>,
}

impl Record<'_> {
    fn name(self) -> String {
        let (kind, parts) = match self {
            Self::Server(url) => ("server", [url, ""]),
            Self::Client(issuer) => ("client", [issuer, ""]),
            Self::Tokens(issuer, resource) => ("tokens", [issuer, resource]),
        };
        let hash = Sha256::digest(parts.join("\0"));
        let hex: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        format!("{kind}-{hex}.json")
    }
}

impl CredentialStore {
    /// In a folder, which is made by the first write. Nobody but its owner may read it.
    pub fn folder(path: impl Into<PathBuf>) -> Self {
        Self { place: Place::Folder(path.into()) }
    }

    /// In memory: nothing outlives the process.
    pub fn memory() -> Self {
        Self { place: Place::Memory(Mutex::default()) }
    }

    pub(crate) fn read(&self, record: Record<'_>) -> Result<Option<Secret<String>>, AuthError> {
        match &self.place {
            Place::Memory(records) => Ok(lock(records).get(&record.name()).cloned()),
            Place::Folder(folder) => {
                let path = folder.join(record.name());
                match fs::read_to_string(&path) {
                    Ok(text) => Ok(Some(Secret::new(text))),
                    Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
                    Err(error) => Err(fault(&path, error)),
                }
            }
        }
    }

    pub(crate) fn write(&self, record: Record<'_>, text: Secret<String>) -> Result<(), AuthError> {
        match &self.place {
            Place::Memory(records) => {
                lock(records).insert(record.name(), text);
                Ok(())
            }
            Place::Folder(folder) => {
                make_private(folder)?;
                let path = folder.join(record.name());
                replace(&path, text.expose()).map_err(|error| fault(&path, error))
            }
        }
    }

    pub(crate) fn remove(&self, record: Record<'_>) -> Result<(), AuthError> {
        match &self.place {
            Place::Memory(records) => {
                lock(records).remove(&record.name());
                Ok(())
            }
            Place::Folder(folder) => {
                let path = folder.join(record.name());
                match fs::remove_file(&path) {
                    Err(error) if error.kind() != ErrorKind::NotFound => Err(fault(&path, error)),
                    _ => Ok(()),
                }
            }
        }
    }

    /// Waits until no other process works on the record.
    pub(crate) async fn lock(&self, record: Record<'_>) -> Result<RecordLock, AuthError> {
        let Place::Folder(folder) = &self.place else { return Ok(RecordLock { _file: None }) };
        make_private(folder)?;
        // The record itself is replaced by each write, so it cannot carry the lock.
        let path = folder.join(record.name()).with_extension("lock");
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(&path);
        let file = file.map_err(|error| fault(&path, error))?;
        let end = Instant::now() + LOCK_PATIENCE;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(RecordLock { _file: Some(file) }),
                Err(TryLockError::WouldBlock) if Instant::now() < end => sleep(LOCK_PACE).await,
                Err(TryLockError::WouldBlock) => {
                    return Err(fault(
                        &path,
                        io::Error::new(ErrorKind::TimedOut, "another process holds it"),
                    ));
                }
                Err(TryLockError::Error(error)) => return Err(fault(&path, error)),
            }
        }
    }
}

fn make_private(folder: &Path) -> Result<(), AuthError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.and_then(|()| {
        let mode = fs::metadata(folder)?.permissions().mode();
        if mode & 0o077 == 0 { Ok(()) } else { fs::set_permissions(folder, Permissions::from_mode(0o700)) }
    })
    .map_err(|error| fault(folder, error))
}

/// Writes beside it and moves over it.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let beside = path.with_extension(format!("{:016x}.new", u64::from_ne_bytes(random)));
    let mut file = OpenOptions::new().create_new(true).write(true).mode(0o600).open(&beside)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    let moved = written.and_then(|()| fs::rename(&beside, path));
    if moved.is_err() {
        // What went wrong is told; a left-over beside it is not worth a second error.
        let _ = fs::remove_file(&beside);
    }
    moved
}

fn fault(path: &Path, source: io::Error) -> AuthError {
    AuthError::Store { path: path.display().to_string(), source }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: Record<'_> = Record::Tokens("https://a.example", "https://h.example/mcp");

    fn secret(text: &str) -> Secret<String> {
        Secret::new(text.to_owned())
    }

    #[test]
    fn records_are_kept_by_issuer_and_resource_until_they_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        for store in [CredentialStore::memory(), CredentialStore::folder(folder.path().join("a/b"))] {
            assert_eq!(store.read(RECORD).unwrap(), None);
            store.remove(RECORD).unwrap();
            store.write(RECORD, secret("one")).unwrap();
            store.write(RECORD, secret("two")).unwrap();
            store.write(Record::Client("https://a.example"), secret("client")).unwrap();
            assert_eq!(store.read(RECORD).unwrap(), Some(secret("two")));
            assert_eq!(store.read(Record::Tokens("https://a.example", "")).unwrap(), None);
            assert_eq!(
                store.read(Record::Tokens("https://b.example", "https://h.example/mcp")).unwrap(),
                None
            );
            store.remove(RECORD).unwrap();
            assert_eq!(store.read(RECORD).unwrap(), None);
            assert_eq!(store.read(Record::Client("https://a.example")).unwrap(), Some(secret("client")));
        }
    }

    #[test]
    fn nobody_but_the_owner_can_read_the_folder_and_what_is_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("oauth");
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        CredentialStore::folder(&path).write(RECORD, secret("hush")).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let files: Vec<PathBuf> = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!((mode(&path), files.len(), mode(&files[0])), (0o700, 1, 0o600));
    }

    #[tokio::test(start_paused = true)]
    async fn a_locked_record_is_waited_for_but_not_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let store = CredentialStore::folder(folder.path());
        let held = store.lock(RECORD).await.unwrap();
        store.lock(Record::Client("https://a.example")).await.unwrap();
        assert!(store.lock(RECORD).await.unwrap_err().to_string().starts_with("credentials in `"));
        drop(held);
        store.lock(RECORD).await.unwrap();
    }
}
