use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use surehand_mcp::{
    Arrival, BoxFuture, CallFailure, Change, ChangeListener, DISCOVER, EnvelopeLimits, Exchange, Incoming,
    Outbox, ReadResult, Reply, Revision, ServerFacts, ServerHandler, ServerMachine, ServerNotice, Speaker,
    TaskState, Verdict,
};
use surehand_model::{RawJson, Tool};
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::error::{ClientError, OpenError};
use super::questions::Questions;
use super::{ClientEvent, ClientOptions, WireRequest};
use crate::server::{Carrier, Seal};

/// How many messages wait while one call runs; more are dropped, for they are reports and log lines.
const MESSAGES_WAITING: usize = 256;

/// A server in this process: the same two sides as over any wire, with no bytes between them.
pub(crate) struct InProcess {
    machine: ServerMachine,
    speaker: Speaker,
    next: AtomicU64,
    limits: EnvelopeLimits,
    questions: Arc<Questions>,
    on_event: Option<Arc<dyn Fn(ClientEvent) + Send + Sync>>,
    /// Hears of changes as long as this lives.
    _listener: ChangeListener,
    /// Works on tasks.
    carrier: Arc<Carrier>,
    /// Ends them with this.
    _ended: DropGuard,
}

impl InProcess {
    pub(crate) fn open(
        handler: Arc<dyn ServerHandler>,
        options: ClientOptions,
        questions: Arc<Questions>,
    ) -> Result<(Self, ServerFacts), OpenError> {
        let seal = Seal::of_this_process()
            .map_err(|error| OpenError::Settings { what: format!("no key could be made: {error}") })?;
        let limits = EnvelopeLimits { bytes: options.message_limit, ..EnvelopeLimits::default() };
        let ended = CancellationToken::new();
        let carrier = Arc::new(Carrier::until(ended.clone()));
        let machine = ServerMachine::new(handler, limits, Arc::new(seal)).with_background(carrier.clone());
        let listener = listener(options.on_event.clone());
        machine.listen(&listener);
        let speaker = Speaker::new(Revision::LATEST, &options.implementation, questions.capabilities());
        let wire = Self {
            machine,
            speaker,
            next: AtomicU64::new(1),
            limits,
            questions,
            on_event: options.on_event,
            carrier,
            _listener: listener,
            _ended: ended.drop_guard(),
        };
        let facts = wire.discover()?;
        Ok((wire, facts))
    }

    /// Discovery is answered at once.
    fn discover(&self) -> Result<ServerFacts, OpenError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let message = self.speaker.request(id, DISCOVER, None, false);
        let mut exchange = Exchange::new(Some(Revision::LATEST), self.limits);
        exchange.expect(id, ());
        for verdict in self.machine.receive(&message, Arrival::Stream { session: None, principal: None }) {
            if let Verdict::Answer(reply) = verdict
                && let Some(Ok(result)) = self.take(&reply.body, &mut exchange, None)
            {
                return Ok(ServerFacts::read_discovery(&result, Revision::LATEST));
            }
        }
        Err(OpenError::Settings { what: "the server in this process does not say who it is".to_owned() })
    }

    /// Ends what goes on, and waits until it has.
    pub(crate) async fn close(self) {
        self.carrier.end().await;
    }

    /// As the handler has them, without writing and reading them.
    pub(crate) fn tools(&self) -> Vec<Tool> {
        self.machine.handler().tools()
    }

    pub(crate) async fn request(&self, request: WireRequest<'_>) -> Result<RawJson, ClientError> {
        let after = request.timeout;
        let answer = self.questions.within(after, self.answer(request)).await;
        answer.unwrap_or(Err(ClientError::Timeout { after }))
    }

    async fn answer(&self, request: WireRequest<'_>) -> Result<RawJson, ClientError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let wants_progress = request.on_progress.is_some();
        let message = self.speaker.request(id, request.method, request.params.as_ref(), wants_progress);
        let mut exchange = Exchange::new(Some(Revision::LATEST), self.limits);
        exchange.expect(id, ());
        let (sender, mut messages) = mpsc::channel(MESSAGES_WAITING);
        let verdict =
            self.machine.receive(&message, Arrival::Stream { session: None, principal: None }).pop();
        let reply = match verdict {
            Some(Verdict::Answer(reply)) => reply,
            Some(Verdict::Run(pending)) => {
                let mut run = std::pin::pin!(pending.run(Arc::new(WayBack(sender))));
                loop {
                    tokio::select! {
                        biased;
                        Some(message) = messages.recv() => {
                            self.take(&message, &mut exchange, request.on_progress);
                        }
                        reply = &mut run => break reply,
                    }
                }
            }
            _ => Reply::internal(&surehand_mcp::Id::number(id), "nothing of the kind can be asked here"),
        };
        // What was said just before the answer.
        while let Ok(message) = messages.try_recv() {
            self.take(&message, &mut exchange, request.on_progress);
        }
        match self.take(&reply.body, &mut exchange, None) {
            Some(outcome) => Ok(outcome?),
            None => {
                Err(ClientError::Protocol { what: "the server in this process gave no answer".to_owned() })
            }
        }
    }

    /// Takes one message in. Gives the outcome where it is the answer.
    fn take(
        &self,
        text: &str,
        exchange: &mut Exchange<()>,
        on_progress: Option<&(dyn Fn(surehand_mcp::Progress) + Send + Sync)>,
    ) -> Option<Result<RawJson, surehand_mcp::RpcError>> {
        let tell = |event| {
            if let Some(listen) = &self.on_event {
                listen(event);
            }
        };
        let mut answer = None;
        for item in exchange.receive(text) {
            match item {
                Incoming::Answer { outcome, .. } => answer = Some(outcome),
                Incoming::Progress { progress, .. } => {
                    if let Some(listen) = on_progress {
                        listen(progress);
                    }
                }
                Incoming::Notice(notice) => tell(ClientEvent::Notice(notice)),
                Incoming::Note(note) => tell(ClientEvent::Note(note)),
                // A stateless server asks before it answers, and in no other way.
                Incoming::Question { .. }
                | Incoming::Withdrawn { .. }
                | Incoming::Granted { .. }
                | Incoming::Reply(_) => {}
            }
        }
        answer
    }
}

/// Reports and log messages on their way to the caller.
struct WayBack(mpsc::Sender<String>);

impl Outbox for WayBack {
    fn notify(&self, message: String) {
        // Where so many wait that there is no room, the next one says more.
        let _ = self.0.try_send(message);
    }

    fn request(&self, _: &'static str, _: RawJson) -> BoxFuture<'static, Result<RawJson, CallFailure>> {
        Box::pin(async { Err(CallFailure::Unanswered("a stateless server sends no requests".to_owned())) })
    }
}

/// Hands changes on as what a server tells on its own.
fn listener(on_event: Option<Arc<dyn Fn(ClientEvent) + Send + Sync>>) -> ChangeListener {
    Arc::new(move |change: &Change| {
        let notice = match change {
            Change::Tools => ServerNotice::ToolsChanged,
            Change::Prompts => ServerNotice::PromptsChanged,
            Change::Resources => ServerNotice::ResourcesChanged,
            Change::Resource(uri) => ServerNotice::ResourceUpdated { uri: uri.clone() },
            Change::Task(_, task) => match TaskState::read(task) {
                Ok(state) => ServerNotice::Task(Box::new(state)),
                Err(_) => return,
            },
        };
        if let Some(listen) = &on_event {
            listen(ClientEvent::Notice(notice));
        }
    })
}
