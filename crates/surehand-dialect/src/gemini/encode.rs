use surehand_model::{ContentBlock, ModelRequest, Note, Part, PartKind, RawJson};

use super::TAG;
use super::wire::{
    ContentOut, DeclarationOut, FunctionCallOut, FunctionResponseOut, InlineData, MediaOut, PartOut,
    ResponseOut,
};
use crate::content::{Carries, Piece, pieces, result_pieces};
use crate::history::{Answer, Said, Turn, WireCall, arrange};
use crate::members::Members;
use crate::prepare::{Choice, milli, prepare};
use crate::{EncodeOptions, Encoded, IdRule, NameRule, SchemaTarget};

/// Stands in for the signature of a call that another model made; base64 of the words that the provider's guide gives for it.
const NO_SIGNATURE: &str = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=";

pub(super) fn encode(request: &ModelRequest, options: EncodeOptions<'_>) -> Encoded {
    let rule = NameRule { max: options.quirks.name_max, also: ".:", starts_with_letter: true };
    let prepared = prepare(request, rule, SchemaTarget::Gemini);
    let mut history = arrange(&request.messages, &prepared.names, IdRule::Any);
    let mut notes = prepared.notes;
    notes.append(&mut history.notes);

    let third = is_third_generation(&request.model);
    let mut contents: Vec<ContentOut> = Vec::new();
    for turn in &history.turns {
        match turn {
            Turn::User(parts) => push(&mut contents, "user", user(parts)),
            Turn::Assistant(said) => push(&mut contents, "model", assistant(said, third)),
            Turn::Results(answers) => {
                push(&mut contents, "user", answers.iter().map(|answer| response(answer, third)).collect());
                if !third {
                    push(&mut contents, "user", media_after(answers, &mut notes));
                }
            }
        }
    }

    let mut body = Members::new();
    if !history.system.is_empty() {
        let text = history.system.join("\n\n");
        let parts = [part(&PartOut { text: Some(&text), ..PartOut::default() })];
        body = body.with("systemInstruction", &Members::new().with("parts", &parts));
    }
    body = body.with("contents", &contents);
    let declarations: Vec<DeclarationOut<'_>> = prepared
        .tools
        .iter()
        .map(|prepared| DeclarationOut {
            name: &prepared.name,
            description: &prepared.tool.description,
            parameters_json_schema: prepared.schema.as_ref(),
        })
        .collect();
    if !declarations.is_empty() {
        body = body.with("tools", &[Members::new().with("functionDeclarations", &declarations)]);
        let config = match &prepared.choice {
            Choice::Auto => None,
            Choice::None => Some(Members::new().with("mode", "NONE")),
            Choice::Required => Some(Members::new().with("mode", "ANY")),
            Choice::Named(name) => {
                Some(Members::new().with("mode", "ANY").with("allowedFunctionNames", &[name]))
            }
        };
        if let Some(config) = config {
            body = body.with("toolConfig", &Members::new().with("functionCallingConfig", &config));
        }
    }
    let limits = Members::new()
        .with_some("temperature", request.sampling.temperature_milli.map(milli))
        .with_some("topP", request.sampling.top_p_milli.map(milli))
        .with_some("maxOutputTokens", request.max_output_tokens);
    if ["temperature", "topP", "maxOutputTokens"].iter().any(|key| limits.has(key)) {
        body = body.with("generationConfig", &limits);
    }
    for (key, text) in options.quirks.extra_body.iter() {
        if let Ok(value) = RawJson::parse(*text) {
            body.put(key, value);
        }
    }
    let method = if options.stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
    Encoded {
        path: format!("/{}:{method}", model_path(&request.model)),
        headers: Vec::new(),
        body: body.to_body(),
        names: prepared.names,
        notes,
    }
}

fn push(contents: &mut Vec<ContentOut>, role: &'static str, parts: Vec<RawJson>) {
    if !parts.is_empty() {
        contents.push(ContentOut { role, parts });
    }
}

/// `models/NAME`, unless the name says where it is. Characters that a path cannot hold are escaped.
fn model_path(model: &str) -> String {
    let model = if model.contains('/') { model.to_owned() } else { format!("models/{model}") };
    let mut path = String::new();
    for byte in model.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                path.push(char::from(byte))
            }
            _ => path.push_str(&format!("%{byte:02X}")),
        }
    }
    path
}

/// Whether the model demands signatures on calls and takes media inside results: Gemini 3 and later.
fn is_third_generation(model: &str) -> bool {
    let Some((_, version)) = model.rsplit_once("gemini-") else {
        return false;
    };
    let major: String = version.chars().take_while(char::is_ascii_digit).collect();
    major.parse::<u32>().is_ok_and(|major| major >= 3)
}

const SHOWN: Carries = Carries { images: true, audio: true, files: true };

fn user(parts: &[&Part]) -> Vec<RawJson> {
    let mut written = Vec::new();
    for one in parts {
        match &one.kind {
            PartKind::Text(text) if !text.trim().is_empty() => {
                written.push(part(&PartOut { text: Some(text), ..PartOut::default() }));
            }
            PartKind::Media(block) => {
                written.extend(pieces(std::slice::from_ref(block), SHOWN).iter().map(piece_part));
            }
            _ => {}
        }
    }
    written
}

fn piece_part(piece: &Piece<'_>) -> RawJson {
    match inline(piece) {
        Some(inline_data) => part(&PartOut { inline_data: Some(inline_data), ..PartOut::default() }),
        None => part(&PartOut { text: Some(&piece.in_words("not shown")), ..PartOut::default() }),
    }
}

fn inline(piece: &Piece<'_>) -> Option<InlineData> {
    match piece {
        Piece::Text(_) => None,
        Piece::Image { data, mime_type }
        | Piece::Audio { data, mime_type }
        | Piece::File { data, mime_type, .. } => {
            Some(InlineData { mime_type: (*mime_type).to_owned(), data: (*data).to_owned() })
        }
    }
}

fn assistant(said: &[Said<'_>], third: bool) -> Vec<RawJson> {
    let first_call = said.iter().position(|said| said.call.is_some());
    said.iter()
        .enumerate()
        .filter_map(|(at, said)| {
            let signature = said.state(TAG, "thoughtSignature").map(|state| state.value.clone());
            let signed = signature.is_some();
            let out = PartOut { thought_signature: signature, ..PartOut::default() };
            match (&said.part.kind, &said.call) {
                (_, Some(wire)) => {
                    let missing = third && first_call == Some(at) && !signed;
                    let thought_signature = if missing {
                        Some(RawJson::from_serialize(NO_SIGNATURE))
                    } else {
                        out.thought_signature
                    };
                    let args = wire.call.arguments_or_empty();
                    let call = FunctionCallOut { id: own_id(wire), name: &wire.name, args };
                    Some(part(&PartOut {
                        function_call: Some(call),
                        thought_signature,
                        ..PartOut::default()
                    }))
                }
                // A part that says nothing may still carry a signature.
                (PartKind::Text(text), _) if signed || !text.trim().is_empty() => {
                    Some(part(&PartOut { text: Some(text), ..out }))
                }
                (PartKind::Reasoning(text), _) if signed => {
                    Some(part(&PartOut { text: Some(text), thought: Some(true), ..out }))
                }
                (PartKind::Media(block), _) => {
                    let piece = pieces(std::slice::from_ref(block), SHOWN).into_iter().next()?;
                    Some(part(&PartOut { inline_data: Some(inline(&piece)?), ..out }))
                }
                (PartKind::Opaque, _) => said.state(TAG, "part").map(|state| state.value.clone()),
                _ => None,
            }
        })
        .collect()
}

/// The id, where the provider gave one itself.
fn own_id<'a>(wire: &'a WireCall<'_>) -> Option<&'a str> {
    (!wire.call.id_minted).then_some(wire.id.as_str())
}

fn response(answer: &Answer<'_>, third: bool) -> RawJson {
    let mut texts = Vec::new();
    let mut parts = Vec::new();
    for piece in result_pieces(&answer.result, SHOWN) {
        match inline(&piece) {
            Some(inline_data) if third => parts.push(MediaOut { inline_data }),
            Some(_) => texts.push(piece.in_words("shown in the next message")),
            None => texts.push(piece.in_words("")),
        }
    }
    let text = texts.join("\n");
    let response = if answer.result.is_error { ResponseOut::Error(text) } else { ResponseOut::Output(text) };
    let response = FunctionResponseOut { id: own_id(&answer.to), name: &answer.to.name, response, parts };
    part(&PartOut { function_response: Some(response), ..PartOut::default() })
}

/// Media of results for models that take only words in them.
fn media_after(answers: &[Answer<'_>], notes: &mut Vec<Note>) -> Vec<RawJson> {
    let mut parts = Vec::new();
    for answer in answers {
        let blocks: &[ContentBlock] = &answer.result.content;
        let media: Vec<RawJson> =
            pieces(blocks, SHOWN).iter().filter(|piece| inline(piece).is_some()).map(piece_part).collect();
        if !media.is_empty() {
            let text = format!("From the result of {}:", answer.to.name);
            parts.push(part(&PartOut { text: Some(&text), ..PartOut::default() }));
            parts.extend(media);
        }
    }
    if !parts.is_empty() {
        notes.push(Note::new(
            "results",
            "media of results follows in a message of its own",
            "this model takes only words in results",
        ));
    }
    parts
}

fn part(part: &PartOut<'_>) -> RawJson {
    RawJson::from_serialize(part)
}
