use serde::{Deserialize, Serialize};
use surehand_model::RawJson;

use crate::loose;

/// An answer, or one event of a stream.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Answer {
    #[serde(default, deserialize_with = "loose::list")]
    pub(super) candidates: Vec<Candidate>,
    #[serde(default)]
    pub(super) prompt_feedback: Option<Feedback>,
    #[serde(default)]
    pub(super) usage_metadata: Option<Usage>,
    #[serde(default, deserialize_with = "loose::text")]
    pub(super) model_version: Option<String>,
    #[serde(default)]
    pub(super) error: Option<RawJson>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Candidate {
    #[serde(default, deserialize_with = "loose::count")]
    pub(super) index: Option<u64>,
    #[serde(default)]
    pub(super) content: Option<Content>,
    #[serde(default, deserialize_with = "loose::text")]
    pub(super) finish_reason: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    pub(super) finish_message: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Content {
    #[serde(default)]
    pub(super) parts: Option<Vec<RawJson>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Feedback {
    #[serde(default, deserialize_with = "loose::text")]
    pub(super) block_reason: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Usage {
    #[serde(default, deserialize_with = "loose::count")]
    pub(super) prompt_token_count: Option<u64>,
    #[serde(default, deserialize_with = "loose::count")]
    pub(super) candidates_token_count: Option<u64>,
    #[serde(default, deserialize_with = "loose::count")]
    pub(super) thoughts_token_count: Option<u64>,
}

/// The members of a part that are read.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PartIn {
    #[serde(default)]
    pub(super) text: Option<String>,
    #[serde(default)]
    pub(super) thought: Option<bool>,
    /// Beside the call, not inside it.
    #[serde(default)]
    pub(super) thought_signature: Option<RawJson>,
    #[serde(default)]
    pub(super) function_call: Option<FunctionCall>,
    #[serde(default)]
    pub(super) inline_data: Option<InlineData>,
}

#[derive(Debug, Deserialize)]
pub(super) struct FunctionCall {
    #[serde(default, deserialize_with = "loose::text")]
    pub(super) id: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) args: Option<RawJson>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InlineData {
    #[serde(default)]
    pub(super) mime_type: String,
    #[serde(default)]
    pub(super) data: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DeclarationOut<'a> {
    pub(super) name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parameters_json_schema: Option<&'a RawJson>,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PartOut<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thought: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) function_call: Option<FunctionCallOut<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) function_response: Option<FunctionResponseOut<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) inline_data: Option<InlineData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thought_signature: Option<RawJson>,
}

#[derive(Debug, Serialize)]
pub(super) struct FunctionCallOut<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<&'a str>,
    pub(super) name: &'a str,
    pub(super) args: RawJson,
}

#[derive(Debug, Serialize)]
pub(super) struct FunctionResponseOut<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<&'a str>,
    pub(super) name: &'a str,
    pub(super) response: ResponseOut,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) parts: Vec<MediaOut>,
}

/// Always an object: `output` or `error`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum ResponseOut {
    Output(String),
    Error(String),
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MediaOut {
    pub(super) inline_data: InlineData,
}

#[derive(Debug, Serialize)]
pub(super) struct ContentOut {
    pub(super) role: &'static str,
    pub(super) parts: Vec<RawJson>,
}
