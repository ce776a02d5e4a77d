use serde::{Deserialize, Serialize};

use crate::{Message, Note, Part, Role, ToolCall};

/// What a model said in one go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelTurn {
    /// In the order in which it was said.
    pub parts: Vec<Part>,
    /// Why it stopped.
    pub finish: Finish,
    /// What it cost.
    pub usage: Usage,
    /// The model that answered, as it names itself.
    pub model: Option<String>,
    /// Every quirk met and repair made on the way in.
    pub notes: Vec<Note>,
}

impl ModelTurn {
    /// The turn as a message of the conversation.
    pub fn to_message(&self) -> Message {
        Message { role: Role::Assistant, parts: self.parts.clone() }
    }
}

/// Why a model stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finish {
    /// In our words.
    pub reason: FinishReason,
    /// In the provider's.
    pub raw: Option<String>,
}

/// Why a model stopped, in our words. What happens next is decided by whether there are whole calls, never by this alone;
/// but nothing is run after [`FinishReason::Length`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FinishReason {
    /// It had no more to say.
    #[default]
    Stop,
    /// It waits for results.
    ToolCalls,
    /// It was cut off at a limit.
    Length,
    /// It was stopped by a filter, or would not.
    Refused,
    /// It asks to be called again with the same conversation.
    Paused,
    /// Anything else; [`Finish::raw`] says what.
    Other,
}

/// Tokens counted by the provider. 0 where it did not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read, cached ones included.
    pub input_tokens: u64,
    /// Tokens written, reasoning included.
    pub output_tokens: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
    }
}

/// Something that happened while a model was speaking. For showing only: the [`ModelTurn`] is what counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelEvent {
    /// More of the answer.
    Text(String),
    /// More of the thinking.
    Reasoning(String),
    /// A call whose name is known; its arguments may still be on the way.
    CallStarted {
        /// As the model wrote it.
        name: String,
    },
    /// A whole call.
    Call(ToolCall),
    /// Something worth telling, such as a retry or the progress of loading a model.
    Note(Note),
}
