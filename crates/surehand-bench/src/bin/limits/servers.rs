//! Our server against hostile clients.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::Duration;

use surehand_mcp::{BoxFuture, CallFailure, Implementation, ServerHandler, ToolInvocation, ToolOutput};
use surehand_model::{RawJson, Tool};
use surehand_transport::{HttpServerOptions, serve_http, serve_stdio};
use tokio_util::sync::CancellationToken;

use crate::{Finding, Scenario, peak_of};

const fn scenario(name: &'static str, what: &'static str, bar: u64) -> Scenario {
    Scenario { name, what, bar }
}

pub(crate) const ALL: &[Scenario] = &[
    scenario("stdio line of 1 GiB", "server, stdio: a line of 1 GiB", 80),
    scenario("stdio 100,000 deep", "server, stdio: JSON 100,000 deep", 24),
    scenario("http body of 1 GiB", "server, HTTP: a body of 1 GiB", 80),
    scenario("http 100,000 deep", "server, HTTP: JSON 100,000 deep", 24),
    scenario("http 500 hanging", "server, HTTP: 500 clients that begin and never go on", 32),
];

struct Plain;

impl ServerHandler for Plain {
    fn implementation(&self) -> Implementation {
        Implementation { name: "plain".to_owned(), title: None, version: "1".to_owned() }
    }

    fn tools(&self) -> Vec<Tool> {
        vec![Tool::new("plain", "Says so.", RawJson::empty_object())]
    }

    fn call<'a>(&'a self, _: ToolInvocation<'a>) -> BoxFuture<'a, Result<ToolOutput, CallFailure>> {
        Box::pin(async { Ok(ToolOutput::text("plain")) })
    }
}

/// Our server, in a process of its own.
pub(crate) fn serve(mode: &str) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        if mode == "http" {
            let server = serve_http(Arc::new(Plain), HttpServerOptions::default(), CancellationToken::new())
                .await
                .unwrap();
            println!("{}", server.address);
            server.finished().await.unwrap();
        } else {
            serve_stdio(Arc::new(Plain), CancellationToken::new()).await.unwrap();
        }
    });
    ExitCode::SUCCESS
}

struct Served(Child);

impl Served {
    fn start(mode: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["serve", mode]).stdin(Stdio::piped()).stdout(Stdio::piped());
        Self(command.spawn().unwrap())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn deep() -> String {
    let (open, close) = ("[".repeat(100_000), "]".repeat(100_000));
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"plain","arguments":{{"a":{open}{close}}}}}}}"#
    )
}

const PING: &str = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;

pub(crate) async fn run(name: &str) -> Finding {
    let finding = match name.split_once(' ') {
        Some(("stdio", name)) => stdio(name),
        Some((_, name)) => http(name),
        None => panic!("no scenario"),
    };
    tokio::task::yield_now().await;
    finding
}

/// The words of an error, or the answer itself.
fn words(answer: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(answer).unwrap_or_default();
    match value["error"]["message"].as_str() {
        Some(message) => format!("{message} (code {})", value["error"]["code"]),
        None => answer.chars().take(100).collect(),
    }
}

fn stdio(name: &str) -> Finding {
    let mut served = Served::start("stdio");
    let mut input = served.0.stdin.take().unwrap();
    let mut output = BufReader::new(served.0.stdout.take().unwrap());
    let mut hear = || {
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        line.trim().to_owned()
    };
    let wanted = if name == "100,000 deep" {
        input.write_all(format!("{}\n", deep()).as_bytes()).unwrap();
        "nested deeper than"
    } else {
        let bytes = vec![b'x'; 1 << 20];
        for _ in 0..1024 {
            input.write_all(&bytes).unwrap();
        }
        input.write_all(b"\n").unwrap();
        "over the limit"
    };
    let told = words(&hear());
    input.write_all(format!("{PING}\n").as_bytes()).unwrap();
    let others_live = hear().contains(r#""id":2,"result":{}"#);
    let peak = peak_of(&served.0.id().to_string());
    let is_told_right = told.contains(wanted);
    Finding { told, is_told_right, is_gone: true, others_live, peak }
}

const CALL: &str = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"plain","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;

fn head(length: usize) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: plain\r\ncontent-length: {length}\r\n\r\n"
    )
}

fn http(name: &str) -> Finding {
    let mut served = Served::start("http");
    let mut address = String::new();
    BufReader::new(served.0.stdout.take().unwrap()).read_line(&mut address).unwrap();
    let connect = || {
        let stream = TcpStream::connect(address.trim()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    };
    let plain = || {
        let mut stream = connect();
        stream.write_all((head(CALL.len()) + CALL).as_bytes()).unwrap();
        response(&mut stream).1
    };
    let (told, wanted) = match name {
        "100,000 deep" => {
            let (mut stream, body) = (connect(), deep());
            stream.write_all((head(body.len()) + &body).as_bytes()).unwrap();
            let (status, body) = response(&mut stream);
            (format!("{status}: {}", words(&body)), "nested deeper than")
        }
        "body of 1 GiB" => {
            let mut stream = connect();
            stream.write_all(head(1 << 30).as_bytes()).unwrap();
            let bytes = vec![b'x'; 1 << 20];
            // It may hang up before it has taken everything.
            while stream.write_all(&bytes).is_ok() {}
            let (status, body) = response(&mut stream);
            (format!("{status}: {}", words(&body)), "413")
        }
        _ => {
            // Half a head, half a body.
            let hanging: Vec<TcpStream> = (0..500)
                .map(|number| {
                    let mut stream = connect();
                    let text = head(1_000) + "{";
                    let length = if number % 2 == 0 { 40 } else { text.len() };
                    stream.write_all(&text.as_bytes()[..length]).unwrap();
                    stream
                })
                .collect();
            let answered = plain();
            drop(hanging);
            (
                if answered.contains("plain") {
                    "nothing; a call beside is answered".to_owned()
                } else {
                    answered
                },
                "is answered",
            )
        }
    };
    let others_live = plain().contains(r#""text":"plain""#);
    let peak = peak_of(&served.0.id().to_string());
    let is_told_right = told.contains(wanted);
    Finding { told, is_told_right, is_gone: true, others_live, peak }
}

/// Status and body of what the server answers, as far as it came.
fn response(stream: &mut TcpStream) -> (String, String) {
    let mut held = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&held);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| {
                    line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok()
                })
                .unwrap_or(0);
            if body.len() >= length {
                let status = head.split(' ').nth(1).unwrap_or_default().to_owned();
                return (status, body.to_owned());
            }
        }
        match stream.read(&mut chunk) {
            Ok(count) if count > 0 => held.extend_from_slice(&chunk[..count]),
            _ => return ("hung up".to_owned(), String::new()),
        }
    }
}
