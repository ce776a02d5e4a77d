//! A server behind an address, over Streamable HTTP in either era.

mod post;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use surehand_mcp::{
    ClientCapabilities, Era, ErrorCode, Implementation, Listing, Opened, Opening, OpeningFault,
    OpeningOutcome, OpeningRequest, OpeningStep, ParamHeader, Revision, Speaker, encode_header_value,
    encode_params, param_headers, write_notification, write_request,
};
use surehand_mcp::{Feature, Id};
use surehand_model::{Note, RawJson, Tool};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::timeout;

use self::post::{Asked, Failure, Poster};
use super::error::{ClientError, OpenError};
use super::questions::Questions;
use super::{ClientEvent, ClientOptions, HttpTarget, WireRequest};
use crate::http::HttpClient;

/// How long a listener may go without an answer before calls are made all the same.
const HEARD_WITHIN: Duration = Duration::from_secs(1);
/// How long giving a session back may take.
const FAREWELL: Duration = Duration::from_secs(2);

/// The wire to an address.
pub(crate) struct HttpWire {
    poster: Poster,
    speaker: Speaker,
    next: AtomicU64,
    startup_timeout: Duration,
    who: Implementation,
    questions: Arc<Questions>,
    /// Held while a lost session is opened anew, so that it is done once.
    reopening: tokio::sync::Mutex<()>,
    /// Which arguments of which tools are repeated in headers.
    params: Mutex<HashMap<String, Vec<ParamHeader>>>,
    on_event: Option<Arc<dyn Fn(ClientEvent) + Send + Sync>>,
    /// Listens to what the server says on its own.
    listening: Mutex<JoinSet<()>>,
}

impl HttpWire {
    pub(crate) async fn open(
        target: HttpTarget,
        options: ClientOptions,
        http: HttpClient,
        questions: Arc<Questions>,
    ) -> Result<(Self, Opened), OpenError> {
        let poster = Poster::new(target, &options, http, questions.clone())?;
        let next = AtomicU64::new(1);
        let opening =
            open(&poster, &next, options.era, options.implementation.clone(), questions.capabilities());
        let opened = match questions.within(options.startup_timeout, opening).await {
            Some(outcome) => outcome?,
            None => {
                return Err(OpenError::Timeout { after: options.startup_timeout, stderr: String::new() });
            }
        };
        let wire = Self {
            speaker: Speaker::new(opened.server.revision, &options.implementation, questions.capabilities()),
            poster,
            next,
            startup_timeout: options.startup_timeout,
            who: options.implementation,
            questions,
            reopening: tokio::sync::Mutex::new(()),
            params: Mutex::default(),
            on_event: options.on_event,
            listening: Mutex::default(),
        };
        wire.listen().await;
        Ok((wire, opened))
    }

    pub(crate) async fn request(&self, request: WireRequest<'_>) -> Result<RawJson, ClientError> {
        let after = request.timeout;
        let answer = self.questions.within(after, self.answer(&request)).await;
        answer.unwrap_or(Err(ClientError::Timeout { after }))
    }

    async fn answer(&self, request: &WireRequest<'_>) -> Result<RawJson, ClientError> {
        let session = self.poster.session();
        match self.send(request).await {
            Err(Failure::SessionLost) => {}
            outcome => return outcome.map_err(|failure| failure.into_error(&self.poster)),
        }
        self.reopen(session).await?;
        if !request.is_read {
            let why =
                "the server had forgotten the session; a new one is open, so the call can be made again";
            return Err(ClientError::Closed { why: why.to_owned() });
        }
        self.send(request).await.map_err(|failure| failure.into_error(&self.poster))
    }

    async fn send(&self, request: &WireRequest<'_>) -> Result<RawJson, Failure> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let wants_progress = request.on_progress.is_some();
        let message = self.speaker.request(id, request.method, request.params.as_ref(), wants_progress);
        let revision = self.speaker.revision();
        let mut headers = routing_headers(revision, request.method, request.subject);
        if let (true, Some(name), Some(arguments)) =
            (revision.has(Feature::RoutingHeaders), request.subject, request.arguments)
        {
            let known = self.params.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(marked) = known.get(name) {
                headers.extend(encode_params(marked, arguments));
            }
        }
        let cancellation = Cancellation { wire: self, id, armed: !revision.is_modern() };
        let asked = Asked { id, revision: Some(revision), headers, on_progress: request.on_progress };
        let outcome = self.poster.ask(message, asked).await;
        cancellation.disarm();
        outcome
    }

    /// Listens, from now on, to what the server asks outside of the streams of calls. Only where somebody can be asked, for every
    /// listener costs the server a connection.
    ///
    /// Waits until the server has answered the listener: what it asks before, many servers drop, and the call that needs the
    /// answer would wait in vain.
    async fn listen(&self) {
        let revision = self.speaker.revision();
        if !revision.has(Feature::Sessions) || !self.questions.are_offered() {
            return;
        }
        let (heard, hears) = oneshot::channel();
        {
            let mut listening = self.listening.lock().unwrap_or_else(PoisonError::into_inner);
            listening.abort_all();
            listening.spawn(self.poster.clone().listen(revision, heard));
        }
        // A server that holds its answer back until it has something to say is not waited for; nor is a listener that has ended.
        let _ = timeout(HEARD_WITHIN, hears).await;
    }

    /// Opens the session anew, unless somebody else has done so since `lost` was the session.
    async fn reopen(&self, lost: Option<String>) -> Result<(), ClientError> {
        let _turn = self.reopening.lock().await;
        if self.poster.session() != lost {
            return Ok(());
        }
        self.poster.forget_session();
        let opening =
            open(&self.poster, &self.next, Era::Legacy, self.who.clone(), self.questions.capabilities());
        let after = self.startup_timeout;
        let opened = self.questions.within(after, opening).await.ok_or(ClientError::Timeout { after })?;
        let opened = opened.map_err(|error| ClientError::Closed { why: error.to_string() })?;
        if opened.server.revision != self.speaker.revision() {
            let what = format!(
                "the server now speaks {} and spoke {}",
                opened.server.revision,
                self.speaker.revision()
            );
            return Err(ClientError::Protocol { what });
        }
        self.listen().await;
        if let Some(listen) = &self.on_event {
            let note = Note::new("server", "session opened anew", "the server had forgotten the one before");
            listen(ClientEvent::Note(note));
        }
        Ok(())
    }

    /// Sends a notification without parameters.
    pub(crate) async fn notify(&self, method: &str) -> Result<(), ClientError> {
        let told = self.poster.tell(write_notification(method, None), self.speaker.revision()).await;
        told.map_err(|failure| failure.into_error(&self.poster))
    }

    /// Remembers which arguments the tools want repeated in headers, and takes out tools whose marks cannot be honoured.
    pub(crate) fn learn_tools(&self, listing: &mut Listing<Tool>) {
        if !self.speaker.revision().has(Feature::RoutingHeaders) {
            return;
        }
        let mut known = self.params.lock().unwrap_or_else(PoisonError::into_inner);
        known.clear();
        let notes = &mut listing.notes;
        listing.items.retain(|tool| match param_headers(&tool.input_schema) {
            Ok(headers) => {
                if !headers.is_empty() {
                    known.insert(tool.name.clone(), headers);
                }
                true
            }
            Err(why) => {
                notes.push(Note::new("tools/list", format!("tool `{}` left out", tool.name), why));
                false
            }
        });
    }

    pub(crate) async fn close(self) {
        self.listening.lock().unwrap_or_else(PoisonError::into_inner).abort_all();
        let ending = async {
            self.poster.finish_asides().await;
            self.poster.delete_session(self.speaker.revision()).await;
        };
        // A server that does not answer a farewell notices by itself.
        let _ = timeout(FAREWELL, ending).await;
    }
}

/// Tells the server, when dropped, that a request is given up. In the stateless era closing the answer's stream says it.
struct Cancellation<'a> {
    wire: &'a HttpWire,
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
        let message = self.wire.speaker.cancelled(self.id, "given up by the caller");
        self.wire.poster.aside(message, self.wire.speaker.revision());
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

/// Drives the opening over an address.
async fn open(
    poster: &Poster,
    next: &AtomicU64,
    era: Era,
    who: Implementation,
    capabilities: ClientCapabilities,
) -> Result<Opened, OpenError> {
    let (mut opening, mut request) = Opening::start(era, who, capabilities);
    loop {
        let outcome = match ask(poster, next, &request).await {
            Ok(result) => OpeningOutcome::Answered(result),
            Err(Failure::Rpc(error)) => OpeningOutcome::Refused(error),
            Err(failure) => OpeningOutcome::Foreign(failure.into_foreign(poster)?),
        };
        match opening.outcome(request.ask, outcome) {
            OpeningStep::Ask(next) | OpeningStep::Reopen(next) => request = next,
            OpeningStep::Opened(opened) => {
                if let Some(method) = opened.notify {
                    let message = write_notification(method, None);
                    let told = poster.tell(message, opened.server.revision).await;
                    told.map_err(|failure| failure.into_open_error(poster))?;
                }
                return Ok(*opened);
            }
            OpeningStep::Failed(fault) => return Err(explain(fault)),
            // One question at a time is asked here, and it has its answer.
            OpeningStep::Wait => return Err(OpeningFault::Gone.into()),
        }
    }
}

async fn ask(poster: &Poster, next: &AtomicU64, request: &OpeningRequest) -> Result<RawJson, Failure> {
    let id = next.fetch_add(1, Ordering::Relaxed);
    let message = write_request(&Id::number(id), request.method, Some(request.params.as_str()));
    let revision = request.header_revision();
    let headers =
        revision.map(|revision| routing_headers(revision, request.method, None)).unwrap_or_default();
    poster.ask(message, Asked { id, revision, headers, on_progress: None }).await
}

/// An address that takes no message at all may still be one of the oldest transport.
fn explain(fault: OpeningFault) -> OpenError {
    match fault {
        OpeningFault::Unusable { method, what } => OpenError::Protocol(OpeningFault::Unusable {
            method,
            what: format!(
                "{what}. If this address serves only the old HTTP+SSE transport, it is not supported yet"
            ),
        }),
        OpeningFault::Refused { method, error }
            if error.code == ErrorCode::INTERNAL && error.message.is_empty() =>
        {
            OpenError::Protocol(OpeningFault::Unusable { method, what: "an error without words".to_owned() })
        }
        fault => fault.into(),
    }
}
