//! What a server author writes. The same handler serves every transport and every revision.

mod changes;
mod context;
mod offers;
mod question;

use std::future::Future;
use std::pin::Pin;

use surehand_model::{ContentBlock, RawJson, ResourceContents, Tool};

pub use self::changes::{Change, ChangeListener, Changes};
pub use self::context::{Caller, Outbox, RequestContext};
pub(crate) use self::context::{Inputs, RequestFacts, TaskSeat};
pub use self::offers::Offers;
pub use self::question::{ClientFeature, Question};
use crate::error::RpcError;
use crate::types::completion::{CompleteParams, CompleteResult};
use crate::types::prompts::{GetPromptParams, Prompt, PromptMessage};
use crate::types::resources::{Resource, ResourceTemplate};
use crate::types::tasks::TaskSupport;

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
///
/// Only what [`offers`](Self::offers) names is ever asked for. Dropping a future cancels the request. A handler may be run
/// again from its start where it asks the client something ([`RequestContext::ask`]), so what must happen once comes after the
/// last question.
pub trait ServerHandler: Send + Sync + 'static {
    /// Who this server is. Asked once.
    fn implementation(&self) -> Implementation;

    /// How to use it, for the model.
    fn instructions(&self) -> Option<String> {
        None
    }

    /// What it has: decides the capabilities that are told, and which methods exist.
    fn offers(&self) -> Offers {
        Offers::tools()
    }

    /// Its tools, always in the same order.
    fn tools(&self) -> Vec<Tool>;

    /// One of them, by its own name. Worth writing where copying them all to find one costs.
    fn tool(&self, name: &str) -> Option<Tool> {
        self.tools().into_iter().find(|tool| tool.name == name)
    }

    /// Whether calls of this tool may become tasks. Asked only where [`Offers::tasks`] is set.
    fn task_support(&self, tool: &str) -> TaskSupport {
        self.tool(tool).map_or(TaskSupport::Forbidden, |tool| TaskSupport::of(&tool))
    }

    /// Runs one tool. The arguments are whatever the caller sent (`{}` when nothing): checking them is the handler's part, and
    /// `#[tool]` does it.
    ///
    /// # Errors
    ///
    /// [`CallFailure::UnknownTool`] when there is no such tool. A tool that fails is [`ToolOutput::error`], not an error here.
    fn call<'a>(&'a self, call: ToolInvocation<'a>) -> BoxFuture<'a, Result<ToolOutput, CallFailure>>;

    /// Its resources, always in the same order.
    fn resources(&self) -> Vec<Resource> {
        Vec::new()
    }

    /// Its families of resources, always in the same order.
    fn resource_templates(&self) -> Vec<ResourceTemplate> {
        Vec::new()
    }

    /// Reads one resource, listed or not.
    ///
    /// # Errors
    ///
    /// [`CallFailure::UnknownResource`] when there is none.
    fn read<'a>(
        &'a self,
        uri: &'a str,
        context: RequestContext,
    ) -> BoxFuture<'a, Result<Vec<ResourceContents>, CallFailure>> {
        let _ = context;
        Box::pin(async move { Err(CallFailure::UnknownResource(uri.to_owned())) })
    }

    /// Its prompts, always in the same order.
    fn prompts(&self) -> Vec<Prompt> {
        Vec::new()
    }

    /// Fills in one prompt.
    ///
    /// # Errors
    ///
    /// [`CallFailure::UnknownPrompt`] when there is none, [`CallFailure::InvalidParams`] when an argument is missing.
    fn prompt(
        &self,
        params: GetPromptParams,
        context: RequestContext,
    ) -> BoxFuture<'_, Result<PromptOutput, CallFailure>> {
        let _ = context;
        Box::pin(async move { Err(CallFailure::UnknownPrompt(params.name)) })
    }

    /// Completes one argument of a prompt or a template. At most 100 values are sent on.
    ///
    /// # Errors
    ///
    /// [`CallFailure::InvalidParams`] where there is no such prompt, template or argument.
    fn complete(
        &self,
        params: CompleteParams,
        context: RequestContext,
    ) -> BoxFuture<'_, Result<CompleteResult, CallFailure>> {
        let _ = (params, context);
        Box::pin(async { Ok(CompleteResult::default()) })
    }

    /// Answers a method of an extension: the result object, without what the protocol adds to every result.
    ///
    /// # Errors
    ///
    /// [`CallFailure::UnknownMethod`] for every method that is not its own.
    fn extension<'a>(
        &'a self,
        method: &'a str,
        params: RawJson,
        context: RequestContext,
    ) -> BoxFuture<'a, Result<RawJson, CallFailure>> {
        let _ = (params, context);
        Box::pin(async move { Err(CallFailure::UnknownMethod(method.to_owned())) })
    }

    /// Where it tells of changes; `None` where nothing of it ever changes.
    fn changes(&self) -> Option<&Changes> {
        None
    }
}

/// One call as it reaches a server.
#[derive(Clone, Debug)]
pub struct ToolInvocation<'a> {
    /// The tool's own name.
    pub name: &'a str,
    /// As the caller wrote them.
    pub arguments: RawJson,
    /// Who calls, and the way back to them while the call runs.
    pub context: RequestContext,
}

impl<'a> ToolInvocation<'a> {
    /// A call that nobody on a wire waits for.
    pub fn detached(name: &'a str, arguments: RawJson) -> Self {
        Self { name, arguments, context: RequestContext::detached() }
    }
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

/// A prompt filled in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptOutput {
    /// What it is for.
    pub description: Option<String>,
    /// In order.
    pub messages: Vec<PromptMessage>,
}

/// Why a request has no result. Becomes a JSON-RPC error, or the question that is still open.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallFailure {
    /// The server has no such tool: JSON-RPC -32602.
    #[error("Unknown tool: {0}")]
    UnknownTool(String),
    /// The server has no such prompt: JSON-RPC -32602.
    #[error("Unknown prompt: {0}")]
    UnknownPrompt(String),
    /// The server has no such resource: JSON-RPC -32602, up to 2025-11-25 -32002. Holds the URI.
    #[error("Unknown resource: {0}")]
    UnknownResource(String),
    /// The server has no such method: JSON-RPC -32601.
    #[error("this server has no method `{0}`")]
    UnknownMethod(String),
    /// The parameters are wrong, in these words: JSON-RPC -32602.
    #[error("{0}")]
    InvalidParams(String),
    /// The client did not declare what this request needs: JSON-RPC -32021. Holds the capabilities object that it would have
    /// to declare.
    #[error("the client does not declare what this needs: {0}")]
    MissingCapability(RawJson),
    /// A question of [`RequestContext::ask`] has no answer yet: the client is told the question, and asks again.
    #[error("a question to the client is still open")]
    InputRequired,
    /// The client could not or would not answer a question.
    #[error("the client did not answer: {0}")]
    Unanswered(String),
    /// The server broke its own promise: JSON-RPC -32603.
    #[error("{0}")]
    Internal(String),
    /// An error of the server's own, or of another one behind it, sent as it is.
    #[error("{0}")]
    Rpc(RpcError),
}
