use surehand_model::{ModelEvent, ModelTurn};

use super::decode::Reading;
use super::wire::Answer;
use crate::turn_builder::call_events;
use crate::{DecodeError, NameTable, StreamDecoder};

/// Reads the events of one answer, each an answer of its own with a few more parts. The finish reason ends it.
pub(super) struct GeminiStream {
    names: NameTable,
    reading: Reading,
    events: usize,
}

impl GeminiStream {
    pub(super) fn new(names: &NameTable) -> Self {
        Self { names: names.clone(), reading: Reading::default(), events: 0 }
    }
}

impl StreamDecoder for GeminiStream {
    fn event(&mut self, _name: Option<&str>, data: &str) -> Result<Vec<ModelEvent>, DecodeError> {
        self.events += 1;
        if matches!(data.trim(), "" | "[DONE]") {
            return Ok(Vec::new());
        }
        let answer: Answer = serde_json::from_str(data).map_err(|error| DecodeError::Shape {
            place: format!("event {}", self.events),
            what: error.to_string(),
        })?;
        self.reading.answer(answer, &self.names)
    }

    /// Usage may follow the finish reason, so the stream is read to its end.
    fn is_done(&self) -> bool {
        false
    }

    fn finish(self: Box<Self>) -> Result<(Vec<ModelEvent>, ModelTurn), DecodeError> {
        if self.reading.finish_reason.is_none() {
            return Err(DecodeError::Incomplete { what: "no finish reason came" });
        }
        let turn = self.reading.finish(&self.names);
        Ok((call_events(&turn), turn))
    }
}
