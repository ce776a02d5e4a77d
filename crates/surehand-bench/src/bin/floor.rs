//! The least that answers `tools/call`: JSON-RPC by hand, one tool, nothing checked. `floor stdio`, or `floor http`, which prints
//! its address.
#![allow(clippy::unwrap_used, reason = "a server of a benchmark that cannot run must say so at once")]
#![expect(clippy::print_stdout, reason = "the address is told on standard output")]

use std::collections::HashSet;
use std::io;
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::Response;
use axum::routing::post;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe::{Receiver, Sender};

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: &'a str,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Call<'a> {
    #[serde(borrow)]
    arguments: Arguments<'a>,
}

#[derive(Deserialize)]
struct Arguments<'a> {
    text: &'a str,
}

fn answer(body: &[u8]) -> Option<String> {
    let request: Request<'_> = serde_json::from_slice(body).ok()?;
    let id = request.id?.get();
    let result = match request.method {
        "tools/call" => {
            let call: Call<'_> = serde_json::from_str(request.params?.get()).ok()?;
            let text = serde_json::to_string(call.arguments.text).ok()?;
            format!(r#"{{"resultType":"complete","content":[{{"type":"text","text":{text}}}]}}"#)
        }
        "tools/list" => r#"{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}]}"#.to_owned(),
        "initialize" => r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"floor","version":"1"}}"#.to_owned(),
        _ => return None,
    };
    Some(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#))
}

async fn stdio() -> io::Result<()> {
    let mut input = Receiver::from_file(io::stdin().as_fd().try_clone_to_owned()?.into())?;
    let mut output = Sender::from_file(io::stdout().as_fd().try_clone_to_owned()?.into())?;
    let mut held = Vec::new();
    let mut chunk = vec![0; 64 * 1024];
    loop {
        let count = input.read(&mut chunk).await?;
        if count == 0 {
            return Ok(());
        }
        held.extend_from_slice(&chunk[..count]);
        let whole = held.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let mut out = String::new();
        for line in held[..whole].split(|byte| *byte == b'\n') {
            if let Some(reply) = answer(line) {
                out.push_str(&reply);
                out.push('\n');
            }
        }
        held.drain(..whole);
        output.write_all(out.as_bytes()).await?;
    }
}

type Sessions = Arc<Mutex<HashSet<String>>>;

async fn http() -> io::Result<()> {
    let sessions = Sessions::default();
    let app = Router::new().route("/mcp", post(respond)).with_state(sessions);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    axum::serve(listener, app).await
}

async fn respond(State(sessions): State<Sessions>, body: Bytes) -> Response<Body> {
    let Some(reply) = answer(&body) else {
        return Response::builder().status(202).body(Body::empty()).unwrap();
    };
    let mut response = Response::builder().header("content-type", "application/json");
    if reply.contains("protocolVersion") {
        let mut sessions = sessions.lock().unwrap();
        let id = format!("{:032x}", sessions.len());
        response = response.header("mcp-session-id", &id);
        sessions.insert(id);
    }
    response.body(Body::from(reply)).unwrap()
}

fn main() -> io::Result<()> {
    if std::env::args().nth(1).as_deref() == Some("http") {
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?.block_on(http())
    } else {
        tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(stdio())
    }
}
