use serde::{Deserialize, Serialize};

use crate::{ContentBlock, RawJson, ToolCall, ToolResult};

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Role {
    /// The operator's instructions.
    System,
    /// The person.
    User,
    /// The model.
    Assistant,
    /// Results of the calls of the assistant message before it.
    Tool,
}

/// One message of a conversation: an ordered list of parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// In the order in which they were said; the order is kept on the way back to the provider.
    pub parts: Vec<Part>,
}

impl Message {
    /// A message of one text.
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self { role, parts: vec![Part::text(text)] }
    }

    /// The results of one turn's calls, in the order of the calls.
    pub fn results(results: Vec<ToolResult>) -> Self {
        Self {
            role: Role::Tool,
            parts: results.into_iter().map(|result| PartKind::Result(result).into()).collect(),
        }
    }

    /// The text parts, joined without anything between.
    pub fn joined_text(&self) -> String {
        self.parts
            .iter()
            .filter_map(|part| match &part.kind {
                PartKind::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    /// The calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match &part.kind {
            PartKind::Call(call) => Some(call),
            _ => None,
        })
    }

    /// The results, in order.
    pub fn tool_results(&self) -> impl Iterator<Item = &ToolResult> {
        self.parts.iter().filter_map(|part| match &part.kind {
            PartKind::Result(result) => Some(result),
            _ => None,
        })
    }
}

/// One part of a message, with whatever its provider wants to see again exactly there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// What it says.
    pub kind: PartKind,
    /// Opaque state attached to this very part (a thought signature, a cache mark). Sent back to the dialect it came from only.
    pub state: Vec<ProviderState>,
}

impl Part {
    /// A text part.
    pub fn text(text: impl Into<String>) -> Self {
        PartKind::Text(text.into()).into()
    }
}

impl From<PartKind> for Part {
    fn from(kind: PartKind) -> Self {
        Self { kind, state: Vec::new() }
    }
}

/// What a part says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PartKind {
    /// Words.
    Text(String),
    /// The model's thinking, as text for people. What must be echoed exactly is in [`Part::state`].
    Reasoning(String),
    /// A call.
    Call(ToolCall),
    /// The answer to a call.
    Result(ToolResult),
    /// A picture, a sound or a resource shown to the model.
    Media(ContentBlock),
    /// Something that only its provider understands (a redacted thought, a server-side tool's block): all of it is in
    /// [`Part::state`].
    Opaque,
}

/// JSON that one dialect wants back untouched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderState {
    /// The dialect it came from, for example `anthropic`. Never sent to another.
    pub dialect: String,
    /// What it is, for example `thoughtSignature`.
    pub key: String,
    /// As it came.
    pub value: RawJson,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Label, ResourceContents};

    #[test]
    fn a_message_written_and_read_back_is_the_same_to_the_byte() {
        let call = ToolCall::new("t1", "a", r#"{"n":1.10,"big":123456789012345678901234567890}"#);
        let state = ProviderState {
            dialect: "gemini".into(),
            key: "thoughtSignature".into(),
            value: RawJson::parse("\"x\"").unwrap(),
        };
        let resource =
            ResourceContents { uri: "file:///a".into(), mime_type: None, text: Some("t".into()), blob: None };
        let result = ToolResult {
            content: vec![
                ContentBlock::Unknown(RawJson::parse(r#"{"type":"new","v":1e2}"#).unwrap()),
                ContentBlock::Resource(resource),
            ],
            structured: Some(RawJson::parse(r#"{"z":1,"a":2}"#).unwrap()),
            label: Label::tool("s", "a"),
            ..ToolResult::text("t1".into(), "a", "")
        };
        let parts = vec![
            Part { kind: PartKind::Call(call), state: vec![state] },
            PartKind::Result(result).into(),
            PartKind::Opaque.into(),
            PartKind::Reasoning("hm".into()).into(),
        ];
        let message = Message { role: Role::Assistant, parts };
        let written = serde_json::to_string(&message).unwrap();
        assert_eq!(serde_json::from_str::<Message>(&written).unwrap(), message);
    }
}
