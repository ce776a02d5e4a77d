//! The server's side as a state machine: one message in, what is to be done about it out. Whether a message is of the stateless
//! era or of the older one is decided for each message alone, so both kinds of clients may share one endpoint.

mod answer;
mod legacy;
mod modern;
mod repeated;

use std::sync::Arc;

use serde_json::value::RawValue;
use surehand_model::RawJson;

pub use self::answer::{PendingCall, Reply, encode_output};
use crate::envelope::{EnvelopeFault, EnvelopeLimits, Id, Message, parse_message, split_batch};
use crate::error::{ErrorCode, RpcError};
use crate::handler::ServerHandler;
use crate::members::Members;
use crate::meta::MetaKey;
use crate::method::{CallTool, Method};
use crate::revision::{Feature, Revision};

/// A server's protocol, for any number of connections. Cheap to clone.
#[derive(Clone)]
pub struct ServerMachine {
    handler: Arc<dyn ServerHandler>,
    limits: EnvelopeLimits,
}

/// How a message reached the server.
#[derive(Clone, Copy, Debug)]
pub enum Arrival<'a> {
    /// Over standard streams, after a handshake in this revision, if there was one.
    Stream {
        /// What `initialize` settled on.
        negotiated: Option<Revision>,
    },
    /// As an HTTP request.
    Http(HttpFacts<'a>),
}

/// What the headers of an HTTP request say. A value is absent where the header is.
#[derive(Clone, Copy, Debug, Default)]
pub struct HttpFacts<'a> {
    /// `MCP-Protocol-Version`.
    pub version: Option<&'a str>,
    /// `Mcp-Method`.
    pub method: Option<&'a str>,
    /// `Mcp-Name`, as it stands there.
    pub name: Option<&'a str>,
    /// Every `Mcp-Param-*`, whole names in any case; no value where it holds bytes that are no text.
    pub params: &'a [(&'a str, Option<&'a str>)],
    /// `Mcp-Session-Id`.
    pub session: HttpSession,
}

/// What an HTTP request says of its session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HttpSession {
    /// Nothing.
    #[default]
    Absent,
    /// It belongs to one that was opened in this revision.
    Open(Revision),
    /// It names one that is not open, or no longer.
    Lost,
}

/// What is to be done about a message.
#[derive(Debug)]
pub enum Verdict {
    /// Send this.
    Answer(Reply),
    /// A handshake has settled on a revision: remember it, send this.
    Open {
        /// The revision.
        revision: Revision,
        /// The answer to `initialize`.
        reply: Reply,
    },
    /// Run a tool, then send what [`PendingCall::finish`] gives.
    Call(PendingCall),
    /// Nobody waits for this request any more: stop it, and do not answer it.
    Cancel(Id),
    /// Nothing.
    Nothing,
}

impl ServerMachine {
    /// The protocol of one server.
    pub fn new(handler: Arc<dyn ServerHandler>, limits: EnvelopeLimits) -> Self {
        Self { handler, limits }
    }

    /// Who serves.
    pub fn handler(&self) -> &Arc<dyn ServerHandler> {
        &self.handler
    }

    /// What one message may cost.
    pub fn limits(&self) -> EnvelopeLimits {
        self.limits
    }

    /// Takes one message in. Gives one verdict; several for the array of a revision that has batches, none for a blank line.
    pub fn receive(&self, text: &str, arrival: Arrival<'_>) -> Vec<Verdict> {
        match parse_message(text, self.limits) {
            Ok(message) => vec![self.message(message, arrival)],
            Err(EnvelopeFault::Batch) if has_batches(arrival) => match split_batch(text, self.limits) {
                Ok(items) => items
                    .into_iter()
                    .map(|item| match parse_message(item, self.limits) {
                        Ok(message) => self.message(message, arrival),
                        Err(fault) => Verdict::Answer(Reply::fault(&fault)),
                    })
                    .collect(),
                Err(fault) => vec![Verdict::Answer(Reply::fault(&fault))],
            },
            Err(_) if text.trim().is_empty() && matches!(arrival, Arrival::Stream { .. }) => Vec::new(),
            Err(fault) => vec![Verdict::Answer(Reply::fault(&fault))],
        }
    }

    fn message(&self, message: Message<'_>, arrival: Arrival<'_>) -> Verdict {
        match message {
            Message::Request { id, method, params } => {
                let request = Request { id, method: &method, params: Params::read(params) };
                if request.is_modern(arrival) {
                    self.modern_request(request, arrival)
                } else {
                    self.legacy_request(request, arrival)
                }
            }
            Message::Notification { method, params } => notification(&method, params),
            // No request is ever sent to a client, so nothing waits for this.
            Message::Answer { .. } => Verdict::Nothing,
        }
    }

    /// The tool call that a request asks for.
    fn call(&self, request: Request<'_>, revision: Revision) -> Verdict {
        let name = match request.params.unambiguous_name() {
            Ok(name) => name,
            Err(what) => return request.refuse(ErrorCode::INVALID_PARAMS, what),
        };
        let arguments = request.params.members.present("arguments");
        Verdict::Call(PendingCall {
            arguments: arguments.map_or_else(RawJson::empty_object, RawJson::from),
            id: request.id,
            name,
            revision,
            who: self.handler.implementation(),
        })
    }
}

fn has_batches(arrival: Arrival<'_>) -> bool {
    matches!(arrival, Arrival::Stream { negotiated: Some(revision) } if revision.has(Feature::Batch))
}

fn notification(method: &str, params: Option<&RawValue>) -> Verdict {
    if method != crate::method::name::CANCELLED {
        return Verdict::Nothing;
    }
    crate::types::utilities::read_cancelled(params).map_or(Verdict::Nothing, Verdict::Cancel)
}

/// A request while it is looked at.
struct Request<'a> {
    id: Id,
    method: &'a str,
    params: Params<'a>,
}

impl Request<'_> {
    /// A stateless request says so in its `_meta`; over HTTP the header alone says it too.
    fn is_modern(&self, arrival: Arrival<'_>) -> bool {
        let by_header = matches!(arrival, Arrival::Http(HttpFacts { version: Some(version), .. }) if Revision::names_modern(version));
        by_header
            || self.params.meta.as_ref().is_some_and(|meta| meta.get(MetaKey::PROTOCOL_VERSION).is_some())
    }

    fn refuse(self, code: i64, words: impl Into<String>) -> Verdict {
        self.fail(RpcError::new(code, words), 200)
    }

    fn fail(self, error: RpcError, status: u16) -> Verdict {
        Verdict::Answer(Reply::error(Some(&self.id), &error, status))
    }

    /// What the request is about, which `Mcp-Name` repeats.
    fn subject(&self) -> Option<String> {
        match self.method {
            CallTool::NAME | "prompts/get" => self.params.members.string("name"),
            "resources/read" => self.params.members.string("uri"),
            _ => None,
        }
    }
}

/// Parameters, one level read.
struct Params<'a> {
    /// They are there and are no object.
    is_malformed: bool,
    members: Members<'a>,
    meta: Option<Members<'a>>,
}

impl<'a> Params<'a> {
    fn read(raw: Option<&'a RawValue>) -> Self {
        let members = raw.and_then(Members::of);
        Self {
            is_malformed: raw.is_some() && members.is_none(),
            meta: members.as_ref().and_then(|members| members.object("_meta")),
            members: members.unwrap_or(Members(Vec::new())),
        }
    }

    /// The tool's name, where it can be told without doubt: of two names one reader would take the first, another the second.
    fn unambiguous_name(&self) -> Result<String, String> {
        if self.is_malformed {
            return Err("`params` is not an object".to_owned());
        }
        if let Some(key) = self.members.repeated(&["name", "arguments", "_meta"]) {
            return Err(format!("`{key}` stands twice in `params`"));
        }
        self.members.string("name").ok_or_else(|| "`name` is missing or is not a string".to_owned())
    }
}
