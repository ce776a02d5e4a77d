//! What our client makes of servers of the oldest transport, HTTP+SSE.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, Response, Uri};
use axum::routing::any;
use serde_json::{Value, json};
use surehand_mcp::Revision;
use surehand_model::{Note, RawJson};
use surehand_transport::{
    CallOptions, Client, ClientError, ClientEvent, ClientOptions, Era, HttpTarget, Progress, ServerNotice,
    Target,
};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use url::Url;

use crate::fixture::{open, text};

/// A server of the oldest transport. Its stream is at `/sse`; each stream has a session of its own.
struct Oldest {
    address: SocketAddr,
    server: Arc<Server>,
    _tasks: JoinSet<()>,
}

struct Server {
    /// What its stream names; `N` is the number of the session.
    endpoint: &'static str,
    /// The open streams, by their session.
    streams: Mutex<Vec<mpsc::Sender<String>>>,
    asked: watch::Sender<Vec<String>>,
}

impl Oldest {
    async fn start(endpoint: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server =
            Arc::new(Server { endpoint, streams: Mutex::default(), asked: watch::Sender::default() });
        let app = Router::new().fallback(any(answer)).with_state(server.clone());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { address, server, _tasks: tasks }
    }

    fn target(&self) -> HttpTarget {
        HttpTarget { url: Url::parse(&format!("http://{}/sse", self.address)).unwrap(), headers: Vec::new() }
    }

    fn asked(&self) -> Vec<String> {
        self.server.asked.borrow().clone()
    }

    /// Cuts off every stream.
    fn hang_up(&self) {
        for stream in &mut *self.server.streams.lock().unwrap() {
            *stream = mpsc::channel(1).0;
        }
    }
}

async fn answer(
    State(server): State<Arc<Server>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let reply = |status: u16| Response::builder().status(status).body(Body::empty()).unwrap();
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let told = headers.keys().filter(|name| name.as_str().starts_with("mcp-")).map(|name| format!(" {name}"));
    let method_told = message["method"].as_str().unwrap_or("answer");
    let line = format!("{method} {uri} {method_told}{}", told.collect::<String>());
    server.asked.send_modify(|asked| asked.push(line));
    if uri.path() == "/sse" {
        if method != Method::GET {
            return reply(405);
        }
        let (sender, mut events) = mpsc::channel::<String>(16);
        let number = {
            let mut streams = server.streams.lock().unwrap();
            streams.push(sender.clone());
            streams.len() - 1
        };
        let endpoint = server.endpoint.replace('N', &number.to_string());
        sender.send(format!(": hello\n\nevent: endpoint\ndata: {endpoint}\n\n")).await.unwrap();
        let events = futures_util::stream::poll_fn(move |context| {
            events.poll_recv(context).map(|event| event.map(Ok::<_, Infallible>))
        });
        let stream = Response::builder().header("Content-Type", "text/event-stream");
        return stream.body(Body::from_stream(events)).unwrap();
    }
    let number: Option<usize> =
        uri.query().and_then(|query| query.strip_prefix("session=")).map(|number| number.parse().unwrap());
    let stream = number.and_then(|number| server.streams.lock().unwrap().get(number).cloned());
    let Some(stream) = stream.filter(|stream| !stream.is_closed()) else { return reply(404) };
    let say = async |message: Value| {
        // A stream that has been cut off hears nothing.
        let _ = stream.send(format!("event: message\ndata: {message}\n\n")).await;
    };
    let id = &message["id"];
    let notify = |method: &str, params: Value| json!({"jsonrpc": "2.0", "method": method, "params": params});
    let result = match method_told {
        "initialize" => json!({
            "protocolVersion": "2024-11-05",
            "capabilities": {"tools": {"listChanged": true}},
            "serverInfo": {"name": "oldest", "version": "1"},
        }),
        "tools/list" => json!({"tools": [
            {"name": "t", "inputSchema": {}},
            {"name": "look", "inputSchema": {}, "annotations": {"readOnlyHint": true}},
        ]}),
        "tools/call" => {
            let params = &message["params"];
            match params["name"].as_str().unwrap() {
                // Cuts off its stream the first time.
                "look" | "cut"
                    if server.asked.borrow().iter().filter(|line| line.contains("tools/call")).count()
                        == 1 =>
                {
                    for stream in &mut *server.streams.lock().unwrap() {
                        *stream = mpsc::channel(1).0;
                    }
                    return reply(202);
                }
                _ => {}
            }
            let token = &params["_meta"]["progressToken"];
            say(notify("notifications/progress", json!({"progressToken": token, "progress": 1}))).await;
            say(notify("notifications/tools/list_changed", json!({}))).await;
            json!({"content": [{"type": "text", "text": "hello"}]})
        }
        _ => return reply(202),
    };
    say(json!({"jsonrpc": "2.0", "id": id, "result": result})).await;
    reply(202)
}

async fn call(client: &Client, tool: &str) -> Result<String, ClientError> {
    let outcome = client.call_tool(tool, &RawJson::empty_object(), CallOptions::default()).await;
    outcome.map(|outcome| text(&outcome).to_owned())
}

#[tokio::test]
async fn messages_go_where_the_stream_says_and_answers_come_over_it() {
    let oldest = Oldest::start("/messages?session=N").await;
    let (client, events) = open(Target::Sse(oldest.target()), ClientOptions::default()).await;
    let client = client.unwrap();
    assert_eq!((client.server().name.as_str(), client.server().revision), ("oldest", Revision::V2024_11_05));
    assert_eq!(client.list_tools().await.unwrap().items.len(), 2);
    let reports = Mutex::new(Vec::new());
    let listen = |progress: Progress| reports.lock().unwrap().push(progress.progress);
    let options = CallOptions { on_progress: Some(&listen), ..CallOptions::default() };
    let outcome = client.call_tool("t", &RawJson::empty_object(), options).await.unwrap();
    assert_eq!((text(&outcome), reports.lock().unwrap().clone()), ("hello", vec![1.0]));
    let (first, second) = tokio::join!(call(&client, "t"), call(&client, "t"));
    assert_eq!((first, second), (Ok("hello".to_owned()), Ok("hello".to_owned())));
    client.close().await;
    assert_eq!(events.lock().unwrap()[0], ClientEvent::Notice(ServerNotice::ToolsChanged));
    assert_eq!(
        oldest.asked()[..4],
        [
            "GET /sse answer",
            "POST /messages?session=0 initialize",
            "POST /messages?session=0 notifications/initialized",
            "POST /messages?session=0 tools/list",
        ]
    );
}

#[tokio::test]
async fn an_address_that_takes_no_messages_is_found_to_be_of_the_oldest_transport() {
    let oldest = Oldest::start("messages?session=N").await;
    let (client, _) = open(Target::Http(oldest.target()), ClientOptions::default()).await;
    let client = client.unwrap();
    assert_eq!(call(&client, "t").await, Ok("hello".to_owned()));
    let why = "the address takes no messages itself and names another one for them";
    assert_eq!(
        client.opening_notes(),
        [Note::new("initialize", "the oldest transport, HTTP+SSE, is spoken", why)]
    );
    let asked: Vec<String> =
        oldest.asked().iter().map(|line| line.split(' ').take(3).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(
        asked[..4],
        [
            "POST /sse server/discover",
            "POST /sse initialize",
            "GET /sse answer",
            "POST /messages?session=0 initialize",
        ]
    );
    let modern = ClientOptions { era: Era::Modern, ..ClientOptions::default() };
    let (client, _) = open(Target::Http(oldest.target()), modern).await;
    assert!(client.unwrap_err().to_string().contains("does not speak the stateless protocol"));
}

#[tokio::test]
async fn a_place_of_another_origin_is_refused_and_nothing_is_sent_there() {
    let oldest = Oldest::start("http://127.0.0.1:1/messages?session=N").await;
    let (client, _) = open(Target::Sse(oldest.target()), ClientOptions::default()).await;
    assert_eq!(
        client.unwrap_err().to_string(),
        "the answer to `endpoint` is not usable: it names http://127.0.0.1:1/messages, which is of another origin"
    );
}

#[tokio::test]
async fn a_stream_that_breaks_is_opened_anew_and_only_what_does_no_harm_is_asked_again() {
    let oldest = Oldest::start("/messages?session=N").await;
    let (client, _) = open(Target::Sse(oldest.target()), ClientOptions::default()).await;
    let client = client.unwrap();
    client.list_tools().await.unwrap();
    assert_eq!(call(&client, "look").await, Ok("hello".to_owned()));
    // What was never sent may be asked again whatever it is.
    oldest.hang_up();
    assert_eq!(call(&client, "t").await, Ok("hello".to_owned()));
    client.close().await;

    let oldest = Oldest::start("/messages?session=N").await;
    let (client, _) = open(Target::Sse(oldest.target()), ClientOptions::default()).await;
    let what = "the server ended its stream without an answer, so whether the call ran is not known, and it was not repeated";
    let client = client.unwrap();
    assert_eq!(call(&client, "cut").await, Err(ClientError::Protocol { what: what.to_owned() }));
    assert_eq!(call(&client, "t").await, Ok("hello".to_owned()));
    assert!(oldest.asked().last().unwrap().starts_with("POST /messages?session=1 tools/call"));
}

#[tokio::test]
async fn a_stream_that_breaks_while_nobody_asks_is_opened_anew() {
    let oldest = Oldest::start("/messages?session=N").await;
    let (client, _) = open(Target::Sse(oldest.target()), ClientOptions::default()).await;
    let client = client.unwrap();
    let mut asked = oldest.server.asked.subscribe();
    oldest.hang_up();
    let again = "POST /messages?session=1 notifications/initialized";
    asked.wait_for(|asked| asked.iter().any(|line| line == again)).await.unwrap();
    assert_eq!(call(&client, "t").await, Ok("hello".to_owned()));
    assert_eq!(oldest.asked().iter().filter(|line| line.starts_with("GET")).count(), 2);
    client.close().await;
}
