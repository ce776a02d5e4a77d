use std::fmt;

use serde::{Deserialize, Serialize};

use crate::RawJson;

/// The id under which one call is answered, exactly once. Unique within a turn.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub String);

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for CallId {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

/// "Call this with that", as a model said it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Under which it is answered.
    pub id: CallId,
    /// The provider gave no id, so this one was made here; it is left out again on the way to providers without ids.
    pub id_minted: bool,
    /// The tool's name as the model wrote it. It may name nothing.
    pub name: String,
    /// The arguments as the model wrote them, character for character; not necessarily JSON.
    pub raw_arguments: String,
    /// The arguments as JSON. `None` when `raw_arguments` cannot be read as one JSON value; such a call is never run.
    /// Nothing at all (empty, blank or `null`) reads as `{}`.
    pub arguments: Option<RawJson>,
    /// The model was cut off (length limit, stream ended early) before this call was known to be whole. Never run.
    pub truncated: bool,
}

impl ToolCall {
    /// A whole call from the text of its arguments. Empty, blank and `null` text are `{}`.
    pub fn new(id: impl Into<String>, name: impl Into<String>, raw_arguments: impl Into<String>) -> Self {
        let raw_arguments = raw_arguments.into();
        let arguments = match raw_arguments.trim() {
            "" | "null" => Some(RawJson::empty_object()),
            text => RawJson::parse(text).ok(),
        };
        Self {
            id: CallId(id.into()),
            id_minted: false,
            name: name.into(),
            raw_arguments,
            arguments,
            truncated: false,
        }
    }

    /// The arguments where a provider demands an object: as parsed if they are one, else `{}`.
    /// For the history that is sent back only; a call is never run with this in place of what cannot be read.
    pub fn arguments_or_empty(&self) -> RawJson {
        match &self.arguments {
            Some(arguments) if arguments.is_object() => arguments.clone(),
            _ => RawJson::empty_object(),
        }
    }
}
