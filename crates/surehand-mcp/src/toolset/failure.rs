use serde::Serialize;
use surehand_model::RawJson;

use crate::{CallFailure, ToolOutput};

/// Why a tool could not do what it was asked, in words a model can act on.
///
/// A model sees it as one JSON object: `{"error":code,"message":..,"retryable":bool,"suggestion"?,"did_you_mean"?}`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize)]
#[error("{message}")]
pub struct ToolFailure {
    /// For programs: `tool_failed`, `not_found`, or a word of the tool's own.
    #[serde(rename = "error")]
    pub code: String,
    /// What went wrong, as a sentence.
    pub message: String,
    /// Whether the very same call may go well later.
    pub retryable: bool,
    /// What to do instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// What may have been meant, best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub did_you_mean: Vec<String>,
}

impl ToolFailure {
    /// A failure under the code `tool_failed` that trying again will not mend.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            code: "tool_failed".to_owned(),
            message: message.into(),
            retryable: false,
            suggestion: None,
            did_you_mean: Vec::new(),
        }
    }

    /// What was named does not exist: the code `not_found`.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(message).code("not_found")
    }

    /// Under another code.
    #[must_use]
    pub fn code(mut self, code: impl Into<String>) -> Self {
        self.code = code.into();
        self
    }

    /// Trying again later may help.
    #[must_use]
    pub fn retryable(mut self) -> Self {
        self.retryable = true;
        self
    }

    /// Says what to do instead.
    #[must_use]
    pub fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }

    /// Says what may have been meant, best first.
    #[must_use]
    pub fn did_you_mean<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.did_you_mean = names.into_iter().map(Into::into).collect();
        self
    }
}

impl From<&str> for ToolFailure {
    fn from(message: &str) -> Self {
        Self::new(message)
    }
}

impl From<String> for ToolFailure {
    fn from(message: String) -> Self {
        Self::new(message)
    }
}

impl From<std::io::Error> for ToolFailure {
    fn from(error: std::io::Error) -> Self {
        Self::new(error.to_string())
    }
}

/// So that `?` hands on what [`RequestContext::ask`](crate::RequestContext::ask) gives: the protocol tells the client what it
/// really was.
impl From<CallFailure> for ToolFailure {
    fn from(failure: CallFailure) -> Self {
        Self::new(failure.to_string())
    }
}

impl From<ToolFailure> for ToolOutput {
    fn from(failure: ToolFailure) -> Self {
        ToolOutput::error(RawJson::from_serialize(&failure).as_str())
    }
}
