mod stream;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use surehand_mcp::{EnvelopeLimits, Exchange, Feature, Progress, Revision, RpcError};
use surehand_model::{Note, RawJson, Secret};
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::super::authorize::{Authorizer, Challenge, Retry};
use super::super::error::{ClientError, OpenError};
use super::super::questions::{Pending, Questions};
use super::super::{ClientEvent, ClientOptions, HttpTarget, shown};
use crate::http::{HttpClient, HttpError, HttpRequest, HttpResponse, Method};

const SESSION_HEADER: &str = "Mcp-Session-Id";
const VERSION_HEADER: &str = "MCP-Protocol-Version";
/// How long a message may take that nobody waits for.
const ASIDE: Duration = Duration::from_secs(10);
/// How many such messages are on their way at most: a server that asks faster than it takes answers gets none to the rest.
const ASIDES_AT_ONCE: usize = 256;
/// How often one request may be answered by a new authorization.
const AUTHORIZATIONS: usize = 3;
/// How much of a foreign answer is kept to be shown.
const EXCERPT: usize = 300;

/// Sends messages to one endpoint and reads what comes back. Cheap to clone; clones share the session.
#[derive(Clone)]
pub(super) struct Poster {
    shared: Arc<Shared>,
}

struct Shared {
    http: HttpClient,
    target: HttpTarget,
    session: Mutex<Option<String>>,
    limits: EnvelopeLimits,
    idle_timeout: Duration,
    on_event: Option<Arc<dyn Fn(ClientEvent) + Send + Sync>>,
    questions: Arc<Questions>,
    authorizer: Option<Arc<dyn Authorizer>>,
    /// Messages on their way that nobody waits for.
    asides: Mutex<JoinSet<()>>,
}

/// A request as it goes out.
pub(super) struct Asked<'a> {
    pub(super) id: u64,
    /// Named in the header where the revision has one; none before a handshake is through.
    pub(super) revision: Option<Revision>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) on_progress: Option<&'a (dyn Fn(Progress) + Send + Sync)>,
}

/// Why a request has no result.
#[derive(Debug)]
pub(super) enum Failure {
    /// The server's own error.
    Rpc(RpcError),
    /// The server does not know the session.
    SessionLost,
    /// The server wants a login.
    Login(String),
    /// The authorizer's own words: it has no credentials to give.
    LoginFailed(String),
    /// An answer that is none of the protocol: status and words.
    Foreign(u16, String),
    /// The protocol is broken.
    Protocol(String),
    /// No answer.
    Http(HttpError),
}

impl Poster {
    pub(super) fn new(
        target: HttpTarget,
        options: &ClientOptions,
        http: HttpClient,
        questions: Arc<Questions>,
    ) -> Result<Self, OpenError> {
        if !matches!(target.url.scheme(), "http" | "https") {
            let what = format!("`{}` is not an http or https address", shown(&target.url));
            return Err(OpenError::Settings { what });
        }
        let shared = Shared {
            http,
            target,
            session: Mutex::new(None),
            limits: EnvelopeLimits { bytes: options.message_limit, ..EnvelopeLimits::default() },
            // Every wait above has a deadline of its own; this one only must not be shorter.
            idle_timeout: Duration::from_secs(24 * 60 * 60),
            on_event: options.on_event.clone(),
            questions,
            authorizer: options.authorizer.clone(),
            asides: Mutex::default(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    pub(super) fn session(&self) -> Option<String> {
        self.lock().clone()
    }

    pub(super) fn forget_session(&self) {
        *self.lock() = None;
    }

    /// Sends a request and waits for its result.
    pub(super) async fn ask(&self, message: String, asked: Asked<'_>) -> Result<RawJson, Failure> {
        let request = self.request(Method::POST, asked.revision, &asked.headers, Some(message));
        let response = self.judge(self.send(request).await?).await?;
        if response.status == 202 || response.status == 204 {
            return Err(Failure::Protocol("the server took the request and gave no answer to it".to_owned()));
        }
        let questions = &self.shared.questions;
        let mut exchange =
            Exchange::new(asked.revision, self.shared.limits).taking_questions(questions.taken());
        exchange.expect(asked.id, ());
        // The session is opened by the answer to `initialize`, which is the only request without a revision.
        if asked.revision.is_none()
            && let Some(session) = response.header(SESSION_HEADER)
        {
            *self.lock() = Some(session.to_owned());
        }
        if response.media_type().as_deref() == Some("text/event-stream") {
            return self.read_stream(response, &asked, &mut exchange).await;
        }
        let body = response.collect(self.shared.limits.bytes).await?;
        let text = String::from_utf8_lossy(&body);
        // Questions can only come before an answer, and here nothing comes but the answer.
        let mut pending = Pending::new(questions.clone());
        match self.take(&text, &asked, &mut exchange, &mut pending) {
            Some(outcome) => outcome.map_err(Failure::Rpc),
            None => Err(Failure::Foreign(200, excerpt(&text))),
        }
    }

    /// Sends a notification, or an answer to a request of the server.
    pub(super) async fn tell(&self, message: String, revision: Revision) -> Result<(), Failure> {
        let request = self.request(Method::POST, Some(revision), &[], Some(message));
        self.judge(self.send(request).await?).await.map(drop)
    }

    /// Gives the session back, if there is one.
    pub(super) async fn delete_session(&self, revision: Revision) {
        if self.session().is_some() {
            // Servers may refuse; either way the session is not used again.
            let _ = self.send(self.request(Method::DELETE, Some(revision), &[], None)).await;
            self.forget_session();
        }
    }

    /// Sends something that nobody waits for, such as the answer to a request of the server.
    pub(super) fn aside(&self, message: String, revision: Revision) {
        // Without a runtime the program is on its way out.
        let Ok(runtime) = Handle::try_current() else { return };
        let poster = self.clone();
        let mut asides = self.asides();
        while asides.try_join_next().is_some() {}
        if asides.len() >= ASIDES_AT_ONCE {
            drop(asides);
            let why = format!("{ASIDES_AT_ONCE} are on their way already");
            return self.event(ClientEvent::Note(Note::new("server", "a message to it is lost", why)));
        }
        asides.spawn_on(
            async move {
                let why = match timeout(ASIDE, poster.tell(message, revision)).await {
                    Ok(Ok(())) => return,
                    Ok(Err(failure)) => failure.into_error(&poster).to_string(),
                    Err(_) => format!("no answer within {} s", ASIDE.as_secs()),
                };
                poster.event(ClientEvent::Note(Note::new("server", "a message to it is lost", why)));
            },
            &runtime,
        );
    }

    /// Waits until everything has been sent that nobody waits for.
    pub(super) async fn finish_asides(&self) {
        let mut asides = std::mem::take(&mut *self.asides());
        while asides.join_next().await.is_some() {}
    }

    fn asides(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.shared.asides.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends with the authorizer's headers, and once more with better ones as long as it gets some, within bounds.
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, Failure> {
        let Some(authorizer) = &self.shared.authorizer else {
            return Ok(self.shared.http.send(request).await?);
        };
        let mut refused_before = 0;
        loop {
            let mut authorized = request.clone();
            let given =
                authorizer.headers(&request.method, &request.url).await.map_err(Failure::LoginFailed)?;
            authorized
                .headers
                .retain(|(name, _)| !given.iter().any(|(own, _)| own.eq_ignore_ascii_case(name)));
            let response = self.shared.http.send(authorized.headers(given.clone())).await?;
            if refused_before >= AUTHORIZATIONS {
                return Ok(response);
            }
            let Some(challenge) = Challenge::read(response.status, &response.headers, refused_before, &given)
            else {
                return Ok(response);
            };
            let retry = self.shared.questions.aside_from_timers(authorizer.challenged(challenge)).await;
            match retry.map_err(Failure::LoginFailed)? {
                Retry::Again => refused_before += 1,
                Retry::GiveUp => return Ok(response),
            }
        }
    }

    /// Sorts out answers that are none.
    async fn judge(&self, response: HttpResponse) -> Result<HttpResponse, Failure> {
        let status = response.status;
        if response.is_success() {
            return Ok(response);
        }
        let challenge = response.header("www-authenticate").map(str::to_owned);
        let words = response.excerpt(self.shared.limits.bytes.min(64 * 1024)).await;
        if status == 401 || (status == 403 && challenge.is_some()) {
            return Err(Failure::Login(challenge.unwrap_or_else(|| excerpt(&words))));
        }
        let error = rpc_error(&words, self.shared.limits);
        if self.session().is_some() && is_lost_session(status, &words, error.as_ref()) {
            return Err(Failure::SessionLost);
        }
        match error {
            Some(error) => Err(Failure::Rpc(error)),
            None => Err(Failure::Foreign(status, excerpt(&words))),
        }
    }

    fn request(
        &self,
        method: Method,
        revision: Option<Revision>,
        headers: &[(String, String)],
        body: Option<String>,
    ) -> HttpRequest {
        let accept =
            if method == Method::GET { "text/event-stream" } else { "application/json, text/event-stream" };
        let mut ours: Vec<(String, String)> = vec![("Accept".to_owned(), accept.to_owned())];
        if body.is_some() {
            ours.push(("Content-Type".to_owned(), "application/json".to_owned()));
        }
        if let Some(revision) = revision.filter(|revision| revision.has(Feature::VersionHeader)) {
            ours.push((VERSION_HEADER.to_owned(), revision.as_str().to_owned()));
        }
        if let Some(session) = self.session()
            && revision.is_some_and(|revision| revision.has(Feature::Sessions))
        {
            ours.push((SESSION_HEADER.to_owned(), session));
        }
        ours.extend(headers.iter().cloned());
        let theirs = self.shared.target.headers.iter();
        let theirs =
            theirs.filter(|(name, _)| !ours.iter().any(|(own, _)| own.eq_ignore_ascii_case(name))).cloned();
        let mut all: Vec<(String, Secret<String>)> = theirs.collect();
        all.extend(ours.into_iter().map(|(name, value)| (name, Secret::new(value))));
        HttpRequest {
            method,
            headers: all,
            body: body.map(Into::into),
            idle_timeout: Some(self.shared.idle_timeout),
            ..HttpRequest::get(self.shared.target.url.clone())
        }
    }

    fn event(&self, event: ClientEvent) {
        if let Some(listen) = &self.shared.on_event {
            listen(event);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<String>> {
        self.shared.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn url(&self) -> String {
        shown(&self.shared.target.url)
    }
}

/// The error that a body holds, if it is a message of the protocol.
fn rpc_error(body: &str, limits: EnvelopeLimits) -> Option<RpcError> {
    match surehand_mcp::parse_message(body, limits) {
        Ok(surehand_mcp::Message::Answer { outcome: Err(error), .. }) => Some(error),
        _ => None,
    }
}

/// A session that is over answers 404; some servers say 400 and name the session in words.
fn is_lost_session(status: u16, words: &str, error: Option<&RpcError>) -> bool {
    match status {
        404 => error.is_none_or(|error| error.code != surehand_mcp::ErrorCode::METHOD_NOT_FOUND),
        400 => words.to_ascii_lowercase().contains("session"),
        _ => false,
    }
}

fn excerpt(words: &str) -> String {
    let line: String = words.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= EXCERPT {
        return line;
    }
    let start: String = line.chars().take(EXCERPT).collect();
    format!("{start}...")
}

impl From<HttpError> for Failure {
    fn from(error: HttpError) -> Self {
        Self::Http(error)
    }
}

impl Failure {
    pub(super) fn into_error(self, poster: &Poster) -> ClientError {
        let url = poster.url();
        match self {
            Self::Rpc(error) => error.into(),
            Self::SessionLost => {
                ClientError::Closed { why: "the server has forgotten the session".to_owned() }
            }
            Self::Login(challenge) => ClientError::LoginNeeded { url, challenge },
            Self::LoginFailed(why) => ClientError::LoginFailed { url, why },
            Self::Foreign(status @ 500.., words) => {
                ClientError::Unreachable { url, why: status_words(status, &words) }
            }
            Self::Foreign(status, words) => {
                ClientError::Protocol { what: format!("{url} answered {}", status_words(status, &words)) }
            }
            Self::Protocol(what) => ClientError::Protocol { what },
            Self::Http(HttpError::TooLarge { limit, .. }) => ClientError::Protocol {
                what: format!("the answer is larger than {limit} bytes, which is over the limit"),
            },
            Self::Http(error) => ClientError::Unreachable { url, why: error.to_string() },
        }
    }

    pub(super) fn into_open_error(self, poster: &Poster) -> OpenError {
        match self.into_error(poster) {
            ClientError::LoginNeeded { url, challenge } => OpenError::LoginNeeded { url, challenge },
            ClientError::LoginFailed { url, why } => OpenError::LoginFailed { url, why },
            ClientError::Unreachable { url, why } => OpenError::Unreachable { url, why },
            error => OpenError::Unreachable { url: poster.url(), why: error.to_string() },
        }
    }

    /// What an answer of no protocol said, where it tells something about the server's era. A wanted login, a server in trouble
    /// and no answer at all tell nothing, and end the opening.
    pub(super) fn into_foreign(self, poster: &Poster) -> Result<String, OpenError> {
        match self {
            // Servers that fall over what they do not know answer 500 or 501; those in front of a dead server say 502 to 504.
            Self::Foreign(status @ (200..=399 | 400 | 402 | 404..=501), words) => {
                Ok(status_words(status, &words))
            }
            Self::Protocol(what) => Ok(what),
            Self::SessionLost => Ok("the session is not known".to_owned()),
            failure => Err(failure.into_open_error(poster)),
        }
    }
}

fn status_words(status: u16, words: &str) -> String {
    match (status, words) {
        (200, "") => "an empty body".to_owned(),
        (200, words) => format!("something that is no message of the protocol: {words}"),
        (status, "") => format!("HTTP {status}"),
        (status, words) => format!("HTTP {status}: {words}"),
    }
}
