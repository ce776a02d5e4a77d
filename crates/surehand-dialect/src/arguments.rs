use surehand_model::{CallId, Note, RawJson, ToolCall};

/// Makes a call from what a model wrote, and says what had to be read generously.
///
/// Text that ends in the middle of a JSON value marks the call as cut off; other text that is not JSON leaves it without
/// arguments. A string that holds one JSON object is unwrapped, once.
pub(crate) fn read_call(
    id: CallId,
    id_minted: bool,
    name: String,
    raw: String,
    notes: &mut Vec<Note>,
) -> ToolCall {
    let mut call = ToolCall::new(id.0, name, raw);
    call.id_minted = id_minted;
    match &call.arguments {
        Some(arguments) => {
            if let Some(inner) = unwrapped(arguments) {
                notes.push(Note::new(
                    format!("call {}", call.name),
                    "arguments were encoded twice",
                    "the model wrote a JSON string that holds the object; the object is used",
                ));
                call.arguments = Some(inner);
            }
        }
        None => call.truncated = ends_early(&call.raw_arguments),
    }
    call
}

fn unwrapped(arguments: &RawJson) -> Option<RawJson> {
    let text: String = arguments.as_str().starts_with('"').then(|| arguments.to_type().ok())??;
    RawJson::parse(text).ok().filter(RawJson::is_object)
}

/// Whether `text` is the beginning of a JSON value that was never finished.
pub(crate) fn ends_early(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_err_and(|error| error.is_eof())
}

/// Whether `text` is a whole JSON object.
pub(crate) fn is_whole_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// What goes into the history where the provider takes an object as text: as the model wrote it if that is one, else `{}`.
pub(crate) fn history_text(call: &ToolCall) -> String {
    call.arguments_or_empty().as_str().to_owned()
}

/// The text of arguments that may come as a string, an object or `null`.
pub(crate) fn text_of(raw: Option<&RawJson>) -> String {
    match raw {
        None => String::new(),
        Some(raw) if raw.as_str().starts_with('"') => raw.to_type().unwrap_or_default(),
        Some(raw) if raw.as_str() == "null" => String::new(),
        Some(raw) => raw.as_str().to_owned(),
    }
}
