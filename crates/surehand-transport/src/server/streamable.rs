//! Streamable HTTP, both eras on one endpoint.

mod answer;
mod body;
mod cors;
mod endpoint;
mod events;
mod gate;
mod guard;
mod listeners;
mod outbox;
mod running;
mod session_id;
mod sessions;
mod two_ways;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::{ALLOW, CONTENT_TYPE, ORIGIN};
use axum::http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use axum::routing::any;
use axum::serve::ListenerExt;
use surehand_mcp::{EnvelopeLimits, Id, Reply, ServerHandler, ServerMachine};
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::answer::{not_allowed, refuse, respond, status};
use self::endpoint::Endpoint;
pub(crate) use self::gate::Admitted;
pub use self::gate::{Caller, Gate, GateDocument, GateRefusal};
use self::guard::Guard;
use self::listeners::Listeners;
use self::sessions::Sessions;
use self::two_ways::TwoWays;
use super::background::Carrier;
use super::outbox::NoWayBack;
use super::seal::{Seal, SealKey};

/// How long requests may still take once the server is asked to stop.
const LAST_REQUESTS: Duration = Duration::from_secs(10);
/// How many calls run side by side; further ones are refused, for whoever sends more than that is not well.
const CALLS_AT_ONCE: usize = 1_024;

/// How a handler is served over HTTP.
#[derive(Clone, Debug)]
pub struct HttpServerOptions {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The one endpoint.
    pub path: String,
    /// Names under which the server may be asked for, beside those of the address it listens on. Without port.
    pub allowed_hosts: Vec<String>,
    /// Origins of pages that may ask, beside those of allowed hosts, for example `https://app.example.com`.
    pub allowed_origins: Vec<String>,
    /// In bytes.
    pub body_limit: usize,
    /// Decides who may ask; where there is none, everybody may.
    pub gate: Option<Arc<dyn Gate>>,
    /// Where clients of 2024-11-05 open their stream, which names a path of its own for what they send; none, and they are not
    /// served.
    pub stream_path: Option<String>,
    /// The key of what clients carry for the server: sessions and half-answered requests. Servers of one key, side by side or
    /// one after the other, take over each other's; without a key here, one of this process is made.
    pub seal_key: Option<SealKey>,
}

impl Default for HttpServerOptions {
    /// A free port of the loopback address, `/mcp` and `/sse`, 32 MiB, no gate, a key of its own.
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            path: "/mcp".to_owned(),
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            body_limit: EnvelopeLimits::default().bytes,
            gate: None,
            stream_path: Some("/sse".to_owned()),
            seal_key: None,
        }
    }
}

/// Why a server did not start.
#[derive(Debug, Error)]
pub enum HttpServerError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address asked for.
        address: SocketAddr,
        /// The system's words.
        source: io::Error,
    },
    /// The system has no randomness to give.
    #[error("no key could be made for what clients carry")]
    Seal(#[source] io::Error),
    /// The path does not start with a slash, holds characters that no path has, or stands for two things.
    #[error("`{path}` is not a path to serve under")]
    Path {
        /// As given.
        path: String,
    },
}

/// A server that listens. Dropping it ends it at once.
#[derive(Debug)]
pub struct HttpServer {
    /// Where it listens.
    pub address: SocketAddr,
    tasks: JoinSet<io::Result<()>>,
}

impl HttpServer {
    /// Waits until the server has ended, which it does after its `stop` has been cancelled and the requests under way are
    /// answered, at most 10 s later.
    ///
    /// # Errors
    ///
    /// The system's, where listening broke.
    pub async fn finished(mut self) -> io::Result<()> {
        match self.tasks.join_next().await {
            Some(Ok(outcome)) => outcome,
            Some(Err(error)) => Err(io::Error::other(error)),
            None => Ok(()),
        }
    }
}

/// Serves a handler over Streamable HTTP until `stop` is cancelled, and beside it for clients of 2024-11-05. Returns as soon as
/// it listens.
///
/// An answer is JSON, unless something is to be sent before it, or the client takes nothing but a stream. `Host` and `Origin`
/// are checked, so that no web page can reach a server on this machine by a name of its own. Pages of an allowed origin may read
/// the answers and the session id. A body that has not come whole within 30 s is refused with 408.
///
/// # Errors
///
/// [`HttpServerError`].
pub async fn serve_http(
    handler: Arc<dyn ServerHandler>,
    options: HttpServerOptions,
    stop: CancellationToken,
) -> Result<HttpServer, HttpServerError> {
    let two_ways = options.stream_path.map(TwoWays::new);
    let mut paths = vec![options.path.as_str()];
    paths.extend(two_ways.iter().flat_map(TwoWays::paths));
    for (at, path) in paths.iter().enumerate() {
        let is_path = path.starts_with('/') && !path.contains(['{', '}', '*', '?', '#', ' ']);
        if !is_path || paths[..at].contains(path) {
            return Err(HttpServerError::Path { path: (*path).to_owned() });
        }
    }
    let listen_error = |source| HttpServerError::Listen { address: options.listen, source };
    let seal = match &options.seal_key {
        Some(key) => Seal::new(key),
        None => Seal::of_this_process(),
    };
    let seal = Arc::new(seal.map_err(HttpServerError::Seal)?);
    let listener = TcpListener::bind(options.listen).await.map_err(listen_error)?;
    let address = listener.local_addr().map_err(listen_error)?;
    let limits = EnvelopeLimits { bytes: options.body_limit, ..EnvelopeLimits::default() };
    // Cancelled when the server ends in whatever way, so that nothing outlives it.
    let (stopping, ended) = (stop.child_token(), CancellationToken::new());
    let carrier = Arc::new(Carrier::until(ended.clone()));
    let machine = ServerMachine::new(handler, limits, seal.clone()).with_background(carrier);
    let (sessions, listeners) = (Sessions::default(), Listeners::default());
    let endpoint = Arc::new(Endpoint {
        _listener: listeners.connect(&machine, &sessions),
        machine,
        seal,
        guard: Guard::new(address.ip(), &options.allowed_hosts, &options.allowed_origins),
        documents: options
            .gate
            .iter()
            .flat_map(|gate| gate.documents())
            .map(|it| (it.path, it.body))
            .collect(),
        gate: options.gate,
        sessions,
        listeners,
        two_ways,
        silent: Arc::new(NoWayBack),
        calls: TaskTracker::new(),
        free: Arc::new(Semaphore::new(CALLS_AT_ONCE)),
        stop: stopping.clone(),
        ended: ended.clone(),
    });
    let mut app = Router::new().route(&options.path, any(answer));
    if let Some(two_ways) = &endpoint.two_ways {
        let [stream, messages] = two_ways.paths();
        app = app.route(stream, any(two_ways::open)).route(messages, any(two_ways::message));
    }
    let app = app.fallback(document).with_state(endpoint);
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let _all = (stopping.drop_guard(), ended.drop_guard());
        let asked = stop.clone();
        // Events are small and must not wait for each other.
        let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
        let serving =
            axum::serve(listener, app).with_graceful_shutdown(async move { asked.cancelled().await });
        let too_long = async {
            stop.cancelled().await;
            tokio::time::sleep(LAST_REQUESTS).await;
        };
        tokio::select! {
            outcome = serving => outcome,
            () = too_long => Ok(()),
        }
    });
    Ok(HttpServer { address, tasks })
}

async fn answer(State(endpoint): State<Arc<Endpoint>>, request: Request<Body>) -> Response<Body> {
    let answer = guarded(&endpoint, request, async |request| match request.method().as_str() {
        "POST" => endpoint.post(request).await,
        "GET" => endpoint.get(&request),
        "DELETE" => endpoint.delete(&request),
        _ => not_allowed("POST, GET, DELETE"),
    });
    tokio::select! {
        // What is answered at once never looks at the other.
        biased;
        answer = answer => answer,
        () = endpoint.ended.cancelled() => refuse(StatusCode::SERVICE_UNAVAILABLE, "the server has stopped"),
    }
}

/// Lets a request through to `serve` that comes from a good place and that the gate admits.
async fn guarded(
    endpoint: &Endpoint,
    request: Request<Body>,
    serve: impl AsyncFnOnce(Request<Body>) -> Response<Body>,
) -> Response<Body> {
    if let Err(words) = endpoint.guard.check(request.headers()) {
        return refuse(StatusCode::FORBIDDEN, &words);
    }
    if cors::is_preflight(&request) {
        return cors::preflight(request.headers());
    }
    let origin = request.headers().get(ORIGIN).cloned();
    let mut response = match admit(endpoint, request).await {
        Err(refusal) => turn_away(&refusal, None),
        Ok(request) => serve(request).await,
    };
    if let Some(origin) = origin {
        cors::allow(&mut response, origin);
    }
    response
}

/// Asks the gate. A request that is let in carries [`Admitted`] as an extension.
async fn admit(endpoint: &Endpoint, request: Request<Body>) -> Result<Request<Body>, GateRefusal> {
    let Some(gate) = &endpoint.gate else { return Ok(request) };
    let (mut head, body) = request.into_parts();
    let caller = gate.admit(&head.method, &head.headers).await?;
    head.extensions.insert(Admitted { gate: gate.clone(), caller });
    Ok(Request::from_parts(head, body))
}

fn turn_away(refusal: &GateRefusal, id: Option<&Id>) -> Response<Body> {
    let code = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::FORBIDDEN);
    let mut response = match id {
        Some(id) => respond(Reply::forbidden(id, &refusal.words)),
        None => refuse(code, &refusal.words),
    };
    *response.status_mut() = code;
    for (name, value) in &refusal.headers {
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value))
        {
            response.headers_mut().append(name, value);
        }
    }
    response
}

/// What the gate publishes is for everybody, as every server's metadata is.
async fn document(State(endpoint): State<Arc<Endpoint>>, request: Request<Body>) -> Response<Body> {
    if let Err(words) = endpoint.guard.check(request.headers()) {
        return refuse(StatusCode::FORBIDDEN, &words);
    }
    let Some(body) = endpoint.documents.get(request.uri().path()) else {
        return status(StatusCode::NOT_FOUND);
    };
    if cors::is_preflight(&request) {
        return cors::preflight(request.headers());
    }
    if request.method() != Method::GET && request.method() != Method::HEAD {
        let mut response = status(StatusCode::METHOD_NOT_ALLOWED);
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET"));
        return response;
    }
    let mut response = Response::new(Body::from(body.clone()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some(origin) = request.headers().get(ORIGIN) {
        cors::allow(&mut response, origin.clone());
    }
    response
}
