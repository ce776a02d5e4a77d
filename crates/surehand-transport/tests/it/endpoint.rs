//! What our HTTP endpoint answers to whatever comes.

use std::sync::Arc;

use surehand_mcp::{BoxFuture, CallFailure, Implementation, ServerHandler, ToolInvocation, ToolOutput};
use surehand_model::{RawJson, Tool};
use surehand_transport::{HttpRequest, HttpServer, HttpServerOptions, Method, serve_http};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::echo::Echo;
use crate::fixture::http;

async fn serve(options: HttpServerOptions, stop: &CancellationToken) -> HttpServer {
    serve_http(Echo::handler(), options, stop.clone()).await.unwrap()
}

/// Sends one request; gives status, session id and body.
async fn send(
    server: &HttpServer,
    method: Method,
    headers: &[(&str, &str)],
    body: &str,
) -> (u16, Option<String>, String) {
    let url = Url::parse(&format!("http://{}/mcp", server.address)).unwrap();
    let mut request = HttpRequest { method, ..HttpRequest::post(url, body.to_owned()) };
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let response = http().send(request).await.unwrap();
    let session = response.header("mcp-session-id").map(str::to_owned);
    let (status, body) = (response.status, response.collect(1 << 20).await.unwrap());
    (status, session, String::from_utf8(body).unwrap())
}

const JSON: (&str, &str) = ("Content-Type", "application/json");
const BOTH: (&str, &str) = ("Accept", "application/json, text/event-stream");
const INITIALIZE: &str =
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#;
const MODERN: (&str, &str) = ("MCP-Protocol-Version", "2026-07-28");
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[tokio::test]
async fn a_session_lives_from_its_handshake_to_its_end() {
    let stop = CancellationToken::new();
    let server = serve(HttpServerOptions::default(), &stop).await;
    let (status, session, _) = send(&server, Method::POST, &[JSON, BOTH], INITIALIZE).await;
    let session = session.unwrap();
    assert!(status == 200 && session.bytes().all(|byte| byte.is_ascii_graphic()), "{session}");
    let mine = ("Mcp-Session-Id", session.as_str());
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(send(&server, Method::POST, &[JSON, mine], initialized).await, (202, None, String::new()));
    let pong = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned();
    assert_eq!(send(&server, Method::POST, &[JSON, mine], PING).await, (200, None, pong));
    assert_eq!(send(&server, Method::DELETE, &[mine], "").await.0, 204);
    assert_eq!(send(&server, Method::POST, &[JSON, mine], PING).await.0, 404);
    assert_eq!(send(&server, Method::DELETE, &[mine], "").await.0, 404);
}

#[tokio::test]
async fn what_does_not_belong_here_is_refused_with_the_right_status() {
    let stop = CancellationToken::new();
    let server = serve(HttpServerOptions { body_limit: 1_000, ..HttpServerOptions::default() }, &stop).await;
    let long = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#, "x".repeat(1_000));
    let evil = ("Origin", "http://evil.example");
    for (method, headers, body, expected) in [
        (Method::GET, &[BOTH][..], "", 400),
        (Method::GET, &[BOTH, MODERN], "", 405),
        (Method::GET, &[BOTH, ("Mcp-Session-Id", "guessed")], "", 404),
        (Method::PUT, &[JSON], PING, 405),
        (Method::DELETE, &[], "", 400),
        (Method::DELETE, &[MODERN], "", 405),
        (Method::POST, &[JSON], r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, 400),
        (Method::POST, &[JSON], "[]", 400),
        (Method::POST, &[JSON, MODERN], "[{}]", 400),
        (Method::POST, &[JSON, evil], INITIALIZE, 403),
        (Method::POST, &[JSON, ("Host", "evil.example")], INITIALIZE, 403),
        (Method::POST, &[JSON, ("Origin", "null")], INITIALIZE, 403),
        (Method::POST, &[JSON, ("Origin", "http://localhost:6274")], INITIALIZE, 200),
        (Method::POST, &[("Content-Type", "text/plain")], INITIALIZE, 415),
        (Method::POST, &[], INITIALIZE, 415),
        (Method::POST, &[("Content-Type", "Application/JSON; charset=utf-8")], INITIALIZE, 200),
        (Method::POST, &[JSON, ("Accept", "text/html")], INITIALIZE, 406),
        (Method::POST, &[JSON, ("Accept", "*/*")], INITIALIZE, 200),
        (Method::POST, &[JSON, ("Accept", "application/json;q=0.9")], INITIALIZE, 200),
        (Method::POST, &[JSON], &long, 413),
        (Method::POST, &[JSON], "{", 400),
        (Method::POST, &[JSON], PING, 400),
        (Method::POST, &[JSON, ("Mcp-Session-Id", "guessed")], PING, 404),
        (Method::POST, &[JSON], r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, 202),
    ] {
        let (status, _, answer) = send(&server, method.clone(), headers, body).await;
        assert_eq!(status, expected, "{method} {headers:?} {body}: {answer}");
    }
}

#[tokio::test]
async fn a_page_of_an_allowed_origin_may_ask_and_no_other() {
    let stop = CancellationToken::new();
    let page = "https://app.example.com";
    let options =
        HttpServerOptions { allowed_origins: vec![page.to_owned()], ..HttpServerOptions::default() };
    let server = serve(options, &stop).await;
    let preflight = |origin: &str| {
        format!(
            "OPTIONS /mcp HTTP/1.1\r\nHost: {}\r\nOrigin: {origin}\r\nAccess-Control-Request-Method: POST\r\n\
             Access-Control-Request-Headers: content-type, mcp-param-city\r\nConnection: close\r\n\r\n",
            server.address
        )
    };
    let post = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nOrigin: {page}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{INITIALIZE}",
        server.address,
        INITIALIZE.len()
    );
    assert_eq!(
        access_lines(&server, &preflight(page)).await,
        [
            "HTTP/1.1 204 No Content",
            "access-control-allow-headers: content-type, mcp-param-city",
            "access-control-allow-methods: POST, GET, DELETE",
            "access-control-allow-origin: https://app.example.com",
            "access-control-expose-headers: Mcp-Session-Id, WWW-Authenticate, DPoP-Nonce",
            "access-control-max-age: 600",
            "vary: Origin",
        ]
    );
    assert_eq!(
        access_lines(&server, &post).await,
        [
            "HTTP/1.1 200 OK",
            "access-control-allow-origin: https://app.example.com",
            "access-control-expose-headers: Mcp-Session-Id, WWW-Authenticate, DPoP-Nonce",
            "vary: Origin",
        ]
    );
    let evil = preflight("https://evil.example");
    assert_eq!(access_lines(&server, &evil).await, ["HTTP/1.1 403 Forbidden"]);
}

/// Sends these bytes; gives the status line and what the answer tells a browser, sorted.
async fn access_lines(server: &HttpServer, request: &str) -> Vec<String> {
    let mut stream = tokio::net::TcpStream::connect(server.address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let head = answer.split("\r\n\r\n").next().unwrap();
    let told = |line: &&str| {
        line.starts_with("HTTP/") || line.starts_with("access-control-") || line.starts_with("vary:")
    };
    let mut lines: Vec<String> = head.lines().filter(told).map(str::to_owned).collect();
    lines.sort();
    lines
}

#[tokio::test]
async fn a_stateless_answer_opens_no_session() {
    let stop = CancellationToken::new();
    let server = serve(HttpServerOptions::default(), &stop).await;
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let headers = [JSON, BOTH, ("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "server/discover")];
    let (status, session, _) = send(&server, Method::POST, &headers, body).await;
    assert_eq!((status, session), (200, None));
}

#[tokio::test]
async fn a_server_that_is_stopped_ends_and_gives_its_address_free() {
    let stop = CancellationToken::new();
    let server = serve(HttpServerOptions::default(), &stop).await;
    let address = server.address;
    stop.cancel();
    server.finished().await.unwrap();
    let again = HttpServerOptions { listen: address, ..HttpServerOptions::default() };
    assert_eq!(serve(again, &CancellationToken::new()).await.address, address);
}

#[tokio::test]
async fn an_address_in_use_and_a_path_that_is_none_are_errors() {
    let stop = CancellationToken::new();
    let server = serve(HttpServerOptions::default(), &stop).await;
    let taken = HttpServerOptions { listen: server.address, ..HttpServerOptions::default() };
    let error = serve_http(Echo::handler(), taken, stop.clone()).await.unwrap_err();
    assert_eq!(error.to_string(), format!("cannot listen on {}", server.address));
    let odd = HttpServerOptions { path: "mcp".to_owned(), ..HttpServerOptions::default() };
    let error = serve_http(Echo::handler(), odd, stop).await.unwrap_err();
    assert_eq!(error.to_string(), "`mcp` is not a path to serve under");
}

#[tokio::test]
async fn a_server_that_is_dropped_ends_the_calls_it_runs() {
    let handler = Echo::handler();
    let stop = CancellationToken::new();
    let server = serve_http(handler.clone(), HttpServerOptions::default(), stop.clone()).await.unwrap();
    let (_, session, _) = send(&server, Method::POST, &[JSON, BOTH], INITIALIZE).await;
    let session = session.unwrap();
    let mine = ("Mcp-Session-Id", session.as_str());
    let wait = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}}"#;
    let headers = [JSON, mine];
    // Of two calls under one id one runs, and the other is told so.
    let (_, _, told) = tokio::select! {
        told = send(&server, Method::POST, &headers, wait) => told,
        told = send(&server, Method::POST, &headers, wait) => told,
    };
    assert!(told.contains("a request with id 1 is still running"), "{told}");
    drop(server);
    let dropped = ToolInvocation::detached("dropped", RawJson::empty_object());
    let ended = tokio::time::timeout(std::time::Duration::from_secs(10), handler.call(dropped)).await;
    assert_eq!(ended, Ok(Ok(ToolOutput::text("a call was dropped"))));
}

/// A tool that wants its region repeated in a header.
struct Regional;

impl ServerHandler for Regional {
    fn implementation(&self) -> Implementation {
        Implementation { name: "regional".to_owned(), title: None, version: "1".to_owned() }
    }

    fn tools(&self) -> Vec<Tool> {
        let schema = r#"{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}"#;
        vec![Tool::new("look", "Looks there.", RawJson::parse(schema).unwrap())]
    }

    fn call<'a>(&'a self, _: ToolInvocation<'a>) -> BoxFuture<'a, Result<ToolOutput, CallFailure>> {
        Box::pin(async { Ok(ToolOutput::text("looked")) })
    }
}

#[tokio::test]
async fn a_call_gets_through_only_with_the_headers_that_its_tool_wants() {
    let stop = CancellationToken::new();
    let server = serve_http(Arc::new(Regional), HttpServerOptions::default(), stop.clone()).await.unwrap();
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","arguments":{"region":"天気"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let refused =
        |words: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32020,"message":"{words}"}}}}"#);
    let looked = r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"looked"}],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"regional","version":"1"}}}}"#;
    for (headers, status, answer) in [
        (vec![("mcp-param-region", "=?base64?5aSp5rCX?=")], 200, looked.to_owned()),
        (vec![], 400, refused("`Mcp-Param-Region` is absent and the body says \\\"天気\\\"")),
        (
            vec![("Mcp-Param-Region", "eu")],
            400,
            refused("`Mcp-Param-Region` is eu and the body says \\\"天気\\\""),
        ),
        (vec![("MCP-Param-REGION", "=?base64?%?=")], 400, refused("`Mcp-Param-Region` is not readable")),
    ] {
        let routing = [
            JSON,
            BOTH,
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", "look"),
        ];
        let headers: Vec<(&str, &str)> = routing.into_iter().chain(headers).collect();
        let (got_status, _, got) = send(&server, Method::POST, &headers, body).await;
        assert_eq!((got_status, got), (status, answer), "{headers:?}");
    }
    stop.cancel();
    server.finished().await.unwrap();
}
