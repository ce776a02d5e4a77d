//! What a server of the older era says on the stream that belongs to no request.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, Response};
use axum::routing::any;
use serde_json::{Value, json};
use surehand_model::{Note, RawJson};
use surehand_transport::{CallOptions, Client, ClientEvent, ClientOptions, Era, Progress, ServerNotice};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use crate::fixture::{http, http_target, text};

/// A server that says everything on the stream that belongs to no request, and only takes what is posted.
struct Talker {
    address: SocketAddr,
    state: Arc<Talks>,
    _tasks: JoinSet<()>,
}

struct Talks {
    capabilities: Value,
    /// The number of the session that is open; those before it are forgotten.
    session: Mutex<usize>,
    /// Of the session that is open.
    stream: watch::Sender<Option<mpsc::Sender<String>>>,
    asked: watch::Sender<Vec<String>>,
    /// While it is held, no session is opened.
    gate: tokio::sync::Mutex<()>,
}

impl Talker {
    async fn start(capabilities: Value) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Talks {
            capabilities,
            session: Mutex::new(0),
            stream: watch::Sender::default(),
            asked: watch::Sender::default(),
            gate: tokio::sync::Mutex::default(),
        });
        let app = Router::new().fallback(any(answer)).with_state(state.clone());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { address, state, _tasks: tasks }
    }

    async fn connect(&self) -> (Client, mpsc::UnboundedReceiver<ClientEvent>) {
        let (heard, events) = mpsc::unbounded_channel();
        let options = ClientOptions {
            era: Era::Legacy,
            on_event: Some(Arc::new(move |event| heard.send(event).unwrap())),
            ..ClientOptions::default()
        };
        let target = http_target(&format!("http://{}/mcp", self.address));
        (Client::open(target, options, &http()).await.unwrap(), events)
    }

    /// Waits until this has been asked so often.
    async fn until(&self, line: &str, times: usize) {
        let mut asked = self.state.asked.subscribe();
        asked.wait_for(|asked| asked.iter().filter(|asked| *asked == line).count() == times).await.unwrap();
    }
}

impl Talks {
    async fn say(&self, message: Value) {
        let mut stream = self.stream.subscribe();
        let stream = stream.wait_for(Option::is_some).await.unwrap().clone().unwrap();
        stream.send(format!("data: {message}\n\n")).await.unwrap();
    }
}

async fn answer(
    State(talks): State<Arc<Talks>>,
    method: Method,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let asked = message["method"].as_str().unwrap_or_default().to_owned();
    talks.asked.send_modify(|all| all.push(format!("{method} {asked}")));
    let reply = |status: u16, body: Value| {
        let reply = Response::builder().status(status).header("Content-Type", "application/json");
        reply.body(Body::from(body.to_string())).unwrap()
    };
    if asked == "initialize" {
        let _passed = talks.gate.lock().await;
        talks.stream.send_replace(None);
        let session = {
            let mut session = talks.session.lock().unwrap();
            *session += 1;
            *session
        };
        let result = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": talks.capabilities,
            "serverInfo": {"name": "t", "version": "1"},
        });
        let mut answer = reply(200, json!({"jsonrpc": "2.0", "id": message["id"], "result": result}));
        answer.headers_mut().insert("Mcp-Session-Id", session.to_string().parse().unwrap());
        return answer;
    }
    let session = headers.get("mcp-session-id").and_then(|session| session.to_str().ok());
    if session != Some(talks.session.lock().unwrap().to_string().as_str()) {
        return reply(
            404,
            json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32001, "message": "Session not found"}}),
        );
    }
    if method == Method::GET {
        let (sender, mut events) = mpsc::channel::<String>(16);
        talks.stream.send_replace(Some(sender));
        let events = futures_util::stream::poll_fn(move |context| {
            events.poll_recv(context).map(|event| event.map(Ok::<_, Infallible>))
        });
        let stream = Response::builder().header("Content-Type", "text/event-stream");
        return stream.body(Body::from_stream(events)).unwrap();
    }
    if asked == "tools/call" {
        let token = &message["params"]["_meta"]["progressToken"];
        let progress = json!({"progressToken": token, "progress": 1});
        talks.say(json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress})).await;
        let result = json!({"content": [{"type": "text", "text": "hello"}]});
        talks.say(json!({"jsonrpc": "2.0", "id": message["id"], "result": result})).await;
    }
    if asked == "resources/subscribe" {
        return reply(200, json!({"jsonrpc": "2.0", "id": message["id"], "result": {}}));
    }
    Response::builder().status(202).body(Body::empty()).unwrap()
}

fn changed(kind: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": format!("notifications/{kind}/list_changed")})
}

#[tokio::test]
async fn who_tells_of_changes_is_listened_to_and_the_owner_hears_them() {
    for capabilities in [
        json!({"tools": {"listChanged": true}}),
        json!({"tools": {}, "resources": {"subscribe": true}}),
        json!({"logging": {}}),
    ] {
        let talker = Talker::start(capabilities).await;
        let (client, mut events) = talker.connect().await;
        talker.until("GET ", 1).await;
        talker.state.say(changed("tools")).await;
        talker.state.say(changed("prompts")).await;
        assert_eq!(events.recv().await, Some(ClientEvent::Notice(ServerNotice::ToolsChanged)));
        assert_eq!(events.recv().await, Some(ClientEvent::Notice(ServerNotice::PromptsChanged)));
        client.close().await;
    }
}

#[tokio::test]
async fn who_tells_nothing_on_its_own_is_not_listened_to() {
    let talker = Talker::start(json!({"tools": {"listChanged": false}, "resources": {}})).await;
    let (client, _events) = talker.connect().await;
    client.close().await;
    let asked = talker.state.asked.borrow().clone();
    assert_eq!(asked, ["POST initialize", "POST notifications/initialized", "DELETE "]);
}

#[tokio::test]
async fn an_answer_on_the_stream_that_belongs_to_no_request_reaches_the_call_that_waits_for_it() {
    let talker = Talker::start(json!({"tools": {"listChanged": true}})).await;
    let (client, _events) = talker.connect().await;
    talker.until("GET ", 1).await;
    let reports = Mutex::new(Vec::new());
    let listen = |progress: Progress| reports.lock().unwrap().push(progress.progress);
    let options = CallOptions { on_progress: Some(&listen), ..CallOptions::default() };
    let (arguments, other) = (RawJson::empty_object(), CallOptions::default());
    let (first, second) =
        tokio::join!(client.call_tool("t", &arguments, options), client.call_tool("t", &arguments, other));
    assert_eq!((text(&first.unwrap()), text(&second.unwrap())), ("hello", "hello"));
    assert_eq!(*reports.lock().unwrap(), [1.0]);
    client.close().await;
}

#[tokio::test]
async fn a_session_that_is_lost_while_nobody_asks_is_opened_anew_with_all_that_was_wanted_in_it() {
    let talker =
        Talker::start(json!({"tools": {"listChanged": true}, "resources": {"subscribe": true}})).await;
    let (client, mut events) = talker.connect().await;
    talker.until("GET ", 1).await;
    client.subscribe("file:///a").await.unwrap();
    *talker.state.session.lock().unwrap() += 1;
    talker.state.stream.send_replace(None);
    talker.until("POST resources/subscribe", 2).await;
    talker.until("GET ", 3).await;
    talker.state.say(changed("resources")).await;
    let mut heard = Vec::new();
    while heard.last() != Some(&ClientEvent::Notice(ServerNotice::ResourcesChanged)) {
        heard.push(events.recv().await.unwrap());
    }
    let why = "the server had forgotten the one before";
    let expected = [
        ClientEvent::Note(Note::new("server", "session opened anew", why)),
        // What changed between the sessions went unheard.
        ClientEvent::Notice(ServerNotice::ToolsChanged),
        ClientEvent::Notice(ServerNotice::ResourceUpdated { uri: "file:///a".to_owned() }),
        ClientEvent::Notice(ServerNotice::ResourcesChanged),
    ];
    assert_eq!(heard, expected);
    client.close().await;
}

#[tokio::test]
async fn nothing_is_asked_between_two_sessions() {
    let talker = Talker::start(json!({"tools": {"listChanged": true}})).await;
    let (client, _events) = talker.connect().await;
    talker.until("GET ", 1).await;
    *talker.state.session.lock().unwrap() += 1;
    let gate = talker.state.gate.lock().await;
    let call = || async {
        let arguments = RawJson::empty_object();
        client
            .call_tool("t", &arguments, CallOptions::default())
            .await
            .map(|outcome| text(&outcome).to_owned())
    };
    let later = async {
        talker.until("POST initialize", 2).await;
        // By the time this call is on its way, the session is being opened anew.
        let second = call();
        let opened = async {
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            drop(gate);
        };
        tokio::join!(second, opened).0
    };
    let (first, second) = tokio::join!(call(), later);
    assert_eq!((first, second), (Ok("hello".to_owned()), Ok("hello".to_owned())));
    let calls = |asked: &Vec<String>| asked.iter().filter(|line| *line == "POST tools/call").count();
    assert_eq!(calls(&talker.state.asked.borrow()), 3);
    client.close().await;
}
