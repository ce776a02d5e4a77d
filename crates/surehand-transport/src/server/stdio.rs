//! One client at the other end of two streams.

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
    Arrival, EnvelopeLimits, Id, Negotiated, PendingRequest, Reply, ServerHandler, ServerMachine, Verdict,
};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::outbox::NoWayBack;
use super::seal::Seal;
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
    /// The system has no randomness to give.
    #[error("no key could be made for what clients carry")]
    Seal(#[source] io::Error),
    /// What goes out cannot be written; mostly the client is gone.
    #[error("the client no longer reads")]
    Write(#[source] io::Error),
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
    mut output: impl AsyncWrite + Unpin,
    stop: CancellationToken,
) -> Result<(), ServeError> {
    let limits = EnvelopeLimits::default();
    let outgoing = Arc::new(Outgoing::new(limits.bytes));
    let mut serving = pin!(serve(handler, limits, input, outgoing.clone(), stop));
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
    handler: Arc<dyn ServerHandler>,
    limits: EnvelopeLimits,
    input: impl AsyncRead + Unpin,
    outgoing: Arc<Outgoing>,
    stop: CancellationToken,
) -> Result<(), ServeError> {
    let seal = Arc::new(Seal::of_this_process().map_err(ServeError::Seal)?);
    let mut session = StreamSession {
        machine: ServerMachine::new(handler, limits, seal),
        negotiated: None,
        calls: JoinSet::new(),
        running: HashMap::new(),
        outgoing,
    };
    let mut lines = LineReader::new(input, limits.bytes);
    loop {
        tokio::select! {
            line = lines.next_line(), if session.running.len() < CALLS_AT_ONCE => match line {
                Ok(Some(Line::Text(line))) => {
                    tokio::select! {
                        biased;
                        () = session.outgoing.room() => {}
                        () = stop.cancelled() => return Ok(()),
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
            () = stop.cancelled() => return Ok(()),
        }
    }
    let rest = async { while session.calls.join_next().await.is_some() {} };
    tokio::select! {
        _ = timeout(LAST_CALLS, rest) => {}
        () = stop.cancelled() => {}
    }
    Ok(())
}

struct StreamSession {
    machine: ServerMachine,
    negotiated: Option<Negotiated>,
    calls: JoinSet<Id>,
    running: HashMap<Id, AbortHandle>,
    outgoing: Arc<Outgoing>,
}

impl StreamSession {
    async fn receive(&mut self, line: &str) {
        for verdict in self.machine.receive(line, Arrival::Stream { session: self.negotiated.as_ref() }) {
            match verdict {
                Verdict::Answer(reply) => self.outgoing.push_anyway(&reply.body),
                Verdict::Open { session, reply } => {
                    self.negotiated = Some(session);
                    self.outgoing.push_anyway(&reply.body);
                }
                Verdict::Run(request) => self.run(request).await,
                Verdict::Subscribe { reply, .. } | Verdict::Unsubscribe { reply, .. } => {
                    self.outgoing.push_anyway(&reply.body);
                }
                Verdict::SetLevel { level, reply } => {
                    if let Some(session) = &mut self.negotiated {
                        session.log_level = Some(level);
                    }
                    self.outgoing.push_anyway(&reply.body);
                }
                Verdict::Listen(subscription) => {
                    let reply = Reply::internal(&subscription.id, "nothing can be listened for here");
                    self.outgoing.push_anyway(&reply.body);
                }
                Verdict::Answered { .. } => {}
                Verdict::Cancel(id) => {
                    if let Some(call) = self.running.remove(&id) {
                        call.abort();
                    }
                }
                Verdict::Nothing => {}
            }
        }
    }

    async fn run(&mut self, request: PendingRequest) {
        let id = request.id.clone();
        if self.running.contains_key(&id) {
            self.outgoing.push_anyway(&Reply::id_in_use(&id).body);
            return;
        }
        let outgoing = self.outgoing.clone();
        let done = id.clone();
        let mut run = Box::pin(async move {
            outgoing.push_anyway(&request.run(Arc::new(NoWayBack)).await.body);
            done
        });
        let at_once = poll_fn(|context| Poll::Ready(run.as_mut().poll(context).is_ready())).await;
        if !at_once {
            self.running.insert(id, self.calls.spawn(run));
        }
    }
}

fn too_long(limit: usize) -> Reply {
    Reply::unreadable(&format!("a message of more than {limit} bytes is over the limit"))
}
