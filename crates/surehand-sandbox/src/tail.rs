use std::collections::VecDeque;

/// Keeps the last bytes of an endless stream, such as what a server says on stderr.
///
/// Holds at most `limit` bytes, whatever is pushed.
#[derive(Clone, Debug)]
pub struct Tail {
    kept: VecDeque<u8>,
    limit: usize,
    dropped: u64,
}

impl Tail {
    /// A tail of at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { kept: VecDeque::new(), limit, dropped: 0 }
    }

    /// Takes the next bytes, cut anywhere.
    pub fn push(&mut self, bytes: &[u8]) {
        let newest = &bytes[bytes.len().saturating_sub(self.limit)..];
        let surplus = (self.kept.len() + newest.len()).saturating_sub(self.limit);
        self.kept.drain(..surplus);
        self.kept.extend(newest);
        self.dropped += (surplus + bytes.len() - newest.len()) as u64;
    }

    /// How many bytes were pushed and are no longer kept.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// What is kept.
    pub fn bytes(&self) -> Vec<u8> {
        self.kept.iter().copied().collect()
    }

    /// What is kept as text, starting at a whole line where the start was dropped. Bytes that are no UTF-8 are replaced.
    pub fn text(&self) -> String {
        let bytes = self.bytes();
        let whole = match bytes.iter().position(|byte| *byte == b'\n') {
            Some(end) if self.dropped > 0 && end + 1 < bytes.len() => &bytes[end + 1..],
            _ => &bytes[..],
        };
        String::from_utf8_lossy(whole).trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_keeps_the_last_bytes_and_counts_the_rest() {
        let mut tail = Tail::new(8);
        for piece in [&b"first li"[..], b"ne\nab", b"c\n", b""] {
            tail.push(piece);
        }
        assert_eq!((tail.bytes(), tail.dropped()), (b"ine\nabc\n".to_vec(), 7));
        assert_eq!(tail.text(), "abc");
        tail.push(b"one piece longer than the limit");
        assert_eq!((tail.text().as_str(), tail.dropped()), ("he limit", 38));
    }
}
