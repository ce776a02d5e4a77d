//! How a connection is opened, and what calls over it are like.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use surehand_mcp::{Era, Implementation, Progress, ServerHandler, ServerNotice};
use surehand_model::{ContentBlock, Note, RawJson, Secret};
use surehand_sandbox::ChildSpec;
use url::Url;

use super::authorize::Authorizer;
use super::questions::{Elicitor, Roots, Sampler};

/// Where a server is.
#[derive(Clone)]
pub enum Target {
    /// A process of our own, spoken to over its standard streams.
    Child(ChildSpec),
    /// Behind an address. One that takes no messages itself is tried as one of the oldest transport.
    Http(HttpTarget),
    /// Behind an address of the oldest transport, HTTP+SSE. One that has no such stream is tried as any other address.
    Sse(HttpTarget),
    /// In this process.
    InProcess(Arc<dyn ServerHandler>),
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Child(spec) => f.debug_tuple("Child").field(spec).finish(),
            Self::Http(target) => f.debug_tuple("Http").field(target).finish(),
            Self::Sse(target) => f.debug_tuple("Sse").field(target).finish(),
            Self::InProcess(handler) => f.debug_tuple("InProcess").field(&handler.implementation()).finish(),
        }
    }
}

/// A server behind an address.
#[derive(Clone)]
pub struct HttpTarget {
    /// The one endpoint of Streamable HTTP, or the stream of HTTP+SSE.
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
pub(super) fn shown(url: &Url) -> String {
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
    /// Has a model complete what the server asks for. Without it servers are told that they cannot ask.
    pub on_sampling: Option<Arc<dyn Sampler>>,
    /// Knows the folders that this client works in. Without it servers are told that they cannot ask.
    pub roots: Option<Arc<dyn Roots>>,
    /// Lets a server ask what may take long as a task, and come back for the answer; only in the one revision that has this
    /// (2025-11-25).
    pub hosts_tasks: bool,
    /// Extensions that this client takes part in, by identifier, each with its settings.
    pub extensions: Vec<(String, RawJson)>,
    /// How long a server may take to say that what was opened in a browser is done, where it wanted that before it takes a
    /// request. Afterwards the request is made once more all the same.
    pub address_wait: Duration,
    /// Brings the credentials for a server behind an address. Without it a wanted login is an error.
    pub authorizer: Option<Arc<dyn Authorizer>>,
}

impl Default for ClientOptions {
    /// 30 s to start, 3 s of probing, 60 s a request, 30 s for a browser, 32 MiB a message, either era.
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
            on_sampling: None,
            roots: None,
            hosts_tasks: false,
            extensions: Vec::new(),
            address_wait: Duration::from_secs(30),
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
    /// How long it may take at most where each report of progress starts [`timeout`](Self::timeout) anew. `None`: reports change
    /// nothing. With it they are asked for even where nobody listens.
    pub longest: Option<Duration>,
    /// Called with each report of progress, in order. Without it and without [`longest`](Self::longest) none are asked for.
    pub on_progress: Option<&'a (dyn Fn(Progress) + Send + Sync)>,
}

impl Default for CallOptions<'_> {
    /// 120 s in all, no progress.
    fn default() -> Self {
        Self { timeout: Duration::from_secs(120), longest: None, on_progress: None }
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
