//! HTTP+SSE, the HTTP of 2024-11-05: a stream that the client opens, and a path named there to which it posts. What comes and what
//! goes are the two streams of one connection, and served as those of a process are.
//!
//! Source: MCP 2024-11-05, "HTTP with SSE".

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::http::{Request, Response, StatusCode};
use bytes::Bytes;
use futures_util::Stream;
use tokio::io::{AsyncWriteExt, ReadHalf, SimplexStream, WriteHalf, simplex};
use tokio_util::io::ReaderStream;
use tokio_util::sync::DropGuard;

use super::answer::{accepted, not_allowed, refuse};
use super::body::{KeepAlive, as_events};
use super::endpoint::{BODY_WITHIN, Endpoint, principal_of};
use super::gate::Admitted;
use super::guarded;
use crate::lines::{Line, LineSplitter};
use crate::server::stdio::{Peer, serve_machine};

/// How many such connections there may be.
const CONNECTIONS: usize = 1_024;
/// How many bytes wait between a request and whoever reads it, in each direction.
const BETWEEN: usize = 64 * 1024;
/// Within what time a message must have been taken.
const TAKEN_WITHIN: Duration = Duration::from_secs(30);
const PURPOSE: &str = "connection";

/// The connections that are open, by the number sealed in the path that each was told.
#[derive(Clone, Debug)]
pub(super) struct TwoWays {
    stream_path: String,
    message_path: String,
    open: Arc<Mutex<HashMap<u128, Input>>>,
}

/// Where what is posted goes.
type Input = Arc<tokio::sync::Mutex<WriteHalf<SimplexStream>>>;

impl TwoWays {
    pub(super) fn new(stream_path: String) -> Self {
        let parent = stream_path.rsplit_once('/').map_or("", |(parent, _)| parent);
        Self { message_path: format!("{parent}/messages"), stream_path, open: Arc::default() }
    }

    /// Of the stream, of messages.
    pub(super) fn paths(&self) -> [&str; 2] {
        [&self.stream_path, &self.message_path]
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u128, Input>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `GET` on the path of the stream.
pub(super) async fn open(State(endpoint): State<Arc<Endpoint>>, request: Request<Body>) -> Response<Body> {
    guarded(&endpoint, request, async |request| {
        if request.method() != "GET" {
            return not_allowed("GET");
        }
        connect(&endpoint, request.extensions().get::<Admitted>().cloned())
    })
    .await
}

fn connect(endpoint: &Endpoint, admitted: Option<Admitted>) -> Response<Body> {
    let Some(two_ways) = &endpoint.two_ways else { return not_allowed("") };
    let (read_in, write_in) = simplex(BETWEEN);
    let (read_out, mut write_out) = simplex(BETWEEN);
    let principal = admitted.as_ref().and_then(|admitted| admitted.caller.principal.as_deref());
    let (number, id) = endpoint.seal.seal_for(PURPOSE, principal.unwrap_or_default().as_bytes());
    {
        let mut open = two_ways.lock();
        if open.len() >= CONNECTIONS {
            return refuse(StatusCode::SERVICE_UNAVAILABLE, "too many connections are open already");
        }
        open.insert(number, Arc::new(tokio::sync::Mutex::new(write_in)));
    }
    let stop = endpoint.stop.child_token();
    let machine = endpoint.machine.clone();
    let serving = stop.clone();
    endpoint.calls.spawn(async move {
        // Whatever ended it, the client sees its stream end.
        let _ = serve_machine(machine, Peer { number, admitted }, read_in, &mut write_out, serving).await;
        let _ = write_out.shutdown().await;
    });
    let path = &two_ways.message_path;
    let first = Bytes::from(format!("event: endpoint\ndata: {path}?sessionId={id}\n\n"));
    as_events(ConnectionBody {
        ready: VecDeque::from([first]),
        lines: LineSplitter::new(endpoint.machine.limits().bytes),
        output: ReaderStream::new(read_out),
        silence: KeepAlive::new(),
        two_ways: two_ways.clone(),
        number,
        _stop: stop.drop_guard(),
    })
}

/// `POST` on the path of messages. The answer comes on the stream.
pub(super) async fn message(State(endpoint): State<Arc<Endpoint>>, request: Request<Body>) -> Response<Body> {
    guarded(&endpoint, request, async |request| {
        if request.method() != "POST" {
            return not_allowed("POST");
        }
        let Some((number, input)) = input_of(&endpoint, &request) else {
            return refuse(StatusCode::NOT_FOUND, "there is no such connection");
        };
        let limit = endpoint.machine.limits().bytes;
        let Ok(read) = tokio::time::timeout(BODY_WITHIN, to_bytes(request.into_body(), limit)).await else {
            return refuse(StatusCode::REQUEST_TIMEOUT, "the body did not come in time");
        };
        let Ok(body) = read else {
            return refuse(StatusCode::PAYLOAD_TOO_LARGE, &format!("a body has at most {limit} bytes"));
        };
        // A line break inside a message can only stand between tokens, where a space means the same.
        let line = |byte: &u8| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte };
        let line: Vec<u8> = body.iter().map(line).chain([b'\n']).collect();
        let taking = async { input.lock().await.write_all(&line).await };
        if let Ok(Ok(())) = tokio::time::timeout(TAKEN_WITHIN, taking).await {
            return accepted();
        }
        // Half a message may have been taken, and nothing behind it could be understood.
        if let Some(two_ways) = &endpoint.two_ways {
            two_ways.lock().remove(&number);
        }
        refuse(StatusCode::SERVICE_UNAVAILABLE, "the connection no longer takes messages")
    })
    .await
}

fn input_of(endpoint: &Endpoint, request: &Request<Body>) -> Option<(u128, Input)> {
    let query = request.uri().query()?;
    let id = query.split('&').find_map(|pair| pair.strip_prefix("sessionId="))?;
    let opened = endpoint.seal.open_for(PURPOSE, id)?;
    let principal = principal_of(request.extensions()).unwrap_or_default();
    let input = endpoint.two_ways.as_ref()?.lock().get(&opened.number)?.clone();
    (opened.plain == principal.as_bytes()).then_some((opened.number, input))
}

/// What the client reads. When it hangs up, the connection ends.
struct ConnectionBody {
    ready: VecDeque<Bytes>,
    lines: LineSplitter,
    output: ReaderStream<ReadHalf<SimplexStream>>,
    silence: KeepAlive,
    two_ways: TwoWays,
    number: u128,
    _stop: DropGuard,
}

impl Stream for ConnectionBody {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if let Some(event) = this.ready.pop_front() {
                this.silence.put_off();
                return Poll::Ready(Some(Ok(event)));
            }
            match Pin::new(&mut this.output).poll_next(context) {
                Poll::Ready(Some(Ok(bytes))) => {
                    let lines = this.lines.push(&bytes);
                    this.ready.extend(lines.into_iter().filter_map(|line| match line {
                        Line::Text(line) => Some(Bytes::from(format!("event: message\ndata: {line}\n\n"))),
                        Line::TooLong { .. } => None,
                    }));
                }
                Poll::Ready(Some(Err(_)) | None) => return Poll::Ready(None),
                Poll::Pending => return this.silence.poll(context).map(|comment| Some(Ok(comment))),
            }
        }
    }
}

impl Drop for ConnectionBody {
    fn drop(&mut self) {
        self.two_ways.lock().remove(&self.number);
    }
}
