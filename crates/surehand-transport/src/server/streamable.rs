//! Streamable HTTP, both eras on one endpoint.

mod cors;
mod gate;
mod guard;
mod sessions;

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::http::header::{ACCEPT, ALLOW, CONTENT_TYPE, ORIGIN};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use axum::routing::any;
use surehand_mcp::{
    Arrival, EnvelopeLimits, HttpFacts, HttpSession, PendingRequest, Reply, ServerHandler, ServerMachine,
    Verdict,
};
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use self::gate::{Caller, Gate, GateDocument, GateRefusal};
use self::guard::Guard;
use self::sessions::Sessions;
use super::outbox::NoWayBack;
use super::seal::Seal;

/// How long requests may still take once the server is asked to stop.
const LAST_REQUESTS: Duration = Duration::from_secs(10);
/// How many calls run side by side; further ones are refused, for whoever sends more than that is not well.
const CALLS_AT_ONCE: usize = 1_024;
/// Within what time the whole body of a request must have come.
const BODY_WITHIN: Duration = Duration::from_secs(30);
const SESSION_HEADER: &str = "mcp-session-id";

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
}

impl Default for HttpServerOptions {
    /// A free port of the loopback address, `/mcp`, 32 MiB, no gate.
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            path: "/mcp".to_owned(),
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            body_limit: EnvelopeLimits::default().bytes,
            gate: None,
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
    /// The path does not start with a slash, or holds characters that no path has.
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

/// Serves a handler over Streamable HTTP until `stop` is cancelled. Returns as soon as it listens.
///
/// Answers are JSON. `Host` and `Origin` are checked, so that no web page can reach a server on this machine by a name of its
/// own. Pages of an allowed origin may read the answers and the session id. A body that has not come whole within 30 s is
/// refused with 408.
///
/// # Errors
///
/// [`HttpServerError`].
pub async fn serve_http(
    handler: Arc<dyn ServerHandler>,
    options: HttpServerOptions,
    stop: CancellationToken,
) -> Result<HttpServer, HttpServerError> {
    let is_path = options.path.starts_with('/') && !options.path.contains(['{', '}', '*', '?', '#', ' ']);
    if !is_path {
        return Err(HttpServerError::Path { path: options.path });
    }
    let listen_error = |source| HttpServerError::Listen { address: options.listen, source };
    let seal = Seal::of_this_process().map_err(HttpServerError::Seal)?;
    let listener = TcpListener::bind(options.listen).await.map_err(listen_error)?;
    let address = listener.local_addr().map_err(listen_error)?;
    let limits = EnvelopeLimits { bytes: options.body_limit, ..EnvelopeLimits::default() };
    // Cancelled too when the server is dropped, so that no call outlives it.
    let ended = stop.child_token();
    let endpoint = Arc::new(Endpoint {
        machine: ServerMachine::new(handler, limits, Arc::new(seal)),
        guard: Guard::new(address.ip(), &options.allowed_hosts, &options.allowed_origins),
        documents: options
            .gate
            .iter()
            .flat_map(|gate| gate.documents())
            .map(|it| (it.path, it.body))
            .collect(),
        gate: options.gate,
        sessions: Sessions::default(),
        calls: TaskTracker::new(),
        free: Arc::new(Semaphore::new(CALLS_AT_ONCE)),
        stop: ended.clone(),
    });
    let app = Router::new().route(&options.path, any(answer)).fallback(document).with_state(endpoint);
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let _calls = ended.drop_guard();
        let asked = stop.clone();
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

struct Endpoint {
    machine: ServerMachine,
    guard: Guard,
    gate: Option<Arc<dyn Gate>>,
    /// What the gate publishes, by path.
    documents: HashMap<String, String>,
    sessions: Sessions,
    /// Calls of the older era, which go on when the client hangs up.
    calls: TaskTracker,
    /// One permit for each call that may still begin.
    free: Arc<Semaphore>,
    stop: CancellationToken,
}

async fn answer(State(endpoint): State<Arc<Endpoint>>, request: Request<Body>) -> Response<Body> {
    if let Err(words) = endpoint.guard.check(request.headers()) {
        return refuse(StatusCode::FORBIDDEN, &words);
    }
    if cors::is_preflight(&request) {
        return cors::preflight(request.headers());
    }
    let origin = request.headers().get(ORIGIN).cloned();
    let mut response = match admit(&endpoint, request).await {
        Err(refusal) => turn_away(&refusal),
        Ok(request) => match request.method().as_str() {
            "POST" => endpoint.post(request).await,
            "DELETE" => endpoint.delete(request.headers()),
            _ => not_allowed(),
        },
    };
    if let Some(origin) = origin {
        cors::allow(&mut response, origin);
    }
    response
}

/// Asks the gate. A request that is let in carries its [`Caller`] as an extension.
async fn admit(endpoint: &Endpoint, request: Request<Body>) -> Result<Request<Body>, GateRefusal> {
    let Some(gate) = &endpoint.gate else { return Ok(request) };
    let (mut head, body) = request.into_parts();
    let caller = gate.admit(&head.method, &head.headers).await?;
    head.extensions.insert(caller);
    Ok(Request::from_parts(head, body))
}

fn turn_away(refusal: &GateRefusal) -> Response<Body> {
    let code = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::FORBIDDEN);
    let mut response = refuse(code, &refusal.words);
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

impl Endpoint {
    async fn post(&self, request: Request<Body>) -> Response<Body> {
        let (head, body) = request.into_parts();
        let headers = &head.headers;
        if !has_media_type(headers, CONTENT_TYPE, &["application/json"]) {
            return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, "the body must be application/json");
        }
        let takes_json = ["application/json", "application/*", "*/*"];
        if headers.contains_key(ACCEPT) && !has_media_type(headers, ACCEPT, &takes_json) {
            return refuse(
                StatusCode::NOT_ACCEPTABLE,
                "the answer is application/json, which `Accept` leaves out",
            );
        }
        let limit = self.machine.limits().bytes;
        let Ok(read) = tokio::time::timeout(BODY_WITHIN, to_bytes(body, limit)).await else {
            return refuse(StatusCode::REQUEST_TIMEOUT, "the body did not come in time");
        };
        let Ok(body) = read else {
            return refuse(StatusCode::PAYLOAD_TOO_LARGE, &format!("a body has at most {limit} bytes"));
        };
        let Ok(text) = std::str::from_utf8(&body) else {
            return respond(&Reply::not_json("it is not UTF-8"));
        };
        let session_id = text_of(headers, SESSION_HEADER);
        let params: Vec<(&str, Option<&str>)> = headers
            .iter()
            .filter(|(name, _)| name.as_str().starts_with("mcp-param-"))
            .map(|(name, value)| (name.as_str(), value.to_str().ok()))
            .collect();
        let open = session_id.and_then(|id| self.sessions.negotiated(id));
        let caller = head.extensions.get::<Caller>();
        let facts = HttpFacts {
            version: text_of(headers, "mcp-protocol-version"),
            method: text_of(headers, "mcp-method"),
            name: text_of(headers, "mcp-name"),
            params: &params,
            session: match session_id {
                None => HttpSession::Absent,
                Some(_) => open.as_ref().map_or(HttpSession::Lost, HttpSession::Open),
            },
            principal: caller.and_then(|caller| caller.principal.as_deref()),
        };
        // Over HTTP an array is never taken, so there is exactly one verdict.
        match self.machine.receive(text, Arrival::Http(facts)).pop() {
            Some(Verdict::Answer(reply)) => respond(&reply),
            Some(Verdict::Open { session, reply }) => {
                let mut response = respond(&reply);
                if let Some(id) = self.sessions.open(session)
                    && let Ok(id) = HeaderValue::from_str(&id)
                {
                    response.headers_mut().insert(SESSION_HEADER, id);
                }
                response
            }
            Some(Verdict::Run(request)) => respond(&self.run(request, session_id).await),
            Some(Verdict::Subscribe { reply, .. } | Verdict::Unsubscribe { reply, .. }) => respond(&reply),
            Some(Verdict::SetLevel { level, reply }) => {
                if let Some(session) = session_id {
                    self.sessions.set_level(session, level);
                }
                respond(&reply)
            }
            Some(Verdict::Listen(subscription)) => {
                respond(&Reply::internal(&subscription.id, "nothing can be listened for here"))
            }
            Some(Verdict::Answered { .. }) => accepted(),
            Some(Verdict::Cancel(id)) => {
                if let Some(session) = session_id {
                    self.sessions.cancel(session, &id);
                }
                accepted()
            }
            Some(Verdict::Nothing) | None => accepted(),
        }
    }

    async fn run(&self, request: PendingRequest, session: Option<&str>) -> Reply {
        let id = request.id.clone();
        let Ok(place) = self.free.clone().try_acquire_owned() else {
            return Reply::internal(&id, "too many calls are running already");
        };
        let outbox = Arc::new(NoWayBack);
        if request.revision.is_modern() {
            // Hanging up drops this future, and with it the call: in this era that is how a client cancels.
            return request.run(outbox).await;
        }
        let cancelled = self.stop.child_token();
        let key = session.map(|session| (session.to_owned(), id.clone()));
        if let Some((session, id)) = &key
            && !self.sessions.begin(session, id, cancelled.clone())
        {
            return Reply::id_in_use(&id);
        }
        let (sender, receiver) = oneshot::channel();
        let sessions = self.sessions.clone();
        self.calls.spawn(async move {
            let _place = place;
            let reply = tokio::select! {
                reply = request.run(outbox) => reply,
                () = cancelled.cancelled() => Reply::cancelled(&id),
            };
            if let Some((session, id)) = &key {
                sessions.end(session, id);
            }
            // The client may have hung up.
            let _ = sender.send(reply);
        });
        receiver.await.unwrap_or_else(|_| Reply::unreadable("the server is stopping"))
    }

    fn delete(&self, headers: &HeaderMap) -> Response<Body> {
        match text_of(headers, SESSION_HEADER) {
            None => not_allowed(),
            Some(id) if self.sessions.close(id) => status(StatusCode::NO_CONTENT),
            Some(_) => refuse(StatusCode::NOT_FOUND, "there is no such session"),
        }
    }
}

fn text_of<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim)
}

/// Whether a header names one of these media types, whatever their parameters.
fn has_media_type(headers: &HeaderMap, name: axum::http::HeaderName, wanted: &[&str]) -> bool {
    headers
        .get_all(name)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|item| {
            let media_type = item.split(';').next().unwrap_or_default().trim();
            wanted.iter().any(|wanted| media_type.eq_ignore_ascii_case(wanted))
        })
}

fn respond(reply: &Reply) -> Response<Body> {
    let mut response = Response::new(Body::from(reply.body.clone()));
    *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::OK);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn refuse(code: StatusCode, words: &str) -> Response<Body> {
    let mut response = respond(&Reply::unreadable(words));
    *response.status_mut() = code;
    response
}

fn status(code: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = code;
    response
}

fn accepted() -> Response<Body> {
    status(StatusCode::ACCEPTED)
}

fn not_allowed() -> Response<Body> {
    let mut response = status(StatusCode::METHOD_NOT_ALLOWED);
    response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST, DELETE"));
    response
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use surehand_mcp::{
        BoxFuture, CallFailure, Implementation, Negotiated, Revision, ToolInvocation, ToolOutput,
    };
    use surehand_model::Tool;

    use super::*;

    /// Never answers a call.
    struct Silent;

    impl ServerHandler for Silent {
        fn implementation(&self) -> Implementation {
            Implementation { name: "silent".to_owned(), title: None, version: "1".to_owned() }
        }

        fn tools(&self) -> Vec<Tool> {
            Vec::new()
        }

        fn call<'a>(&'a self, _: ToolInvocation<'a>) -> BoxFuture<'a, Result<ToolOutput, CallFailure>> {
            Box::pin(pending())
        }
    }

    fn endpoint() -> Endpoint {
        Endpoint {
            machine: ServerMachine::new(
                Arc::new(Silent),
                EnvelopeLimits::default(),
                Arc::new(Seal::of_this_process().unwrap()),
            ),
            guard: Guard::new(Ipv4Addr::LOCALHOST.into(), &[], &[]),
            gate: None,
            documents: HashMap::new(),
            sessions: Sessions::default(),
            calls: TaskTracker::new(),
            free: Arc::new(Semaphore::new(1)),
            stop: CancellationToken::new(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_never_ends_is_given_up() {
        let body = Body::from_stream(futures_util::stream::pending::<io::Result<Vec<u8>>>());
        let request = Request::post("/mcp").header(CONTENT_TYPE, "application/json").body(body).unwrap();
        let begun = tokio::time::Instant::now();
        let status = endpoint().post(request).await.status();
        assert_eq!((status, begun.elapsed().as_secs()), (StatusCode::REQUEST_TIMEOUT, 30));
    }

    #[tokio::test]
    async fn a_call_beyond_those_that_may_run_at_once_is_refused() {
        let endpoint = endpoint();
        let session = endpoint.sessions.open(Negotiated::new(Revision::V2025_06_18)).unwrap();
        let call = |id: u32| {
            let body = format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"t","arguments":{{}}}}}}"#
            );
            let request = Request::post("/mcp")
                .header(CONTENT_TYPE, "application/json")
                .header(SESSION_HEADER, &session);
            endpoint.post(request.body(Body::from(body)).unwrap())
        };
        let refused = tokio::select! {
            biased;
            _ = call(1) => panic!("nothing answers"),
            refused = call(2) => to_bytes(refused.into_body(), 1_000).await.unwrap(),
        };
        assert_eq!(
            String::from_utf8_lossy(&refused),
            r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"too many calls are running already"}}"#
        );
        endpoint.stop.cancel();
    }
}
