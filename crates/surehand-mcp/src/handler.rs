use std::future::Future;
use std::pin::Pin;

use surehand_model::{ContentBlock, RawJson, Tool};

use crate::error::RpcError;

/// A boxed future that may move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Who somebody is, on the wire of every revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Implementation {
    /// For machines, for example `surehand-time`.
    pub name: String,
    /// For people.
    pub title: Option<String>,
    /// Free form.
    pub version: String,
}

/// What a server author writes: the same handler serves every transport and every revision.
pub trait ServerHandler: Send + Sync + 'static {
    /// Who this server is.
    fn implementation(&self) -> Implementation;

    /// How to use it, for the model.
    fn instructions(&self) -> Option<String> {
        None
    }

    /// Its tools, always in the same order.
    fn tools(&self) -> Vec<Tool>;

    /// One of them, by its own name. Worth writing where copying them all to find one costs.
    fn tool(&self, name: &str) -> Option<Tool> {
        self.tools().into_iter().find(|tool| tool.name == name)
    }

    /// Runs one tool. The arguments are whatever the caller sent (`{}` when nothing): checking them is the handler's part, and
    /// `#[tool]` does it.
    ///
    /// Dropping the future cancels the call.
    ///
    /// # Errors
    ///
    /// [`CallFailure::UnknownTool`] when there is no such tool. A tool that fails is [`ToolOutput::error`], not an error here.
    fn call<'a>(&'a self, call: ToolInvocation<'a>) -> BoxFuture<'a, Result<ToolOutput, CallFailure>>;
}

/// One call as it reaches a server.
#[derive(Clone, Debug)]
pub struct ToolInvocation<'a> {
    /// The tool's own name.
    pub name: &'a str,
    /// As the caller wrote them.
    pub arguments: RawJson,
}

/// What a tool gives back: content for a model, and the same thing structured where the tool has an output schema.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolOutput {
    /// In order.
    pub content: Vec<ContentBlock>,
    /// Any JSON value.
    pub structured: Option<RawJson>,
    /// The tool failed; the content says how, in words a model can act on.
    pub is_error: bool,
    /// The whole result as another server gave it, where this is one that is handed on. It goes out byte for byte, unless the
    /// revision has no words for a part of it; then the other fields are written.
    pub whole: Option<RawJson>,
}

impl ToolOutput {
    /// One text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![ContentBlock::Text(text.into())], ..Self::default() }
    }

    /// A failure, in words a model can act on.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }
}

/// Why a call never reached a tool. Becomes a JSON-RPC error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallFailure {
    /// The server has no such tool: JSON-RPC -32602.
    #[error("Unknown tool: {0}")]
    UnknownTool(String),
    /// The server broke its own promise: JSON-RPC -32603.
    #[error("{0}")]
    Internal(String),
    /// What another server answered, handed on as it is.
    #[error("{0}")]
    Rpc(RpcError),
}
