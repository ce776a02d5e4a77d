//! A server that is a process of ours, spoken to over its standard streams.

mod connection;

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use surehand_mcp::{
    Ask, Feature, Opened, Opening, OpeningOutcome, OpeningRequest, OpeningStep, RpcError, Speaker, Wanted,
    write_notification,
};
use surehand_model::RawJson;
use surehand_sandbox::ChildSpec;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use self::connection::{Connection, Sender};
use super::error::{ClientError, OpenError};
use super::questions::Questions;
use super::subscriptions::{SubscriptionEnd, Subscriptions};
use super::{ClientOptions, WireRequest};

/// How long a process has at each step of its end: after its input closes, and after it has been asked to end.
const GRACE: Duration = Duration::from_secs(2);

/// The wire to a process.
pub(crate) struct ChildWire {
    connection: Connection,
    speaker: Speaker,
    questions: Arc<Questions>,
}

impl ChildWire {
    pub(crate) async fn open(
        spec: &ChildSpec,
        options: ClientOptions,
        questions: Arc<Questions>,
    ) -> Result<(Self, Opened), OpenError> {
        let deadline = Instant::now() + options.startup_timeout;
        let (opening, first) =
            Opening::start(options.era, options.implementation.clone(), questions.capabilities());
        let mut opener =
            Opener { spec, options: &options, questions: &questions, opening, asks: FuturesUnordered::new() };
        let mut connection = Connection::start(spec, &options, questions.clone())?;
        let outcome = opener.run(&mut connection, first, deadline).await;
        match outcome {
            Ok(opened) => {
                let speaker =
                    Speaker::new(opened.server.revision, &options.implementation, questions.capabilities());
                connection.settle(opened.server.revision);
                if let Some(method) = opened.notify {
                    connection.send(&write_notification(method, None)).map_err(closed)?;
                }
                Ok((Self { connection, speaker, questions }, opened))
            }
            Err(error) => {
                connection.close(Duration::ZERO).await;
                Err(error)
            }
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.connection.why_closed().is_some()
    }

    pub(crate) async fn request(&self, request: WireRequest<'_>) -> Result<RawJson, ClientError> {
        let WireRequest { method, params, timeout, on_progress, .. } = request;
        let mut pending = self.connection.begin(on_progress.is_some(), |id| {
            self.speaker.request(id, method, params.as_ref(), on_progress.is_some())
        })?;
        let cancellation = pending.cancel_with(|id, reason| self.speaker.cancelled(id, reason));
        let answer = self.questions.within(timeout, pending.answer(on_progress)).await;
        match answer {
            Some(answer) => {
                cancellation.disarm();
                answer
            }
            None => {
                cancellation.cancel("no answer in time");
                Err(ClientError::Timeout { after: timeout })
            }
        }
    }

    /// Has the server listened to for changes, as long as the process runs. One of the older era needs no listening to.
    pub(crate) fn keep(&mut self, subscriptions: Arc<Subscriptions>) {
        if !self.speaker.revision().has(Feature::Stateless) {
            return;
        }
        let (sender, speaker) = (self.connection.sender(), self.speaker.clone());
        self.connection.spawn(subscriptions.keep(Box::new(move |wanted, granted| {
            Box::pin(listen(sender.clone(), speaker.clone(), wanted, granted))
        })));
    }

    /// Sends a notification without parameters.
    pub(crate) fn notify(&self, method: &str) -> Result<(), ClientError> {
        self.connection.send(&write_notification(method, None))
    }

    pub(crate) async fn close(mut self) {
        self.connection.close(GRACE).await;
    }
}

/// Listens until the server ends it. Where this is dropped before, the server is told.
async fn listen(
    sender: Sender,
    speaker: Speaker,
    wanted: Wanted,
    granted: mpsc::Sender<Wanted>,
) -> SubscriptionEnd {
    let begun =
        sender.listen(granted, |id| speaker.request(id, Wanted::METHOD, Some(&wanted.params()), false));
    let Ok(mut pending) = begun else { return SubscriptionEnd::Gone };
    let cancellation = pending.cancel_with(|id, reason| speaker.cancelled(id, reason));
    let answer = pending.answer(None).await;
    cancellation.disarm();
    match answer {
        Ok(_) => SubscriptionEnd::Over,
        Err(ClientError::Closed { .. }) => SubscriptionEnd::Gone,
        Err(error) => SubscriptionEnd::Refused(error.to_string()),
    }
}

type Answered = (Ask, Option<Result<RawJson, RpcError>>);

/// Drives the opening over a connection: sends its questions, brings it the answers, and tells it when there are none.
struct Opener<'a> {
    spec: &'a ChildSpec,
    options: &'a ClientOptions,
    questions: &'a Arc<Questions>,
    opening: Opening,
    asks: FuturesUnordered<futures_util::future::BoxFuture<'static, Answered>>,
}

impl Opener<'_> {
    async fn run(
        &mut self,
        connection: &mut Connection,
        first: OpeningRequest,
        deadline: Instant,
    ) -> Result<Opened, OpenError> {
        let mut latest = first.ask;
        let mut silence = Some(Instant::now() + self.options.probe_timeout);
        self.ask(connection, first);
        loop {
            let (ask, outcome) = tokio::select! {
                Some((ask, answer)) = self.asks.next() => (ask, match answer {
                    Some(Ok(result)) => OpeningOutcome::Answered(result),
                    Some(Err(error)) => OpeningOutcome::Refused(error),
                    None => OpeningOutcome::Gone,
                }),
                () = sleep_until(silence.unwrap_or(deadline)), if silence.is_some() => {
                    silence = None;
                    (latest, OpeningOutcome::Silent)
                }
                () = sleep_until(deadline) => {
                    return Err(OpenError::Timeout {
                        after: self.options.startup_timeout,
                        stderr: connection.stderr(),
                    });
                }
            };
            let is_gone = outcome == OpeningOutcome::Gone;
            match self.opening.outcome(ask, outcome) {
                OpeningStep::Ask(next) => {
                    latest = next.ask;
                    self.ask(connection, next);
                }
                OpeningStep::Reopen(next) => {
                    self.asks.clear();
                    connection.close(Duration::ZERO).await;
                    *connection = Connection::start(self.spec, self.options, self.questions.clone())?;
                    latest = next.ask;
                    self.ask(connection, next);
                }
                OpeningStep::Wait => {}
                OpeningStep::Opened(opened) => return Ok(*opened),
                OpeningStep::Failed(_) if is_gone => {
                    return Err(OpenError::Closed { why: connection.why_closed().unwrap_or_default() });
                }
                OpeningStep::Failed(fault) => return Err(fault.into()),
            }
        }
    }

    fn ask(&self, connection: &Connection, request: OpeningRequest) {
        let mut answer = connection.ask(request.method, &request.params);
        self.asks.push(Box::pin(async move { (request.ask, answer.answer(None).await) }));
    }
}

fn closed(error: ClientError) -> OpenError {
    OpenError::Closed { why: error.to_string() }
}
