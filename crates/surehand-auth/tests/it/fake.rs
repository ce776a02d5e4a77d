//! A server and its authorization server in one, answering from a table and writing down what it was asked.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::http::{Request, Response};
use axum::routing::any;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinSet;

/// Answers by method and path: `STATUS header: value; header: value` on the first line, the body on the rest. `BASE` is the
/// server's own origin. Of several answers for one path each is given once, and the last for ever. Everything else is 404.
pub(crate) struct Fake {
    pub(crate) base: String,
    script: Arc<Script>,
    _tasks: JoinSet<()>,
}

struct Script {
    base: String,
    answers: Mutex<HashMap<String, VecDeque<String>>>,
    asked: Mutex<Vec<String>>,
    /// The place whose answers wait.
    held: Mutex<Option<String>>,
    go: Notify,
}

impl Fake {
    pub(crate) async fn start(answers: &[(&str, &str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address: SocketAddr = listener.local_addr().unwrap();
        let base = format!("http://{address}");
        let script = Arc::new(Script {
            base: base.clone(),
            answers: Mutex::default(),
            asked: Mutex::default(),
            held: Mutex::default(),
            go: Notify::new(),
        });
        let app = Router::new().fallback(any(answer)).with_state(script.clone());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { axum::serve(listener, app).await.unwrap() });
        let fake = Self { base, script, _tasks: tasks };
        for (place, answer) in answers {
            fake.add(place, answer);
        }
        fake
    }

    /// One more answer.
    pub(crate) fn add(&self, place: &str, answer: &str) {
        let mut answers = self.script.answers.lock().unwrap();
        answers.entry(place.to_owned()).or_default().push_back(answer.to_owned());
    }

    /// Other answers than before.
    pub(crate) fn set(&self, place: &str, answers: &[&str]) {
        let answers = answers.iter().map(|answer| (*answer).to_owned()).collect();
        self.script.answers.lock().unwrap().insert(place.to_owned(), answers);
    }

    /// Answers to this place wait for [`let_go`](Self::let_go).
    pub(crate) fn hold(&self, place: &str) {
        *self.script.held.lock().unwrap() = Some(place.to_owned());
    }

    pub(crate) fn let_go(&self) {
        *self.script.held.lock().unwrap() = None;
        self.script.go.notify_waiters();
    }

    /// Waits until something was asked at this place since the last look.
    pub(crate) async fn wait_for(&self, place: &str) {
        while !self.script.asked.lock().unwrap().iter().any(|line| line.starts_with(place)) {
            tokio::task::yield_now().await;
        }
    }

    /// What was asked since the last look: method, path and query, `Authorization`, body.
    pub(crate) fn asked(&self) -> Vec<String> {
        let asked = std::mem::take(&mut *self.script.asked.lock().unwrap());
        asked
            .into_iter()
            .map(|line| line.replace(&self.base, "BASE").replace(&encoded(&self.base), "BASE"))
            .collect()
    }
}

fn encoded(base: &str) -> String {
    url::form_urlencoded::byte_serialize(base.as_bytes()).collect()
}

async fn answer(State(script): State<Arc<Script>>, request: Request<Body>) -> Response<Body> {
    let (head, body) = request.into_parts();
    let body = String::from_utf8(to_bytes(body, 1 << 20).await.unwrap().to_vec()).unwrap();
    let place = format!("{} {}", head.method, head.uri.path());
    let mut line = format!("{} {}", head.method, head.uri);
    if let Some(value) = head.headers.get("authorization") {
        line.push_str(&format!(" [{}]", value.to_str().unwrap()));
    }
    if !body.is_empty() {
        line.push_str(&format!(" {body}"));
    }
    let go = script.go.notified();
    let is_held = script.held.lock().unwrap().as_deref() == Some(place.as_str());
    script.asked.lock().unwrap().push(line);
    if is_held {
        go.await;
    }
    let answer = {
        let mut answers = script.answers.lock().unwrap();
        match answers.get_mut(&place) {
            Some(queue) if queue.len() > 1 => queue.pop_front().unwrap(),
            Some(queue) => queue.front().cloned().unwrap_or_else(|| "404".to_owned()),
            None => "404".to_owned(),
        }
    };
    let answer = answer.replace("BASE", &script.base);
    let (first, rest) = answer.split_once('\n').unwrap_or((&answer, ""));
    let (status, headers) = first.split_once(' ').unwrap_or((first, ""));
    let mut response = Response::builder().status(status.parse::<u16>().unwrap());
    for header in headers.split("; ").filter(|header| !header.is_empty()) {
        let (name, value) = header.split_once(": ").unwrap();
        response = response.header(name, value);
    }
    response.body(Body::from(rest.to_owned())).unwrap()
}
