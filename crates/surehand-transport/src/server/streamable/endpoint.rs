//! The one endpoint: what each request leads to.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::{Extensions, HeaderValue, Request, Response, StatusCode};
use futures_util::future::join_all;
use surehand_mcp::{
    Arrival, BoxFuture, ChangeListener, Feature, HttpFacts, HttpSession, Id, Outbox, PendingRequest, Reply,
    Revision, ServerMachine, Subscription, Verdict,
};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::answer::{
    LAST_EVENT, METHOD, NAME, SESSION, Takes, VERSION, accepted, is_json, not_allowed, refuse, respond,
    status, text_of,
};
use super::body::{Stopping, stream};
use super::events::{EventId, Events};
use super::gate::{Admitted, Gate, GateRefusal};
use super::guard::Guard;
use super::listeners::Listeners;
use super::outbox::{PlainOutbox, SessionOutbox};
use super::running::{First, Running};
use super::session_id::{OpenSession, open_session, seal_session};
use super::sessions::Sessions;
use super::turn_away;
use super::two_ways::TwoWays;
use crate::server::outbox::NoWayBack;
use crate::server::seal::Seal;

/// Within what time the whole body of a request must have come.
pub(super) const BODY_WITHIN: Duration = Duration::from_secs(30);
const TOO_MANY_CALLS: &str = "too many calls are running already";

pub(super) struct Endpoint {
    pub(super) machine: ServerMachine,
    pub(super) seal: Arc<Seal>,
    pub(super) guard: Guard,
    pub(super) gate: Option<Arc<dyn Gate>>,
    /// What the gate publishes, by path.
    pub(super) documents: HashMap<String, String>,
    pub(super) sessions: Sessions,
    pub(super) listeners: Listeners,
    pub(super) two_ways: Option<TwoWays>,
    /// Changes are told for as long as this is kept.
    pub(super) _listener: ChangeListener,
    /// For requests that have nothing to say before their answer.
    pub(super) silent: Arc<NoWayBack>,
    /// Calls of the older era, which go on when the client hangs up.
    pub(super) calls: TaskTracker,
    /// One permit for each call that may still begin.
    pub(super) free: Arc<Semaphore>,
    /// Cancelled when the server is asked to stop: streams without an end are ended.
    pub(super) stop: CancellationToken,
    /// Cancelled when it has stopped: no call outlives it.
    pub(super) ended: CancellationToken,
}

impl Endpoint {
    pub(super) async fn post(&self, request: Request<Body>) -> Response<Body> {
        let (head, body) = request.into_parts();
        let headers = &head.headers;
        if !is_json(headers) {
            return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, "the body must be application/json");
        }
        let takes = Takes::of(headers);
        if !takes.json && !takes.events {
            let words = "the answer is application/json or text/event-stream, and `Accept` leaves out both";
            return refuse(StatusCode::NOT_ACCEPTABLE, words);
        }
        let limit = self.machine.limits().bytes;
        let Ok(read) = tokio::time::timeout(BODY_WITHIN, to_bytes(body, limit)).await else {
            return refuse(StatusCode::REQUEST_TIMEOUT, "the body did not come in time");
        };
        let Ok(body) = read else {
            return refuse(StatusCode::PAYLOAD_TOO_LARGE, &format!("a body has at most {limit} bytes"));
        };
        let Ok(text) = std::str::from_utf8(&body) else {
            return respond(Reply::not_json("it is not UTF-8"));
        };
        let principal = principal_of(&head.extensions);
        let session_id = text_of(headers, &SESSION);
        let session = session_id.and_then(|id| self.session(id, principal));
        let params: Vec<(&str, Option<&str>)> = headers
            .iter()
            .filter(|(name, _)| name.as_str().starts_with("mcp-param-"))
            .map(|(name, value)| (name.as_str(), value.to_str().ok()))
            .collect();
        let facts = HttpFacts {
            version: text_of(headers, &VERSION),
            method: text_of(headers, &METHOD),
            name: text_of(headers, &NAME),
            params: &params,
            session: match (session_id, &session) {
                (None, _) => HttpSession::Absent,
                (Some(_), Some(session)) => HttpSession::Open(&session.negotiated),
                (Some(_), None) => HttpSession::Lost,
            },
            principal,
        };
        let mut verdicts = self.machine.receive(text, Arrival::Http(facts));
        if let Some(admitted) = head.extensions.get::<Admitted>()
            && let Some((id, refusal)) = forbidden(admitted, &verdicts)
        {
            return turn_away(&refusal, Some(id));
        }
        match &session {
            Some(session) if is_batch(text, &verdicts) => self.batch(verdicts, session, takes).await,
            _ => match verdicts.pop() {
                Some(verdict) => self.act(verdict, session.as_ref(), principal, takes).await,
                None => accepted(),
            },
        }
    }

    async fn act(
        &self,
        verdict: Verdict,
        session: Option<&OpenSession>,
        principal: Option<&str>,
        takes: Takes,
    ) -> Response<Body> {
        match verdict {
            Verdict::Open { session, reply } => {
                let mut response = self.say(reply, takes);
                let id = seal_session(&self.seal, &session, principal);
                if let Ok(id) = HeaderValue::from_str(&id) {
                    response.headers_mut().insert(&SESSION, id);
                }
                response
            }
            Verdict::Run(request) => match session.filter(|_| !request.revision.is_modern()) {
                Some(session) => self.run_in_session(request, session, takes).await,
                None => self.run(request, takes).await,
            },
            Verdict::Listen(subscription) => self.listen(subscription, takes),
            other => match self.settle(other, session) {
                Some(reply) => self.say(reply, takes),
                None => accepted(),
            },
        }
    }

    /// What has its answer, or none, at once.
    fn settle(&self, verdict: Verdict, session: Option<&OpenSession>) -> Option<Reply> {
        let key = session.map(|session| session.key);
        match verdict {
            Verdict::Answer(reply) => Some(reply),
            Verdict::Subscribe { id, uri, reply } => Some(match key {
                Some(key) if !self.sessions.subscribe(key, uri) => {
                    Reply::internal(&id, "this session listens for too many resources already")
                }
                _ => reply,
            }),
            Verdict::Unsubscribe { uri, reply } => {
                key.into_iter().for_each(|key| self.sessions.unsubscribe(key, &uri));
                Some(reply)
            }
            Verdict::SetLevel { level, reply } => {
                key.into_iter().for_each(|key| self.sessions.set_level(key, level));
                Some(reply)
            }
            Verdict::Answered { id, outcome } => {
                if let (Some(key), Some(number)) = (key, id.as_number()) {
                    self.sessions.answered(key, number, outcome);
                }
                None
            }
            Verdict::Cancel(id) => {
                key.into_iter().for_each(|key| self.sessions.cancel(key, &id));
                None
            }
            Verdict::Open { reply, .. } => Some(reply),
            Verdict::Run(request) => Some(Reply::internal(&request.id, "this cannot be run here")),
            Verdict::Listen(subscription) => {
                Some(Reply::internal(&subscription.id, "nothing can be listened for here"))
            }
            Verdict::Nothing => None,
        }
    }

    /// A request of the stateless era. It ends with its connection: in this era that is how a client cancels.
    async fn run(&self, request: PendingRequest, takes: Takes) -> Response<Body> {
        let Ok(place) = self.free.clone().try_acquire_owned() else {
            return self.say(Reply::internal(&request.id, TOO_MANY_CALLS), takes);
        };
        if !takes.events || takes.json && !request.wants_stream() {
            return respond(request.run(self.silent.clone()).await);
        }
        let events = self.sessions.plain_stream();
        let outbox: Arc<dyn Outbox> = Arc::new(PlainOutbox { events: events.clone() });
        let running = Running::new(Box::pin(request.run(outbox)), events, place);
        match running.first(true).await {
            First::Answer(reply) => self.say(reply, takes),
            First::Stream(running) => {
                stream(running.events().read(), Some(running), Stopping::new(&self.ended, None))
            }
        }
    }

    async fn run_in_session(
        &self,
        request: PendingRequest,
        session: &OpenSession,
        takes: Takes,
    ) -> Response<Body> {
        let id = request.id.clone();
        let events = self.session_events(session, false);
        let outbox = self.session_outbox(session, &events, takes);
        let run = move || -> BoxFuture<'static, Reply> { Box::pin(request.run(outbox)) };
        self.wait_in_session(vec![id], session, events, takes, run).await
    }

    /// Several messages in one body; so are the answers.
    async fn batch(&self, verdicts: Vec<Verdict>, session: &OpenSession, takes: Takes) -> Response<Body> {
        let events = self.session_events(session, false);
        let outbox = self.session_outbox(session, &events, takes);
        let (mut replies, mut requests, mut ids) = (Vec::new(), Vec::new(), Vec::new());
        for verdict in verdicts {
            match verdict {
                Verdict::Run(request) if ids.contains(&request.id) => {
                    replies.push(Reply::id_in_use(&request.id));
                }
                Verdict::Run(request) => {
                    ids.push(request.id.clone());
                    requests.push(request);
                }
                other => replies.extend(self.settle(other, Some(session))),
            }
        }
        if requests.is_empty() {
            return if replies.is_empty() { accepted() } else { self.say(array_of(replies), takes) };
        }
        let run = move || -> BoxFuture<'static, Reply> {
            Box::pin(async move {
                replies.extend(join_all(requests.into_iter().map(|it| it.run(outbox.clone()))).await);
                array_of(replies)
            })
        };
        self.wait_in_session(ids, session, events, takes, run).await
    }

    /// Runs what goes on when its connection is lost. What has its answer at once leaves no trace.
    async fn wait_in_session(
        &self,
        ids: Vec<Id>,
        session: &OpenSession,
        events: Arc<Events>,
        takes: Takes,
        run: impl FnOnce() -> BoxFuture<'static, Reply>,
    ) -> Response<Body> {
        let in_use = || ids.iter().find(|id| self.sessions.runs(session.key, id));
        if let Some(id) = in_use() {
            return self.say(Reply::id_in_use(id), takes);
        }
        let Ok(place) = self.free.clone().try_acquire_owned() else {
            let reply = ids.first().map(|id| Reply::internal(id, TOO_MANY_CALLS));
            return reply.map_or_else(accepted, |reply| self.say(reply, takes));
        };
        let mut running = Running::new(run(), events, place);
        let first = match running.at_once().await {
            Some(reply) => running.answered(reply, takes.events),
            None => {
                let cancel = self.ended.child_token();
                match running.lasting(&self.sessions, session.key, &ids, cancel, &self.calls) {
                    Some(running) => running.first(takes.events).await,
                    None => {
                        let reply = in_use().or(ids.first()).map(Reply::id_in_use);
                        return reply.map_or_else(accepted, |reply| self.say(reply, takes));
                    }
                }
            }
        };
        match first {
            First::Answer(reply) => self.say(reply, takes),
            First::Stream(running) => {
                self.sessions.keep(session.key, running.events());
                stream(running.events().read(), Some(running), Stopping::new(&self.ended, None))
            }
        }
    }

    fn session_events(&self, session: &OpenSession, is_general: bool) -> Arc<Events> {
        let revision = session.negotiated.revision;
        self.sessions.resumable_stream(revision.has(Feature::PrimingEvents), is_general)
    }

    fn session_outbox(&self, session: &OpenSession, events: &Arc<Events>, takes: Takes) -> Arc<dyn Outbox> {
        Arc::new(SessionOutbox {
            events: events.clone(),
            streams: takes.events,
            sessions: self.sessions.clone(),
            session: session.key,
        })
    }

    fn listen(&self, subscription: Subscription, takes: Takes) -> Response<Body> {
        if !takes.events {
            let words = "changes are told as text/event-stream, which `Accept` leaves out";
            return refuse(StatusCode::NOT_ACCEPTABLE, words);
        }
        let events = self.sessions.plain_stream();
        let (id, last) = (subscription.id.clone(), subscription.finished());
        if !self.listeners.open(subscription, &events) {
            return self.say(Reply::internal(&id, "too many streams of changes are open already"), takes);
        }
        stream(events.read(), None, Stopping::new(&self.stop, Some(last)))
    }

    /// A session's own stream: a new one, or one that was lost, from where it was lost.
    pub(super) fn get(&self, request: &Request<Body>) -> Response<Body> {
        let headers = request.headers();
        let session = match self.session_of(request) {
            Ok(session) => session,
            Err(refusal) => return *refusal,
        };
        if !Takes::of(headers).events {
            let words = "the answer is text/event-stream, which `Accept` leaves out";
            return refuse(StatusCode::NOT_ACCEPTABLE, words);
        }
        let stopping = Stopping::new(&self.stop, None);
        let last = text_of(headers, &LAST_EVENT).filter(|last| !last.is_empty());
        if let Some(last) = last {
            let id = EventId::parse(last);
            let events = id.and_then(|id| Some((self.sessions.stream(session.key, id.number)?, id.place)));
            let reader = events.and_then(|(events, place)| events.read_behind(place));
            match (reader, id) {
                (Some(reader), _) => return stream(reader, None, stopping),
                // What came by it is lost, but it goes on.
                (None, Some(EventId { is_general: true, .. })) => {}
                _ => {
                    let words = format!("nothing can be taken up again behind the event `{last}`");
                    return refuse(StatusCode::BAD_REQUEST, &words);
                }
            }
        }
        let events = self.session_events(&session, true);
        let reader = events.read();
        self.sessions.keep(session.key, &events);
        stream(reader, None, stopping)
    }

    pub(super) fn delete(&self, request: &Request<Body>) -> Response<Body> {
        match self.session_of(request) {
            Ok(session) if self.sessions.end(session.key) => status(StatusCode::NO_CONTENT),
            Ok(_) => no_session(),
            Err(refusal) => *refusal,
        }
    }

    /// The session that a request without a body is about.
    fn session_of(&self, request: &Request<Body>) -> Result<OpenSession, Box<Response<Body>>> {
        let headers = request.headers();
        if let Some(version) = text_of(headers, &VERSION) {
            if Revision::names_modern(version) {
                return Err(Box::new(not_allowed("POST")));
            }
            if Revision::parse(version).is_none() {
                let words =
                    format!("`MCP-Protocol-Version: {version}` is not a revision that this server speaks");
                return Err(Box::new(refuse(StatusCode::BAD_REQUEST, &words)));
            }
        }
        let Some(id) = text_of(headers, &SESSION) else {
            let words = "this request names no session in `Mcp-Session-Id`";
            return Err(Box::new(refuse(StatusCode::BAD_REQUEST, words)));
        };
        self.session(id, principal_of(request.extensions())).ok_or_else(|| Box::new(no_session()))
    }

    /// The session of this id, where it is open and belongs to whoever asks.
    fn session(&self, id: &str, principal: Option<&str>) -> Option<OpenSession> {
        let mut session = open_session(&self.seal, id)?;
        if session.principal.as_deref() != principal {
            return None;
        }
        session.negotiated.log_level = self.sessions.look_up(session.key)?;
        Some(session)
    }

    /// An answer alone, in a form that the client takes.
    fn say(&self, reply: Reply, takes: Takes) -> Response<Body> {
        if takes.json || reply.status != 200 {
            return respond(reply);
        }
        let events = self.sessions.plain_stream();
        let reader = events.read();
        events.finish(&reply.body);
        stream(reader, None, Stopping::new(&self.ended, None))
    }
}

/// The first of these that the gate does not let the caller run.
fn forbidden<'a>(admitted: &Admitted, verdicts: &'a [Verdict]) -> Option<(&'a Id, GateRefusal)> {
    verdicts.iter().find_map(|verdict| match verdict {
        Verdict::Run(request) => Some((&request.id, admitted.forbids(request)?)),
        _ => None,
    })
}

/// Who the gate found to ask.
pub(super) fn principal_of(extensions: &Extensions) -> Option<&str> {
    extensions.get::<Admitted>().and_then(|admitted| admitted.caller.principal.as_deref())
}

fn no_session() -> Response<Body> {
    refuse(StatusCode::NOT_FOUND, "there is no such session")
}

/// Whether these verdicts are about the messages of an array. A single refusal may be about the array itself.
fn is_batch(text: &str, verdicts: &[Verdict]) -> bool {
    let is_refused = matches!(verdicts, [Verdict::Answer(reply)] if reply.status != 200);
    !is_refused && text.trim_start().starts_with('[')
}

fn array_of(replies: Vec<Reply>) -> Reply {
    let bodies: Vec<String> = replies.into_iter().map(|reply| reply.body).collect();
    Reply { body: format!("[{}]", bodies.join(",")), status: 200 }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::io;
    use std::net::Ipv4Addr;

    use axum::http::header::CONTENT_TYPE;
    use surehand_mcp::{
        CallFailure, EnvelopeLimits, Implementation, Negotiated, ServerHandler, ToolInvocation, ToolOutput,
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
        let seal = Arc::new(Seal::of_this_process().unwrap());
        let machine = ServerMachine::new(Arc::new(Silent), EnvelopeLimits::default(), seal.clone());
        let (sessions, listeners) = (Sessions::default(), Listeners::default());
        Endpoint {
            _listener: listeners.connect(&machine, &sessions),
            machine,
            seal,
            guard: Guard::new(Ipv4Addr::LOCALHOST.into(), &[], &[]),
            gate: None,
            documents: HashMap::new(),
            sessions,
            listeners,
            two_ways: None,
            silent: Arc::new(NoWayBack),
            calls: TaskTracker::new(),
            free: Arc::new(Semaphore::new(1)),
            stop: CancellationToken::new(),
            ended: CancellationToken::new(),
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
        let session = seal_session(&endpoint.seal, &Negotiated::new(Revision::V2025_06_18), None);
        let call = |id: u32| {
            let body = format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"t","arguments":{{}}}}}}"#
            );
            let request =
                Request::post("/mcp").header(CONTENT_TYPE, "application/json").header(&SESSION, &session);
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
        endpoint.ended.cancel();
    }

    #[tokio::test]
    async fn a_session_that_calls_and_is_answered_at_once_leaves_nothing_behind() {
        let endpoint = endpoint();
        let session = seal_session(&endpoint.seal, &Negotiated::new(Revision::V2025_11_25), None);
        for body in [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
        ] {
            let request =
                Request::post("/mcp").header(CONTENT_TYPE, "application/json").header(&SESSION, &session);
            assert_eq!(endpoint.post(request.body(Body::from(body)).unwrap()).await.status(), StatusCode::OK);
        }
        assert_eq!(endpoint.sessions.busy(), 0);
    }
}
