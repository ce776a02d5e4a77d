//! A server behind an address, over Streamable HTTP in either era.

mod opening;
mod post;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use surehand_mcp::{
    Era, Feature, Implementation, Listing, Method, Opened, ParamHeader, ReadResourceParams, Revision,
    Speaker, Subscribe, Wanted, encode_header_value, encode_params, param_headers, write_notification,
};
use surehand_model::{Note, RawJson, Tool};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use self::opening::Opener;
use self::post::{Asked, Failure, ListenEnd, Owner, Poster};
use super::error::{ClientError, OpenError};
use super::questions::Questions;
use super::subscriptions::{SubscriptionEnd, Subscriptions};
use super::{ClientEvent, ClientOptions, HttpTarget, WireRequest};
use crate::http::HttpClient;

/// How long a listener may go without an answer before calls are made all the same.
const HEARD_WITHIN: Duration = Duration::from_secs(1);
/// How long giving a session back may take.
const FAREWELL: Duration = Duration::from_secs(2);

/// How long is waited before a session that was lost while nobody asked is opened anew; doubled each time in vain.
const REOPEN: Duration = Duration::from_secs(1);
/// No longer is waited than this.
const REOPEN_LIMIT: Duration = Duration::from_secs(60);

/// The wire to an address.
pub(crate) struct HttpWire {
    core: Arc<Core>,
    /// Stops what listens when this is dropped.
    _owner: Owner,
}

struct Core {
    poster: Poster,
    speaker: Speaker,
    next: AtomicU64,
    startup_timeout: Duration,
    who: Implementation,
    questions: Arc<Questions>,
    /// The server has something to tell on its own.
    is_listened_to: bool,
    /// Written to while a lost session is opened anew, so that it is done once and nothing is asked meanwhile.
    reopening: tokio::sync::RwLock<()>,
    tools: Mutex<HashMap<String, KnownTool>>,
    subscriptions: OnceLock<Arc<Subscriptions>>,
    on_event: Option<Arc<dyn Fn(ClientEvent) + Send + Sync>>,
}

/// What a listing told of a tool.
struct KnownTool {
    /// Which arguments are repeated in headers.
    headers: Vec<ParamHeader>,
    /// Calling it twice does no harm, so it says.
    is_repeatable: bool,
}

impl HttpWire {
    pub(crate) async fn open(
        target: HttpTarget,
        is_oldest: bool,
        options: ClientOptions,
        http: HttpClient,
        questions: Arc<Questions>,
    ) -> Result<(Self, Opened), OpenError> {
        let poster = Poster::new(target, &options, http, questions.clone())?;
        let owner = Owner(poster.clone());
        let next = AtomicU64::new(1);
        let opener =
            Opener { poster: &poster, next: &next, who: &options.implementation, questions: &questions };
        let opening = async {
            if is_oldest {
                opener.open_oldest_first(options.era).await
            } else {
                opener.open(options.era).await
            }
        };
        let opened = match questions.within(options.startup_timeout, opening).await {
            Some(outcome) => outcome?,
            None => {
                return Err(OpenError::Timeout { after: options.startup_timeout, stderr: String::new() });
            }
        };
        let core = Arc::new(Core {
            speaker: Speaker::new(opened.server.revision, &options.implementation, questions.capabilities()),
            poster,
            next,
            startup_timeout: options.startup_timeout,
            who: options.implementation,
            is_listened_to: opened.server.tells_on_its_own() || questions.are_offered(),
            questions,
            reopening: tokio::sync::RwLock::new(()),
            tools: Mutex::default(),
            subscriptions: OnceLock::new(),
            on_event: options.on_event,
        });
        core.poster.settle(opened.server.revision);
        core.listen().await;
        Ok((Self { core, _owner: owner }, opened))
    }

    pub(crate) async fn request(&self, request: WireRequest<'_>) -> Result<RawJson, ClientError> {
        let after = request.timeout;
        let answer = self.core.questions.within(after, self.core.answer(&request)).await;
        answer.unwrap_or(Err(ClientError::Timeout { after }))
    }

    /// Remembers what the tools want repeated in headers and whether they may be called twice, and takes out tools whose marks
    /// cannot be honoured.
    pub(crate) fn learn_tools(&self, listing: &mut Listing<Tool>) {
        let has_headers = self.core.speaker.revision().has(Feature::RoutingHeaders);
        let mut known = self.core.tools();
        known.clear();
        let notes = &mut listing.notes;
        listing.items.retain(|tool| {
            let headers = if has_headers { param_headers(&tool.input_schema) } else { Ok(Vec::new()) };
            match headers {
                Ok(headers) => {
                    let hints = &tool.annotations;
                    let is_repeatable = hints.read_only == Some(true) || hints.idempotent == Some(true);
                    known.insert(tool.name.clone(), KnownTool { headers, is_repeatable });
                    true
                }
                Err(why) => {
                    notes.push(Note::new("tools/list", format!("tool `{}` left out", tool.name), why));
                    false
                }
            }
        });
    }

    /// Waits until what a server of the older era tells on its own is heard.
    pub(crate) async fn listening(&self) {
        self.core.listening().await;
    }

    /// Has the server listened to for changes, as long as this lives. One of the older era hears again, in each new session, which
    /// resources are wanted.
    pub(crate) fn keep(&self, subscriptions: Arc<Subscriptions>) {
        if !self.core.speaker.revision().has(Feature::Stateless) {
            // Set once, right after the opening.
            let _ = self.core.subscriptions.set(subscriptions);
            return;
        }
        let core = self.core.clone();
        self.core.poster.spawn(
            subscriptions
                .keep(Box::new(move |wanted, granted| Box::pin(core.clone().subscribe(wanted, granted)))),
        );
    }

    /// Sends a notification without parameters.
    pub(crate) async fn notify(&self, method: &str) -> Result<(), ClientError> {
        let told =
            self.core.poster.tell(write_notification(method, None), self.core.speaker.revision()).await;
        told.map_err(|failure| failure.into_error(&self.core.poster))
    }

    pub(crate) async fn close(self) {
        let poster = &self.core.poster;
        poster.stop();
        let ending = async {
            poster.finish_asides().await;
            poster.delete_session(self.core.speaker.revision()).await;
        };
        // A server that does not answer a farewell notices by itself.
        let _ = timeout(FAREWELL, ending).await;
    }
}

impl Core {
    async fn answer(&self, request: &WireRequest<'_>) -> Result<RawJson, ClientError> {
        if self.speaker.revision().has(Feature::Handshake) {
            drop(self.reopening.read().await);
        }
        let opened = self.poster.opened();
        match self.send(request).await {
            // It was refused before it ran.
            Err(Failure::SessionLost) => Box::pin(self.reopen(opened)).await?,
            Err(failure) if failure.leaves_unclear() => {
                if !self.is_repeatable(request) {
                    return Err(failure.into_unclear(&self.poster));
                }
                if self.poster.is_oldest() {
                    Box::pin(self.reopen(opened)).await?;
                }
            }
            outcome => return outcome.map_err(|failure| failure.into_error(&self.poster)),
        }
        self.send(request).await.map_err(|failure| failure.into_error(&self.poster))
    }

    /// Whether a request does no harm where it runs twice.
    fn is_repeatable(&self, request: &WireRequest<'_>) -> bool {
        request.is_read
            || request
                .subject
                .is_some_and(|tool| self.tools().get(tool).is_some_and(|tool| tool.is_repeatable))
    }

    async fn send(&self, request: &WireRequest<'_>) -> Result<RawJson, Failure> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let wants_progress = request.on_progress.is_some();
        let message = self.speaker.request(id, request.method, request.params.as_ref(), wants_progress);
        let revision = self.speaker.revision();
        let mut headers = routing_headers(revision, request.method, request.subject);
        if let (true, Some(name), Some(arguments)) =
            (revision.has(Feature::RoutingHeaders), request.subject, request.arguments)
            && let Some(tool) = self.tools().get(name)
        {
            headers.extend(encode_params(&tool.headers, arguments));
        }
        let cancellation = Cancellation { core: self, id, armed: !revision.is_modern() };
        let asked = Asked { id, revision: Some(revision), headers, on_progress: request.on_progress };
        // Boxed, for it is large, and callers wrap it again and again.
        let outcome = Box::pin(self.poster.ask(message, asked)).await;
        cancellation.disarm();
        outcome
    }

    /// Listens, from now on, to what the server tells and asks outside of the streams of calls. Only where there is something to
    /// hear, for every listener costs the server a connection.
    ///
    /// Where somebody can be asked, it waits until the server has answered the listener: what it asks before, many servers drop,
    /// and the call that needs the answer would wait in vain.
    async fn listen(self: &Arc<Self>) {
        let revision = self.speaker.revision();
        if self.poster.is_oldest() {
            self.poster.spawn(self.clone().keep_oldest());
        } else if revision.has(Feature::Sessions) && self.is_listened_to {
            self.poster.spawn(self.clone().keep_listening());
            self.await_listener().await;
        }
    }

    /// A server that holds its answer back until it has something to say is not waited for.
    async fn await_listener(&self) {
        if self.questions.are_offered() {
            self.listening().await;
        }
    }

    /// Waits until the server has answered the listener, where there is one.
    async fn listening(&self) {
        if self.is_listened_to && self.speaker.revision().has(Feature::Sessions) && !self.poster.is_oldest() {
            let _ = timeout(HEARD_WITHIN, self.poster.heard(self.poster.opened())).await;
        }
    }

    /// Listens in every session, for ever. A session that is lost while nobody asks is opened anew, for what the server would tell
    /// in it.
    async fn keep_listening(self: Arc<Self>) {
        loop {
            let opened = self.poster.opened();
            let end = tokio::select! {
                end = self.poster.listen(self.speaker.revision()) => end,
                () = self.poster.opened_after(opened) => continue,
            };
            match end {
                ListenEnd::SessionLost => self.reopen_patiently(opened).await,
                ListenEnd::Refused => self.poster.opened_after(opened).await,
            }
        }
    }

    /// Opens the oldest transport's stream anew whenever it is lost.
    async fn keep_oldest(self: Arc<Self>) {
        loop {
            self.poster.lost_oldest().await;
            self.reopen_patiently(self.poster.opened()).await;
        }
    }

    /// Opens the session anew, again and again, until somebody has. A server that refuses it is left alone until somebody asks.
    async fn reopen_patiently(&self, lost: u64) {
        let mut wait = REOPEN;
        loop {
            tokio::select! {
                () = sleep(wait) => {}
                () = self.poster.opened_after(lost) => return,
            }
            match Box::pin(self.reopen(lost)).await {
                Ok(()) => return,
                Err(ClientError::Unreachable { .. } | ClientError::Timeout { .. }) => {}
                Err(_) => return self.poster.opened_after(lost).await,
            }
            wait = (wait * 2).min(REOPEN_LIMIT);
        }
    }

    /// Opens the session anew, unless somebody else has done so since `lost` was open.
    async fn reopen(&self, lost: u64) -> Result<(), ClientError> {
        let _alone = self.reopening.write().await;
        if self.poster.opened() != lost {
            return Ok(());
        }
        self.poster.forget_session();
        let opener =
            Opener { poster: &self.poster, next: &self.next, who: &self.who, questions: &self.questions };
        let opening = async {
            if self.poster.is_oldest() { opener.open_oldest().await } else { opener.open(Era::Legacy).await }
        };
        let after = self.startup_timeout;
        let opened = self.questions.within(after, opening).await.ok_or(ClientError::Timeout { after })?;
        let opened = opened.map_err(|error| match error {
            OpenError::Unreachable { url, why } => ClientError::Unreachable { url, why },
            OpenError::LoginNeeded { url, challenge } => ClientError::LoginNeeded { url, challenge },
            error => ClientError::Closed { why: error.to_string() },
        })?;
        if opened.server.revision != self.speaker.revision() {
            let what = format!(
                "the server now speaks {} and spoke {}",
                opened.server.revision,
                self.speaker.revision()
            );
            return Err(ClientError::Protocol { what });
        }
        if let Some(listen) = &self.on_event {
            let note = Note::new("server", "session opened anew", "the server had forgotten the one before");
            listen(ClientEvent::Note(note));
        }
        self.await_listener().await;
        self.renew_wishes();
        Ok(())
    }

    /// Tells a new session what the one before knew, and the owner that it may have missed something.
    fn renew_wishes(&self) {
        let Some(subscriptions) = self.subscriptions.get() else { return };
        let revision = self.speaker.revision();
        for uri in subscriptions.resources() {
            let params = RawJson::from_serialize(&ReadResourceParams { uri });
            let id = self.next.fetch_add(1, Ordering::Relaxed);
            let message = self.speaker.request(id, Subscribe::NAME, Some(&params), false);
            self.poster.ask_aside(id, message, revision);
        }
        subscriptions.missed();
    }

    /// Listens for changes until the server ends it. Where this is dropped before, the closed stream tells the server.
    async fn subscribe(self: Arc<Self>, wanted: Wanted, granted: mpsc::Sender<Wanted>) -> SubscriptionEnd {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let message = self.speaker.request(id, Wanted::METHOD, Some(&wanted.params()), false);
        let revision = self.speaker.revision();
        let headers = routing_headers(revision, Wanted::METHOD, None);
        let asked = Asked { id, revision: Some(revision), headers, on_progress: None };
        match self.poster.subscribe(message, asked, granted).await {
            Ok(()) | Err(Failure::Cut(_) | Failure::Http(_) | Failure::Foreign(429 | 500.., _)) => {
                SubscriptionEnd::Over
            }
            Err(failure) => SubscriptionEnd::Refused(failure.into_error(&self.poster).to_string()),
        }
    }

    fn tools(&self) -> MutexGuard<'_, HashMap<String, KnownTool>> {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells the server, when dropped, that a request is given up. In the stateless era closing the answer's stream says it.
struct Cancellation<'a> {
    core: &'a Core,
    id: u64,
    armed: bool,
}

impl Cancellation<'_> {
    fn disarm(mut self) {
        self.armed = false;
    }
}

impl Drop for Cancellation<'_> {
    fn drop(&mut self) {
        if !self.armed {
            return;
        }
        let message = self.core.speaker.cancelled(self.id, "given up by the caller");
        self.core.poster.aside(message, self.core.speaker.revision());
    }
}

fn routing_headers(revision: Revision, method: &str, subject: Option<&str>) -> Vec<(String, String)> {
    let mut headers = Vec::new();
    if revision.has(Feature::RoutingHeaders) {
        headers.push(("Mcp-Method".to_owned(), method.to_owned()));
        if let Some(subject) = subject {
            headers.push(("Mcp-Name".to_owned(), encode_header_value(subject)));
        }
    }
    headers
}
