//! A conversation on disk: one JSON line a message, only ever appended to.
//!
//! The file is the truth of what was said. It is never rewritten, so a program that is killed in the middle of a line loses that
//! line only; what a provider would refuse is mended when the history is sent ([`mend`](crate::mend)), not here.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use surehand_model::{Message, Note};
use thiserror::Error;

use crate::conversation::Conversation;

/// The longest line that is read, in bytes. A longer one is left out and said.
const LINE_LIMIT: u64 = 64 * 1024 * 1024;

/// A conversation that is being written down.
#[derive(Debug)]
pub struct SessionLog {
    path: PathBuf,
    file: File,
    written: usize,
    /// A line could not be written to its end, so the next one begins on a line of its own.
    torn: bool,
}

/// Why a session cannot be written or read.
#[derive(Debug, Error)]
#[error("cannot {doing} the session `{}`", path.display())]
pub struct SessionError {
    doing: &'static str,
    path: PathBuf,
    source: io::Error,
}

impl SessionLog {
    /// Opens the session at `path` to append to it; makes it where it is missing, readable by its owner only. `known` is how many
    /// messages of the conversation it holds already.
    ///
    /// # Errors
    ///
    /// [`SessionError`] when the file or its folder cannot be made or opened.
    pub fn open(path: &Path, known: usize) -> Result<Self, SessionError> {
        let fault = |source| SessionError { doing: "open", path: path.to_owned(), source };
        if let Some(folder) = path.parent() {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(fault)?;
        }
        let mut file =
            OpenOptions::new().create(true).append(true).read(true).mode(0o600).open(path).map_err(fault)?;
        if ends_in_torn_line(&file).map_err(fault)? {
            file.write_all(b"\n").map_err(fault)?;
        }
        Ok(Self { path: path.to_owned(), file, written: known, torn: false })
    }

    /// Writes down what was said since the last time.
    ///
    /// # Errors
    ///
    /// [`SessionError`] when the disk does not take it; the next call tries again from there.
    pub fn save(&mut self, conversation: &Conversation) -> Result<(), SessionError> {
        let fresh = conversation.messages.get(self.written..).unwrap_or_default();
        for message in fresh {
            let mut line = serde_json::to_vec(message).map_err(|fault| SessionError {
                doing: "write",
                path: self.path.clone(),
                source: fault.into(),
            })?;
            line.push(b'\n');
            if self.torn {
                line.insert(0, b'\n');
            }
            self.torn = true;
            self.file.write_all(&line).map_err(|source| SessionError {
                doing: "write",
                path: self.path.clone(),
                source,
            })?;
            self.torn = false;
            self.written += 1;
        }
        Ok(())
    }
}

/// Reads a session. Each line is judged alone: one that cannot be read is left out and noted, the last one as torn.
///
/// # Errors
///
/// [`SessionError`] when the file cannot be opened or read at all.
pub fn load_session(path: &Path) -> Result<(Conversation, Vec<Note>), SessionError> {
    let fault = |source| SessionError { doing: "read", path: path.to_owned(), source };
    let mut reader = BufReader::new(File::open(path).map_err(fault)?);
    let mut conversation = Conversation::default();
    let mut notes = Vec::new();
    let mut line = Vec::new();
    for number in 1_u32.. {
        line.clear();
        let read = reader.by_ref().take(LINE_LIMIT).read_until(b'\n', &mut line).map_err(fault)?;
        if read == 0 {
            break;
        }
        let whole = line.ends_with(b"\n");
        match serde_json::from_slice::<Message>(&line) {
            _ if line.iter().all(u8::is_ascii_whitespace) => {}
            Ok(message) => conversation.messages.push(message),
            Err(fault) => {
                let what = if whole { "line left out" } else { "torn last line left out" };
                notes.push(Note::new(format!("{}:{number}", path.display()), what, fault.to_string()));
            }
        }
    }
    Ok((conversation, notes))
}

fn ends_in_torn_line(mut file: &File) -> io::Result<bool> {
    use std::io::{Seek, SeekFrom};
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use surehand_model::Role;

    #[test]
    fn a_session_killed_in_the_middle_of_a_line_is_read_up_to_there_and_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sessions/one.jsonl");
        let mut conversation = Conversation::from_question("check");
        SessionLog::open(&path, 0).unwrap().save(&conversation).unwrap();
        let mut torn = OpenOptions::new().append(true).open(&path).unwrap();
        torn.write_all(br#"{"role":"Assistant","par"#).unwrap();

        let (read, notes) = load_session(&path).unwrap();
        assert_eq!(read, conversation);
        assert_eq!(notes.len(), 1);
        assert_eq!(notes[0].what, "torn last line left out");

        conversation.messages.push(Message::text(Role::User, "go on"));
        SessionLog::open(&path, 1).unwrap().save(&conversation).unwrap();
        let (read, notes) = load_session(&path).unwrap();
        assert_eq!(read, conversation);
        assert_eq!(notes.len(), 1, "the torn line stays on disk and stays reported");
    }

    #[test]
    fn a_message_that_could_not_be_written_to_its_end_is_written_anew_on_a_line_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.jsonl");
        let conversation = Conversation::from_question("check");
        let mut log = SessionLog::open(&path, 0).unwrap();
        // The disk was full in the middle of the line.
        log.file.write_all(br#"{"role":"User","par"#).unwrap();
        log.torn = true;
        log.save(&conversation).unwrap();
        let (read, notes) = load_session(&path).unwrap();
        assert_eq!((read, notes.len()), (conversation, 1));
    }
}
