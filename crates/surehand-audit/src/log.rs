use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use thiserror::Error;

use crate::chain::{Head, check_seal, seal};
use crate::{Intent, Outcome, Record};

/// How far back the last record is looked for. No record is longer.
const TAIL_LIMIT: u64 = 1024 * 1024;

/// A log that is only ever appended to, by any number of threads and processes at once.
///
/// Every append takes the file's lock, reads how the chain ends, and writes one line in one go. An unfinished line that a crash
/// has left behind is taken away first, and the next record says so.
#[derive(Debug)]
pub struct AuditLog {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: Arc<File>,
    /// How long the file was after our last append, and how the chain ended then.
    known: Option<(u64, Head)>,
}

/// Why a record could not be written. Whoever cannot record a call must not run it.
#[derive(Debug, Error)]
pub enum AuditError {
    /// The file, or the folder it belongs in, cannot be opened or made.
    #[error("the audit log `{}` cannot be opened", path.display())]
    Open {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Reading how the chain ends, or writing the next record, failed.
    #[error("the audit log `{}` cannot be written", path.display())]
    Write {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The end of the file is not what this program wrote. Move the file away to start a new log; `verify` tells more.
    #[error("the audit log `{}` was changed from outside: {what}", path.display())]
    Changed {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
}

impl AuditLog {
    /// Opens the log, or makes it: the file for its owner alone (0600), missing folders too (0700).
    ///
    /// # Errors
    ///
    /// [`AuditError::Open`] when that is not possible.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, AuditError> {
        let path = path.into();
        let file = open_file(&path).map_err(|source| AuditError::Open { path: path.clone(), source })?;
        Ok(Self { path, state: Mutex::new(State { file: Arc::new(file), known: None }) })
    }

    /// Where the log is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes that a call is about to run or was refused. It is on the disk when this returns.
    ///
    /// # Errors
    ///
    /// [`AuditError`] when it is not certain that the record is on the disk; the call must not run then.
    pub fn record_intent(&self, intent: &Intent<'_>) -> Result<Head, AuditError> {
        let (head, file) = self.append(Record::of_intent(intent))?;
        // Outside the lock: calls that run side by side share the wait for the disk.
        file.sync_data().map_err(|source| self.write_fault(source))?;
        Ok(head)
    }

    /// Writes how a call has ended. The system holds it when this returns; it survives the end of this process.
    ///
    /// # Errors
    ///
    /// [`AuditError`] when it could not be written.
    pub fn record_outcome(&self, outcome: &Outcome<'_>) -> Result<Head, AuditError> {
        self.append(Record::of_outcome(outcome)).map(|(head, _)| head)
    }

    fn append(&self, record: Record) -> Result<(Head, Arc<File>), AuditError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.follow_the_path(&mut state)?;
        state.file.lock().map_err(|source| self.write_fault(source))?;
        let written = self.append_locked(&mut state, record);
        let unlocked = state.file.unlock().map_err(|source| self.write_fault(source));
        let head = written?;
        unlocked?;
        Ok((head, Arc::clone(&state.file)))
    }

    /// A log that was moved away or deleted while we hold it open would take records nobody finds; a new file is begun instead.
    fn follow_the_path(&self, state: &mut State) -> Result<(), AuditError> {
        let ours = state.file.metadata().map_err(|source| self.write_fault(source))?;
        let there = std::fs::metadata(&self.path);
        if there.is_ok_and(|there| there.ino() == ours.ino() && there.dev() == ours.dev()) {
            return Ok(());
        }
        let file =
            open_file(&self.path).map_err(|source| AuditError::Open { path: self.path.clone(), source })?;
        *state = State { file: Arc::new(file), known: None };
        Ok(())
    }

    fn append_locked(&self, state: &mut State, mut record: Record) -> Result<Head, AuditError> {
        let mut file: &File = &state.file;
        let mut length = file.metadata().map_err(|source| self.write_fault(source))?.len();
        let head = match &state.known {
            Some((known, _)) if length < *known => {
                return Err(self.changed("records are missing at its end"));
            }
            Some((known, head)) if length == *known => head.clone(),
            _ => {
                let tail = self.read_tail(file, length)?;
                if tail.torn > 0 {
                    length -= tail.torn;
                    file.set_len(length).map_err(|source| self.write_fault(source))?;
                    record.dropped_bytes = Some(tail.torn);
                } else if tail.lacks_line_end {
                    file.write_all(b"\n").map_err(|source| self.write_fault(source))?;
                    length += 1;
                }
                tail.head
            }
        };
        record.seq = head.seq + 1;
        record.prev = head.hash;
        let body = serde_json::to_string(&record).map_err(|error| self.write_fault(error.into()))?;
        let (mut line, hash) = seal(&body);
        line.push('\n');
        if let Err(source) = file.write_all(line.as_bytes()) {
            // Best effort: a full disk may have taken part of the line. If this fails too, the next append finds the torn line.
            let _ = file.set_len(length);
            state.known = None;
            return Err(self.write_fault(source));
        }
        let head = Head { seq: record.seq, hash };
        state.known = Some((length + line.len() as u64, head.clone()));
        Ok(head)
    }

    fn read_tail(&self, mut file: &File, length: u64) -> Result<Tail, AuditError> {
        let from = length.saturating_sub(TAIL_LIMIT);
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(from))
            .and_then(|_| file.take(length - from).read_to_end(&mut bytes))
            .map_err(|source| self.write_fault(source))?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let rest = &bytes[whole..];
        // A crash may have cut off nothing but the line feed; such a record is as good as any.
        if let Some(head) = head_of_line(rest) {
            return Ok(Tail { head, torn: 0, lacks_line_end: true });
        }
        let torn = rest.len() as u64;
        if whole == 0 {
            return if from == 0 {
                Ok(Tail { head: Head::start(), torn, lacks_line_end: false })
            } else {
                Err(self.changed("its last line is longer than any record"))
            };
        }
        let body = &bytes[..whole - 1];
        let start = body.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let head = head_of_line(&body[start..]).ok_or_else(|| {
            self.changed("its last whole line is not a record, or not one as it was written")
        })?;
        Ok(Tail { head, torn, lacks_line_end: false })
    }

    fn write_fault(&self, source: io::Error) -> AuditError {
        AuditError::Write { path: self.path.clone(), source }
    }

    fn changed(&self, what: &str) -> AuditError {
        AuditError::Changed { path: self.path.clone(), what: what.to_owned() }
    }
}

/// How a file ends.
struct Tail {
    head: Head,
    /// Bytes behind the last whole record.
    torn: u64,
    lacks_line_end: bool,
}

fn head_of_line(line: &[u8]) -> Option<Head> {
    let line = std::str::from_utf8(line).ok()?;
    let hash = check_seal(line)?.to_owned();
    let record: Record = serde_json::from_str(line).ok()?;
    Some(Head { seq: record.seq, hash })
}

fn open_file(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)?;
    let mode = file.metadata()?.permissions().mode();
    if mode & 0o077 != 0 {
        file.set_permissions(Permissions::from_mode(0o600))?;
    }
    Ok(file)
}

#[cfg(test)]
mod tests;
