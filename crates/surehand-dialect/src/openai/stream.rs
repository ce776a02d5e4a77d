use surehand_model::{ModelEvent, ModelTurn};

use super::decode::{Pieces, Reading};
use super::wire::Answer;
use crate::fault::error_member;
use crate::turn_builder::call_events;
use crate::{DecodeError, NameTable, StreamDecoder};

/// Reads the events of one answer. `[DONE]` ends it; where a server forgets that, the finish reason does.
pub(super) struct OpenAiStream {
    names: NameTable,
    reading: Reading,
    finish_reason: Option<String>,
    done: bool,
    events: usize,
}

impl OpenAiStream {
    pub(super) fn new(tag: &str, names: &NameTable) -> Self {
        Self { names: names.clone(), reading: Reading::new(tag), finish_reason: None, done: false, events: 0 }
    }
}

impl StreamDecoder for OpenAiStream {
    fn event(&mut self, _name: Option<&str>, data: &str) -> Result<Vec<ModelEvent>, DecodeError> {
        self.events += 1;
        let data = data.trim();
        if data == "[DONE]" {
            self.done = true;
            return Ok(Vec::new());
        }
        if data.is_empty() || self.done {
            return Ok(Vec::new());
        }
        let answer: Answer = serde_json::from_str(data).map_err(|error| DecodeError::Shape {
            place: format!("event {}", self.events),
            what: error.to_string(),
        })?;
        self.reading.head(&answer)?;
        let mut events = Vec::new();
        for choice in answer.choices {
            if choice.index.unwrap_or(0) != 0 {
                continue;
            }
            if let Some(error) = error_member(choice.error.as_ref()) {
                return Err(error);
            }
            // The last event of some servers holds the whole message again beside the pieces; the pieces have been taken.
            if let Some(delta) = choice.delta {
                events.extend(self.reading.message(delta, Pieces::Delta, &self.names)?);
            } else if let Some(message) = choice.message.filter(|_| self.reading.is_untouched()) {
                events.extend(self.reading.message(message, Pieces::Whole, &self.names)?);
            }
            if choice.finish_reason.is_some() {
                self.finish_reason = choice.finish_reason;
            }
        }
        Ok(events)
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn finish(self: Box<Self>) -> Result<(Vec<ModelEvent>, ModelTurn), DecodeError> {
        if !self.done && self.finish_reason.is_none() {
            return Err(DecodeError::Incomplete { what: "neither a finish reason nor [DONE] came" });
        }
        if self.events <= 1 && self.finish_reason.is_none() && self.reading.is_untouched() {
            return Err(DecodeError::Incomplete { what: "the stream held nothing but its end mark" });
        }
        let (mut events, turn) = self.reading.finish(self.finish_reason, &self.names);
        events.extend(call_events(&turn));
        Ok((events, turn))
    }
}
