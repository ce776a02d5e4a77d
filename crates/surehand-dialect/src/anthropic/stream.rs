use surehand_model::{ModelEvent, ModelTurn, RawJson};

use super::decode::{Origin, Read, count, finish, read_block};
use super::wire::{Delta, Event};
use crate::arguments::text_of;
use crate::fault::error_member;
use crate::turn_builder::{TurnBuilder, call_events};
use crate::{DecodeError, NameTable, StreamDecoder};

/// Reads the events of one answer. `message_stop` ends it; where a server forgets that, the stop reason does.
pub(super) struct AnthropicStream {
    names: NameTable,
    turn: TurnBuilder,
    /// In the order in which they began, each with its index; the newest of an index is the one that goes on.
    blocks: Vec<(u64, Read)>,
    stop_reason: Option<String>,
    done: bool,
    events: usize,
}

impl AnthropicStream {
    pub(super) fn new(names: &NameTable) -> Self {
        Self {
            names: names.clone(),
            turn: TurnBuilder::default(),
            blocks: Vec::new(),
            stop_reason: None,
            done: false,
            events: 0,
        }
    }

    fn shape(&self, what: impl Into<String>) -> DecodeError {
        DecodeError::Shape { place: format!("event {}", self.events), what: what.into() }
    }

    fn begin(&mut self, index: u64, raw: &RawJson) -> Option<ModelEvent> {
        let (block, event) = read_block(raw, Origin::Begun);
        let started = match &block {
            Read::Call { name, .. } => Some(ModelEvent::CallStarted { name: self.names.name(name) }),
            _ => event,
        };
        self.blocks.push((index, block));
        started
    }

    /// The block that a delta belongs to; begun where a server never said so.
    fn block(&mut self, index: u64, delta: &Delta) -> Result<&mut Read, DecodeError> {
        let at = self.blocks.iter().rposition(|(known, _)| *known == index);
        let at = match (at, delta.r#type.as_str()) {
            (Some(at), _) => at,
            (None, "text_delta") => {
                self.blocks.push((index, Read::Text(String::new())));
                self.blocks.len() - 1
            }
            (None, "thinking_delta") => {
                self.blocks.push((
                    index,
                    Read::Thinking { text: String::new(), signature: String::new(), raw: None },
                ));
                self.blocks.len() - 1
            }
            (None, _) => return Err(self.shape(format!("a delta for block {index}, which never began"))),
        };
        Ok(&mut self.blocks[at].1)
    }

    fn delta(&mut self, index: u64, delta: Delta) -> Result<Option<ModelEvent>, DecodeError> {
        let json = text_of(delta.partial_json.as_ref());
        let added = |text: &Option<String>| text.as_deref().map_or(0, str::len);
        self.turn.hold(json.len() + added(&delta.text) + added(&delta.thinking) + added(&delta.signature))?;
        let mut event = None;
        match self.block(index, &delta)? {
            Read::Text(known) => {
                if let Some(text) = delta.text {
                    known.push_str(&text);
                    event = Some(ModelEvent::Text(text));
                }
            }
            Read::Thinking { text: known, signature, raw } => {
                *raw = None;
                if let Some(text) = delta.thinking {
                    known.push_str(&text);
                    event = Some(ModelEvent::Reasoning(text));
                }
                signature.push_str(&delta.signature.unwrap_or_default());
            }
            Read::Call { arguments, from_start, .. } => {
                // The start of a block holds `{}` in the place of what comes in pieces.
                if *from_start && !json.is_empty() {
                    arguments.clear();
                    *from_start = false;
                }
                arguments.push_str(&json);
            }
            Read::Opaque { input, .. } => input.push_str(&json),
        }
        Ok(event)
    }
}

impl StreamDecoder for AnthropicStream {
    fn event(&mut self, _name: Option<&str>, data: &str) -> Result<Vec<ModelEvent>, DecodeError> {
        self.events += 1;
        if data.trim().is_empty() || self.done {
            return Ok(Vec::new());
        }
        if data.trim() == "[DONE]" {
            return Ok(Vec::new());
        }
        let event: Event = serde_json::from_str(data).map_err(|error| self.shape(error.to_string()))?;
        let mut said = None;
        match event.r#type.as_str() {
            "message_start" => {
                if let Some(message) = event.message {
                    self.turn.model = message.model;
                    if let Some(usage) = &message.usage {
                        count(&mut self.turn, usage);
                    }
                }
            }
            "content_block_start" => {
                let raw = event
                    .content_block
                    .ok_or_else(|| self.shape("a block begins without `content_block`"))?;
                self.turn.hold(raw.as_str().len())?;
                let index = event.index.unwrap_or(self.blocks.len() as u64);
                said = self.begin(index, &raw);
            }
            "content_block_delta" => {
                let delta = event.delta.unwrap_or_default();
                let newest = self.blocks.last().map_or(0, |(index, _)| *index);
                said = self.delta(event.index.unwrap_or(newest), delta)?;
            }
            "message_delta" => {
                if let Some(reason) = event.delta.and_then(|delta| delta.stop_reason) {
                    self.stop_reason = Some(reason);
                }
                if let Some(usage) = &event.usage {
                    count(&mut self.turn, usage);
                }
            }
            "message_stop" => self.done = true,
            "error" => {
                return Err(error_member(event.error.as_ref())
                    .unwrap_or_else(|| self.shape("an error event without an error")));
            }
            // `ping`, `content_block_stop`, and events that do not exist yet.
            _ => {
                if let Some(error) = error_member(event.error.as_ref()) {
                    return Err(error);
                }
            }
        }
        Ok(said.into_iter().collect())
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn finish(self: Box<Self>) -> Result<(Vec<ModelEvent>, ModelTurn), DecodeError> {
        let ended = self.stop_reason.is_some() || (self.done && !self.blocks.is_empty());
        if !ended {
            return Err(DecodeError::Incomplete { what: "neither a stop reason nor message_stop came" });
        }
        let blocks = self.blocks.into_iter().map(|(_, block)| block).collect();
        let turn = finish(self.turn, blocks, self.stop_reason, &self.names);
        Ok((call_events(&turn), turn))
    }
}
