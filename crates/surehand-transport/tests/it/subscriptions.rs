//! How our client listens for changes in the stateless era.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Response};
use axum::routing::any;
use serde_json::{Value, json};
use surehand_mcp::Change;
use surehand_model::Note;
use surehand_transport::{
    Client, ClientError, ClientEvent, ClientOptions, Era, HttpServerOptions, ServerNotice, Target, serve_http,
};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::fixture::{Targeted, http, http_target};
use crate::scripted::process;
use crate::talk::Talk;

/// A stateless server that tells of its changes.
struct Teller {
    address: SocketAddr,
    state: Arc<Tells>,
    _tasks: JoinSet<()>,
}

struct Tells {
    /// What it grants of what is wanted; `None` refuses to be listened to.
    grants: Option<fn(Value) -> Value>,
    /// Everybody who has listened: what for, and the stream, under the id of the request.
    listeners: watch::Sender<Vec<Listener>>,
    headers: Mutex<Vec<String>>,
}

#[derive(Clone)]
struct Listener {
    id: Value,
    wanted: Value,
    stream: Option<mpsc::Sender<String>>,
}

impl Teller {
    async fn start(grants: Option<fn(Value) -> Value>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state =
            Arc::new(Tells { grants, listeners: watch::Sender::default(), headers: Mutex::default() });
        let app = Router::new().fallback(any(answer)).with_state(state.clone());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { address, state, _tasks: tasks }
    }

    async fn connect(&self) -> (Client, Events) {
        connect(http_target(&format!("http://{}/mcp", self.address))).await
    }

    /// Waits until so many have listened, and gives what they wanted.
    async fn listened(&self, count: usize) -> Vec<Value> {
        let mut listeners = self.state.listeners.subscribe();
        let listeners = listeners.wait_for(|all| all.len() == count).await.unwrap();
        listeners.iter().map(|listener| listener.wanted.clone()).collect()
    }

    /// Tells the listener of this number.
    async fn tell(&self, number: usize, method: &str, more: Value) {
        let listener = self.state.listeners.borrow()[number].clone();
        listener.say(method, more).await;
    }

    /// Waits until the listener of this number has gone.
    async fn left(&self, number: usize) {
        let stream = self.state.listeners.borrow()[number].stream.clone().unwrap();
        stream.closed().await;
    }
}

impl Listener {
    async fn say(&self, method: &str, more: Value) {
        let mut params = more;
        params["_meta"] = json!({"io.modelcontextprotocol/subscriptionId": self.id});
        let message =
            json!({"jsonrpc": "2.0", "method": format!("notifications/{method}"), "params": params});
        self.stream.as_ref().unwrap().send(format!("data: {message}\n\n")).await.unwrap();
    }
}

async fn answer(State(tells): State<Arc<Tells>>, headers: HeaderMap, body: Bytes) -> Response<Body> {
    let message: Value = serde_json::from_slice(&body).unwrap();
    let id = message["id"].clone();
    let reply = |status: u16, kind: &str, value: Value| {
        let message = json!({"jsonrpc": "2.0", "id": id, kind: value});
        let reply = Response::builder().status(status).header("Content-Type", "application/json");
        reply.body(Body::from(message.to_string())).unwrap()
    };
    match message["method"].as_str().unwrap() {
        "server/discover" => reply(
            200,
            "result",
            json!({
                "resultType": "complete",
                "supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {"listChanged": true}, "resources": {"subscribe": true}},
            }),
        ),
        "subscriptions/listen" => {
            let wanted = message["params"]["notifications"].clone();
            let Some(grants) = tells.grants else {
                tells
                    .listeners
                    .send_modify(|all| all.push(Listener { id: id.clone(), wanted, stream: None }));
                return reply(404, "error", json!({"code": -32601, "message": "not here"}));
            };
            let (sender, mut events) = mpsc::channel::<String>(16);
            let listener = Listener { id: id.clone(), wanted: wanted.clone(), stream: Some(sender) };
            listener.say("subscriptions/acknowledged", json!({"notifications": grants(wanted)})).await;
            let told = headers.iter().filter(|(name, _)| name.as_str().starts_with("mcp-"));
            let told: Vec<String> =
                told.map(|(name, value)| format!("{name}={}", value.to_str().unwrap())).collect();
            tells.headers.lock().unwrap().extend(told);
            tells.listeners.send_modify(|all| all.push(listener));
            let events = futures_util::stream::poll_fn(move |context| {
                events.poll_recv(context).map(|event| event.map(Ok::<_, Infallible>))
            });
            let stream = Response::builder().header("Content-Type", "text/event-stream");
            stream.body(Body::from_stream(events)).unwrap()
        }
        _ => reply(200, "result", json!({"tools": []})),
    }
}

type Events = mpsc::UnboundedReceiver<ClientEvent>;

async fn connect(target: Target) -> (Client, Events) {
    let (heard, events) = mpsc::unbounded_channel();
    let options = ClientOptions {
        // Who is told last may be gone.
        on_event: Some(Arc::new(move |event| drop(heard.send(event)))),
        ..ClientOptions::default()
    };
    (Client::open(target, options, &http()).await.unwrap(), events)
}

fn updated(uri: &str) -> Option<ClientEvent> {
    Some(ClientEvent::Notice(ServerNotice::ResourceUpdated { uri: uri.to_owned() }))
}

const TOOLS_CHANGED: Option<ClientEvent> = Some(ClientEvent::Notice(ServerNotice::ToolsChanged));

#[tokio::test]
async fn a_server_that_tells_of_changes_is_listened_to_for_as_long_as_the_connection_lives() {
    let teller = Teller::start(Some(|wanted| wanted)).await;
    let (client, mut events) = teller.connect().await;
    assert_eq!(teller.listened(1).await, [json!({"toolsListChanged": true})]);
    let mut headers = teller.state.headers.lock().unwrap().clone();
    headers.sort();
    assert_eq!(headers, ["mcp-method=subscriptions/listen", "mcp-protocol-version=2026-07-28"]);
    teller.tell(0, "tools/list_changed", json!({})).await;
    assert_eq!(events.recv().await, TOOLS_CHANGED);
    client.close().await;
    teller.left(0).await;
}

#[tokio::test]
async fn after_a_break_it_is_listened_to_anew_and_what_went_unheard_counts_as_changed() {
    let teller = Teller::start(Some(|wanted| wanted)).await;
    let (client, mut events) = teller.connect().await;
    teller.listened(1).await;
    client.subscribe("file:///a").await.unwrap();
    teller.left(0).await;
    teller.state.listeners.send_modify(|all| all.iter_mut().for_each(|listener| listener.stream = None));
    let wanted = json!({"toolsListChanged": true, "resourceSubscriptions": ["file:///a"]});
    assert_eq!(teller.listened(3).await[1..], [wanted.clone(), wanted]);
    assert_eq!([events.recv().await, events.recv().await], [TOOLS_CHANGED, updated("file:///a")]);
    teller.tell(2, "resources/updated", json!({"uri": "file:///a"})).await;
    assert_eq!(events.recv().await, updated("file:///a"));
    client.close().await;
}

#[tokio::test]
async fn wishes_that_change_are_told_on_a_new_stream_before_the_old_one_is_left() {
    let teller = Teller::start(Some(|wanted| wanted)).await;
    let (client, mut events) = teller.connect().await;
    let (first, second) = tokio::join!(client.subscribe("file:///a"), client.subscribe("file:///a"));
    assert_eq!((first, second), (Ok(()), Ok(())));
    let last = teller.state.listeners.borrow().len() - 1;
    teller.tell(last, "resources/updated", json!({"uri": "file:///a"})).await;
    assert_eq!(events.recv().await, updated("file:///a"));
    client.unsubscribe("file:///a").await.unwrap();
    assert_eq!(teller.listened(last + 2).await[last + 1], json!({"toolsListChanged": true}));
    teller.left(last).await;
    teller.tell(last + 1, "tools/list_changed", json!({})).await;
    assert_eq!(events.recv().await, TOOLS_CHANGED);
    client.close().await;
}

#[tokio::test]
async fn what_is_not_granted_is_said_and_what_was_granted_before_is_kept() {
    let teller = Teller::start(Some(|_| json!({"toolsListChanged": true}))).await;
    let (client, mut events) = teller.connect().await;
    teller.listened(1).await;
    let what = "the server does not tell of this resource".to_owned();
    assert_eq!(client.subscribe("file:///a").await, Err(ClientError::Protocol { what }));
    let note = Note::new("server", "changes of file:///a are not told", "the server did not grant it");
    assert_eq!(events.recv().await, Some(ClientEvent::Note(note)));
    assert_eq!(teller.listened(3).await[2], json!({"toolsListChanged": true}));
    teller.tell(2, "tools/list_changed", json!({})).await;
    assert_eq!(events.recv().await, TOOLS_CHANGED);
    client.close().await;
}

#[tokio::test]
async fn a_server_that_will_not_be_listened_to_is_asked_once_and_used_all_the_same() {
    let teller = Teller::start(None).await;
    let (client, mut events) = teller.connect().await;
    teller.listened(1).await;
    let note = Note::new("server", "changes are not told", "not here (code -32601)");
    assert_eq!(events.recv().await, Some(ClientEvent::Note(note)));
    assert_eq!(client.list_tools().await.unwrap().items, []);
    let what = "not here (code -32601)".to_owned();
    assert_eq!(client.subscribe("file:///a").await, Err(ClientError::Protocol { what }));
    client.close().await;
}

#[tokio::test]
async fn a_process_is_listened_to_and_what_is_told_for_another_request_is_dropped() {
    let discovered = r#"{"jsonrpc":"2.0","id":ID,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"prompts":{"listChanged":true}}}}"#;
    let tell = |method: &str, id: &str, more: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/{method}","params":{{{more}"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}}}"#
        )
    };
    let acknowledged =
        tell("subscriptions/acknowledged", "ID", r#""notifications":{"promptsListChanged":true},"#);
    let (other, this) = (tell("prompts/list_changed", "77", ""), tell("prompts/list_changed", "ID", ""));
    // It goes away, and is listened to anew.
    let away = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":ID}}"#;
    let (client, mut events) = connect(process(&[
        ("*server/discover*", &[discovered]),
        (
            r#"*\"id\":2,*subscriptions/listen*\"promptsListChanged\":true*"#,
            &[&acknowledged, &other, &this, away],
        ),
        ("*subscriptions/listen*", &[&acknowledged]),
    ]))
    .await;
    let changed = Some(ClientEvent::Notice(ServerNotice::PromptsChanged));
    assert_eq!([events.recv().await, events.recv().await], [changed.clone(), changed]);
    client.close().await;
    assert_eq!(events.recv().await, None);
}

#[tokio::test]
async fn what_our_own_server_announces_our_own_client_hears_in_both_eras() {
    for era in [Era::Legacy, Era::Modern] {
        let handler = Talk::handler();
        let serving = serve_http(handler.clone(), HttpServerOptions::default(), CancellationToken::new())
            .await
            .unwrap();
        let (heard, mut events) = mpsc::unbounded_channel();
        let options = ClientOptions {
            era,
            on_event: Some(Arc::new(move |event| drop(heard.send(event)))),
            ..ClientOptions::default()
        };
        let client = Client::open(serving.target(), options, &http()).await.unwrap();
        client.subscribe("file:///a").await.unwrap();
        handler.announce(&Change::Resource("file:///b".to_owned()));
        handler.announce(&Change::Resource("file:///a".to_owned()));
        handler.announce(&Change::Tools);
        assert_eq!(
            [events.recv().await, events.recv().await],
            [updated("file:///a"), TOOLS_CHANGED],
            "{era:?}"
        );
        client.unsubscribe("file:///a").await.unwrap();
        client.close().await;
    }
}
