use surehand_model::{ContentBlock, ModelRequest, Part, PartKind, RawJson};

use super::TAG;
use super::wire::{BlockOut, MessageOut, SourceOut, ToolOut};
use crate::content::{Carries, Piece, in_words, pieces, result_pieces};
use crate::history::{Answer, Said, Turn, arrange};
use crate::members::Members;
use crate::prepare::{Choice, milli, prepare};
use crate::{EncodeOptions, Encoded, IdRule, NameRule, SchemaTarget};

/// The most tokens an answer may take where the request does not say; the provider demands a number.
const DEFAULT_MAX_TOKENS: u32 = 16_384;

pub(super) fn encode(request: &ModelRequest, options: EncodeOptions<'_>) -> Encoded {
    let rule = NameRule { max: options.quirks.name_max, also: "", starts_with_letter: false };
    let prepared = prepare(request, rule, SchemaTarget::Anthropic);
    let mut history = arrange(&request.messages, &prepared.names, IdRule::Word);
    let mut notes = prepared.notes;
    notes.append(&mut history.notes);

    let mut messages: Vec<MessageOut> = Vec::new();
    for turn in &history.turns {
        let (role, content) = match turn {
            Turn::User(parts) => ("user", user(parts)),
            Turn::Assistant(said) => ("assistant", said.iter().filter_map(assistant_block).collect()),
            Turn::Results(answers) => ("user", answers.iter().map(result_block).collect()),
        };
        if content.is_empty() {
            continue;
        }
        match messages.last_mut() {
            // Results come first in a person's message, and whatever the person adds stands behind them.
            Some(last) if last.role == "user" && role == "user" => last.content.extend(content),
            _ => messages.push(MessageOut { role, content }),
        }
    }

    let mut body = Members::new()
        .with("model", &request.model)
        .with("max_tokens", &request.max_output_tokens.unwrap_or(DEFAULT_MAX_TOKENS))
        .with_some("system", (!history.system.is_empty()).then(|| history.system.join("\n\n")))
        .with("messages", &messages)
        .with_some("temperature", request.sampling.temperature_milli.map(milli))
        .with_some("top_p", request.sampling.top_p_milli.map(milli));
    let nothing = RawJson::empty_object();
    let tools: Vec<ToolOut<'_>> = prepared
        .tools
        .iter()
        .map(|prepared| ToolOut {
            name: &prepared.name,
            description: &prepared.tool.description,
            input_schema: prepared.schema.as_ref().unwrap_or(&nothing),
        })
        .collect();
    if !tools.is_empty() {
        body = body.with("tools", &tools);
        let choice = match &prepared.choice {
            Choice::Auto if request.parallel_calls => None,
            Choice::Auto => Some(Members::new().with("type", "auto")),
            Choice::None => Some(Members::new().with("type", "none")),
            Choice::Required => Some(Members::new().with("type", "any")),
            Choice::Named(name) => Some(Members::new().with("type", "tool").with("name", name)),
        };
        if let Some(mut choice) = choice {
            if !request.parallel_calls && prepared.choice != Choice::None {
                choice = choice.with("disable_parallel_tool_use", &true);
            }
            body = body.with("tool_choice", &choice);
        }
    }
    if options.stream {
        body = body.with("stream", &true);
    }
    for (key, text) in options.quirks.extra_body.iter() {
        if let Ok(value) = RawJson::parse(*text) {
            body.put(key, value);
        }
    }
    Encoded {
        path: "/messages".to_owned(),
        headers: vec![("anthropic-version", "2023-06-01".to_owned())],
        body: body.to_body(),
        names: prepared.names,
        notes,
    }
}

const SHOWN: Carries = Carries { images: true, audio: false, files: true };

fn user(parts: &[&Part]) -> Vec<RawJson> {
    let mut blocks = Vec::new();
    for part in parts {
        match &part.kind {
            PartKind::Text(text) if !text.trim().is_empty() => blocks.push(raw(&BlockOut::Text { text })),
            PartKind::Media(block) => blocks.extend(content(std::slice::from_ref(block))),
            _ => {}
        }
    }
    blocks
}

fn assistant_block(said: &Said<'_>) -> Option<RawJson> {
    if let Some(wire) = &said.call {
        let input = wire.call.arguments_or_empty();
        return Some(raw(&BlockOut::ToolUse { id: &wire.id, name: &wire.name, input }));
    }
    match &said.part.kind {
        PartKind::Text(text) if !text.trim().is_empty() => Some(raw(&BlockOut::Text { text })),
        PartKind::Media(block) => Some(raw(&BlockOut::Text { text: &in_words(block) })),
        // Exactly as it came, or not at all.
        PartKind::Reasoning(_) | PartKind::Opaque => {
            said.part.state.iter().find(|state| state.dialect == TAG).map(|state| state.value.clone())
        }
        _ => None,
    }
}

fn result_block(answer: &Answer<'_>) -> RawJson {
    let pieces = result_pieces(&answer.result, SHOWN);
    let content = match &pieces[..] {
        [Piece::Text(text)] => RawJson::from_serialize(text),
        _ => RawJson::from_serialize(&pieces.iter().map(piece_block).collect::<Vec<_>>()),
    };
    raw(&BlockOut::ToolResult { tool_use_id: &answer.to.id, content, is_error: answer.result.is_error })
}

fn content(blocks: &[ContentBlock]) -> Vec<RawJson> {
    pieces(blocks, SHOWN).iter().map(piece_block).collect()
}

fn piece_block(piece: &Piece<'_>) -> RawJson {
    let source = |data, media_type| SourceOut { r#type: "base64", media_type, data };
    match piece {
        Piece::Image { data, mime_type } if is_known_image(mime_type) => {
            raw(&BlockOut::Image { source: source(data, mime_type) })
        }
        Piece::File { data, mime_type, .. } if *mime_type == "application/pdf" => {
            raw(&BlockOut::Document { source: source(data, mime_type) })
        }
        other => raw(&BlockOut::Text { text: &other.in_words("this model cannot be shown it") }),
    }
}

fn is_known_image(mime_type: &str) -> bool {
    matches!(mime_type, "image/png" | "image/jpeg" | "image/gif" | "image/webp")
}

fn raw(block: &BlockOut<'_>) -> RawJson {
    RawJson::from_serialize(block)
}
