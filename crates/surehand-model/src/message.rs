use crate::{ContentBlock, RawJson, ToolCall, ToolResult};

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
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
        Self { role: Role::Tool, parts: results.into_iter().map(|result| PartKind::Result(result).into()).collect() }
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
#[derive(Clone, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderState {
    /// The dialect it came from, for example `anthropic`. Never sent to another.
    pub dialect: String,
    /// What it is, for example `thoughtSignature`.
    pub key: String,
    /// As it came.
    pub value: RawJson,
}
