use std::io::{BufRead, Read as _};

use thiserror::Error;

use crate::chain::check_seal;
use crate::{Head, Record};

/// No record is longer, in bytes.
const LINE_LIMIT: u64 = 1024 * 1024;

/// A log whose chain holds from its first record to its last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// How many records.
    pub records: u64,
    /// Where the chain stands. Kept elsewhere, it shows later that nothing was cut off.
    pub head: Head,
    /// An unfinished last line, as a crash leaves it behind. It proves nothing and harms nothing.
    pub torn: Option<Torn>,
}

/// An unfinished last line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Torn {
    /// Which line, from 1.
    pub line: u64,
    /// How many bytes of it there are.
    pub bytes: u64,
}

/// The first place where a log is not what was written.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("line {line}: {what}")]
pub struct AuditFault {
    /// Which line, from 1. One past the last for something that is missing.
    pub line: u64,
    /// What is wrong.
    pub what: String,
}

/// Checks a log from its first byte to its last, holding one record at a time.
///
/// Finds every changed, removed, swapped, doubled or inserted line. Lines cut off the end leave a chain that holds: compare
/// [`Verified::head`], or use [`verify_beyond`].
///
/// # Errors
///
/// [`AuditFault`] names the first line that does not fit.
pub fn verify(reader: impl BufRead) -> Result<Verified, AuditFault> {
    run(reader, None)
}

/// Like [`verify`], and the record that `known` stands for must be in the chain, so that a shortened log is found too.
///
/// # Errors
///
/// [`AuditFault`] names the first line that does not fit.
pub fn verify_beyond(reader: impl BufRead, known: &Head) -> Result<Verified, AuditFault> {
    run(reader, Some(known))
}

/// The records of a log in their order, each checked against the one before. Ends at the first fault. An unfinished last line is
/// not a record and no fault.
pub fn records<R: BufRead>(reader: R) -> Records<R> {
    Records { reader, line: 0, head: Head::start(), torn: None, ended: false }
}

/// See [`records`].
#[derive(Debug)]
pub struct Records<R> {
    reader: R,
    line: u64,
    head: Head,
    torn: Option<Torn>,
    ended: bool,
}

impl<R: BufRead> Records<R> {
    fn read(&mut self) -> Result<Option<Record>, AuditFault> {
        let mut bytes = Vec::new();
        let read = self.reader.by_ref().take(LINE_LIMIT + 1).read_until(b'\n', &mut bytes);
        self.line += 1;
        read.map_err(|error| self.fault(format!("it cannot be read: {error}")))?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let has_line_end = bytes.last() == Some(&b'\n');
        if !has_line_end && bytes.len() as u64 > LINE_LIMIT {
            return Err(self.fault("it is longer than any record"));
        }
        let text = std::str::from_utf8(if has_line_end { &bytes[..bytes.len() - 1] } else { &bytes }).ok();
        let sealed = text.and_then(|text| check_seal(text).map(|hash| (text, hash)));
        let Some((text, hash)) = sealed else {
            if has_line_end {
                return Err(self.fault("it was changed: it does not fit its own hash"));
            }
            self.torn = Some(Torn { line: self.line, bytes: bytes.len() as u64 });
            return Ok(None);
        };
        let record: Record =
            serde_json::from_str(text).map_err(|error| self.fault(format!("it is not a record: {error}")))?;
        if record.seq != self.head.seq + 1 {
            let expected = self.head.seq + 1;
            return Err(
                self.fault(format!("record {expected} must stand here, and it is record {}", record.seq))
            );
        }
        if record.prev != self.head.hash {
            return Err(self.fault("it does not follow the line before it"));
        }
        self.head = Head { seq: record.seq, hash: hash.to_owned() };
        Ok(Some(record))
    }

    fn fault(&self, what: impl Into<String>) -> AuditFault {
        AuditFault { line: self.line, what: what.into() }
    }
}

impl<R: BufRead> Iterator for Records<R> {
    type Item = Result<Record, AuditFault>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.read().transpose();
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
}

fn run(reader: impl BufRead, known: Option<&Head>) -> Result<Verified, AuditFault> {
    let mut records = records(reader);
    let mut count = 0;
    while let Some(record) = records.next() {
        record?;
        count += 1;
        if let Some(known) = known
            && known.seq == records.head.seq
            && known.hash != records.head.hash
        {
            return Err(AuditFault { line: count, what: "it is not the record that was there".to_owned() });
        }
    }
    if let Some(known) = known
        && known.seq > count
    {
        let what = format!("records were cut off: there were {} and there are {count}", known.seq);
        return Err(AuditFault { line: count + 1, what });
    }
    Ok(Verified { records: count, head: records.head, torn: records.torn })
}
