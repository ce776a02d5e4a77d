use surehand_model::{ContentBlock, ModelRequest, Note, Part, PartKind, RawJson};

use super::wire::{AudioOut, BlockOut, CalledOut, FunctionOut, ToolOut, UrlOut};
use crate::arguments::history_text;
use crate::content::{Carries, Piece, in_words, pieces, result_pieces};
use crate::history::{Answer, Said, Turn, arrange};
use crate::members::Members;
use crate::prepare::{Choice, milli, prepare};
use crate::{EchoWhen, EncodeOptions, Encoded, NameRule, ParallelFlag, Quirks, SchemaTarget};

pub(super) fn encode(tag: &str, request: &ModelRequest, options: EncodeOptions<'_>) -> Encoded {
    let quirks = options.quirks;
    let rule = NameRule { max: quirks.name_max, also: "", starts_with_letter: false };
    let prepared = prepare(request, rule, SchemaTarget::OpenAi);
    let mut history = arrange(&request.messages, &prepared.names, quirks.ids);
    let mut notes = prepared.notes;
    notes.append(&mut history.notes);

    let mut messages: Vec<Members> = history
        .system
        .iter()
        .map(|text| Members::new().with("role", "system").with("content", text))
        .collect();
    for turn in &history.turns {
        match turn {
            Turn::User(parts) => messages.extend(user(parts)),
            Turn::Assistant(said) => messages.extend(assistant(tag, said, quirks)),
            Turn::Results(answers) => results(answers, &mut messages, &mut notes),
        }
    }

    let mut body = Members::new()
        .with("model", &request.model)
        .with("messages", &messages)
        .with_some("temperature", request.sampling.temperature_milli.map(milli))
        .with_some("top_p", request.sampling.top_p_milli.map(milli))
        .with_some(quirks.max_tokens_field, request.max_output_tokens);
    if !prepared.tools.is_empty() {
        let tools: Vec<ToolOut<'_>> = prepared
            .tools
            .iter()
            .map(|prepared| ToolOut {
                r#type: "function",
                function: FunctionOut {
                    name: &prepared.name,
                    description: &prepared.tool.description,
                    parameters: prepared.schema.as_ref(),
                },
            })
            .collect();
        body = body.with("tools", &tools);
        match &prepared.choice {
            Choice::Auto => {}
            Choice::None => body = body.with("tool_choice", "none"),
            Choice::Required => body = body.with("tool_choice", quirks.required_word),
            Choice::Named(name) => {
                let function = Members::new().with("name", name);
                body = body.with(
                    "tool_choice",
                    &Members::new().with("type", "function").with("function", &function),
                );
            }
        }
        let says = match quirks.parallel_flag {
            ParallelFlag::Never => false,
            ParallelFlag::WhenOff => !request.parallel_calls,
            ParallelFlag::Always => true,
        };
        if says {
            body = body.with("parallel_tool_calls", &request.parallel_calls);
        }
    }
    if options.stream {
        body = body.with("stream", &true);
        if quirks.stream_usage {
            body = body.with("stream_options", &Members::new().with("include_usage", &true));
        }
    }
    for (key, text) in quirks.extra_body.iter() {
        match RawJson::parse(*text) {
            Ok(value) => body.put(key, value),
            Err(error) => notes.push(Note::new(
                "settings of the provider",
                format!("`{key}` was not sent"),
                error.to_string(),
            )),
        }
    }
    Encoded {
        path: "/chat/completions".to_owned(),
        headers: Vec::new(),
        body: body.to_body(),
        names: prepared.names,
        notes,
    }
}

const SHOWN: Carries = Carries { images: true, audio: true, files: false };

fn user(parts: &[&Part]) -> Option<Members> {
    let mut blocks = Vec::new();
    for part in parts {
        match &part.kind {
            PartKind::Text(text) => blocks.push(BlockOut::Text { text: text.clone() }),
            PartKind::Media(block) => blocks.extend(media(std::slice::from_ref(block))),
            PartKind::Reasoning(_) | PartKind::Call(_) | PartKind::Result(_) | PartKind::Opaque => {}
        }
    }
    user_message(blocks)
}

/// A list of blocks only where one of them is no text: not every endpoint takes lists.
fn user_message(blocks: Vec<BlockOut>) -> Option<Members> {
    let texts: Option<Vec<&str>> = blocks
        .iter()
        .map(|block| match block {
            BlockOut::Text { text } => Some(text.as_str()),
            BlockOut::ImageUrl { .. } | BlockOut::InputAudio { .. } => None,
        })
        .collect();
    let message = Members::new().with("role", "user");
    match texts {
        Some(texts) => {
            let text = texts.join("\n");
            (!text.trim().is_empty()).then(|| message.with("content", &text))
        }
        None => Some(message.with("content", &blocks)),
    }
}

fn media(content: &[ContentBlock]) -> Vec<BlockOut> {
    pieces(content, SHOWN)
        .into_iter()
        .map(|piece| match piece {
            Piece::Image { data, mime_type } => {
                BlockOut::ImageUrl { image_url: UrlOut { url: format!("data:{mime_type};base64,{data}") } }
            }
            Piece::Audio { data, mime_type } => BlockOut::InputAudio {
                input_audio: AudioOut { data: data.to_owned(), format: audio_format(mime_type).to_owned() },
            },
            other => BlockOut::Text { text: other.in_words("not shown") },
        })
        .collect()
}

fn audio_format(mime_type: &str) -> &str {
    match mime_type.rsplit('/').next().unwrap_or(mime_type) {
        "mpeg" | "mp3" => "mp3",
        "x-wav" | "wave" | "wav" => "wav",
        other => other,
    }
}

fn assistant(tag: &str, said: &[Said<'_>], quirks: &Quirks) -> Option<Members> {
    let text: String = said
        .iter()
        .filter_map(|said| match &said.part.kind {
            PartKind::Text(text) => Some(text.clone()),
            PartKind::Media(block) => Some(in_words(block)),
            _ => None,
        })
        .collect();
    let calls: Vec<Members> = said.iter().filter_map(|said| call(tag, said, quirks)).collect();
    if text.trim().is_empty() && calls.is_empty() {
        return None;
    }
    let mut message = Members::new().with("role", "assistant");
    if !text.trim().is_empty() {
        message = message.with("content", &text);
    } else if quirks.empty_content {
        message = message.with("content", "");
    }
    for echo in quirks.echo.iter() {
        let known = said
            .iter()
            .filter(|said| said.call.is_none())
            .find_map(|said| said.state(tag, echo.key))
            .map(|state| state.value.clone());
        let fallback = match echo.when {
            EchoWhen::Said => None,
            EchoWhen::Calls(text) => (!calls.is_empty()).then_some(text),
            EchoWhen::Always(text) => Some(text),
        };
        if let Some(value) = known.or_else(|| fallback.map(RawJson::from_serialize)) {
            message.put(echo.key, value);
        }
    }
    if !calls.is_empty() {
        message = message.with("tool_calls", &calls);
    }
    Some(message)
}

fn call(tag: &str, said: &Said<'_>, quirks: &Quirks) -> Option<Members> {
    let wire = said.call.as_ref()?;
    let function = CalledOut { name: &wire.name, arguments: history_text(wire.call) };
    let mut call = Members::new().with("id", &wire.id).with("type", "function").with("function", &function);
    for echo in quirks.echo.iter() {
        if let Some(state) = said.state(tag, echo.key) {
            call.put(echo.key, state.value.clone());
        }
    }
    Some(call)
}

/// Whether a model sees from the beginning of a text that it is an error: by the word, or by the first key of an object, which
/// would be no JSON any more behind another word.
fn names_itself_an_error(text: &str) -> bool {
    let start = text.trim_start();
    let start = start.strip_prefix('{').map_or(start, |inside| inside.trim_start().trim_start_matches('"'));
    start.get(..5).is_some_and(|word| word.eq_ignore_ascii_case("error"))
}

/// One message for each call, right after each other; what only a person's message can carry follows after all of them.
fn results(answers: &[Answer<'_>], messages: &mut Vec<Members>, notes: &mut Vec<Note>) {
    let mut shown = Vec::new();
    for answer in answers {
        let mut texts = Vec::new();
        for piece in result_pieces(&answer.result, SHOWN) {
            match &piece {
                Piece::Text(text) => texts.push(text.clone()),
                _ => texts.push(piece.in_words("shown in the next message")),
            }
        }
        let media_blocks: Vec<BlockOut> = media(&answer.result.content)
            .into_iter()
            .filter(|block| !matches!(block, BlockOut::Text { .. }))
            .collect();
        if !media_blocks.is_empty() {
            shown.push(BlockOut::Text {
                text: format!("From the result of {} ({}):", answer.to.name, answer.to.id),
            });
            shown.extend(media_blocks);
        }
        let mut text = texts.join("\n");
        if answer.result.is_error && !names_itself_an_error(&text) {
            text = format!("Error: {text}");
        }
        messages.push(
            Members::new().with("role", "tool").with("tool_call_id", &answer.to.id).with("content", &text),
        );
    }
    if !shown.is_empty() {
        notes.push(Note::new(
            "results",
            "media of results follows in a message of its own",
            "this provider takes only text in results",
        ));
        messages.extend(user_message(shown));
    }
}
