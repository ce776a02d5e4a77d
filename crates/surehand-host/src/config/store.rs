//! Files of ours on disk: read with a limit, written whole or not at all, one writer at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use thiserror::Error;

/// How large a configuration file may be, in bytes.
pub(super) const SIZE_LIMIT: u64 = 4 * 1024 * 1024;

/// How long a writer waits for another: this often, with [`LOCK_PAUSE`] between.
const LOCK_TRIES: u32 = 1500;
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// Why a file could not be read or written.
#[derive(Debug, Error)]
pub enum StoreError {
    /// It could not be read.
    #[error("cannot read {path}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// It is larger than 4 MiB.
    #[error("{path} is larger than 4 MiB, which no configuration file is", path = path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// It is not a file.
    #[error("{path} is not a file", path = path.display())]
    NotAFile {
        /// What is there.
        path: PathBuf,
    },
    /// It may not be written.
    #[error("{path} is read-only; nothing was written", path = path.display())]
    ReadOnly {
        /// The file, or the folder that would hold it.
        path: PathBuf,
    },
    /// It could not be written; what was there before still is.
    #[error("cannot write {path}; what was there is unchanged", path = path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Another process kept it locked for half a minute.
    #[error("{path} is being changed by another process, which does not finish; nothing was written", path = path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
}

/// The bytes of a file; `None` where there is none.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    let failed = |source| StoreError::Read { path: path.to_owned(), source };
    // The kind is looked at first: to open a pipe would wait for its writer.
    match fs::metadata(path) {
        Ok(facts) if facts.is_file() => {}
        Ok(_) => return Err(StoreError::NotAFile { path: path.to_owned() }),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(source) => return Err(failed(source)),
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(SIZE_LIMIT + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > SIZE_LIMIT {
        return Err(StoreError::TooLarge { path: path.to_owned() });
    }
    Ok(Some(bytes))
}

/// The file that a path means once symbolic links are followed, even where the last of them points at nothing yet.
pub(super) fn resolve(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..16 {
        if let Ok(real) = fs::canonicalize(&path) {
            return real;
        }
        match fs::read_link(&path) {
            Ok(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
            Err(_) => break,
        }
    }
    match (path.parent().map(fs::canonicalize), path.file_name()) {
        (Some(Ok(folder)), Some(name)) => folder.join(name),
        _ => path,
    }
}

/// Held while a file is changed; other processes and threads wait.
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// Waits for the lock of `target`, which lies in `folder` so that no lock files appear beside people's own.
    pub(super) fn take(folder: &Path, target: &Path) -> Result<Self, StoreError> {
        let name = format!("{}.lock", hex(&Sha256::digest(target.as_os_str().as_encoded_bytes())));
        let path = folder.join(name);
        let failed = |source| StoreError::Write { path: path.clone(), source };
        create_private_folder(folder).map_err(failed)?;
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
        for _ in 0..LOCK_TRIES {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
                Err(TryLockError::Error(source)) => return Err(failed(source)),
            }
        }
        Err(StoreError::Busy { path: target.to_owned() })
    }
}

/// Whether a new file may be seen by others; an existing one keeps its mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Privacy {
    /// By the owner only.
    Owner,
    /// As the user's mask has it.
    Usual,
}

/// Puts `bytes` in the place of the file at `target` (no symbolic link, see [`resolve`]) in one step.
///
/// Call it with the [`Lock`] held.
pub(super) fn replace(target: &Path, bytes: &[u8], privacy: Privacy) -> Result<(), StoreError> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);

    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            StoreError::ReadOnly { path: target.to_owned() }
        }
        _ => StoreError::Write { path: target.to_owned(), source },
    };
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let mode = match fs::metadata(target) {
        Ok(facts) if !facts.is_file() => return Err(StoreError::NotAFile { path: target.to_owned() }),
        // A rename would go through where the folder allows it, so the file's own mode is asked first.
        Ok(facts) if facts.permissions().readonly() => {
            return Err(StoreError::ReadOnly { path: target.to_owned() });
        }
        Ok(facts) => {
            OpenOptions::new().write(true).open(target).map_err(failed)?;
            Some(facts.permissions())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            match privacy {
                Privacy::Owner => create_private_folder(folder).map_err(failed)?,
                Privacy::Usual => fs::create_dir_all(folder).map_err(failed)?,
            }
            None
        }
        Err(source) => return Err(failed(source)),
    };

    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    let temporary = folder.join(format!(".{name}.{}-{count}.tmp", std::process::id()));
    let written = write_new(&temporary, bytes, mode, privacy).and_then(|()| fs::rename(&temporary, target));
    if let Err(source) = written {
        // Nothing more can be done where the half-written file cannot be removed either; the fault itself is reported.
        let _ = fs::remove_file(&temporary);
        return Err(failed(source));
    }
    // The rename has happened; a folder that cannot be synced makes it less durable, not undone.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

fn write_new(path: &Path, bytes: &[u8], mode: Option<fs::Permissions>, privacy: Privacy) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if privacy == Privacy::Owner || mode.is_some() {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = privacy;
    // A left-over of a killed process with our number would stand in the way for ever.
    if path.exists() {
        fs::remove_file(path)?;
    }
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    if let Some(mode) = mode {
        file.set_permissions(mode)?;
    }
    file.sync_all()
}

fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Bytes in lower-case hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
