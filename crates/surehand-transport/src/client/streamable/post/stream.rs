//! Streams of events: the one that ends with the answer to a request, and the one on which a server speaks on its own.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use surehand_mcp::{Exchange, Feature, Incoming, Revision, RpcError};
use surehand_model::RawJson;
use tokio::sync::oneshot;
use tokio::time::sleep;

use super::super::super::ClientEvent;
use super::super::super::questions::Pending;
use super::{Asked, Failure, Poster};
use crate::http::{HttpError, HttpResponse, Method};
use crate::sse::SseDecoder;

/// How long is waited before a stream that broke is taken up again, where the server does not say.
const RETRY: Duration = Duration::from_secs(1);
/// A server may not have us ask again and again without a pause.
const RETRY_LEAST: Duration = Duration::from_millis(50);
/// A server may not make us wait longer than this.
const RETRY_LIMIT: Duration = Duration::from_secs(60);
/// How many streams in a row may end without any event before their answer is given up.
const RESUMED_IN_VAIN: u32 = 4;

/// Where a stream is taken up again, and when.
struct Place {
    last_id: Option<String>,
    retry: Duration,
}

/// How a stream ended.
enum End {
    Answered(Result<RawJson, RpcError>),
    /// Without an answer: at its end, or broken.
    Over {
        broken: Option<HttpError>,
        /// Something came over it.
        spoke: bool,
    },
}

impl Poster {
    /// Reads events until the answer comes. Where the revision allows it, a stream that broke is taken up again.
    pub(super) async fn read_stream(
        &self,
        mut response: HttpResponse,
        asked: &Asked<'_>,
        exchange: &mut Exchange<()>,
    ) -> Result<RawJson, Failure> {
        // The questions of a stream end with it: the call's answer has come, or nobody waits for it any more.
        let mut pending = Pending::new(self.shared.questions.clone());
        let mut place = Place { last_id: None, retry: RETRY };
        let mut vain = 0;
        loop {
            let broken = match self.events(response, asked, exchange, &mut pending, &mut place).await? {
                End::Answered(outcome) => return outcome.map_err(Failure::Rpc),
                End::Over { broken, spoke } => {
                    vain = if spoke { 0 } else { vain + 1 };
                    broken
                }
            };
            let resumable = asked.revision.is_some_and(|revision| revision.has(Feature::StreamResumption));
            if place.last_id.is_none() || !resumable || vain >= RESUMED_IN_VAIN {
                return Err(match broken {
                    Some(error) => error.into(),
                    None => Failure::Protocol("the server ended its stream without an answer".to_owned()),
                });
            }
            let wait = (place.retry * 2_u32.pow(vain.saturating_sub(1))).min(RETRY_LIMIT);
            let resumed = async {
                sleep(wait).await;
                self.get(asked.revision, &place).await
            };
            response = self.asking(&mut pending, asked, resumed).await?;
        }
    }

    /// Listens to what a server says on its own, until it no longer wants to be listened to. Many servers of the older era ask
    /// their questions here and not on the stream of the call that needs the answer.
    ///
    /// `heard` is told once the server has answered, whatever it said.
    ///
    /// Source: MCP 2025-03-26, "Listening for Messages from the Server".
    pub(in super::super) async fn listen(self, revision: Revision, heard: oneshot::Sender<()>) {
        let mut heard = Some(heard);
        let asked = Asked { id: 0, revision: Some(revision), headers: Vec::new(), on_progress: None };
        let questions = &self.shared.questions;
        let mut exchange =
            Exchange::new(asked.revision, self.shared.limits).taking_questions(questions.taken());
        let mut pending = Pending::new(questions.clone());
        let mut place = Place { last_id: None, retry: RETRY };
        let mut wait = Duration::ZERO;
        loop {
            let opened = async {
                sleep(wait).await;
                self.get(asked.revision, &place).await
            };
            let answered = self.asking(&mut pending, &asked, opened).await;
            if let Some(heard) = heard.take() {
                // Nobody may be waiting any more.
                let _ = heard.send(());
            }
            let spoke = match answered {
                Ok(response) if response.media_type().as_deref() == Some("text/event-stream") => {
                    match self.events(response, &asked, &mut exchange, &mut pending, &mut place).await {
                        Ok(End::Over { spoke, .. }) => spoke,
                        Ok(End::Answered(_)) | Err(_) => return,
                    }
                }
                Err(Failure::Http(_)) => false,
                // It has no such stream, does not know the session, or wants a login.
                Ok(_) | Err(_) => return,
            };
            wait = if spoke { place.retry } else { (wait * 2).clamp(place.retry, RETRY_LIMIT) };
        }
    }

    async fn get(&self, revision: Option<Revision>, place: &Place) -> Result<HttpResponse, Failure> {
        let headers = place.last_id.iter().map(|id| ("Last-Event-ID".to_owned(), id.clone()));
        let request = self.request(Method::GET, revision, &headers.collect::<Vec<_>>(), None);
        self.judge(self.send(request).await?).await
    }

    /// Reads one stream to its end, or to the answer.
    async fn events(
        &self,
        mut response: HttpResponse,
        asked: &Asked<'_>,
        exchange: &mut Exchange<()>,
        pending: &mut Pending,
        place: &mut Place,
    ) -> Result<End, Failure> {
        let mut decoder = SseDecoder::new(self.shared.limits.bytes);
        let mut spoke = false;
        let broken = loop {
            let chunk = match self.asking(pending, asked, response.chunk()).await {
                Ok(Some(chunk)) => chunk,
                Ok(None) => break None,
                Err(error) => break Some(error),
            };
            let events = decoder.push(&chunk).map_err(|error| Failure::Protocol(error.to_string()))?;
            for event in events.into_iter().filter(|event| event.event == "message") {
                spoke = true;
                if let Some(outcome) = self.take(&event.data, asked, exchange, pending) {
                    return Ok(End::Answered(outcome));
                }
            }
        };
        // An empty id takes back the one before: there is no place left to go on from.
        if let Some(id) = decoder.last_id() {
            place.last_id = Some(id.to_owned()).filter(|id| !id.is_empty());
        }
        if let Some(milliseconds) = decoder.retry() {
            place.retry = Duration::from_millis(milliseconds).clamp(RETRY_LEAST, RETRY_LIMIT);
        }
        if broken.is_none() {
            // Some servers leave out the empty line behind the last event. Where it was cut off instead, it counts for nothing, and
            // the stream is taken up again before it.
            for event in decoder.push(b"\n\n").unwrap_or_default() {
                let is_whole = surehand_mcp::parse_message(&event.data, self.shared.limits).is_ok();
                if event.event == "message"
                    && is_whole
                    && let Some(outcome) = self.take(&event.data, asked, exchange, pending)
                {
                    return Ok(End::Answered(outcome));
                }
            }
        }
        Ok(End::Over { broken, spoke })
    }

    /// Waits for `work`; meanwhile the server's questions are answered.
    async fn asking<T>(&self, pending: &mut Pending, asked: &Asked<'_>, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                outcome = &mut work => return outcome,
                message = pending.next() => self.reply(message, asked),
            }
        }
    }

    /// Answers a request of the server.
    fn reply(&self, message: String, asked: &Asked<'_>) {
        if let Some(revision) = asked.revision {
            self.aside(message, revision);
        }
    }

    /// Takes one message in. Gives the outcome when it is the answer.
    pub(super) fn take(
        &self,
        text: &str,
        asked: &Asked<'_>,
        exchange: &mut Exchange<()>,
        pending: &mut Pending,
    ) -> Option<Result<RawJson, RpcError>> {
        let mut answer = None;
        for item in exchange.receive(text) {
            match item {
                Incoming::Answer { outcome, .. } => answer = Some(outcome),
                Incoming::Progress { progress, .. } => {
                    if let Some(listen) = asked.on_progress {
                        listen(progress);
                    }
                }
                Incoming::Question { id, kind, params } => {
                    if let Some(message) = pending.ask(id, kind, params) {
                        self.reply(message, asked);
                    }
                }
                Incoming::Withdrawn { id } => pending.withdraw(&id),
                Incoming::Reply(message) => self.reply(message, asked),
                Incoming::Notice(notice) => self.event(ClientEvent::Notice(notice)),
                Incoming::Note(note) => self.event(ClientEvent::Note(note)),
            }
        }
        answer
    }
}
