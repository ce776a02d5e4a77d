use crate::{Message, Tool};

/// One question to a model: the conversation so far and the tools it may call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelRequest {
    /// The model's name as its provider knows it, without the provider's prefix.
    pub model: String,
    /// The conversation, oldest first. Every call in it is answered in the message right after it.
    pub messages: Vec<Message>,
    /// In a stable order, so that prefix caches hold.
    pub tools: Vec<Tool>,
    /// Whether and what it must call.
    pub tool_choice: ToolChoice,
    /// Whether several calls in one turn are welcome.
    pub parallel_calls: bool,
    /// The most tokens it may write, or the provider's own limit.
    pub max_output_tokens: Option<u32>,
    /// How it picks its words.
    pub sampling: Sampling,
}

impl ModelRequest {
    /// A request with everything at its default.
    pub fn new(model: impl Into<String>, messages: Vec<Message>, tools: Vec<Tool>) -> Self {
        Self {
            model: model.into(),
            messages,
            tools,
            tool_choice: ToolChoice::Auto,
            parallel_calls: true,
            max_output_tokens: None,
            sampling: Sampling::default(),
        }
    }
}

/// How the model picks its words. Thousandths, so that the type is exact and comparable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sampling {
    /// 0 to 2000; `None` leaves it to the provider.
    pub temperature_milli: Option<u32>,
    /// 0 to 1000; `None` leaves it to the provider.
    pub top_p_milli: Option<u32>,
}

/// Whether and what the model must call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// As it likes.
    #[default]
    Auto,
    /// Nothing.
    None,
    /// At least one tool.
    Required,
    /// This one.
    Named(String),
}
