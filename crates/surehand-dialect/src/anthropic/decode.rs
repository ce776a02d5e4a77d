use surehand_model::{FinishReason, ModelEvent, ModelTurn, Part, PartKind, ProviderState, RawJson};

use super::TAG;
use super::wire::{Block, Message, ThinkingOut, Usage};
use crate::accumulator::unique_ids;
use crate::arguments::{read_call, text_of};
use crate::fault::error_member;
use crate::turn_builder::TurnBuilder;
use crate::{DecodeError, NameTable};

pub(super) fn decode(body: &[u8], names: &NameTable) -> Result<ModelTurn, DecodeError> {
    let shape = |what: String| DecodeError::Shape { place: "the answer".to_owned(), what };
    let message: Message = serde_json::from_slice(body).map_err(|error| shape(error.to_string()))?;
    if let Some(error) = error_member(message.error.as_ref()) {
        return Err(error);
    }
    let Some(content) = message.content else {
        return Err(shape("it has no `content`".to_owned()));
    };
    let mut turn = TurnBuilder::default();
    turn.model = message.model;
    if let Some(usage) = &message.usage {
        count(&mut turn, usage);
    }
    let blocks = content.iter().map(|raw| read_block(raw, Origin::Whole).0).collect();
    Ok(finish(turn, blocks, message.stop_reason, names))
}

/// A block of an answer as far as it has been read.
#[derive(Debug)]
pub(super) enum Read {
    Text(String),
    /// `raw` is the block as it came, where it came whole.
    Thinking {
        text: String,
        signature: String,
        raw: Option<RawJson>,
    },
    Call {
        id: Option<String>,
        name: String,
        arguments: String,
        from_start: bool,
    },
    /// A block that only the provider understands; `input` is what a stream added to it.
    Opaque {
        raw: RawJson,
        input: String,
    },
}

/// Whether a block is whole or only begun.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    Whole,
    Begun,
}

/// Reads a block, and gives the words in it.
pub(super) fn read_block(raw: &RawJson, origin: Origin) -> (Read, Option<ModelEvent>) {
    let opaque = || (Read::Opaque { raw: raw.clone(), input: String::new() }, None);
    let Ok(block) = raw.to_type::<Block>() else {
        return opaque();
    };
    match block.r#type.as_str() {
        "text" => {
            let text = block.text.unwrap_or_default();
            let event = (!text.is_empty()).then(|| ModelEvent::Text(text.clone()));
            (Read::Text(text), event)
        }
        "thinking" => {
            let text = block.thinking.unwrap_or_default();
            let event = (!text.is_empty()).then(|| ModelEvent::Reasoning(text.clone()));
            let signature = block.signature.unwrap_or_default();
            let raw = (origin == Origin::Whole && !signature.trim().is_empty()).then(|| raw.clone());
            (Read::Thinking { text, signature, raw }, event)
        }
        "tool_use" => {
            let arguments = text_of(block.input.as_ref());
            let name = block.name.unwrap_or_default();
            (Read::Call { id: block.id, name, arguments, from_start: origin == Origin::Begun }, None)
        }
        _ => opaque(),
    }
}

pub(super) fn count(turn: &mut TurnBuilder, usage: &Usage) {
    if let Some(input) = usage.input_tokens {
        let written = usage.cache_creation_input_tokens.unwrap_or(0);
        let read = usage.cache_read_input_tokens.unwrap_or(0);
        turn.usage.input_tokens = input.saturating_add(written).saturating_add(read);
    }
    if let Some(output) = usage.output_tokens {
        turn.usage.output_tokens = output;
    }
}

/// Makes the turn from its blocks, in their order.
pub(super) fn finish(
    mut turn: TurnBuilder,
    blocks: Vec<Read>,
    stop_reason: Option<String>,
    names: &NameTable,
) -> ModelTurn {
    let given: Vec<Option<String>> = blocks
        .iter()
        .filter_map(|block| match block {
            Read::Call { id, .. } => Some(id.clone()),
            _ => None,
        })
        .collect();
    let mut ids = unique_ids(given.iter().map(Option::as_deref)).into_iter();
    let state =
        |key: &str, value: RawJson| ProviderState { dialect: TAG.to_owned(), key: key.to_owned(), value };
    for block in blocks {
        match block {
            Read::Text(text) if text.is_empty() => {}
            Read::Text(text) => turn.parts.push(Part::text(text)),
            Read::Thinking { text, signature, raw } => {
                let made = || {
                    (!signature.trim().is_empty()).then(|| {
                        let block =
                            ThinkingOut { r#type: "thinking", thinking: &text, signature: &signature };
                        RawJson::from_serialize(&block)
                    })
                };
                let state = raw.or_else(made).map(|value| state("thinking", value)).into_iter().collect();
                turn.part(PartKind::Reasoning(text), state);
            }
            Read::Call { name, arguments, .. } => {
                if let Some((id, minted)) = ids.next() {
                    let call = read_call(id, minted, names.name(&name), arguments, &mut turn.notes);
                    turn.part(PartKind::Call(call), Vec::new());
                }
            }
            Read::Opaque { raw, input } => {
                let value = with_input(raw, &input);
                turn.part(PartKind::Opaque, vec![state("block", value)]);
            }
        }
    }
    turn.finish(stop_reason.as_deref().map(reason), stop_reason)
}

/// A block of the provider's own tools, with the input that came in pieces.
fn with_input(raw: RawJson, input: &str) -> RawJson {
    let Some(input) = (!input.is_empty()).then(|| RawJson::parse(input).ok()).flatten() else {
        return raw;
    };
    match (raw.to_json(), input.to_json()) {
        (Ok(mut block), Ok(input)) => {
            block.set("input", input);
            RawJson::from(&block)
        }
        _ => raw,
    }
}

fn reason(raw: &str) -> FinishReason {
    match raw {
        "end_turn" | "stop_sequence" => FinishReason::Stop,
        "tool_use" => FinishReason::ToolCalls,
        "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
        "refusal" => FinishReason::Refused,
        "pause_turn" => FinishReason::Paused,
        _ => FinishReason::Other,
    }
}
