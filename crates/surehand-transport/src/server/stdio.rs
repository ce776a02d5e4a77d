//! One client at the other end of two streams.

mod listening;
mod outbox;

use std::collections::HashMap;
use std::fs::File;
use std::future::{Future, poll_fn};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use surehand_mcp::{
    Arrival, ChangeListener, EnvelopeLimits, Id, Negotiated, PendingRequest, Reply, ServerHandler,
    ServerMachine, Subscription, Verdict,
};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use self::listening::Listening;
use self::outbox::StreamOutbox;
use super::background::Carrier;
use super::seal::Seal;
use super::streamable::Admitted;
use crate::lines::{Line, LineReader};
use crate::outgoing::Outgoing;

/// How many calls of one client run side by side; further messages wait to be read.
const CALLS_AT_ONCE: usize = 1_024;
/// How long calls may still take once the client has closed its side.
const LAST_CALLS: Duration = Duration::from_secs(10);

/// How long the client may take to read the last answers.
const LAST_ANSWERS: Duration = Duration::from_secs(10);

/// Why serving over streams ended early.
#[derive(Debug, Error)]
pub enum ServeError {
    /// What comes in cannot be read.
    #[error("the client's messages cannot be read")]
    Read(#[source] io::Error),
    /// What goes out cannot be written; mostly the client is gone.
    #[error("the client no longer reads")]
    Write(#[source] io::Error),
    /// The system has no randomness to give.
    #[error("no key could be made for what clients carry")]
    Seal(#[source] io::Error),
}

/// Serves one client over this process's standard input and output, until it closes its side or `stop` is cancelled.
///
/// Nothing else may be written to standard output meanwhile.
///
/// # Errors
///
/// [`ServeError`] where a stream breaks. The client closing its side is the usual end and no error.
pub async fn serve_stdio(handler: Arc<dyn ServerHandler>, stop: CancellationToken) -> Result<(), ServeError> {
    let input = input(io::stdin().as_fd().try_clone_to_owned().map_err(ServeError::Read)?)
        .map_err(ServeError::Read)?;
    let output = output(io::stdout().as_fd().try_clone_to_owned().map_err(ServeError::Write)?)
        .map_err(ServeError::Write)?;
    serve_streams(handler, input, output, stop).await
}

/// Pipes and sockets are read without a thread that blocks, which is several times faster; all else as usual.
fn input(fd: OwnedFd) -> io::Result<Pin<Box<dyn AsyncRead + Send>>> {
    let file = File::from(fd);
    let kind = file.metadata()?.file_type();
    Ok(if kind.is_fifo() {
        Box::pin(pipe::Receiver::from_file(file)?)
    } else if kind.is_socket() {
        Box::pin(socket(file)?)
    } else {
        Box::pin(tokio::io::stdin())
    })
}

fn output(fd: OwnedFd) -> io::Result<Pin<Box<dyn AsyncWrite + Send>>> {
    let file = File::from(fd);
    let kind = file.metadata()?.file_type();
    Ok(if kind.is_fifo() {
        Box::pin(pipe::Sender::from_file(file)?)
    } else if kind.is_socket() {
        Box::pin(socket(file)?)
    } else {
        Box::pin(tokio::io::stdout())
    })
}

fn socket(file: File) -> io::Result<UnixStream> {
    let stream = StdUnixStream::from(OwnedFd::from(file));
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}

/// Serves one client over any two streams.
///
/// Calls run side by side. A call that has its answer at once is answered in place; only one that waits becomes a task.
///
/// # Errors
///
/// As [`serve_stdio`].
pub async fn serve_streams(
    handler: Arc<dyn ServerHandler>,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin,
    stop: CancellationToken,
) -> Result<(), ServeError> {
    let seal = Arc::new(Seal::of_this_process().map_err(ServeError::Seal)?);
    let ended = CancellationToken::new();
    let carrier = Arc::new(Carrier::until(ended.clone()));
    let _dropped = ended.drop_guard();
    let machine = ServerMachine::new(handler, EnvelopeLimits::default(), seal);
    let machine = machine.with_background(carrier.clone());
    let served = serve_machine(machine, Peer::default(), input, output, stop).await;
    carrier.end().await;
    served
}

/// Who is at the other end, where there are several connections.
#[derive(Debug, Default)]
pub(super) struct Peer {
    /// Which connection, among all of this server.
    pub(super) number: u128,
    pub(super) admitted: Option<Admitted>,
}

/// The same for a protocol that others share.
pub(super) async fn serve_machine(
    machine: ServerMachine,
    peer: Peer,
    input: impl AsyncRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
    stop: CancellationToken,
) -> Result<(), ServeError> {
    let outgoing = Arc::new(Outgoing::new(machine.limits().bytes));
    let mut serving = pin!(serve(machine, peer, input, outgoing.clone(), stop));
    let mut writing = pin!(outgoing.write_to(&mut output));
    let ended = tokio::select! {
        ended = &mut serving => ended,
        broken = &mut writing => return Err(ServeError::Write(broken.err().unwrap_or_else(|| io::ErrorKind::BrokenPipe.into()))),
    };
    // The writer is in the middle of a message, perhaps, and the client may have stopped reading.
    outgoing.finish();
    match timeout(LAST_ANSWERS, writing).await {
        Ok(written) => written.map_err(ServeError::Write)?,
        Err(_) => return Err(ServeError::Write(io::ErrorKind::TimedOut.into())),
    }
    ended
}

async fn serve(
    machine: ServerMachine,
    peer: Peer,
    input: impl AsyncRead + Unpin,
    outgoing: Arc<Outgoing>,
    stop: CancellationToken,
) -> Result<(), ServeError> {
    let limits = machine.limits();
    let mut session = StreamSession::new(machine, peer, outgoing);
    let mut lines = LineReader::new(input, limits.bytes);
    loop {
        tokio::select! {
            line = lines.next_line(), if session.may_read() => match line {
                Ok(Some(Line::Text(line))) => {
                    tokio::select! {
                        biased;
                        () = session.outgoing.room() => {}
                        () = stop.cancelled() => break,
                    }
                    session.receive(&line).await;
                }
                Ok(Some(Line::TooLong { limit })) => {
                    session.outgoing.push_anyway(&too_long(limit).body);
                }
                Ok(None) => break,
                Err(error) => return Err(ServeError::Read(error)),
            },
            Some(done) = session.calls.join_next_with_id() => {
                // An id may be in use again, by a later call: the one before had been cancelled and came to its end all the same.
                if let Ok((task, id)) = done
                    && session.running.get(&id).is_some_and(|call| call.id() == task)
                {
                    session.running.remove(&id);
                }
            }
            () = stop.cancelled() => break,
        }
    }
    let rest = async { while session.calls.join_next().await.is_some() {} };
    tokio::select! {
        biased;
        () = stop.cancelled() => {}
        _ = timeout(LAST_CALLS, rest) => {}
    }
    session.listening.finish();
    Ok(())
}

struct StreamSession {
    machine: ServerMachine,
    peer: Peer,
    negotiated: Option<Negotiated>,
    calls: JoinSet<Id>,
    running: HashMap<Id, AbortHandle>,
    outgoing: Arc<Outgoing>,
    outbox: Arc<StreamOutbox>,
    listening: Arc<Listening>,
    /// Changes are told for as long as this is kept.
    _listener: ChangeListener,
}

impl StreamSession {
    fn new(machine: ServerMachine, peer: Peer, outgoing: Arc<Outgoing>) -> Self {
        let listening = Listening::new(outgoing.clone());
        let listener = listening.listener();
        machine.listen(&listener);
        Self {
            machine,
            peer,
            negotiated: None,
            calls: JoinSet::new(),
            running: HashMap::new(),
            outbox: Arc::new(StreamOutbox::new(outgoing.clone())),
            outgoing,
            listening,
            _listener: listener,
        }
    }

    /// With all places taken nothing is read, except where calls may be waiting for an answer that is still to be read.
    fn may_read(&self) -> bool {
        self.running.len() < CALLS_AT_ONCE || self.outbox.asks()
    }

    async fn receive(&mut self, line: &str) {
        let principal = self.peer.admitted.as_ref().and_then(|admitted| admitted.caller.principal.as_deref());
        let arrival = Arrival::Stream { session: self.negotiated.as_ref(), principal };
        for verdict in self.machine.receive(line, arrival) {
            match verdict {
                Verdict::Answer(reply) => self.send(&reply),
                Verdict::Open { session, reply } => {
                    // What belongs to one connection is not seen by another.
                    self.negotiated = Some(Negotiated { number: self.peer.number, ..session });
                    self.send(&reply);
                    self.listening.begin_session();
                }
                Verdict::Run(request) => {
                    match self.peer.admitted.as_ref().and_then(|admitted| admitted.forbids(&request)) {
                        Some(refusal) => self.send(&Reply::forbidden(&request.id, &refusal.words)),
                        None => self.run(request).await,
                    }
                }
                Verdict::Listen(subscription) => self.listen(subscription),
                Verdict::Subscribe { id, uri, reply } => {
                    let has_room = self.listening.subscribe(uri);
                    self.send(&if has_room { reply } else { Reply::internal(&id, TOO_MANY_RESOURCES) });
                }
                Verdict::Unsubscribe { uri, reply } => {
                    self.listening.unsubscribe(&uri);
                    self.send(&reply);
                }
                Verdict::SetLevel { level, reply } => {
                    if let Some(negotiated) = &mut self.negotiated {
                        negotiated.log_level = Some(level);
                    }
                    self.send(&reply);
                }
                Verdict::Answered { id, outcome } => self.outbox.answered(&id, outcome),
                Verdict::Cancel(id) => {
                    if !self.listening.close(&id)
                        && let Some(call) = self.running.remove(&id)
                    {
                        call.abort();
                    }
                }
                Verdict::Nothing => {}
            }
        }
    }

    async fn run(&mut self, request: PendingRequest) {
        let id = request.id.clone();
        if self.is_in_use(&id) {
            return self.send(&Reply::id_in_use(&id));
        }
        if self.running.len() >= CALLS_AT_ONCE {
            return self.send(&Reply::internal(&id, TOO_MANY_CALLS));
        }
        let (outgoing, outbox) = (self.outgoing.clone(), self.outbox.clone());
        let mut run = Box::pin(async move {
            let id = request.id.clone();
            outgoing.push_anyway(&request.run(outbox).await.body);
            id
        });
        let at_once = poll_fn(|context| Poll::Ready(run.as_mut().poll(context).is_ready())).await;
        if !at_once {
            self.running.insert(id, self.calls.spawn(run));
        }
    }

    fn listen(&mut self, subscription: Subscription) {
        let id = subscription.id.clone();
        if self.is_in_use(&id) {
            self.send(&Reply::id_in_use(&id));
        } else if !self.listening.open(subscription) {
            self.send(&Reply::internal(&id, TOO_MANY_STREAMS));
        }
    }

    fn is_in_use(&self, id: &Id) -> bool {
        self.running.contains_key(id) || self.listening.has(id)
    }

    fn send(&self, reply: &Reply) {
        self.outgoing.push_anyway(&reply.body);
    }
}

const TOO_MANY_CALLS: &str = "too many calls are running already";
const TOO_MANY_RESOURCES: &str = "this client listens for too many resources already";
const TOO_MANY_STREAMS: &str = "this client has too many streams of changes already";

fn too_long(limit: usize) -> Reply {
    Reply::unreadable(&format!("a message of more than {limit} bytes is over the limit"))
}
