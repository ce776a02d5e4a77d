use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use surehand_mcp::{
    EnvelopeLimits, ErrorCode, Exchange, Id, Incoming, InputKind, Progress, Revision, RpcError, Wanted,
    write_error, write_request,
};
use surehand_model::{Note, RawJson};
use surehand_sandbox::{Child, ChildSpec, SpawnError, Tail, spawn};
use tokio::io::AsyncReadExt;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::super::error::ClientError;
use super::super::questions::{Pending as Asked, Questions};
use super::super::waiting::{Waiter, Waiting};
use super::super::{ClientEvent, ClientOptions};
use crate::lines::{Line, LineReader};
use crate::outgoing::Outgoing;

/// How much of what a server says on stderr is kept.
const STDERR_KEPT: usize = 4 * 1024;
/// How long is waited, once a process has ended, for what it wrote before.
const LAST_WORDS: Duration = Duration::from_millis(300);
/// How long a process that closed its output may take to end by itself.
const LAST_STEPS: Duration = Duration::from_millis(500);
/// How many questions wait to be taken up. They are at once, unless a server writes faster than anybody could read.
const QUESTIONS_WAITING: usize = 64;

/// A running server process with one task that reads, writes and watches it.
pub(super) struct Connection {
    shared: Arc<Shared>,
    stop: CancellationToken,
    grace: Arc<Mutex<Duration>>,
    tasks: JoinSet<()>,
}

struct Shared {
    state: Mutex<State>,
    outgoing: Outgoing,
    stderr: Mutex<Tail>,
    on_event: Option<Arc<dyn Fn(ClientEvent) + Send + Sync>>,
    /// Where questions of the server are taken up.
    questions: mpsc::Sender<Question>,
}

/// What a server says about a question of its own.
enum Question {
    Asked { id: Id, kind: InputKind, params: Option<RawJson> },
    Withdrawn(Id),
}

struct State {
    exchange: Exchange<Waiter>,
    closed: Option<String>,
}

impl Connection {
    pub(super) fn start(
        spec: &ChildSpec,
        options: &ClientOptions,
        questions: Arc<Questions>,
    ) -> Result<Self, SpawnError> {
        let child = spawn(spec)?;
        let limits = EnvelopeLimits { bytes: options.message_limit, ..EnvelopeLimits::default() };
        let (asked, asks) = mpsc::channel(QUESTIONS_WAITING);
        let exchange = Exchange::new(None, limits).taking_questions(questions.taken());
        let shared = Arc::new(Shared {
            state: Mutex::new(State { exchange, closed: None }),
            outgoing: Outgoing::new(options.message_limit),
            stderr: Mutex::new(Tail::new(STDERR_KEPT)),
            on_event: options.on_event.clone(),
            questions: asked,
        });
        let stop = CancellationToken::new();
        let grace = Arc::new(Mutex::new(Duration::ZERO));
        let mut tasks = JoinSet::new();
        let asks = Asks { waiting: asks, questions };
        tasks.spawn(drive(shared.clone(), child, asks, stop.clone(), grace.clone(), options.message_limit));
        Ok(Self { shared, stop, grace, tasks })
    }

    pub(super) fn settle(&self, revision: Revision) {
        self.shared.lock().exchange.settle(revision);
    }

    /// Why the connection is gone, once it is.
    pub(super) fn why_closed(&self) -> Option<String> {
        self.shared.lock().closed.clone()
    }

    /// The end of what the server has said on stderr.
    pub(super) fn stderr(&self) -> String {
        self.shared.stderr()
    }

    pub(super) fn send(&self, message: &str) -> Result<(), ClientError> {
        self.shared.send(message)
    }

    /// Asks a question of the opening. Nothing is answered when the connection ends first.
    pub(super) fn ask(&self, method: &str, params: &RawJson) -> Waiting {
        let (waiter, waiting) = Waiter::pair(false);
        let id = {
            let mut state = self.shared.lock();
            if state.closed.is_some() {
                return waiting;
            }
            state.exchange.begin(waiter)
        };
        let message = write_request(&Id::number(id), method, Some(params.as_str()));
        if self.shared.send(&message).is_err() {
            self.shared.lock().exchange.forget(id);
        }
        waiting
    }

    /// Sends a request that `write` writes under its id.
    pub(super) fn begin(
        &self,
        wants_progress: bool,
        write: impl FnOnce(u64) -> String,
    ) -> Result<Pending, ClientError> {
        let (waiter, waiting) = Waiter::pair(wants_progress);
        self.sender().begin(waiter, waiting, write)
    }

    /// The way to send, for whoever outlives a borrow. It does not keep the process alive.
    pub(super) fn sender(&self) -> Sender {
        Sender { shared: self.shared.clone() }
    }

    /// Runs `work` until it ends or the connection does.
    pub(super) fn spawn(&mut self, work: impl Future<Output = ()> + Send + 'static) {
        let stop = self.stop.clone();
        self.tasks.spawn(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = work => {}
            }
        });
    }

    /// Ends the process: closes its input and waits for `grace`, asks it and waits again, then kills it.
    pub(super) async fn close(&mut self, grace: Duration) {
        *self.grace.lock().unwrap_or_else(PoisonError::into_inner) = grace;
        self.stop.cancel();
        while self.tasks.join_next().await.is_some() {}
    }
}

/// The way to a server process.
#[derive(Clone)]
pub(super) struct Sender {
    shared: Arc<Shared>,
}

impl Sender {
    fn begin(
        &self,
        waiter: Waiter,
        waiting: Waiting,
        write: impl FnOnce(u64) -> String,
    ) -> Result<Pending, ClientError> {
        let id = {
            let mut state = self.shared.lock();
            if let Some(why) = &state.closed {
                return Err(ClientError::Closed { why: why.clone() });
            }
            state.exchange.begin(waiter)
        };
        let pending = Pending { shared: self.shared.clone(), id, waiting };
        if let Err(error) = self.shared.send(&write(id)) {
            self.shared.lock().exchange.forget(id);
            return Err(error);
        }
        Ok(pending)
    }

    /// Sends a request that listens until it is answered. How much the server will tell goes to `granted`.
    pub(super) fn listen(
        &self,
        granted: mpsc::Sender<Wanted>,
        write: impl FnOnce(u64) -> String,
    ) -> Result<Pending, ClientError> {
        let (waiter, waiting) = Waiter::listening(granted);
        self.begin(waiter, waiting, |id| {
            self.shared.lock().exchange.subscribe(id);
            write(id)
        })
    }
}

/// A request that has been sent.
pub(super) struct Pending {
    shared: Arc<Shared>,
    id: u64,
    waiting: Waiting,
}

impl Pending {
    /// The answer, with reports of progress handed on while it is waited for.
    pub(super) async fn answer(
        &mut self,
        on_progress: Option<&(dyn Fn(Progress) + Send + Sync)>,
    ) -> Result<RawJson, ClientError> {
        match self.waiting.answer(on_progress).await {
            Some(outcome) => outcome.map_err(ClientError::from),
            None => Err(ClientError::Closed { why: self.shared.why() }),
        }
    }

    /// From now on the server is told when nobody waits any more.
    pub(super) fn cancel_with<F: Fn(u64, &str) -> String>(&self, write: F) -> Cancellation<F> {
        Cancellation { shared: self.shared.clone(), id: self.id, write, armed: true }
    }
}

/// Tells the server, when dropped, that a request is given up.
pub(super) struct Cancellation<F: Fn(u64, &str) -> String> {
    shared: Arc<Shared>,
    id: u64,
    write: F,
    armed: bool,
}

impl<F: Fn(u64, &str) -> String> Cancellation<F> {
    /// The answer is there.
    pub(super) fn disarm(mut self) {
        self.armed = false;
    }

    /// Gives up now, for this reason.
    pub(super) fn cancel(mut self, reason: &str) {
        self.armed = false;
        self.tell(reason);
    }

    fn tell(&self, reason: &str) {
        let still_waits = self.shared.lock().exchange.forget(self.id).is_some();
        if still_waits {
            // A server that is gone or does not read has no use for it.
            let _ = self.shared.send(&(self.write)(self.id, reason));
        }
    }
}

impl<F: Fn(u64, &str) -> String> Drop for Cancellation<F> {
    fn drop(&mut self) {
        if self.armed {
            self.tell("given up by the caller");
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stderr(&self) -> String {
        self.stderr.lock().unwrap_or_else(PoisonError::into_inner).text()
    }

    fn why(&self) -> String {
        self.lock().closed.clone().unwrap_or_else(|| "the connection was closed here".to_owned())
    }

    fn send(&self, message: &str) -> Result<(), ClientError> {
        self.outgoing.push(message).map_err(|full| ClientError::Protocol {
            what: format!("the server does not read what it is sent: {} bytes wait for it", full.waiting),
        })
    }

    fn tell(&self, event: ClientEvent) {
        if let Some(listen) = &self.on_event {
            listen(event);
        }
    }

    fn receive(&self, text: &str) {
        let incoming = self.lock().exchange.receive(text);
        for item in incoming {
            match item {
                Incoming::Answer { waiter, outcome } => {
                    waiter.answer(outcome);
                }
                Incoming::Progress { id, progress } => {
                    if let Some(waiter) = self.lock().exchange.waiter(id) {
                        waiter.report(progress);
                    }
                }
                Incoming::Question { id, kind, params } => {
                    if let Err(full) = self.questions.try_send(Question::Asked { id, kind, params })
                        && let Question::Asked { id, .. } = full.into_inner()
                    {
                        let error = RpcError::new(ErrorCode::INTERNAL, "too many questions at once");
                        let _ = self.send(&write_error(Some(&id), &error));
                    }
                }
                Incoming::Withdrawn { id } => {
                    // One that cannot be noted is answered in vain, which harms nobody.
                    let _ = self.questions.try_send(Question::Withdrawn(id));
                }
                Incoming::Reply(message) => {
                    let _ = self.send(&message);
                }
                Incoming::Granted { id, granted } => {
                    if let Some(waiter) = self.lock().exchange.waiter(id) {
                        waiter.grant(granted);
                    }
                }
                Incoming::Notice(notice) => self.tell(ClientEvent::Notice(notice)),
                Incoming::Note(note) => self.tell(ClientEvent::Note(note)),
            }
        }
    }

    /// Ends every wait. What nobody here asked for is told, with the server's last words.
    fn close(&self, end: Result<(), String>) {
        let stderr = self.stderr();
        let is_asked = end.is_ok();
        let why = match end {
            Ok(()) => "the connection was closed here".to_owned(),
            Err(what) if stderr.is_empty() => what,
            Err(what) => format!("{what}; its last words: {stderr}"),
        };
        let waiters = {
            let mut state = self.lock();
            state.closed = Some(why.clone());
            state.exchange.abandon()
        };
        drop(waiters);
        if !is_asked {
            self.tell(ClientEvent::Closed { why });
        }
    }
}

/// Reads, writes and watches one process until it ends or is to be ended.
async fn drive(
    shared: Arc<Shared>,
    mut child: Child,
    asks: Asks,
    stop: CancellationToken,
    grace: Arc<Mutex<Duration>>,
    message_limit: usize,
) {
    let quit = CancellationToken::new();
    let mut reading = pin!(read(&shared, child.stdout.take(), message_limit));
    let mut draining = pin!(drain(&shared, child.stderr.take()));
    let mut writing = pin!(write(&shared, child.stdin.take(), quit.clone()));
    // In a box, so that it can be dropped: once the end has come nobody is asked any more.
    let mut asking = Box::pin(ask(&shared, asks));
    let (mut drained, mut written) = (false, false);

    enum End {
        Output(Result<(), String>),
        Process(surehand_sandbox::Ended),
        Asked,
    }
    let end = loop {
        tokio::select! {
            outcome = &mut reading => break End::Output(outcome),
            () = &mut draining, if !drained => drained = true,
            () = &mut writing, if !written => written = true,
            () = &mut asking => {}
            ended = child.wait() => break End::Process(ended),
            () = stop.cancelled() => break End::Asked,
        }
    };

    drop(asking);

    // Whatever happens from here on, the streams are kept moving, or a process that still writes would never end.
    let end = match end {
        End::Process(ended) => {
            let rest = async {
                tokio::join!(&mut reading, async {
                    if !drained {
                        (&mut draining).await;
                    }
                })
            };
            // A stream may be held open by a stranger; the last words are worth waiting for only so long.
            let _ = timeout(LAST_WORDS, rest).await;
            Err(format!("its process {ended}"))
        }
        End::Output(outcome) => {
            quit.cancel();
            let mut ending = pin!(end_after(outcome, &mut child));
            let what = loop {
                tokio::select! {
                    what = &mut ending => break what,
                    () = &mut draining, if !drained => drained = true,
                    () = &mut writing, if !written => written = true,
                }
            };
            if !drained {
                let _ = timeout(LAST_WORDS, &mut draining).await;
            }
            Err(what)
        }
        End::Asked => {
            quit.cancel();
            let grace = *grace.lock().unwrap_or_else(PoisonError::into_inner);
            let mut ending = pin!(child.stop(grace));
            let mut read = false;
            loop {
                tokio::select! {
                    _ = &mut ending => break,
                    _ = &mut reading, if !read => read = true,
                    () = &mut draining, if !drained => drained = true,
                    () = &mut writing, if !written => written = true,
                }
            }
            Ok(())
        }
    };
    shared.close(end);
}

/// Ends a process whose output has ended or cannot be used, and says how things came to an end. A process that closes its
/// output is mostly about to end by itself.
async fn end_after(output: Result<(), String>, child: &mut Child) -> String {
    if let Err(fault) = output {
        child.kill().await;
        return fault;
    }
    match timeout(LAST_STEPS, child.wait()).await {
        Ok(ended) => format!("its process {ended}"),
        Err(_) => {
            child.kill().await;
            "it closed its output and did not end, so it was killed".to_owned()
        }
    }
}

async fn read(shared: &Shared, stdout: Option<ChildStdout>, limit: usize) -> Result<(), String> {
    let Some(stdout) = stdout else { return Ok(()) };
    let mut lines = LineReader::new(stdout, limit);
    loop {
        match lines.next_line().await {
            Ok(Some(Line::Text(line))) => shared.receive(&line),
            Ok(Some(Line::TooLong { limit })) => {
                // Whose answer it was cannot be told, so nobody could be sure of theirs.
                return Err(format!("it wrote a line of more than {limit} bytes, which is over the limit"));
            }
            Ok(None) => return Ok(()),
            Err(error) => return Err(format!("its output cannot be read: {error}")),
        }
    }
}

/// The questions of the server on their way to whoever answers them.
struct Asks {
    waiting: mpsc::Receiver<Question>,
    questions: Arc<Questions>,
}

/// Has the server's questions answered, for ever.
async fn ask(shared: &Shared, mut asks: Asks) {
    let mut pending = Asked::new(asks.questions);
    loop {
        let message = tokio::select! {
            Some(question) = asks.waiting.recv() => match question {
                Question::Asked { id, kind, params } => pending.ask(id, kind, params),
                Question::Withdrawn(id) => {
                    pending.withdraw(&id);
                    None
                }
            },
            message = pending.next() => Some(message),
        };
        if let Some(message) = message
            && let Err(fault) = shared.send(&message)
        {
            let note = Note::new("server", "the answer to its question is lost", fault.to_string());
            shared.tell(ClientEvent::Note(note));
        }
    }
}

async fn drain(shared: &Shared, stderr: Option<ChildStderr>) {
    let Some(mut stderr) = stderr else { return };
    let mut buffer = vec![0; 4 * 1024];
    while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
        shared.stderr.lock().unwrap_or_else(PoisonError::into_inner).push(&buffer[..count]);
    }
}

/// Writes until told to quit, then what is left, then closes the stream. A server that no longer reads is noticed by its end.
async fn write(shared: &Shared, stdin: Option<ChildStdin>, quit: CancellationToken) {
    let Some(mut stdin) = stdin else { return };
    let broken = {
        let mut writing = pin!(shared.outgoing.write_to(&mut stdin));
        tokio::select! {
            outcome = &mut writing => outcome.is_err(),
            () = quit.cancelled() => {
                shared.outgoing.finish();
                // A server that is ended anyway may have gone before.
                let _ = writing.await;
                false
            }
        }
    };
    if broken {
        shared.tell(ClientEvent::Note(Note::new(
            "server",
            "its input is closed",
            "what is sent no longer reaches it",
        )));
    }
}
