use schemars::JsonSchema;
use serde::Serialize;
use surehand_model::{Json, RawJson};

use super::{ToolFailure, schema};
use crate::ToolOutput;

/// What a tool may return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not something a tool can return",
    label = "not a tool's result",
    note = "return `String`, `Text`, `Structured<T>`, `ToolOutput`, an `Option` of one of them, or a `Result` of it and `ToolFailure`"
)]
pub trait IntoToolOutput: Sized {
    /// As content for a model.
    fn into_tool_output(self) -> ToolOutput;

    /// JSON Schema of the structured part, where every success has one.
    fn output_schema() -> Option<RawJson> {
        None
    }
}

/// Words for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text(pub String);

/// A value for programs, with its schema, and the same in words for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Structured<T> {
    /// The value. Serialised, it must be a JSON object: the protocol allows nothing else.
    pub value: T,
    /// In words. `None` shows the value itself as JSON.
    pub text: Option<String>,
}

impl<T> Structured<T> {
    /// A value that a model reads as JSON.
    pub fn new(value: T) -> Self {
        Self { value, text: None }
    }

    /// The words for it.
    #[must_use]
    pub fn with_text(mut self, text: impl Into<String>) -> Self {
        self.text = Some(text.into());
        self
    }
}

/// What is said where there is nothing to give, so that no result is ever an empty string: `{"result":null,"message":..}`.
pub fn nothing_found(message: &str) -> String {
    let members = [("result", Json::Null), ("message", Json::from(message))];
    Json::Object(members.map(|(key, value)| (key.to_owned(), value)).into()).to_string()
}

impl IntoToolOutput for ToolOutput {
    fn into_tool_output(self) -> ToolOutput {
        self
    }
}

impl IntoToolOutput for String {
    fn into_tool_output(self) -> ToolOutput {
        if self.is_empty() {
            ToolOutput::text(nothing_found("The result is empty."))
        } else {
            ToolOutput::text(self)
        }
    }
}

impl IntoToolOutput for &'static str {
    fn into_tool_output(self) -> ToolOutput {
        self.to_owned().into_tool_output()
    }
}

impl IntoToolOutput for Text {
    fn into_tool_output(self) -> ToolOutput {
        self.0.into_tool_output()
    }
}

impl<T: Serialize + JsonSchema> IntoToolOutput for Structured<T> {
    fn into_tool_output(self) -> ToolOutput {
        let structured = RawJson::from_serialize(&self.value);
        let text = self.text.unwrap_or_else(|| structured.as_str().to_owned());
        ToolOutput { structured: Some(structured), ..ToolOutput::text(text) }
    }

    fn output_schema() -> Option<RawJson> {
        Some(schema::of_result::<T>())
    }
}

impl IntoToolOutput for ToolFailure {
    fn into_tool_output(self) -> ToolOutput {
        self.into()
    }
}

/// `None` says that no record matches. There is no output schema: nothing cannot fit one.
impl<T: IntoToolOutput> IntoToolOutput for Option<T> {
    fn into_tool_output(self) -> ToolOutput {
        match self {
            Some(found) => found.into_tool_output(),
            None => ToolOutput::text(nothing_found("No matching record.")),
        }
    }
}

impl<T: IntoToolOutput, E: Into<ToolFailure>> IntoToolOutput for Result<T, E> {
    fn into_tool_output(self) -> ToolOutput {
        match self {
            Ok(result) => result.into_tool_output(),
            Err(failure) => failure.into().into(),
        }
    }

    fn output_schema() -> Option<RawJson> {
        T::output_schema()
    }
}
