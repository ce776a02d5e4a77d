//! An HTTP server that answers from a list and writes down what it was asked.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::http::{Request, Response};
use axum::routing::any;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// Answers requests in turn: `STATUS header: value; header: value` on the first line, the body on the rest. `ID` in a body is the
/// id of the request.
pub(crate) struct Fake {
    pub(crate) address: SocketAddr,
    script: Arc<Script>,
    _tasks: JoinSet<()>,
}

struct Script {
    answers: Mutex<VecDeque<String>>,
    asked: Mutex<Vec<String>>,
}

impl Fake {
    pub(crate) async fn start(answers: &[&str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let script = Arc::new(Script {
            answers: Mutex::new(answers.iter().map(|answer| (*answer).to_owned()).collect()),
            asked: Mutex::default(),
        });
        let app = Router::new().fallback(any(answer)).with_state(script.clone());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { address, script, _tasks: tasks }
    }

    /// What was asked so far: method, the protocol's own headers, and the method in the body.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.script.asked.lock().unwrap().clone()
    }
}

async fn answer(State(script): State<Arc<Script>>, request: Request<Body>) -> Response<Body> {
    let (head, body) = request.into_parts();
    let body = to_bytes(body, 1 << 20).await.unwrap();
    let body: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
    let mut line = head.method.to_string();
    for name in [
        "mcp-protocol-version",
        "mcp-session-id",
        "mcp-method",
        "mcp-name",
        "mcp-param-region",
        "last-event-id",
        "x-mine",
    ] {
        if let Some(value) = head.headers.get(name) {
            line.push_str(&format!(" {name}={}", value.to_str().unwrap()));
        }
    }
    if let Some(method) = body["method"].as_str() {
        line.push_str(&format!(" [{method}]"));
    }
    script.asked.lock().unwrap().push(line);
    let answer =
        script.answers.lock().unwrap().pop_front().unwrap_or_else(|| "500\nthe script is over".to_owned());
    let (first, rest) = answer.split_once('\n').unwrap_or((&answer, ""));
    let (status, headers) = first.split_once(' ').unwrap_or((first, ""));
    let mut response = Response::builder().status(status.parse::<u16>().unwrap());
    for header in headers.split("; ").filter(|header| !header.is_empty()) {
        let (name, value) = header.split_once(": ").unwrap();
        response = response.header(name, value);
    }
    response.body(Body::from(rest.replace("ID", &body["id"].to_string()))).unwrap()
}
