//! The server's side as a state machine: one message in, what is to be done about it out. Whether a message is of the stateless
//! era or of the older one is decided for each message alone, so both kinds of clients may share one endpoint.

mod answer;
mod legacy;
mod listen;
mod lists;
mod modern;
mod pending;
mod repeated;
mod rounds;
mod state;
mod task_methods;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use serde_json::value::RawValue;
use surehand_model::RawJson;

pub use self::answer::{Reply, encode_output};
pub use self::listen::Subscription;
pub use self::pending::PendingRequest;
use self::pending::Work;
pub use self::state::StateSeal;
use crate::envelope::{EnvelopeFault, EnvelopeLimits, Id, Message, parse_message, split_batch};
use crate::error::{ErrorCode, RpcError};
use crate::handler::{Caller, ChangeListener, Offers, RequestFacts, ServerHandler};
use crate::members::Members;
use crate::meta::MetaKey;
use crate::method::{CallTool, Complete, GetPrompt, Method, ReadResource, name};
use crate::revision::{Feature, Revision};
use crate::tasks::{Background, TaskTable};
use crate::types::lifecycle::write_implementation;
use crate::types::prompts::GetPromptParams;
use crate::types::utilities::LogLevel;

/// A server's protocol, for any number of connections. Cheap to clone.
#[derive(Clone)]
pub struct ServerMachine {
    core: Arc<Core>,
}

/// What all connections of a server share.
#[derive(Clone)]
struct Core {
    handler: Arc<dyn ServerHandler>,
    limits: EnvelopeLimits,
    seal: Arc<dyn StateSeal>,
    offers: Offers,
    /// The handler's name and version, as they go out.
    who: RawJson,
    /// Where there is somebody to work on tasks.
    tasks: Option<Arc<TaskTable>>,
    /// How many handshakes there were.
    sessions: Arc<AtomicU64>,
}

/// How a message reached the server.
#[derive(Clone, Copy, Debug)]
pub enum Arrival<'a> {
    /// Over standard streams, after a handshake, if there was one.
    Stream {
        /// What `initialize` settled on.
        session: Option<&'a Negotiated>,
        /// Who is at the other end, where their credentials were checked.
        principal: Option<&'a str>,
    },
    /// As an HTTP request.
    Http(HttpFacts<'a>),
}

/// What a handshake settled on, and what was set since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Negotiated {
    /// Which session it is, among all that its server ever saw; 0 where that is not known. Transports that remember sessions
    /// by a number of their own put it here.
    pub number: u128,
    /// The revision.
    pub revision: Revision,
    /// The client's capabilities object, as it declared it.
    pub capabilities: RawJson,
    /// The client's name and version.
    pub client_info: Option<RawJson>,
    /// The least level of log messages that the client wants, once it said.
    pub log_level: Option<LogLevel>,
}

impl Negotiated {
    /// A client that said nothing of itself.
    pub fn new(revision: Revision) -> Self {
        let capabilities = RawJson::empty_object();
        Self { number: 0, revision, capabilities, client_info: None, log_level: None }
    }
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
    pub session: HttpSession<'a>,
    /// Who asks, where their credentials were checked.
    pub principal: Option<&'a str>,
}

/// What an HTTP request says of its session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HttpSession<'a> {
    /// Nothing.
    #[default]
    Absent,
    /// It belongs to one that is open.
    Open(&'a Negotiated),
    /// It names one that is not open, or no longer.
    Lost,
}

/// What is to be done about a message.
#[expect(clippy::large_enum_variant, reason = "each is looked at once, where it was made")]
#[derive(Debug)]
pub enum Verdict {
    /// Send this.
    Answer(Reply),
    /// A handshake has settled on something: remember it, send this.
    Open {
        /// What it settled on.
        session: Negotiated,
        /// The answer to `initialize`.
        reply: Reply,
    },
    /// Run it, then send what it gives.
    Run(PendingRequest),
    /// Keep a stream open on which the client hears of changes.
    Listen(Subscription),
    /// The client of this session wants to hear when one resource changes: remember it, send this.
    Subscribe {
        /// Under which it is answered.
        id: Id,
        /// Which resource.
        uri: String,
        /// The answer.
        reply: Reply,
    },
    /// It no longer wants to: forget it, send this.
    Unsubscribe {
        /// Which resource.
        uri: String,
        /// The answer.
        reply: Reply,
    },
    /// The least level of log messages that the client of this session wants: remember it, send this.
    SetLevel {
        /// The level.
        level: LogLevel,
        /// The answer.
        reply: Reply,
    },
    /// The client answers a request of the server's.
    Answered {
        /// Which.
        id: Id,
        /// The result object, or the client's error.
        outcome: Result<RawJson, RpcError>,
    },
    /// Nobody waits for this request any more: stop it, and do not answer it.
    Cancel(Id),
    /// Nothing.
    Nothing,
}

impl ServerMachine {
    /// The protocol of one server. What clients keep for it is sealed with `seal`; servers that shall open each other's share
    /// the key.
    pub fn new(handler: Arc<dyn ServerHandler>, limits: EnvelopeLimits, seal: Arc<dyn StateSeal>) -> Self {
        let who = write_implementation(&handler.implementation());
        let offers = Offers { tasks: false, ..handler.offers() };
        let sessions = Arc::default();
        Self { core: Arc::new(Core { handler, limits, seal, offers, who, tasks: None, sessions }) }
    }

    /// The same, with somebody to work on what goes on after its request was answered. Without, no call becomes a task.
    #[must_use]
    pub fn with_background(self, background: Arc<dyn Background>) -> Self {
        let mut core = Core::clone(&self.core);
        core.offers.tasks = core.handler.offers().tasks;
        let table = TaskTable::new(core.seal.clone(), background);
        core.tasks = core.offers.tasks.then(|| Arc::new(table));
        Self { core: Arc::new(core) }
    }

    /// Who serves.
    pub fn handler(&self) -> &Arc<dyn ServerHandler> {
        &self.core.handler
    }

    /// What one message may cost.
    pub fn limits(&self) -> EnvelopeLimits {
        self.core.limits
    }

    /// What the server has.
    pub fn offers(&self) -> &Offers {
        &self.core.offers
    }

    /// Hears of everything that changes, for as long as the caller keeps `listener`.
    pub fn listen(&self, listener: &ChangeListener) {
        if let Some(changes) = self.core.handler.changes() {
            changes.listen(listener);
        }
        if let Some(tasks) = &self.core.tasks {
            tasks.listen(listener);
        }
    }

    /// Takes one message in. Gives one verdict; several for the array of a revision that has batches, none for a blank line.
    pub fn receive(&self, text: &str, arrival: Arrival<'_>) -> Vec<Verdict> {
        let limits = self.core.limits;
        match parse_message(text, limits) {
            Ok(message) => vec![self.message(message, arrival)],
            Err(EnvelopeFault::Batch) if has_batches(arrival) => match split_batch(text, limits) {
                Ok(items) => items
                    .into_iter()
                    .map(|item| match parse_message(item, limits) {
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
            Message::Answer { id: Some(id), outcome } => {
                Verdict::Answered { id, outcome: outcome.map(RawJson::from) }
            }
            // Nobody can tell what this answers.
            Message::Answer { id: None, .. } => Verdict::Nothing,
        }
    }

    /// The work that a request asks of the handler; nothing where the server has no such method.
    fn work(&self, request: &Request<'_>) -> Option<Result<Work, String>> {
        let offers = &self.core.offers;
        let params = &request.params;
        Some(match request.method {
            CallTool::NAME if offers.tools => params.unambiguous("name").map(|name| {
                let arguments = params.members.present("arguments");
                Work::Call { name, arguments: arguments.map_or_else(RawJson::empty_object, RawJson::from) }
            }),
            ReadResource::NAME if offers.resources => params.unambiguous("uri").map(|uri| Work::Read { uri }),
            GetPrompt::NAME if offers.prompts => params
                .unambiguous("name")
                .and_then(|_| params.typed())
                .and_then(|params| self.check_prompt(params)),
            Complete::NAME if offers.completions => params.typed().map(Work::Complete),
            method if !offers.extensions.is_empty() => {
                if params.is_malformed {
                    return Some(Err("`params` is not an object".to_owned()));
                }
                Ok(Work::Extension { method: method.to_owned(), params: params.to_raw() })
            }
            _ => return None,
        })
    }

    /// A prompt that is listed gets all that it says it needs.
    fn check_prompt(&self, params: GetPromptParams) -> Result<Work, String> {
        let listed = self.core.handler.prompts().into_iter().find(|prompt| prompt.name == params.name);
        let missing = listed.and_then(|prompt| {
            let mut arguments = prompt.arguments.into_iter();
            arguments.find(|argument| argument.required && !params.arguments.contains_key(&argument.name))
        });
        match missing {
            Some(argument) => {
                Err(format!("the prompt `{}` needs the argument `{}`", params.name, argument.name))
            }
            None => Ok(Work::Prompt(params)),
        }
    }

    /// Hands work to the handler. `log_level` is the least level the client wants to hear, `session` where it has one.
    fn run(
        &self,
        request: Request<'_>,
        work: Work,
        caller: Caller,
        log_level: Option<LogLevel>,
        session: Option<&Negotiated>,
    ) -> Verdict {
        let revision = caller.revision;
        let (seat, begin) = match self.seat(&request, &work, &caller, session) {
            Ok(seat) => seat,
            Err(failure) => return Verdict::Answer(Reply::failure(&request.id, &failure, revision)),
        };
        let binding = work.binding(caller.principal.as_deref()).filter(|_| revision.is_modern());
        let answers = match &binding {
            None => Vec::new(),
            Some(binding) => match rounds::read_answers(&request.params.members, binding, &*self.core.seal) {
                Ok(answers) => answers,
                Err(words) => return request.refuse(ErrorCode::INVALID_PARAMS, words),
            },
        };
        let meta = request.params.meta.as_ref();
        let progress_token = meta.and_then(|meta| meta.get(MetaKey::PROGRESS_TOKEN)).and_then(Id::read);
        let log_level = log_level.filter(|_| self.core.offers.logging);
        let takes_rounds = binding.is_some();
        let facts = RequestFacts { caller, progress_token, log_level, takes_rounds, answers, seat };
        Verdict::Run(PendingRequest {
            id: request.id,
            revision,
            work,
            facts,
            begin,
            binding,
            core: self.core.clone(),
        })
    }
}

fn has_batches(arrival: Arrival<'_>) -> bool {
    let session = match arrival {
        Arrival::Stream { session, .. } => session,
        Arrival::Http(HttpFacts { session: HttpSession::Open(session), .. }) => Some(session),
        Arrival::Http(_) => None,
    };
    session.is_some_and(|session| session.revision.has(Feature::Batch))
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
            CallTool::NAME | GetPrompt::NAME => self.params.members.string("name"),
            ReadResource::NAME => self.params.members.string("uri"),
            name::TASK_GET | name::TASK_UPDATE | name::TASK_CANCEL => self.params.members.string("taskId"),
            _ => None,
        }
    }
}

/// Parameters, one level read.
struct Params<'a> {
    raw: Option<&'a RawValue>,
    /// They are there and are no object.
    is_malformed: bool,
    members: Members<'a>,
    meta: Option<Members<'a>>,
}

impl<'a> Params<'a> {
    fn read(raw: Option<&'a RawValue>) -> Self {
        let members = raw.and_then(Members::of);
        Self {
            raw,
            is_malformed: raw.is_some() && members.is_none(),
            meta: members.as_ref().and_then(|members| members.object("_meta")),
            members: members.unwrap_or(Members(Vec::new())),
        }
    }

    /// What the request is about, where it can be told without doubt: of two names one reader would take the first, another
    /// the second.
    fn unambiguous(&self, key: &str) -> Result<String, String> {
        if self.is_malformed {
            return Err("`params` is not an object".to_owned());
        }
        if let Some(key) = self.members.repeated(&[key, "arguments", "_meta"]) {
            return Err(format!("`{key}` stands twice in `params`"));
        }
        self.members.string(key).ok_or_else(|| format!("`{key}` is missing or is not a string"))
    }

    /// All of them, read into a type.
    fn typed<T: serde::de::DeserializeOwned>(&self) -> Result<T, String> {
        let raw = self.raw.ok_or("`params` are missing")?;
        serde_json::from_str(raw.get()).map_err(|error| format!("`params`: {error}"))
    }

    fn to_raw(&self) -> RawJson {
        self.raw.map_or_else(RawJson::empty_object, RawJson::from)
    }
}
