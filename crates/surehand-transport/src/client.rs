//! A connection to one server, whatever lies between.

mod authorize;
mod child;
mod error;
mod in_process;
mod questions;
mod streamable;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use surehand_mcp::{
    CallTool, CallToolParams, CallToolResult, Complete, CompleteParams, CompleteResult, Era, GetPrompt,
    GetPromptParams, GetPromptResult, Implementation, InputRequired, ListPrompts, ListResourceTemplates,
    ListResources, ListTools, Listed, Listing, Method, PagedMethod, Paging, Progress, Prompt, ReadResource,
    ReadResourceParams, ReadResourceResult, ReadResult, Resource, ResourceTemplate, ServerFacts,
    ServerHandler, ServerNotice,
};
use surehand_model::{ContentBlock, Note, RawJson, Secret, Tool};
use surehand_sandbox::ChildSpec;
use url::Url;

pub use self::authorize::{Authorizer, Challenge, Credentials, Retry};
use self::child::ChildWire;
pub use self::error::{ClientError, OpenError};
use self::in_process::InProcess;
pub use self::questions::Elicitor;
use self::questions::Questions;
use self::streamable::HttpWire;
use crate::http::HttpClient;

/// How often a server may ask for input before it answers one request.
const INPUT_ROUNDS: usize = 8;

/// What a server may ask for input before it answers. Source: MCP 2026-07-28, "Multi round-trip requests".
const MAY_ASK_FIRST: [&str; 3] = [CallTool::NAME, GetPrompt::NAME, ReadResource::NAME];

/// Where a server is.
#[derive(Clone)]
pub enum Target {
    /// A process of our own, spoken to over its standard streams.
    Child(ChildSpec),
    /// Behind an address.
    Http(HttpTarget),
    /// In this process.
    InProcess(Arc<dyn ServerHandler>),
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Child(spec) => f.debug_tuple("Child").field(spec).finish(),
            Self::Http(target) => f.debug_tuple("Http").field(target).finish(),
            Self::InProcess(handler) => f.debug_tuple("InProcess").field(&handler.implementation()).finish(),
        }
    }
}

/// A server behind an address.
#[derive(Clone)]
pub struct HttpTarget {
    /// The one endpoint of Streamable HTTP.
    pub url: Url,
    /// Sent with each request, for example `Authorization`. They never override what the protocol itself sends.
    pub headers: Vec<(String, Secret<String>)>,
}

/// Leaves out what may be secret in the address: user, password, query.
impl fmt::Debug for HttpTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("HttpTarget").field("url", &shown(&self.url)).field("headers", &names).finish()
    }
}

/// An address without what may be secret in it.
fn shown(url: &Url) -> String {
    let mut url = url.clone();
    // Fails only for addresses that have no such parts.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

/// How a connection is opened and kept.
#[derive(Clone)]
pub struct ClientOptions {
    /// From the start of the process to the end of the opening.
    pub startup_timeout: Duration,
    /// How long discovery alone may stay without an answer before `initialize` is sent too. Only over standard streams; the
    /// question still stands afterwards.
    pub probe_timeout: Duration,
    /// For every request but tool calls, which bring their own.
    pub request_timeout: Duration,
    /// In bytes: a longer message of the server is refused.
    pub message_limit: usize,
    /// Who we say we are.
    pub implementation: Implementation,
    /// In which era to open.
    pub era: Era,
    /// Told of what the server says on its own. Called from the connection's task, so it must be quick.
    pub on_event: Option<Arc<dyn Fn(ClientEvent) + Send + Sync>>,
    /// Answers what the server asks the person behind the client. Without it servers are told that nobody can be asked.
    pub on_elicitation: Option<Arc<dyn Elicitor>>,
    /// Brings the credentials for a server behind an address. Without it a wanted login is an error.
    pub authorizer: Option<Arc<dyn Authorizer>>,
}

impl Default for ClientOptions {
    /// 30 s to start, 3 s of probing, 60 s a request, 32 MiB a message, either era.
    fn default() -> Self {
        Self {
            startup_timeout: Duration::from_secs(30),
            probe_timeout: Duration::from_secs(3),
            request_timeout: Duration::from_secs(60),
            message_limit: 32 * 1024 * 1024,
            implementation: Implementation {
                name: "surehand".to_owned(),
                title: Some("Surehand".to_owned()),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            },
            era: Era::Auto,
            on_event: None,
            on_elicitation: None,
            authorizer: None,
        }
    }
}

impl fmt::Debug for ClientOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientOptions")
            .field("startup_timeout", &self.startup_timeout)
            .field("request_timeout", &self.request_timeout)
            .field("era", &self.era)
            .finish_non_exhaustive()
    }
}

/// What happens on a connection beside answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientEvent {
    /// The server tells something.
    Notice(ServerNotice),
    /// Something odd that was survived.
    Note(Note),
    /// The connection is gone, and nobody here asked for that.
    Closed {
        /// How it ended.
        why: String,
    },
}

/// How one tool call is made.
#[derive(Clone, Copy)]
pub struct CallOptions<'a> {
    /// How long it may take, not counting the time in which a person is being asked on the same connection. When the time is
    /// over, or the future is dropped, the server is told to cancel. Where a stateless server asks for input first, each round
    /// has this time.
    pub timeout: Duration,
    /// Called with each report of progress, in order. Without it none are asked for.
    pub on_progress: Option<&'a (dyn Fn(Progress) + Send + Sync)>,
}

impl Default for CallOptions<'_> {
    /// 120 s, no progress.
    fn default() -> Self {
        Self { timeout: Duration::from_secs(120), on_progress: None }
    }
}

impl fmt::Debug for CallOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallOptions").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

/// What a tool gave back, or says went wrong in it (`is_error`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallOutcome {
    /// In order.
    pub content: Vec<ContentBlock>,
    /// The structured form, byte for byte.
    pub structured: Option<RawJson>,
    /// The tool failed; the content says how.
    pub is_error: bool,
    /// What was odd about the result.
    pub notes: Vec<Note>,
    /// The whole result as it came.
    pub raw: RawJson,
}

/// A connection to one server.
///
/// All methods take `&self` and may be called side by side. Dropping it ends the server's process at once; [`Client::close`]
/// ends it kindly.
pub struct Client {
    server: ServerFacts,
    opening_notes: Vec<Note>,
    request_timeout: Duration,
    questions: Arc<Questions>,
    wire: Wire,
}

enum Wire {
    Child(ChildWire),
    Http(HttpWire),
    InProcess(InProcess),
}

/// One request on its way to a wire.
#[derive(Clone)]
pub(crate) struct WireRequest<'a> {
    pub(crate) method: &'static str,
    pub(crate) params: Option<RawJson>,
    /// What the request is about, for the header that repeats it.
    pub(crate) subject: Option<&'a str>,
    /// The tool's `Mcp-Param-*` come from these.
    pub(crate) arguments: Option<&'a RawJson>,
    pub(crate) timeout: Duration,
    pub(crate) on_progress: Option<&'a (dyn Fn(Progress) + Send + Sync)>,
    /// Doing it twice does no harm.
    pub(crate) is_read: bool,
}

impl Client {
    /// Opens a connection: starts the process where there is one, finds out what both sides speak.
    ///
    /// # Errors
    ///
    /// [`OpenError`]; nothing is left running then.
    pub async fn open(target: Target, options: ClientOptions, http: &HttpClient) -> Result<Self, OpenError> {
        let request_timeout = options.request_timeout;
        let questions = Questions::new(&options);
        let (wire, server, opening_notes) = match target {
            Target::Child(spec) => {
                let (wire, opened) = ChildWire::open(&spec, options, questions.clone()).await?;
                (Wire::Child(wire), opened.server, opened.notes)
            }
            Target::Http(target) => {
                let (wire, opened) = HttpWire::open(target, options, http.clone(), questions.clone()).await?;
                (Wire::Http(wire), opened.server, opened.notes)
            }
            Target::InProcess(handler) => {
                let (wire, server) = InProcess::open(handler);
                (Wire::InProcess(wire), server, Vec::new())
            }
        };
        Ok(Self { server, opening_notes, request_timeout, questions, wire })
    }

    /// Who answers.
    pub fn server(&self) -> &ServerFacts {
        &self.server
    }

    /// What was odd while the connection was opened.
    pub fn opening_notes(&self) -> &[Note] {
        &self.opening_notes
    }

    /// Whether the connection is known to be gone. A server behind an address never is.
    pub fn is_closed(&self) -> bool {
        match &self.wire {
            Wire::Child(wire) => wire.is_closed(),
            Wire::Http(_) | Wire::InProcess(_) => false,
        }
    }

    /// All tools, over all pages, in the server's order. One odd tool never costs the rest; the notes say what was left out.
    /// Empty where the server says that it has no tools.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn list_tools(&self) -> Result<Listing<Tool>, ClientError> {
        if let Wire::InProcess(server) = &self.wire {
            return Ok(Listing { items: server.tools(), notes: Vec::new() });
        }
        let mut listing = self.list::<ListTools>(self.server.has_tools).await?;
        if let Wire::Http(wire) = &self.wire {
            wire.learn_tools(&mut listing);
        }
        Ok(listing)
    }

    /// Runs one tool. The arguments reach the server byte for byte.
    ///
    /// # Errors
    ///
    /// [`ClientError`]. A tool that fails is a [`CallOutcome`] with `is_error`.
    pub async fn call_tool(
        &self,
        name: &str,
        arguments: &RawJson,
        options: CallOptions<'_>,
    ) -> Result<CallOutcome, ClientError> {
        if let Wire::InProcess(server) = &self.wire {
            return server.call(name, arguments, options.timeout).await;
        }
        let params = CallToolParams { name: name.to_owned(), arguments: Some(arguments.clone()) };
        let raw = self
            .send(WireRequest {
                method: CallTool::NAME,
                params: Some(RawJson::from_serialize(&params)),
                subject: Some(name),
                arguments: Some(arguments),
                timeout: options.timeout,
                on_progress: options.on_progress,
                is_read: false,
            })
            .await?;
        let CallToolResult { content, structured, is_error, notes } = CallToolResult::read(&raw)?;
        Ok(CallOutcome { content, structured, is_error, notes, raw })
    }

    /// All resources. Empty where the server says that it has none.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn list_resources(&self) -> Result<Listing<Resource>, ClientError> {
        self.list::<ListResources>(self.server.has_resources).await
    }

    /// All families of resources. Empty where the server says that it has no resources.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn list_resource_templates(&self) -> Result<Listing<ResourceTemplate>, ClientError> {
        self.list::<ListResourceTemplates>(self.server.has_resources).await
    }

    /// Reads one resource.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn read_resource(&self, uri: &str) -> Result<ReadResourceResult, ClientError> {
        let params = ReadResourceParams { uri: uri.to_owned() };
        self.ask::<ReadResource>(&params, Some(uri)).await
    }

    /// All prompts. Empty where the server says that it has none.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn list_prompts(&self) -> Result<Listing<Prompt>, ClientError> {
        self.list::<ListPrompts>(self.server.has_prompts).await
    }

    /// Fills in one prompt.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn get_prompt(&self, params: &GetPromptParams) -> Result<GetPromptResult, ClientError> {
        self.ask::<GetPrompt>(params, Some(&params.name)).await
    }

    /// Completes one argument of a prompt or a resource template.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn complete(&self, params: &CompleteParams) -> Result<CompleteResult, ClientError> {
        self.ask::<Complete>(params, None).await
    }

    /// Ends the connection: a process is asked to end, and killed when it does not; a session is given back.
    pub async fn close(self) {
        match self.wire {
            Wire::Child(wire) => wire.close().await,
            Wire::Http(wire) => wire.close().await,
            Wire::InProcess(_) => {}
        }
    }

    async fn list<M: PagedMethod>(&self, offered: bool) -> Result<Listing<M::Item>, ClientError>
    where
        M::Item: Listed,
    {
        let mut paging = Paging::new(M::NAME);
        let mut next = offered.then(surehand_mcp::ListParams::default);
        while let Some(params) = next {
            let page = self.ask::<M>(&params, None).await?;
            next = paging.take(page);
        }
        Ok(paging.finish())
    }

    async fn ask<M: Method>(
        &self,
        params: &M::Params,
        subject: Option<&str>,
    ) -> Result<M::Result, ClientError> {
        let request = WireRequest {
            method: M::NAME,
            params: Some(RawJson::from_serialize(params)),
            subject,
            arguments: None,
            timeout: self.request_timeout,
            on_progress: None,
            is_read: true,
        };
        Ok(M::Result::read(&self.send(request).await?)?)
    }

    /// Sends a request and, where a stateless server asks for input first, gives it and asks again.
    async fn send(&self, request: WireRequest<'_>) -> Result<RawJson, ClientError> {
        let mut round = request.clone();
        for _ in 0..INPUT_ROUNDS {
            let result = self.send_once(round).await?;
            let Err(fault) = surehand_mcp::check_result(self.server.revision, &result) else {
                return Ok(result);
            };
            let input =
                MAY_ASK_FIRST.contains(&request.method).then(|| InputRequired::read(&result)).flatten();
            let Some(input) = input else { return Err(fault.into()) };
            let Some(responses) = self.questions.answer_all(&input).await else { return Err(fault.into()) };
            let params = input.retry(request.params.as_ref(), &responses);
            round = WireRequest { params: Some(params), ..request.clone() };
        }
        let result = self.send_once(round).await?;
        surehand_mcp::check_result(self.server.revision, &result)?;
        Ok(result)
    }

    async fn send_once(&self, request: WireRequest<'_>) -> Result<RawJson, ClientError> {
        let result = match &self.wire {
            Wire::Child(wire) => wire.request(request).await?,
            Wire::Http(wire) => wire.request(request).await?,
            Wire::InProcess(_) => {
                let what = format!("a server in this process has no {}", request.method);
                return Err(ClientError::Rpc {
                    code: surehand_mcp::ErrorCode::METHOD_NOT_FOUND,
                    message: what,
                    data: None,
                });
            }
        };
        Ok(result)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("server", &self.server).finish_non_exhaustive()
    }
}
