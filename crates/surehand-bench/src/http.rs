//! Over Streamable HTTP.

use std::cell::Cell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Instant;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::LocalSet;

use crate::messages::{INITIALIZE, INITIALIZED, call, is_echo};
use crate::server::{HttpServer, Kind, Mode};
use crate::{WINDOW, mode_of_sessions};

/// One connection that is kept.
struct Connection {
    stream: TcpStream,
    held: Vec<u8>,
}

impl Connection {
    async fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, held: Vec::new() }
    }

    /// Sends a request and gives its response, head and body.
    async fn exchange(&mut self, request: &[u8]) -> Vec<u8> {
        self.stream.write_all(request).await.unwrap();
        loop {
            if let Some(length) = whole_response(&self.held) {
                return self.held.drain(..length).collect();
            }
            let count = self.stream.read_buf(&mut self.held).await.unwrap();
            assert!(count > 0, "the server hung up");
        }
    }
}

/// The length of the response at the start of `held`, once it is all there.
fn whole_response(held: &[u8]) -> Option<usize> {
    let body = held.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(&held[..body]).unwrap();
    let header = |name: &str| {
        head.lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim())
    };
    if header("transfer-encoding").is_some_and(|value| value.contains("chunked")) {
        let end = held[body..].windows(5).position(|window| window == b"0\r\n\r\n")?;
        return Some(body + end + 5);
    }
    let length: usize = header("content-length").map_or(0, |value| value.parse().unwrap());
    (held.len() >= body + length).then_some(body + length)
}

fn request(address: SocketAddr, headers: &str, body: &str) -> Vec<u8> {
    format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// CPU microseconds of the server a call, over so many connections that each have one call under way all the time.
pub(crate) async fn call_cost(kind: Kind, connections: usize) -> f64 {
    let server = HttpServer::start(kind, Mode::Http);
    let headers = "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: echo\r\n";
    let request: Rc<[u8]> = request(server.address, headers, &call(1)).into();
    let mut first = Connection::open(server.address).await;
    let response = first.exchange(&request).await;
    assert!(
        response.starts_with(b"HTTP/1.1 200") && is_echo(&response),
        "{}",
        String::from_utf8_lossy(&response)
    );
    let length = response.len();
    let (answered, is_over) = (Rc::new(Cell::new(0_u64)), Rc::new(Cell::new(false)));
    let tasks = LocalSet::new();
    for _ in 0..connections {
        let mut connection = Connection::open(server.address).await;
        let (request, answered, is_over) = (request.clone(), answered.clone(), is_over.clone());
        tasks.spawn_local(async move {
            while !is_over.get() {
                assert_eq!(connection.exchange(&request).await.len(), length);
                answered.set(answered.get() + 1);
            }
        });
    }
    let measured = tasks
        .run_until(async {
            tokio::time::sleep(WINDOW / 5).await;
            let (before, used, begun) = (answered.get(), server.cpu_seconds(), Instant::now());
            tokio::time::sleep(WINDOW).await;
            let calls = answered.get() - before;
            assert!(calls > 0 && begun.elapsed() >= WINDOW);
            (server.cpu_seconds() - used) * 1e6 / calls as f64
        })
        .await;
    is_over.set(true);
    tasks.await;
    measured
}

/// KB of the server that one session costs which was opened and then left alone.
pub(crate) async fn session_size(kind: Kind, count: usize) -> f64 {
    let server = HttpServer::start(kind, mode_of_sessions(kind));
    let mut connection = Connection::open(server.address).await;
    let open = request(server.address, "", INITIALIZE);
    // What is set up once for all sessions is there after a few.
    let mut before = 0.0;
    for number in 0..count + 50 {
        if number == 50 {
            before = server.memory();
        }
        let response = connection.exchange(&open).await;
        let text = String::from_utf8_lossy(&response).to_ascii_lowercase();
        let id = text.lines().find_map(|line| line.strip_prefix("mcp-session-id:")).map(str::trim);
        let headers = format!(
            "mcp-session-id: {}\r\nmcp-protocol-version: 2025-11-25\r\n",
            id.unwrap_or_else(|| panic!("{text}"))
        );
        connection.exchange(&request(server.address, &headers, INITIALIZED)).await;
    }
    (server.memory() - before) / count as f64
}
