//! Streams of events: the one that ends with the answer to a request, and the one on which a server speaks on its own.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::time::Duration;

use surehand_mcp::{Exchange, Feature, Incoming, Revision, RpcError, Wanted};
use surehand_model::RawJson;
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::super::super::ClientEvent;
use super::super::super::questions::Pending;
use super::{Asked, Failure, Poster};
use crate::http::{HttpError, HttpResponse, Method};
use crate::sse::{SseDecoder, SseEvent};

/// How long is waited before a stream that broke is taken up again, where the server does not say.
const RETRY: Duration = Duration::from_secs(1);
/// A server may not have us ask again and again without a pause.
const RETRY_LEAST: Duration = Duration::from_millis(50);
/// A server may not make us wait longer than this.
const RETRY_LIMIT: Duration = Duration::from_secs(60);
/// How many streams in a row may end without any event before their answer is given up.
const RESUMED_IN_VAIN: u32 = 4;

/// Where a stream is taken up again, and when.
pub(super) struct Place {
    last_id: Option<String>,
    retry: Duration,
}

impl Place {
    /// Of a stream that has said nothing yet.
    pub(super) fn start() -> Self {
        Self { last_id: None, retry: RETRY }
    }
}

/// A stream of events that is being read.
pub(super) struct Reading {
    pub(super) response: HttpResponse,
    decoder: SseDecoder,
    /// What has come and is not looked at yet.
    pub(super) ready: VecDeque<SseEvent>,
}

impl Reading {
    /// From its start. An event may have `limit` bytes.
    pub(super) fn new(response: HttpResponse, limit: usize) -> Self {
        Self { response, decoder: SseDecoder::new(limit), ready: VecDeque::new() }
    }

    /// Reads on; false at the end. May be dropped while it waits; nothing is lost.
    pub(super) async fn more(&mut self) -> Result<bool, Failure> {
        let Some(chunk) = self.response.chunk().await? else { return Ok(false) };
        let events = self.decoder.push(&chunk).map_err(|error| Failure::Protocol(error.to_string()))?;
        self.ready.extend(events);
        Ok(true)
    }
}

/// What a server answered.
type Outcome = Result<RawJson, RpcError>;

/// Takes one message in. Gives the outcome when it is the answer that the stream is read for.
pub(super) type Heed<'a> = dyn FnMut(&str, &mut Pending) -> Option<Outcome> + Send + 'a;

/// Why a server is not listened to any more.
#[derive(Debug)]
pub(in super::super) enum ListenEnd {
    /// It does not know the session.
    SessionLost,
    /// It has no such stream.
    Refused,
}

/// How a stream ended.
pub(super) enum End {
    Answered(Outcome),
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
        let mut place = Place::start();
        let mut vain = 0;
        loop {
            let mut heed =
                |text: &str, pending: &mut Pending| self.take(text, asked, &mut *exchange, pending);
            let reading = Reading::new(response, self.shared.limits.bytes);
            let end = self.events(reading, asked.revision, &mut pending, &mut place, &mut heed).await?;
            let broken = match end {
                End::Answered(outcome) => return outcome.map_err(|error| Failure::Rpc(200, error)),
                End::Over { broken, spoke } => {
                    vain = if spoke { 0 } else { vain + 1 };
                    broken
                }
            };
            let resumable = asked.revision.is_some_and(|revision| revision.has(Feature::StreamResumption));
            if place.last_id.is_none() || !resumable || vain >= RESUMED_IN_VAIN {
                return Err(Failure::Cut(broken));
            }
            let wait = (place.retry * 2_u32.pow(vain.saturating_sub(1))).min(RETRY_LIMIT);
            let resumed = async {
                sleep(wait).await;
                self.get(asked.revision, &place).await
            };
            response = self.asking(&mut pending, asked.revision, resumed).await?;
        }
    }

    /// Listens to what a server says on its own, until it no longer wants to be listened to. Many servers of the older era ask
    /// their questions here and not on the stream of the call that needs the answer, and some answer calls here.
    ///
    /// Source: MCP 2025-03-26, "Listening for Messages from the Server".
    pub(in super::super) async fn listen(&self, revision: Revision) -> ListenEnd {
        let opened = self.opened();
        let mut pending = Pending::new(self.shared.questions.clone());
        let mut place = Place::start();
        let mut wait = Duration::ZERO;
        let end = loop {
            let request = async {
                sleep(wait).await;
                self.get(Some(revision), &place).await
            };
            let answered = self.asking(&mut pending, Some(revision), request).await;
            let spoke = match answered {
                Ok(response) if response.media_type().as_deref() == Some("text/event-stream") => {
                    self.shared.heard.send_replace(opened);
                    self.shared.listened.store(true, Ordering::Relaxed);
                    let mut heed = |text: &str, pending: &mut Pending| {
                        self.hear(text, Some(revision), pending);
                        None
                    };
                    let reading = Reading::new(response, self.shared.limits.bytes);
                    match self.events(reading, Some(revision), &mut pending, &mut place, &mut heed).await {
                        Ok(End::Over { spoke, .. }) => spoke,
                        Ok(End::Answered(_)) | Err(_) => break ListenEnd::Refused,
                    }
                }
                // Whoever stands before the server is in trouble, or does not want to be asked so often.
                Err(Failure::Http(_) | Failure::Foreign(429 | 502..=504, _)) => false,
                Err(Failure::SessionLost) => break ListenEnd::SessionLost,
                // It has no such stream, or wants a login.
                Ok(_) | Err(_) => break ListenEnd::Refused,
            };
            wait = if spoke { place.retry } else { (wait * 2).clamp(place.retry, RETRY_LIMIT) };
        };
        self.shared.listened.store(false, Ordering::Relaxed);
        self.shared.heard.send_replace(opened);
        end
    }

    /// Listens for changes until the server ends it. How much it will tell goes to `granted`.
    pub(in super::super) async fn subscribe(
        &self,
        message: String,
        asked: Asked<'_>,
        granted: mpsc::Sender<Wanted>,
    ) -> Result<(), Failure> {
        let request = self.request(Method::POST, asked.revision, &asked.headers, Some(message))?;
        let response = self.judge(self.send(request).await?).await?;
        let mut exchange = Exchange::new(asked.revision, self.shared.limits);
        exchange.expect(asked.id, ());
        exchange.subscribe(asked.id);
        let mut heed = |text: &str, pending: &mut Pending| {
            let mut answer = None;
            for item in exchange.receive(text) {
                match item {
                    Incoming::Answer { outcome, .. } => answer = Some(outcome),
                    // Whoever waits for it needs it once.
                    Incoming::Granted { granted: wanted, .. } => drop(granted.try_send(wanted)),
                    other => self.heed(other, asked.revision, pending),
                }
            }
            answer
        };
        let mut pending = Pending::new(self.shared.questions.clone());
        if response.media_type().as_deref() != Some("text/event-stream") {
            let body = response.collect(self.shared.limits.bytes).await?;
            return match heed(&String::from_utf8_lossy(&body), &mut pending) {
                Some(outcome) => outcome.map(drop).map_err(|error| Failure::Rpc(200, error)),
                None => Err(Failure::Protocol("it answered with no stream to listen to".to_owned())),
            };
        }
        let reading = Reading::new(response, self.shared.limits.bytes);
        match self.events(reading, asked.revision, &mut pending, &mut Place::start(), &mut heed).await? {
            End::Answered(outcome) => outcome.map(drop).map_err(|error| Failure::Rpc(200, error)),
            End::Over { broken, .. } => Err(Failure::Cut(broken)),
        }
    }

    /// Waits until the server has answered the listener of the session `opened`, whatever it said.
    pub(in super::super) async fn heard(&self, opened: u64) {
        // The sender lives as long as this.
        let _ = self.shared.heard.subscribe().wait_for(|heard| *heard >= opened).await;
    }

    /// Whether the server has a stream open on which it may answer requests that it has only taken.
    pub(super) fn is_heard(&self) -> bool {
        self.shared.listened.load(Ordering::Relaxed)
    }

    pub(super) async fn get(
        &self,
        revision: Option<Revision>,
        place: &Place,
    ) -> Result<HttpResponse, Failure> {
        let headers = place.last_id.iter().map(|id| ("Last-Event-ID".to_owned(), id.clone()));
        let request = self.request(Method::GET, revision, &headers.collect::<Vec<_>>(), None)?;
        self.judge(self.send(request).await?).await
    }

    /// Reads one stream to its end, or to the answer.
    pub(super) async fn events(
        &self,
        mut reading: Reading,
        revision: Option<Revision>,
        pending: &mut Pending,
        place: &mut Place,
        heed: &mut Heed<'_>,
    ) -> Result<End, Failure> {
        let mut spoke = false;
        let broken = loop {
            while let Some(event) = reading.ready.pop_front() {
                if event.event != "message" {
                    continue;
                }
                spoke = true;
                if let Some(outcome) = heed(&event.data, pending) {
                    return Ok(End::Answered(outcome));
                }
            }
            match self.asking(pending, revision, reading.more()).await {
                Ok(true) => {}
                Ok(false) => break None,
                Err(Failure::Http(error)) => break Some(error),
                Err(failure) => return Err(failure),
            }
        };
        let mut decoder = reading.decoder;
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
                    && let Some(outcome) = heed(&event.data, pending)
                {
                    return Ok(End::Answered(outcome));
                }
            }
        }
        Ok(End::Over { broken, spoke })
    }

    /// Waits for `work`; meanwhile the server's questions are answered.
    pub(super) async fn asking<T>(
        &self,
        pending: &mut Pending,
        revision: Option<Revision>,
        work: impl Future<Output = T>,
    ) -> T {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                outcome = &mut work => return outcome,
                message = pending.next() => self.reply(message, revision),
            }
        }
    }

    /// Answers a request of the server. Before a revision is settled it is answered as the oldest one that has a header for it.
    fn reply(&self, message: String, revision: Option<Revision>) {
        if revision.is_some() || self.is_oldest() {
            self.aside(message, revision.unwrap_or(Revision::WITHOUT_HEADER));
        }
    }

    /// Takes one message in. Gives the outcome when it is the answer.
    pub(super) fn take(
        &self,
        text: &str,
        asked: &Asked<'_>,
        exchange: &mut Exchange<()>,
        pending: &mut Pending,
    ) -> Option<Outcome> {
        let mut answer = None;
        for item in exchange.receive(text) {
            match item {
                Incoming::Answer { outcome, .. } => answer = Some(outcome),
                Incoming::Progress { progress, .. } => {
                    if let Some(listen) = asked.on_progress {
                        listen(progress);
                    }
                }
                other => self.heed(other, asked.revision, pending),
            }
        }
        answer
    }

    /// Takes one message in that came over the stream that belongs to no request, and brings it to whoever waits for it.
    pub(super) fn hear(&self, text: &str, revision: Option<Revision>, pending: &mut Pending) {
        let items = self.elsewhere().receive(text);
        for item in items {
            match item {
                Incoming::Answer { waiter, outcome } => waiter.answer(outcome),
                Incoming::Progress { id, progress } => {
                    if let Some(waiter) = self.elsewhere().waiter(id) {
                        waiter.report(progress);
                    }
                }
                other => self.heed(other, revision, pending),
            }
        }
    }

    /// Does what a message wants that answers nobody.
    fn heed<W>(&self, item: Incoming<W>, revision: Option<Revision>, pending: &mut Pending) {
        match item {
            Incoming::Answer { .. } | Incoming::Progress { .. } | Incoming::Granted { .. } => {}
            Incoming::Question { id, kind, params } => {
                if let Some(message) = pending.ask(id, kind, params) {
                    self.reply(message, revision);
                }
            }
            Incoming::Withdrawn { id } => pending.withdraw(&id),
            Incoming::Reply(message) => self.reply(message, revision),
            Incoming::Notice(notice) => self.event(ClientEvent::Notice(notice)),
            Incoming::Note(note) => self.event(ClientEvent::Note(note)),
        }
    }
}
