use serde::{Deserialize, Serialize};
use surehand_model::RawJson;

use crate::loose;

/// An answer, or one event of a stream: the same members, with `message` in the one and `delta` in the other.
#[derive(Debug, Deserialize)]
pub(super) struct Answer {
    #[serde(default, deserialize_with = "loose::text")]
    pub(super) model: Option<String>,
    #[serde(default, deserialize_with = "loose::list")]
    pub(super) choices: Vec<Choice>,
    #[serde(default)]
    pub(super) usage: Option<Usage>,
    #[serde(default)]
    pub(super) error: Option<RawJson>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Choice {
    #[serde(default, deserialize_with = "loose::count")]
    pub(super) index: Option<u64>,
    #[serde(default)]
    pub(super) message: Option<Message>,
    #[serde(default)]
    pub(super) delta: Option<Message>,
    #[serde(default, deserialize_with = "loose::text")]
    pub(super) finish_reason: Option<String>,
    #[serde(default)]
    pub(super) error: Option<RawJson>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Message {
    /// A text, `null`, or a list of blocks.
    #[serde(default)]
    pub(super) content: Option<RawJson>,
    #[serde(default, deserialize_with = "loose::text")]
    pub(super) refusal: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    pub(super) reasoning_content: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    pub(super) reasoning: Option<String>,
    #[serde(default)]
    pub(super) reasoning_details: Option<RawJson>,
    #[serde(default, deserialize_with = "loose::list")]
    pub(super) tool_calls: Vec<Call>,
    /// How calls came before `tool_calls`.
    #[serde(default)]
    pub(super) function_call: Option<Function>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Call {
    #[serde(default, deserialize_with = "loose::count")]
    pub(super) index: Option<u64>,
    #[serde(default, deserialize_with = "loose::text")]
    pub(super) id: Option<String>,
    #[serde(default)]
    pub(super) function: Option<Function>,
    #[serde(default)]
    pub(super) custom: Option<Custom>,
    /// Where Gemini's endpoint keeps its thought signatures.
    #[serde(default)]
    pub(super) extra_content: Option<RawJson>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Function {
    /// Some servers count here.
    #[serde(default, deserialize_with = "loose::count")]
    pub(super) index: Option<u64>,
    #[serde(default, deserialize_with = "loose::text")]
    pub(super) name: Option<String>,
    /// A text, an object, or `null`.
    #[serde(default)]
    pub(super) arguments: Option<RawJson>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Custom {
    #[serde(default, deserialize_with = "loose::text")]
    pub(super) name: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    pub(super) input: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Usage {
    #[serde(default, deserialize_with = "loose::count")]
    pub(super) prompt_tokens: Option<u64>,
    #[serde(default, deserialize_with = "loose::count")]
    pub(super) completion_tokens: Option<u64>,
}

/// A block of a message: what is said as a list instead of a text.
#[derive(Debug, Deserialize)]
pub(super) struct Block {
    #[serde(default)]
    pub(super) r#type: String,
    #[serde(default)]
    pub(super) text: Option<String>,
    /// Mistral: a text, or a list of blocks.
    #[serde(default)]
    pub(super) thinking: Option<RawJson>,
    #[serde(default)]
    pub(super) refusal: Option<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct ToolOut<'a> {
    pub(super) r#type: &'static str,
    pub(super) function: FunctionOut<'a>,
}

#[derive(Debug, Serialize)]
pub(super) struct FunctionOut<'a> {
    pub(super) name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parameters: Option<&'a RawJson>,
}

#[derive(Debug, Serialize)]
pub(super) struct CalledOut<'a> {
    pub(super) name: &'a str,
    pub(super) arguments: String,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum BlockOut {
    Text { text: String },
    ImageUrl { image_url: UrlOut },
    InputAudio { input_audio: AudioOut },
}

#[derive(Debug, Serialize)]
pub(super) struct UrlOut {
    pub(super) url: String,
}

#[derive(Debug, Serialize)]
pub(super) struct AudioOut {
    pub(super) data: String,
    pub(super) format: String,
}
