mod oldest;
mod stream;

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use surehand_mcp::{
    EnvelopeLimits, ErrorCode, Exchange, Feature, OpeningOutcome, Progress, Revision, RpcError,
};
use surehand_model::{Note, RawJson, Secret};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;
use url::Url;

use self::oldest::Stream;
pub(super) use self::stream::ListenEnd;
use super::super::authorize::{Authorizer, Challenge, Retry, nonce_of};
use super::super::error::{ClientError, OpenError};
use super::super::questions::{Pending, Questions};
use super::super::waiting::Waiter;
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
    /// How often a session or, over the oldest transport, a stream has been opened.
    opened: watch::Sender<u64>,
    /// The stream of the oldest transport, once that is spoken.
    oldest: watch::Sender<Stream>,
    /// Requests whose answer may come over the stream that belongs to no request.
    elsewhere: Mutex<Exchange<Waiter>>,
    /// The session, by its number, whose listener the server has answered, whatever it said.
    heard: watch::Sender<u64>,
    /// A stream is open on which the server speaks on its own.
    listened: AtomicBool,
    /// Read what the server says on its own. They hold this very struct, so whoever owns the poster stops them.
    streams: Mutex<JoinSet<()>>,
}

/// Stops, when dropped, everything that reads for a poster.
pub(super) struct Owner(pub(super) Poster);

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.stop();
    }
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
    /// The server's own error, and the status it came with.
    Rpc(u16, RpcError),
    /// The server does not know the session, so nothing has run.
    SessionLost,
    /// The stream that was to bring the answer ended, or broke, before it.
    Cut(Option<HttpError>),
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
        let limits = EnvelopeLimits { bytes: options.message_limit, ..EnvelopeLimits::default() };
        let elsewhere = Exchange::new(None, limits).taking_questions(questions.taken());
        let shared = Shared {
            http,
            target,
            session: Mutex::new(None),
            limits,
            // Every wait above has a deadline of its own; this one only must not be shorter.
            idle_timeout: Duration::from_secs(24 * 60 * 60),
            on_event: options.on_event.clone(),
            questions,
            authorizer: options.authorizer.clone(),
            asides: Mutex::default(),
            opened: watch::Sender::new(0),
            oldest: watch::Sender::new(Stream::None),
            elsewhere: Mutex::new(elsewhere),
            heard: watch::Sender::new(0),
            listened: AtomicBool::new(false),
            streams: Mutex::default(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    pub(super) fn session(&self) -> Option<String> {
        self.lock().clone()
    }

    pub(super) fn forget_session(&self) {
        *self.lock() = None;
    }

    /// The number of the session, or of the stream, that is open; it grows whenever another one is.
    pub(super) fn opened(&self) -> u64 {
        *self.shared.opened.borrow()
    }

    /// Whatever was opened before is no longer used.
    pub(super) fn has_opened(&self) {
        self.shared.opened.send_modify(|opened| *opened += 1);
    }

    /// Waits until something else is open than `former`.
    pub(super) async fn opened_after(&self, former: u64) {
        // The sender lives as long as this.
        let _ = self.shared.opened.subscribe().wait_for(|opened| *opened != former).await;
    }

    /// The revision is settled.
    pub(super) fn settle(&self, revision: Revision) {
        self.elsewhere().settle(revision);
    }

    /// Runs `work` until it ends or whoever owns the poster is gone.
    pub(super) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut streams = self.streams();
        while streams.try_join_next().is_some() {}
        streams.spawn(work);
    }

    /// Ends whatever reads what the server says on its own.
    pub(super) fn stop(&self) {
        self.streams().abort_all();
    }

    /// Sends a request and waits for its result, which may also come over the stream that belongs to no request.
    pub(super) async fn ask(&self, message: String, asked: Asked<'_>) -> Result<RawJson, Failure> {
        let may_come_elsewhere =
            self.is_oldest() || asked.revision.is_some_and(|revision| revision.has(Feature::Sessions));
        if !may_come_elsewhere {
            return self.post(message, &asked).await?.ok_or_else(taken_without_answer);
        }
        let (waiter, mut waiting) = Waiter::pair(asked.on_progress.is_some());
        let _expected = Expected::new(self, asked.id, waiter);
        let mut posting = pin!(self.post(message, &asked));
        let mut is_taken = false;
        loop {
            tokio::select! {
                biased;
                outcome = &mut posting, if !is_taken => match outcome? {
                    Some(result) => return Ok(result),
                    None if self.is_oldest() || self.is_heard() => is_taken = true,
                    None => return Err(taken_without_answer()),
                },
                answer = waiting.answer(asked.on_progress) => {
                    return match answer {
                        Some(outcome) => outcome.map_err(|error| Failure::Rpc(200, error)),
                        // The stream is gone. Whether the server took the request, it may still say itself.
                        None if !is_taken => posting.await?.ok_or(Failure::Cut(None)),
                        None => Err(Failure::Cut(None)),
                    };
                }
            }
        }
    }

    /// Sends a request and reads its own answer; none where the server has only taken it.
    async fn post(&self, message: String, asked: &Asked<'_>) -> Result<Option<RawJson>, Failure> {
        let is_oldest = self.is_oldest();
        let request = self.request(Method::POST, asked.revision, &asked.headers, Some(message))?;
        let response = self.judge(self.send(request).await?).await?;
        if is_oldest {
            self.take_aside(response).await?;
            return Ok(None);
        }
        if response.status == 202 || response.status == 204 {
            return Ok(None);
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
            return self.read_stream(response, asked, &mut exchange).await.map(Some);
        }
        let body = response.collect(self.shared.limits.bytes).await?;
        let text = String::from_utf8_lossy(&body);
        // Questions can only come before an answer, and here nothing comes but the answer.
        let mut pending = Pending::new(questions.clone());
        match self.take(&text, asked, &mut exchange, &mut pending) {
            Some(outcome) => outcome.map(Some).map_err(|error| Failure::Rpc(200, error)),
            None => Err(Failure::Foreign(200, excerpt(&text))),
        }
    }

    /// Sends a notification, or an answer to a request of the server.
    pub(super) async fn tell(&self, message: String, revision: Revision) -> Result<(), Failure> {
        let request = self.request(Method::POST, Some(revision), &[], Some(message))?;
        self.judge(self.send(request).await?).await.map(drop)
    }

    /// Gives the session back, if there is one.
    pub(super) async fn delete_session(&self, revision: Revision) {
        if self.session().is_some() {
            // Servers may refuse; either way the session is not used again.
            if let Ok(request) = self.request(Method::DELETE, Some(revision), &[], None) {
                let _ = self.send(request).await;
            }
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

    /// Sends a request whose answer nobody waits for.
    pub(super) fn ask_aside(&self, id: u64, message: String, revision: Revision) {
        {
            // So that the answer is known for one that was asked for.
            let mut elsewhere = self.elsewhere();
            elsewhere.expect(id, Waiter::pair(false).0);
            elsewhere.forget(id);
        }
        self.aside(message, revision);
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
                if let Some(nonce) = nonce_of(&response.headers) {
                    authorizer.renewed_nonce(&request.url, nonce);
                }
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
        if (self.session().is_some() || self.is_oldest()) && is_lost_session(status, &words, error.as_ref()) {
            return Err(Failure::SessionLost);
        }
        match error {
            Some(error) => Err(Failure::Rpc(status, error)),
            None => Err(Failure::Foreign(status, excerpt(&words))),
        }
    }

    fn request(
        &self,
        method: Method,
        revision: Option<Revision>,
        headers: &[(String, String)],
        body: Option<String>,
    ) -> Result<HttpRequest, Failure> {
        let url = if method == Method::GET { self.shared.target.url.clone() } else { self.address()? };
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
        Ok(HttpRequest {
            method,
            headers: all,
            body: body.map(Into::into),
            idle_timeout: Some(self.shared.idle_timeout),
            ..HttpRequest::get(url)
        })
    }

    /// Where messages go.
    fn address(&self) -> Result<Url, Failure> {
        match &*self.shared.oldest.borrow() {
            Stream::None => Ok(self.shared.target.url.clone()),
            Stream::Open { endpoint, .. } => Ok(endpoint.clone()),
            Stream::Lost => Err(Failure::SessionLost),
        }
    }

    fn event(&self, event: ClientEvent) {
        if let Some(listen) = &self.shared.on_event {
            listen(event);
        }
    }

    fn elsewhere(&self) -> MutexGuard<'_, Exchange<Waiter>> {
        self.shared.elsewhere.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn streams(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.shared.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Option<String>> {
        self.shared.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn url(&self) -> String {
        shown(&self.shared.target.url)
    }
}

fn taken_without_answer() -> Failure {
    Failure::Protocol("the server took the request and gave no answer to it".to_owned())
}

/// While it lives, the answer under this id may come over the stream that belongs to no request.
struct Expected<'a> {
    poster: &'a Poster,
    id: u64,
}

impl<'a> Expected<'a> {
    fn new(poster: &'a Poster, id: u64, waiter: Waiter) -> Self {
        poster.elsewhere().expect(id, waiter);
        Self { poster, id }
    }
}

impl Drop for Expected<'_> {
    fn drop(&mut self) {
        let forgotten = self.poster.elsewhere().forget(self.id);
        drop(forgotten);
    }
}

/// The error that a body holds, if it is a message of the protocol.
fn rpc_error(body: &str, limits: EnvelopeLimits) -> Option<RpcError> {
    match surehand_mcp::parse_message(body, limits) {
        Ok(surehand_mcp::Message::Answer { outcome: Err(error), .. }) => Some(error),
        _ => None,
    }
}

/// A session that is over answers 404; some servers say 400 and name the session, or want a handshake first, in words.
fn is_lost_session(status: u16, words: &str, error: Option<&RpcError>) -> bool {
    let words = words.to_ascii_lowercase();
    match status {
        404 => error.is_none_or(|error| error.code != surehand_mcp::ErrorCode::METHOD_NOT_FOUND),
        400 => words.contains("session") || words.contains("not initialized"),
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
            Self::Rpc(_, error) => error.into(),
            Self::SessionLost => {
                ClientError::Closed { why: "the server has forgotten the session".to_owned() }
            }
            Self::Cut(None) => {
                ClientError::Protocol { what: "the server ended its stream without an answer".to_owned() }
            }
            Self::Cut(Some(error)) => Self::Http(error).into_error(poster),
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

    /// Whether the request may have run, or may still, without anybody knowing what came of it.
    pub(super) fn leaves_unclear(&self) -> bool {
        matches!(self, Self::Cut(_) | Self::Http(HttpError::Broken { .. }))
    }

    /// The error for a request that may have run.
    pub(super) fn into_unclear(self, poster: &Poster) -> ClientError {
        const UNCLEAR: &str = "so whether the call ran is not known, and it was not repeated";
        match self.into_error(poster) {
            ClientError::Unreachable { url, why } => {
                ClientError::Unreachable { url, why: format!("{why}, {UNCLEAR}") }
            }
            ClientError::Protocol { what } => ClientError::Protocol { what: format!("{what}, {UNCLEAR}") },
            error => error,
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
    pub(super) fn into_outcome(self, poster: &Poster) -> Result<OpeningOutcome, OpenError> {
        match self {
            // An error of its inside tells no more than the status does.
            Self::Rpc(500.., error) if error.code == ErrorCode::INTERNAL => {
                Err(Self::Foreign(500, error.message).into_open_error(poster))
            }
            Self::Rpc(_, error) => Ok(OpeningOutcome::Refused(error)),
            Self::Foreign(status @ (200..=400 | 402 | 404..=407 | 409..=428 | 430..=499), words) => {
                Ok(OpeningOutcome::Foreign(status_words(status, &words)))
            }
            Self::Protocol(what) => Ok(OpeningOutcome::Foreign(what)),
            Self::SessionLost => Ok(OpeningOutcome::Foreign("the session is not known".to_owned())),
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
