use surehand_model::{
    ContentBlock, FinishReason, ModelEvent, ModelTurn, Note, Part, PartKind, ProviderState, RawJson,
};

use super::TAG;
use super::wire::{Answer, PartIn};
use crate::accumulator::unique_ids;
use crate::arguments::{read_call, text_of};
use crate::fault::error_member;
use crate::turn_builder::TurnBuilder;
use crate::{DecodeError, NameTable};

pub(super) fn decode(body: &[u8], names: &NameTable) -> Result<ModelTurn, DecodeError> {
    let shape = |what: String| DecodeError::Shape { place: "the answer".to_owned(), what };
    let answer: Answer = serde_json::from_slice(body).map_err(|error| shape(error.to_string()))?;
    let mut reading = Reading::default();
    let has_candidates = !answer.candidates.is_empty();
    reading.answer(answer, names)?;
    if !has_candidates && reading.finish_reason.is_none() {
        return Err(shape("there is no candidate in it".to_owned()));
    }
    Ok(reading.finish(names))
}

/// An answer while it is read; the same for one answer and for a stream of them.
#[derive(Default)]
pub(super) struct Reading {
    turn: TurnBuilder,
    /// What stands at the places of the turn's calls.
    calls: Vec<Called>,
    pub(super) finish_reason: Option<String>,
    blocked: bool,
}

struct Called {
    /// Which part of the turn it is.
    at: usize,
    id: Option<String>,
    name: String,
    arguments: String,
}

impl Reading {
    pub(super) fn answer(
        &mut self,
        answer: Answer,
        names: &NameTable,
    ) -> Result<Vec<ModelEvent>, DecodeError> {
        if let Some(error) = error_member(answer.error.as_ref()) {
            return Err(error);
        }
        if answer.model_version.is_some() {
            self.turn.model = answer.model_version;
        }
        if let Some(usage) = answer.usage_metadata {
            self.turn.usage.input_tokens = usage.prompt_token_count.unwrap_or(self.turn.usage.input_tokens);
            let thoughts = usage.thoughts_token_count.unwrap_or(0);
            let written = usage.candidates_token_count.unwrap_or(0).saturating_add(thoughts);
            self.turn.usage.output_tokens = self.turn.usage.output_tokens.max(written);
        }
        if let Some(reason) = answer.prompt_feedback.and_then(|feedback| feedback.block_reason) {
            self.blocked = true;
            self.finish_reason = Some(reason);
        }
        let mut events = Vec::new();
        for candidate in answer.candidates {
            if candidate.index.unwrap_or(0) != 0 {
                continue;
            }
            for raw in candidate.content.and_then(|content| content.parts).unwrap_or_default() {
                self.turn.hold(raw.as_str().len())?;
                self.part(&raw, names, &mut events);
            }
            if candidate.finish_reason.is_some() {
                self.finish_reason = candidate.finish_reason;
            }
            if let Some(message) = candidate.finish_message {
                let reason = self.finish_reason.clone().unwrap_or_default();
                self.turn.notes.push(Note::new("end of the answer", reason, message));
            }
        }
        Ok(events)
    }

    fn part(&mut self, raw: &RawJson, names: &NameTable, events: &mut Vec<ModelEvent>) {
        let opaque = |raw: &RawJson| vec![state("part", raw.clone())];
        let Ok(part) = raw.to_type::<PartIn>() else {
            self.turn.part(PartKind::Opaque, opaque(raw));
            return;
        };
        let signature: Vec<ProviderState> =
            part.thought_signature.into_iter().map(|value| state("thoughtSignature", value)).collect();
        if let Some(call) = part.function_call {
            let name = call.name.unwrap_or_default();
            events.push(ModelEvent::CallStarted { name: names.name(&name) });
            self.calls.push(Called {
                at: self.turn.parts.len(),
                id: call.id,
                name,
                arguments: text_of(call.args.as_ref()),
            });
            // The call itself is put here at the end, when all ids are known.
            self.turn.part(PartKind::Opaque, signature);
        } else if let Some(text) = part.text {
            let thought = part.thought == Some(true);
            if signature.is_empty() {
                if thought {
                    self.turn.reasoning(&text, events)
                } else {
                    self.turn.text(&text, events)
                }
                return;
            }
            // A signed part stays by itself, even where it says nothing.
            if !text.is_empty() {
                events.push(if thought {
                    ModelEvent::Reasoning(text.clone())
                } else {
                    ModelEvent::Text(text.clone())
                });
            }
            let kind = if thought { PartKind::Reasoning(text) } else { PartKind::Text(text) };
            self.turn.part(kind, signature);
        } else if let Some(data) = part.inline_data {
            let block = ContentBlock::Image { data: data.data, mime_type: data.mime_type };
            let block = match block {
                ContentBlock::Image { data, mime_type } if mime_type.starts_with("audio/") => {
                    ContentBlock::Audio { data, mime_type }
                }
                block => block,
            };
            self.turn.part(PartKind::Media(block), signature);
        } else {
            self.turn.part(PartKind::Opaque, opaque(raw));
        }
    }

    pub(super) fn finish(mut self, names: &NameTable) -> ModelTurn {
        let ids = unique_ids(self.calls.iter().map(|call| call.id.as_deref()));
        for (called, (id, minted)) in self.calls.into_iter().zip(ids) {
            let call =
                read_call(id, minted, names.name(&called.name), called.arguments, &mut self.turn.notes);
            if let Some(Part { kind, .. }) = self.turn.parts.get_mut(called.at) {
                *kind = PartKind::Call(call);
            }
        }
        let reason = self.finish_reason.as_deref().map(reason);
        let reason = if self.blocked { Some(FinishReason::Refused) } else { reason };
        self.turn.finish(reason, self.finish_reason)
    }
}

fn state(key: &str, value: RawJson) -> ProviderState {
    ProviderState { dialect: TAG.to_owned(), key: key.to_owned(), value }
}

fn reason(raw: &str) -> FinishReason {
    match raw {
        "STOP" => FinishReason::Stop,
        "FUNCTION_CALL" => FinishReason::ToolCalls,
        "MAX_TOKENS" => FinishReason::Length,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "IMAGE_SAFETY"
        | "LANGUAGE" => FinishReason::Refused,
        _ => FinishReason::Other,
    }
}
