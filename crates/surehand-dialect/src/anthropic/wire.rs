use serde::{Deserialize, Serialize};
use surehand_model::RawJson;

use crate::loose;

/// A message, as an answer or at the start of a stream.
#[derive(Debug, Deserialize)]
pub(super) struct Message {
    #[serde(default, deserialize_with = "loose::text")]
    pub(super) model: Option<String>,
    #[serde(default)]
    pub(super) content: Option<Vec<RawJson>>,
    #[serde(default, deserialize_with = "loose::text")]
    pub(super) stop_reason: Option<String>,
    #[serde(default)]
    pub(super) usage: Option<Usage>,
    #[serde(default)]
    pub(super) error: Option<RawJson>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Usage {
    #[serde(default, deserialize_with = "loose::count")]
    pub(super) input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "loose::count")]
    pub(super) cache_creation_input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "loose::count")]
    pub(super) cache_read_input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "loose::count")]
    pub(super) output_tokens: Option<u64>,
}

/// The members of every kind of block that are read; what is not read goes back as it came.
#[derive(Debug, Deserialize)]
pub(super) struct Block {
    #[serde(default)]
    pub(super) r#type: String,
    #[serde(default, deserialize_with = "loose::text")]
    pub(super) text: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    pub(super) thinking: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    pub(super) signature: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    pub(super) id: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) input: Option<RawJson>,
}

/// One event of a stream.
#[derive(Debug, Deserialize)]
pub(super) struct Event {
    #[serde(default)]
    pub(super) r#type: String,
    #[serde(default, deserialize_with = "loose::count")]
    pub(super) index: Option<u64>,
    #[serde(default)]
    pub(super) message: Option<Message>,
    #[serde(default)]
    pub(super) content_block: Option<RawJson>,
    #[serde(default)]
    pub(super) delta: Option<Delta>,
    #[serde(default)]
    pub(super) usage: Option<Usage>,
    #[serde(default)]
    pub(super) error: Option<RawJson>,
}

/// What an event adds to a block, or to the message.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Delta {
    #[serde(default)]
    pub(super) r#type: String,
    #[serde(default, deserialize_with = "loose::text")]
    pub(super) text: Option<String>,
    /// A text; some servers send the object itself.
    #[serde(default)]
    pub(super) partial_json: Option<RawJson>,
    #[serde(default, deserialize_with = "loose::text")]
    pub(super) thinking: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    pub(super) signature: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    pub(super) stop_reason: Option<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct ToolOut<'a> {
    pub(super) name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) description: &'a str,
    pub(super) input_schema: &'a RawJson,
}

/// A block that goes out. Serialising only, so that raw JSON inside keeps its bytes.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum BlockOut<'a> {
    Text {
        text: &'a str,
    },
    Image {
        source: SourceOut<'a>,
    },
    Document {
        source: SourceOut<'a>,
    },
    ToolUse {
        id: &'a str,
        name: &'a str,
        input: RawJson,
    },
    ToolResult {
        tool_use_id: &'a str,
        content: RawJson,
        #[serde(skip_serializing_if = "is_false")]
        is_error: bool,
    },
}

fn is_false(value: &bool) -> bool {
    !value
}

#[derive(Debug, Serialize)]
pub(super) struct SourceOut<'a> {
    pub(super) r#type: &'static str,
    pub(super) media_type: &'a str,
    pub(super) data: &'a str,
}

/// A block of thinking put together from a stream.
#[derive(Debug, Serialize)]
pub(super) struct ThinkingOut<'a> {
    pub(super) r#type: &'static str,
    pub(super) thinking: &'a str,
    pub(super) signature: &'a str,
}

/// A message that goes out.
#[derive(Debug, Serialize)]
pub(super) struct MessageOut {
    pub(super) role: &'static str,
    pub(super) content: Vec<RawJson>,
}
