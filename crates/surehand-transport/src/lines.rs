use std::collections::VecDeque;
use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

/// One line of a stream, without its end (`\n` or `\r\n`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A whole line. Bytes that are no UTF-8 are replaced by U+FFFD.
    Text(String),
    /// A line that passed the limit. It is told as soon as that is known; the rest of it is skipped up to its end.
    TooLong {
        /// The limit, in bytes.
        limit: usize,
    },
}

/// Splits a stream of bytes into lines.
///
/// Takes chunks cut anywhere, even inside a character, and gives lines in their order. Holds at most `limit` bytes.
#[derive(Debug)]
pub struct LineSplitter {
    held: Vec<u8>,
    limit: usize,
    skipping: bool,
}

impl LineSplitter {
    /// A splitter for lines of at most `limit` bytes, their ends not counted.
    pub fn new(limit: usize) -> Self {
        Self { held: Vec::new(), limit, skipping: false }
    }

    /// Takes the next bytes and gives the lines that they complete.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        let mut pieces = bytes.split(|byte| *byte == b'\n').peekable();
        while let Some(piece) = pieces.next() {
            let is_complete = pieces.peek().is_some();
            self.take(piece, &mut lines);
            if is_complete && let Some(line) = self.end_line() {
                lines.push(line);
            }
        }
        lines
    }

    /// The last line, where the stream ended without a line end.
    pub fn finish(&mut self) -> Option<Line> {
        if self.held.is_empty() { None } else { self.end_line() }
    }

    fn take(&mut self, piece: &[u8], lines: &mut Vec<Line>) {
        if self.skipping {
            return;
        }
        // A carriage return at the very end may belong to the line's end, so one byte more is held before it is judged.
        let length = self.held.len() + piece.len();
        let last = piece.last().or(self.held.last());
        if length > self.limit + usize::from(last == Some(&b'\r')) {
            self.held = Vec::new();
            self.skipping = true;
            lines.push(Line::TooLong { limit: self.limit });
        } else {
            self.held.extend_from_slice(piece);
        }
    }

    fn end_line(&mut self) -> Option<Line> {
        if std::mem::take(&mut self.skipping) {
            return None;
        }
        let mut line = std::mem::take(&mut self.held);
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        Some(Line::Text(match String::from_utf8(line) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        }))
    }
}

/// Reads lines from a stream, one at a time.
#[derive(Debug)]
pub struct LineReader<R> {
    stream: R,
    splitter: LineSplitter,
    ready: VecDeque<Line>,
    buffer: Vec<u8>,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// A reader of lines of at most `limit` bytes.
    pub fn new(stream: R, limit: usize) -> Self {
        Self {
            stream,
            splitter: LineSplitter::new(limit),
            ready: VecDeque::new(),
            buffer: vec![0; 16 * 1024],
        }
    }

    /// The next line, `None` after the last. May be dropped while it waits; nothing is lost.
    ///
    /// # Errors
    ///
    /// What the stream answers, once the lines before it have been given.
    pub async fn next_line(&mut self) -> io::Result<Option<Line>> {
        loop {
            if let Some(line) = self.ready.pop_front() {
                return Ok(Some(line));
            }
            match self.stream.read(&mut self.buffer).await? {
                0 => return Ok(self.splitter.finish()),
                count => self.ready.extend(self.splitter.push(&self.buffer[..count])),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(line: &str) -> Line {
        Line::Text(line.to_owned())
    }

    #[test]
    fn lines_come_whole_whatever_their_ends_and_bytes() {
        let mut splitter = LineSplitter::new(100);
        let mut lines = splitter.push(b"one\ntwo\r\n\n\xff\xe4\xb8\xad\rx\nlast");
        lines.extend(splitter.finish());
        assert_eq!(lines, [text("one"), text("two"), text(""), text("\u{fffd}\u{4e2d}\rx"), text("last")]);
        assert_eq!(splitter.finish(), None);
    }

    #[test]
    fn a_line_over_the_limit_is_told_once_and_the_next_one_is_whole() {
        let mut splitter = LineSplitter::new(4);
        assert_eq!(splitter.push(b"1234\n12"), [text("1234")]);
        assert_eq!(splitter.push(b"345"), [Line::TooLong { limit: 4 }]);
        assert_eq!(splitter.push(&[b'x'; 1000]), []);
        assert_eq!(splitter.push(b"\n1234\r"), []);
        assert_eq!(splitter.push(b"\n12345\r\n"), [text("1234"), Line::TooLong { limit: 4 }]);
        assert_eq!(splitter.finish(), None);
    }

    #[tokio::test]
    async fn a_reader_gives_the_lines_of_a_stream_and_then_none() {
        let mut reader = LineReader::new(&b"one\ntoo long\ntwo"[..], 4);
        let mut lines = Vec::new();
        while let Some(line) = reader.next_line().await.unwrap() {
            lines.push(line);
        }
        assert_eq!(lines, [text("one"), Line::TooLong { limit: 4 }, text("two")]);
    }

    proptest! {
        #[test]
        fn the_lines_do_not_depend_on_where_the_stream_is_cut(
            bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(b'a'), any::<u8>()], 0..80),
            cuts in proptest::collection::vec(0_usize..80, 0..8),
            limit in 0_usize..12,
        ) {
            let mut at_once = LineSplitter::new(limit);
            let mut expected = at_once.push(&bytes);
            expected.extend(at_once.finish());

            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let mut in_pieces = LineSplitter::new(limit);
            let mut lines = Vec::new();
            for pair in cuts.windows(2) {
                lines.extend(in_pieces.push(&bytes[pair[0]..pair[1]]));
                prop_assert!(in_pieces.held.len() <= limit + 1);
            }
            lines.extend(in_pieces.finish());
            prop_assert_eq!(lines, expected);
        }
    }
}
