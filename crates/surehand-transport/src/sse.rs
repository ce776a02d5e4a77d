use thiserror::Error;

/// One server-sent event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SseEvent {
    /// The event's type; `message` where the stream names none.
    pub event: String,
    /// The data, its lines joined by `\n`.
    pub data: String,
    /// The last id that the stream has named, with this event or before it; what a reconnection sends as `Last-Event-ID`.
    pub id: Option<String>,
}

/// Why a stream of events cannot be read on.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SseError {
    /// One event is larger than the limit.
    #[error("an event of the stream is larger than {limit} bytes")]
    TooLong {
        /// The limit, in bytes.
        limit: usize,
    },
}

/// Splits a stream of bytes into server-sent events.
///
/// Takes chunks cut anywhere, even inside a character, and gives whole events in the order they came. Comments are dropped, and
/// so is an event that the stream's end cuts off. Holds at most `limit` bytes.
///
/// # Errors
///
/// [`SseError::TooLong`] once one event passes `limit`; the decoder is then spent and answers the same again.
///
/// Source: WHATWG HTML, section 9.2.6.
#[derive(Debug)]
pub struct SseDecoder {
    limit: usize,
    /// The line that has not ended yet.
    line: Vec<u8>,
    /// The byte before was a carriage return, so a line feed now belongs to it.
    after_return: bool,
    at_start: bool,
    event: String,
    data: String,
    id: Option<String>,
    /// The id that counts once the event it stands in is whole: what breaks off before is asked for again.
    next_id: Option<String>,
    retry: Option<u64>,
    spent: bool,
}

impl SseDecoder {
    /// A decoder for events of at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            after_return: false,
            at_start: true,
            event: String::new(),
            data: String::new(),
            id: None,
            next_id: None,
            retry: None,
            spent: false,
        }
    }

    /// Takes the next bytes and gives the events that they complete.
    ///
    /// # Errors
    ///
    /// See the type. The events before the one that is too long are lost with it only if they came in the same chunk.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<SseEvent>, SseError> {
        let mut events = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.spent {
                return Err(SseError::TooLong { limit: self.limit });
            }
            if std::mem::take(&mut self.after_return) && rest[0] == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let piece = &rest[..end.unwrap_or(rest.len())];
            if self.line.len() + piece.len() + self.data.len() + self.event.len() > self.limit {
                self.spent = true;
                continue;
            }
            self.line.extend_from_slice(piece);
            let Some(end) = end else { break };
            self.after_return = rest[end] == b'\r';
            rest = &rest[end + 1..];
            events.extend(self.end_line());
        }
        Ok(events)
    }

    /// The last id that the stream has named, with a whole event or on its own before an empty line.
    pub fn last_id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// How many milliseconds the stream asks to wait before a reconnection.
    pub fn retry(&self) -> Option<u64> {
        self.retry
    }

    fn end_line(&mut self) -> Option<SseEvent> {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        let mut line: &str = &line;
        if std::mem::take(&mut self.at_start) {
            line = line.strip_prefix('\u{feff}').unwrap_or(line);
        }
        if line.is_empty() {
            return self.end_event();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                self.data.push_str(value);
                self.data.push('\n');
            }
            "event" => value.clone_into(&mut self.event),
            "id" if !value.contains('\0') => self.next_id = Some(value.to_owned()),
            "retry" if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.retry = value.parse().ok().or(self.retry);
            }
            _ => {}
        }
        None
    }

    fn end_event(&mut self) -> Option<SseEvent> {
        self.id.clone_from(&self.next_id);
        let mut data = std::mem::take(&mut self.data);
        let mut event = std::mem::take(&mut self.event);
        // The last line's feed is not part of the data; without one there was no data at all, and so no event.
        data.pop()?;
        if event.is_empty() {
            event.push_str("message");
        }
        Some(SseEvent { event, data, id: self.id.clone() })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn event(event: &str, data: &str, id: Option<&str>) -> SseEvent {
        SseEvent { event: event.into(), data: data.into(), id: id.map(str::to_owned) }
    }

    fn decode(text: &str) -> Vec<SseEvent> {
        SseDecoder::new(1000).push(text.as_bytes()).unwrap()
    }

    #[test]
    fn fields_are_read_as_the_standard_says() {
        let text = "\u{feff}: a comment\ndata\n\n\
                    data: first\ndata:  second\ndata:third\nid: 1\n\n\
                    event: odd\nid\ndata:{\"a\":1}\nunknown: x\n\n\
                    event: lost\n\ndata: none but a message\nid: a\0b\n\n\
                    data: cut off by the end";
        let expected = [
            event("message", "", None),
            event("message", "first\n second\nthird", Some("1")),
            event("odd", "{\"a\":1}", Some("")),
            event("message", "none but a message", Some("")),
        ];
        assert_eq!(decode(text), expected);
    }

    #[test]
    fn every_kind_of_line_end_counts_and_a_pair_counts_once() {
        let expected = vec![event("message", "a\nb", None), event("message", "c", None)];
        for end in ["\n", "\r", "\r\n"] {
            assert_eq!(decode(&["data: a", "data: b", "", "data: c", "", ""].join(end)), expected, "{end:?}");
        }
    }

    #[test]
    fn an_id_may_come_without_an_event_and_retry_must_be_digits() {
        let mut decoder = SseDecoder::new(100);
        assert_eq!(decoder.push(b"id: 7\nretry: 250\n\nretry: soon\nretry:\nretry: +1\n\n").unwrap(), []);
        assert_eq!((decoder.last_id(), decoder.retry()), (Some("7"), Some(250)));
        assert_eq!(decoder.push(b"data: x\n\n").unwrap(), [event("message", "x", Some("7"))]);
    }

    #[test]
    fn an_event_over_the_limit_ends_the_decoder() {
        let mut decoder = SseDecoder::new(20);
        for _ in 0..10 {
            assert_eq!(
                decoder.push(b"data: 1234567890\n\n").unwrap(),
                [event("message", "1234567890", None)]
            );
        }
        let too_long = Err(SseError::TooLong { limit: 20 });
        assert_eq!(decoder.push(b"data: 12345\ndata: 12345\ndata: 12345\n"), too_long);
        assert_eq!(decoder.push(b"data: 1\n\n"), too_long);

        let mut endless = SseDecoder::new(1000);
        let outcome = (0..100).try_for_each(|_| endless.push(&[b':'; 64]).map(drop));
        assert_eq!(outcome, Err(SseError::TooLong { limit: 1000 }));
    }

    proptest! {
        #[test]
        fn the_events_do_not_depend_on_where_the_stream_is_cut(
            words in proptest::collection::vec(
                prop_oneof![
                    Just("\n"), Just("\r"), Just("\r\n"), Just("\n\n"), Just("data:"), Just("data: "), Just("event: "),
                    Just("id: "), Just(": "), Just("retry: 3"), Just("中文"), Just("😀"), Just("\u{feff}"), Just("{\"x\": 1}"),
                ],
                0..60,
            ),
            cuts in proptest::collection::vec(0_usize..200, 0..10),
        ) {
            let text = words.concat();
            let bytes = text.as_bytes();
            let mut at_once = SseDecoder::new(10_000);
            let expected = at_once.push(bytes).unwrap();

            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let mut in_pieces = SseDecoder::new(10_000);
            let mut events = Vec::new();
            for pair in cuts.windows(2) {
                events.extend(in_pieces.push(&bytes[pair[0]..pair[1]]).unwrap());
            }
            prop_assert_eq!(events, expected);
            prop_assert_eq!(in_pieces.last_id(), at_once.last_id());
            prop_assert_eq!(in_pieces.retry(), at_once.retry());
        }
    }
}
