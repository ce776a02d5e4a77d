//! A provider on loopback that answers exactly the bytes it is told to.

use std::sync::{Arc, Mutex};

use surehand_provider::{Provider, ProviderEndpoint, ProviderEnvironment, RetryPolicy, resolve};
use surehand_transport::{HttpClient, HttpOptions};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// One answer, in bytes, and what happens after them.
pub(crate) struct Reply {
    bytes: Vec<u8>,
    /// Keep the connection open until the other side ends it, and tell when it does.
    hold: bool,
}

impl Reply {
    pub(crate) fn new(status: u16, headers: &[(&str, &str)], body: &str) -> Self {
        let mut head = format!("HTTP/1.1 {status} Status\r\ncontent-length: {}\r\n", body.len());
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        Self { bytes: format!("{head}\r\n{body}").into_bytes(), hold: false }
    }

    pub(crate) fn json(status: u16, body: &str) -> Self {
        Self::new(status, &[("content-type", "application/json")], body)
    }

    pub(crate) fn stream(body: &str) -> Self {
        Self::new(200, &[("content-type", "text/event-stream")], body)
    }

    /// A stream whose connection breaks before its announced length.
    pub(crate) fn broken_stream(body: &str) -> Self {
        let length = body.len() + 100;
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {length}\r\n\r\n");
        Self { bytes: format!("{head}{body}").into_bytes(), hold: false }
    }

    /// A stream that goes on for ever without another byte.
    pub(crate) fn held_stream(body: &str) -> Self {
        Self { hold: true, ..Self::broken_stream(body) }
    }
}

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// Method, path and headers, in lower case.
    pub(crate) head: String,
    pub(crate) body: String,
}

pub(crate) struct Fake {
    pub(crate) address: String,
    requests: Arc<Mutex<Vec<Request>>>,
    /// Told each time the other side ends a connection that was held.
    pub(crate) closed: mpsc::Receiver<()>,
    _tasks: JoinSet<()>,
}

impl Fake {
    /// Answers each request with the next of `replies`; once they are used up, connections are closed unanswered.
    pub(crate) async fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (tell, closed) = mpsc::channel(8);
        let mut tasks = JoinSet::new();
        let seen = Arc::clone(&requests);
        tasks.spawn(async move {
            for reply in replies {
                let (mut connection, _) = listener.accept().await.unwrap();
                let request = read_request(&mut connection).await;
                seen.lock().unwrap().push(request);
                connection.write_all(&reply.bytes).await.unwrap();
                if reply.hold {
                    let mut rest = [0; 16];
                    // The end of the connection, orderly or not.
                    let _ = connection.read(&mut rest).await;
                    tell.send(()).await.unwrap();
                } else {
                    connection.shutdown().await.unwrap();
                }
            }
        });
        Self { address, requests, closed, _tasks: tasks }
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// The model `model` of a provider, reached here.
    pub(crate) fn provider(&self, id: &str, key: Option<&str>) -> Arc<dyn Provider> {
        let name = id.split('/').next().unwrap().to_owned();
        let key = key.map(|key| surehand_model::Secret::new(key.to_owned()));
        let endpoint = ProviderEndpoint {
            name,
            base_url: Some(self.address.clone()),
            key,
            ..ProviderEndpoint::default()
        };
        let environment = ProviderEnvironment { endpoints: vec![endpoint], retry: quick(), ..environment() };
        resolve(id, &environment).unwrap()
    }
}

/// Waits too short to be noticed.
pub(crate) fn quick() -> RetryPolicy {
    RetryPolicy { max_attempts: 3, first_wait: std::time::Duration::from_millis(1), ..RetryPolicy::default() }
}

pub(crate) fn environment() -> ProviderEnvironment {
    ProviderEnvironment::new(HttpClient::new(HttpOptions::default()))
}

async fn read_request(connection: &mut TcpStream) -> Request {
    let mut bytes = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let count = connection.read(&mut piece).await.unwrap();
        assert_ne!(count, 0, "the request ended early");
        bytes.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let head = head.to_ascii_lowercase();
        let length: usize = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .map_or(0, |length| length.trim().parse().unwrap());
        if body.len() >= length {
            return Request { head, body: body.to_owned() };
        }
    }
}
