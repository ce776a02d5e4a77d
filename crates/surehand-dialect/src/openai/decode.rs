use surehand_model::{FinishReason, ModelEvent, ModelTurn, PartKind, ProviderState, RawJson};

use super::wire::{Answer, Block, Call, Function, Message};
use crate::accumulator::delta_arguments;
use crate::fault::error_member;
use crate::turn_builder::TurnBuilder;
use crate::{CallAccumulator, CallDelta, DecodeError, NameTable};

pub(super) fn decode(tag: &str, body: &[u8], names: &NameTable) -> Result<ModelTurn, DecodeError> {
    let shape = |what: String| DecodeError::Shape { place: "the answer".to_owned(), what };
    let answer: Answer = serde_json::from_slice(body).map_err(|error| shape(error.to_string()))?;
    let mut reading = Reading::new(tag);
    let choices = reading.head(&answer)?;
    let choice =
        choices.then(|| answer.choices.into_iter().find(|choice| choice.index.unwrap_or(0) == 0)).flatten();
    let choice = choice.ok_or_else(|| shape("there is no choice in it".to_owned()))?;
    if let Some(error) = error_member(choice.error.as_ref()) {
        return Err(error);
    }
    let message =
        choice.message.or(choice.delta).ok_or_else(|| shape("its choice has no message".to_owned()))?;
    reading.message(message, Pieces::Whole, names)?;
    Ok(reading.finish(choice.finish_reason, names).1)
}

/// Whether the calls of a message are whole ones or pieces.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pieces {
    Whole,
    Delta,
}

/// An answer while it is read; the same for one message and for a stream of pieces.
pub(super) struct Reading {
    tag: String,
    pub(super) turn: TurnBuilder,
    calls: CallAccumulator,
    reasoning_content: String,
    reasoning: String,
    details: Details,
    refused: bool,
}

impl Reading {
    pub(super) fn new(tag: &str) -> Self {
        Self {
            tag: tag.to_owned(),
            turn: TurnBuilder::default(),
            calls: CallAccumulator::new(),
            reasoning_content: String::new(),
            reasoning: String::new(),
            details: Details::default(),
            refused: false,
        }
    }

    /// Whether nothing has been said yet.
    pub(super) fn is_untouched(&self) -> bool {
        self.turn.parts.is_empty() && self.calls.is_empty()
    }

    /// Takes model, usage and error. Tells whether there are choices.
    pub(super) fn head(&mut self, answer: &Answer) -> Result<bool, DecodeError> {
        if let Some(error) = error_member(answer.error.as_ref()) {
            return Err(error);
        }
        if self.turn.model.is_none() {
            self.turn.model.clone_from(&answer.model);
        }
        if let Some(usage) = &answer.usage {
            self.turn.usage.input_tokens = usage.prompt_tokens.unwrap_or(self.turn.usage.input_tokens);
            self.turn.usage.output_tokens = usage.completion_tokens.unwrap_or(self.turn.usage.output_tokens);
        }
        Ok(!answer.choices.is_empty())
    }

    pub(super) fn message(
        &mut self,
        message: Message,
        pieces: Pieces,
        names: &NameTable,
    ) -> Result<Vec<ModelEvent>, DecodeError> {
        let mut events = Vec::new();
        let details =
            message.reasoning_details.as_ref().map(|raw| self.details.push(raw)).unwrap_or_default();
        // The same words often come under two keys.
        let said = |text: &&String| !text.is_empty();
        let thought = message.reasoning_content.as_ref().filter(said);
        let thought = thought.or(message.reasoning.as_ref().filter(said)).unwrap_or(&details);
        self.turn.hold(thought.len())?;
        self.turn.reasoning(thought, &mut events);
        self.reasoning_content.push_str(message.reasoning_content.as_deref().unwrap_or_default());
        self.reasoning.push_str(message.reasoning.as_deref().unwrap_or_default());
        self.content(message.content.as_ref(), &mut events)?;
        if let Some(text) = &message.refusal {
            self.refused = true;
            self.turn.hold(text.len())?;
            self.turn.text(text, &mut events);
        }
        for call in message.tool_calls {
            let delta = self.delta(call);
            events.extend(self.call(delta, pieces, names)?);
        }
        if let Some(function) =
            message.function_call.filter(|function| function.name.is_some() || function.arguments.is_some())
        {
            let delta = CallDelta { index: Some(0), ..function_delta(function) };
            events.extend(self.call(delta, pieces, names)?);
        }
        Ok(events)
    }

    fn content(
        &mut self,
        content: Option<&RawJson>,
        events: &mut Vec<ModelEvent>,
    ) -> Result<(), DecodeError> {
        let Some(raw) = content else {
            return Ok(());
        };
        self.turn.hold(raw.as_str().len())?;
        if let Ok(text) = raw.to_type::<String>() {
            self.turn.text(&text, events);
            return Ok(());
        }
        for block in raw.to_type::<Vec<RawJson>>().unwrap_or_default() {
            let Ok(block) = block.to_type::<Block>() else {
                continue;
            };
            if block.r#type == "thinking" {
                self.turn.reasoning(&thinking_text(block.thinking.as_ref()), events);
            }
            if let Some(text) = block.text {
                self.turn.text(&text, events);
            }
            if let Some(text) = block.refusal {
                self.refused = true;
                self.turn.text(&text, events);
            }
        }
        Ok(())
    }

    fn call(
        &mut self,
        delta: CallDelta,
        pieces: Pieces,
        names: &NameTable,
    ) -> Result<Vec<ModelEvent>, DecodeError> {
        self.turn.hold(delta.arguments.len())?;
        Ok(match pieces {
            Pieces::Whole => self.calls.push_separate(delta, names),
            Pieces::Delta => self.calls.push(delta, names),
        })
    }

    fn delta(&self, call: Call) -> CallDelta {
        let state = call.extra_content.map(|value| ProviderState {
            dialect: self.tag.clone(),
            key: "extra_content".to_owned(),
            value,
        });
        let inner = match (call.function, call.custom) {
            (Some(function), _) => function_delta(function),
            (None, Some(custom)) => CallDelta {
                name: custom.name,
                arguments: custom.input.unwrap_or_default(),
                ..CallDelta::default()
            },
            (None, None) => CallDelta::default(),
        };
        CallDelta {
            index: call.index.or(inner.index),
            id: call.id,
            state: state.into_iter().collect(),
            ..inner
        }
    }

    /// Ends the answer. `reason` is what the provider said.
    pub(super) fn finish(
        mut self,
        reason: Option<String>,
        names: &NameTable,
    ) -> (Vec<ModelEvent>, ModelTurn) {
        let mut state = Vec::new();
        let mut keep = |key: &str, value: RawJson| {
            state.push(ProviderState { dialect: self.tag.clone(), key: key.to_owned(), value });
        };
        if !self.reasoning_content.is_empty() {
            keep("reasoning_content", RawJson::from_serialize(&self.reasoning_content));
        }
        if !self.reasoning.is_empty() {
            keep("reasoning", RawJson::from_serialize(&self.reasoning));
        }
        if let Some(value) = self.details.whole() {
            keep("reasoning_details", value);
        }
        if !state.is_empty() {
            let first = self.turn.parts.iter_mut().find(|part| matches!(part.kind, PartKind::Reasoning(_)));
            match first {
                Some(part) => part.state = state,
                None => self.turn.parts.insert(0, surehand_model::Part { kind: PartKind::Opaque, state }),
            }
        }
        let (events, calls) = self.calls.finish(names, &mut self.turn.notes);
        for (call, state) in calls {
            self.turn.part(PartKind::Call(call), state);
        }
        let ours = reason.as_deref().map(finish_reason);
        let ours = if self.refused && ours != Some(FinishReason::Length) {
            Some(FinishReason::Refused)
        } else {
            ours
        };
        (events, self.turn.finish(ours, reason))
    }
}

fn function_delta(function: Function) -> CallDelta {
    let (arguments, whole) = delta_arguments(function.arguments.as_ref());
    CallDelta { index: function.index, name: function.name, arguments, whole, ..CallDelta::default() }
}

fn finish_reason(raw: &str) -> FinishReason {
    match raw.to_ascii_lowercase().as_str() {
        "stop" | "eos" | "end_turn" | "stop_sequence" => FinishReason::Stop,
        "tool_calls" | "function_call" | "tool_use" => FinishReason::ToolCalls,
        "length" | "max_tokens" | "model_length" => FinishReason::Length,
        "content_filter" | "safety" | "refusal" | "sensitive" => FinishReason::Refused,
        _ => FinishReason::Other,
    }
}

fn thinking_text(raw: Option<&RawJson>) -> String {
    let Some(raw) = raw else {
        return String::new();
    };
    raw.to_type::<String>().unwrap_or_else(|_| {
        let blocks: Vec<Block> = raw.to_type().unwrap_or_default();
        blocks.into_iter().filter_map(|block| block.text).collect()
    })
}

/// Blocks of `reasoning_details` as they come in pieces: pieces of one index and type are one block.
#[derive(Default)]
struct Details(Vec<surehand_model::Json>);

impl Details {
    /// Takes more blocks and gives the words in them.
    fn push(&mut self, raw: &RawJson) -> String {
        use surehand_model::Json;
        let mut said = String::new();
        let Ok(Json::Array(blocks)) = raw.to_json() else {
            return said;
        };
        for block in blocks {
            for key in ["text", "summary"] {
                said.push_str(block.get(key).and_then(Json::as_str).unwrap_or_default());
            }
            let same = |known: &&mut Json| {
                block.get("index").is_some()
                    && known.get("index") == block.get("index")
                    && known.get("type") == block.get("type")
            };
            match (self.0.iter_mut().rev().find(same), block) {
                (Some(known), Json::Object(members)) => {
                    for (key, value) in members {
                        match (known.get_mut(&key), value) {
                            (Some(Json::String(text)), Json::String(more))
                                if ["text", "summary", "data"].contains(&key.as_str()) =>
                            {
                                text.push_str(&more);
                            }
                            (Some(_), Json::Null) => {}
                            (_, value) => known.set(&key, value),
                        }
                    }
                }
                (_, block) => self.0.push(block),
            }
        }
        said
    }

    fn whole(&self) -> Option<RawJson> {
        (!self.0.is_empty()).then(|| RawJson::from(&surehand_model::Json::Array(self.0.clone())))
    }
}
