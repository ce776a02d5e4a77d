//! A model behind an HTTP endpoint.

mod failure;
mod retry;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use surehand_dialect::{DecodeError, Dialect, EncodeOptions, Encoded, Quirks};
use surehand_model::{ModelEvent, ModelRequest, ModelTurn, Note, Secret};
use surehand_transport::{HttpClient, HttpError, HttpRequest, HttpResponse, SseDecoder, SseEvent};
use url::Url;

use self::failure::Failure;
pub use self::retry::RetryPolicy;
use crate::{BoxFuture, EventSink, Provider, ProviderError};

/// The most bytes of one event of a stream, and of one answer that comes whole.
const ANSWER_LIMIT: usize = 64 << 20;

/// How much of the body of a failed answer is read, in bytes.
const FAULT_LIMIT: usize = 64 << 10;

/// How long a provider may say nothing. A model on a small machine reads a long prompt for minutes before its first word.
const SILENCE_LIMIT: Duration = Duration::from_secs(600);

/// How long the end of a stream is waited for once its end mark has come.
const DRAIN_LIMIT: Duration = Duration::from_millis(200);

/// How many different notes about requests one provider tells.
const TOLD_LIMIT: usize = 1000;

/// Where and how a model is reached.
#[derive(Clone)]
pub struct ProviderTarget {
    /// The full name, `provider/model`.
    pub id: String,
    /// The provider's name, for errors.
    pub provider: String,
    /// How it writes.
    pub dialect: Arc<dyn Dialect>,
    /// What stands before the dialect's own path, without a `/` at the end.
    pub base_url: Url,
    /// The key, where it needs one.
    pub key: Option<Secret<String>>,
    /// The environment variables that may hold the key, for errors.
    pub key_variables: Vec<String>,
    /// Sent with each request.
    pub headers: Vec<(String, Secret<String>)>,
    /// What sets it apart.
    pub quirks: Quirks,
    /// Whether answers come as a stream of events.
    pub stream: bool,
    /// How often and when a failed request is tried again.
    pub retry: RetryPolicy,
}

/// Asks a model over HTTP.
///
/// A request that failed on the provider's side is tried again as the [`RetryPolicy`] says, as long as nothing of the answer has
/// been shown; each time a [`ModelEvent::Note`] says so. Keys never appear in what is said.
pub struct HttpProvider {
    target: ProviderTarget,
    http: HttpClient,
    /// What has been said about requests, so that the same tools do not bring the same words each time.
    told: Mutex<BTreeSet<String>>,
}

impl HttpProvider {
    /// A provider at `target`, reached through `http`.
    pub fn new(target: ProviderTarget, http: HttpClient) -> Self {
        Self { target, http, told: Mutex::default() }
    }

    async fn ask(&self, request: &ModelRequest, sink: EventSink<'_>) -> Result<ModelTurn, ProviderError> {
        let options = EncodeOptions { stream: self.target.stream, quirks: &self.target.quirks };
        let mut encoded = self.target.dialect.encode(request, options);
        for note in encoded.notes.drain(..) {
            if self.is_new(&note) {
                sink(ModelEvent::Note(note));
            }
        }
        let url = self.url(&encoded.path)?;
        let body = Bytes::from(std::mem::take(&mut encoded.body));
        let mut attempt = 1;
        loop {
            let mut shown = false;
            let mut watching = |event: ModelEvent| {
                shown |= !matches!(event, ModelEvent::Note(_));
                sink(event);
            };
            let failure = match self.attempt(&url, &body, &encoded, &mut watching).await {
                Ok(turn) => return Ok(turn),
                Err(failure) => failure,
            };
            let wait = self.target.retry.wait_after(attempt, failure.retry_after);
            let (Some(wait), false, true) = (wait, shown, failure.may_be_retried) else {
                return Err(failure.error);
            };
            sink(ModelEvent::Note(Note::new(
                &self.target.provider,
                format!(
                    "asking again in {:.1} s (try {} of {})",
                    wait.as_secs_f64(),
                    attempt + 1,
                    self.target.retry.max_attempts
                ),
                failure.error.to_string(),
            )));
            tokio::time::sleep(wait).await;
            attempt += 1;
        }
    }

    /// Whether this has not been said before.
    fn is_new(&self, note: &Note) -> bool {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.len() < TOLD_LIMIT && told.insert(note.to_string())
    }

    fn url(&self, path: &str) -> Result<Url, ProviderError> {
        let base = self.target.base_url.as_str().trim_end_matches('/');
        Url::parse(&format!("{base}{path}")).map_err(|error| ProviderError::Rejected {
            provider: self.target.provider.clone(),
            status: 0,
            message: format!("its address cannot be used: {error}"),
        })
    }

    async fn attempt(
        &self,
        url: &Url,
        body: &Bytes,
        encoded: &Encoded,
        sink: EventSink<'_>,
    ) -> Result<ModelTurn, Failure> {
        let accept =
            if self.target.stream { "text/event-stream, application/json" } else { "application/json" };
        let mut request = HttpRequest::post(url.clone(), body.clone())
            .header("content-type", "application/json")
            .header("accept", accept);
        for (name, value) in &encoded.headers {
            request = request.header(name, value);
        }
        if let Some(key) = &self.target.key {
            let header = self.target.dialect.key_header();
            request = request.header(header.name, &format!("{}{}", header.prefix, key.expose()));
        }
        request = request.headers(self.target.headers.iter().cloned());
        request.idle_timeout = Some(SILENCE_LIMIT);

        let response = self.http.send(request).await.map_err(|error| self.unreached(&error, true))?;
        if !response.is_success() {
            return Err(self.refused(response).await);
        }
        if response.media_type().is_some_and(|media| media == "text/html") {
            return Err(failure::web_page(&self.target));
        }
        let is_json = response.media_type().is_some_and(|media| media == "application/json");
        if self.target.stream && !is_json {
            return self.read_stream(response, encoded, sink).await;
        }
        let whole = response.collect(ANSWER_LIMIT).await.map_err(|error| self.unreached(&error, true))?;
        let turn =
            self.target.dialect.decode(&whole, &encoded.names).map_err(|error| self.undecoded(error))?;
        for part in &turn.parts {
            match &part.kind {
                surehand_model::PartKind::Text(text) => sink(ModelEvent::Text(text.clone())),
                surehand_model::PartKind::Reasoning(text) => sink(ModelEvent::Reasoning(text.clone())),
                surehand_model::PartKind::Call(call) => {
                    sink(ModelEvent::CallStarted { name: call.name.clone() });
                    sink(ModelEvent::Call(call.clone()));
                }
                _ => {}
            }
        }
        Ok(turn)
    }

    async fn read_stream(
        &self,
        mut response: HttpResponse,
        encoded: &Encoded,
        sink: EventSink<'_>,
    ) -> Result<ModelTurn, Failure> {
        let mut events = SseDecoder::new(ANSWER_LIMIT);
        let mut decoder = self.target.dialect.stream(&encoded.names);
        let mut take = |event: SseEvent, sink: EventSink<'_>| {
            decoder
                .event(Some(&event.event), &event.data)
                .map(|said| said.into_iter().for_each(sink))
                .map(|()| decoder.is_done())
        };
        'reading: loop {
            let chunk = match response.chunk().await {
                Ok(Some(chunk)) => chunk,
                Ok(None) => break,
                Err(error) => return Err(self.unreached(&error, false)),
            };
            let whole = events.push(&chunk).map_err(|error| self.broken(error.to_string()))?;
            for event in whole {
                if take(event, &mut *sink).map_err(|error| self.undecoded(error))? {
                    drain(&mut response).await;
                    break 'reading;
                }
            }
        }
        // Some servers leave out the empty line that ends the last event.
        for event in events.push(b"\n\n").map_err(|error| self.broken(error.to_string()))? {
            match take(event, &mut *sink) {
                // Half an event: whether the answer was whole without it is for the decoder to say.
                Ok(_) | Err(DecodeError::Shape { .. }) => {}
                Err(error) => return Err(self.undecoded(error)),
            }
        }
        let (said, turn) = decoder.finish().map_err(|error| self.undecoded(error))?;
        said.into_iter().for_each(sink);
        Ok(turn)
    }

    fn broken(&self, message: String) -> Failure {
        let message = self.redact(&message);
        Failure::once(ProviderError::Broken { provider: self.target.provider.clone(), message })
    }

    fn unreached(&self, error: &HttpError, nothing_sent: bool) -> Failure {
        failure::unreached(&self.target, error, nothing_sent)
    }

    async fn refused(&self, response: HttpResponse) -> Failure {
        let head = failure::Head::of(&response);
        let body = response.excerpt(FAULT_LIMIT).await;
        failure::refused(&self.target, &head, &body)
    }

    fn undecoded(&self, error: DecodeError) -> Failure {
        failure::undecoded(&self.target, error)
    }

    fn redact(&self, text: &str) -> String {
        failure::redact(&self.target, text)
    }
}

/// Reads what follows the end mark, as a rule nothing: only a connection that was read to its end serves the next request.
async fn drain(response: &mut HttpResponse) {
    let rest = async { while let Ok(Some(_)) = response.chunk().await {} };
    // A server that keeps the stream open is not waited for; the connection is closed then.
    let _ended = tokio::time::timeout(DRAIN_LIMIT, rest).await;
}

impl Provider for HttpProvider {
    fn id(&self) -> &str {
        &self.target.id
    }

    fn answer<'a>(
        &'a self,
        request: &'a ModelRequest,
        sink: EventSink<'a>,
    ) -> BoxFuture<'a, Result<ModelTurn, ProviderError>> {
        Box::pin(self.ask(request, sink))
    }
}
