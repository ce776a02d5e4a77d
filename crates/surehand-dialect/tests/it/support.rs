use surehand_dialect::{
    Anthropic, DecodeError, Dialect, EncodeOptions, Encoded, Gemini, NameTable, OpenAi, Quirks, StreamDecoder,
};
use surehand_model::{Message, ModelEvent, ModelRequest, ModelTurn, RawJson, Role, Tool, ToolCall};

/// The tools that every case offers. The last two have names and a schema that providers refuse as they are.
pub(crate) fn tools() -> Vec<Tool> {
    let schema = |text: &str| RawJson::parse(text).unwrap();
    vec![
        Tool::new(
            "weather__get_weather",
            "Tells the weather of a city.",
            schema(r#"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}"#),
        ),
        Tool::new("time__now", "Tells the time.", schema("{}")),
        Tool::new(
            "files.read file",
            "",
            schema(r#"{"anyOf":[{"properties":{"path":{"type":"string"}},"required":["path"]}]}"#),
        ),
    ]
}

pub(crate) fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest::new("test-model", messages, tools())
}

pub(crate) fn question() -> ModelRequest {
    request(vec![Message::text(Role::User, "上海、北京?")])
}

pub(crate) fn dialect(name: &str) -> Box<dyn Dialect> {
    match name {
        "openai" => Box::new(OpenAi::new()),
        "anthropic" => Box::new(Anthropic),
        "gemini" => Box::new(Gemini),
        other => panic!("no dialect {other}"),
    }
}

pub(crate) const DIALECTS: [&str; 3] = ["anthropic", "gemini", "openai"];

pub(crate) fn quirks(dialect: &str) -> Quirks {
    if dialect == "openai" { Quirks::UNKNOWN_ENDPOINT } else { Quirks::DEFAULT }
}

pub(crate) fn encode(name: &str, request: &ModelRequest) -> Encoded {
    encode_with(name, request, &quirks(name))
}

pub(crate) fn encode_with(name: &str, request: &ModelRequest, quirks: &Quirks) -> Encoded {
    dialect(name).encode(request, EncodeOptions { stream: false, quirks })
}

/// The body that a request becomes.
pub(crate) fn body(encoded: &Encoded) -> serde_json::Value {
    serde_json::from_slice(&encoded.body).unwrap()
}

pub(crate) fn names(name: &str) -> NameTable {
    encode(name, &question()).names
}

pub(crate) type Streamed = Result<(Vec<ModelEvent>, ModelTurn), DecodeError>;

/// Reads a stream of events given by their data.
pub(crate) fn stream<T: AsRef<str>>(name: &str, events: impl IntoIterator<Item = T>) -> Streamed {
    let mut decoder: Box<dyn StreamDecoder> = dialect(name).stream(&names(name));
    let mut said = Vec::new();
    for event in events {
        said.extend(decoder.event(None, event.as_ref())?);
    }
    let (last, turn) = decoder.finish()?;
    said.extend(last);
    Ok((said, turn))
}

/// Calls of a turn, short: id, name, arguments, or why they are none.
pub(crate) fn calls(turn: &ModelTurn) -> Vec<String> {
    turn.to_message()
        .calls()
        .map(|call: &ToolCall| {
            let arguments = match (&call.arguments, call.truncated) {
                (_, true) => format!("cut off: {}", call.raw_arguments),
                (None, false) => format!("unreadable: {}", call.raw_arguments),
                (Some(arguments), false) => arguments.to_string(),
            };
            format!("{} {} {arguments}", call.id, call.name)
        })
        .collect()
}
