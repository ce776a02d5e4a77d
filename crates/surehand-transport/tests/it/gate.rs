//! Who is let in is asked before anything else, and a refusal is the whole answer.

use std::sync::Arc;

use surehand_mcp::BoxFuture;
use surehand_transport::{
    Caller, Gate, GateDocument, GateRefusal, HeaderMap, HttpRequest, HttpServerOptions, Method, serve_http,
};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::echo::Echo;
use crate::fixture::http;
use crate::talk::Talk;
use crate::wire::{BOTH, EVENTS, JSON, call, said, serve};

#[derive(Debug)]
struct Password;

impl Gate for Password {
    fn admit<'a>(
        &'a self,
        _: &'a Method,
        headers: &'a HeaderMap,
    ) -> BoxFuture<'a, Result<Caller, GateRefusal>> {
        let knows = headers.get("authorization").is_some_and(|value| value == "Bearer sesame");
        let challenge = ("WWW-Authenticate".to_owned(), "Bearer realm=\"cave\"".to_owned());
        let refusal = GateRefusal { status: 401, headers: vec![challenge], words: "say the word".to_owned() };
        let caller = Caller { principal: Some("ali".to_owned()), scopes: Vec::new() };
        Box::pin(async move { if knows { Ok(caller) } else { Err(refusal) } })
    }

    fn permit(&self, caller: &Caller, method: &str, subject: Option<&str>) -> Result<(), GateRefusal> {
        let asked =
            format!("{} {method} {}", caller.principal.as_deref().unwrap(), subject.unwrap_or_default());
        match subject {
            Some("fail") => Err(GateRefusal { status: 403, headers: Vec::new(), words: asked }),
            _ => Ok(()),
        }
    }

    fn documents(&self) -> Vec<GateDocument> {
        vec![GateDocument { path: "/.well-known/cave".to_owned(), body: "{\"doors\":1}".to_owned() }]
    }
}

#[tokio::test]
async fn a_gate_lets_in_whom_it_likes_and_its_documents_are_for_everybody() {
    let stop = CancellationToken::new();
    let options = HttpServerOptions { gate: Some(Arc::new(Password)), ..HttpServerOptions::default() };
    let server = serve_http(Echo::handler(), options, stop.clone()).await.unwrap();
    let at = |path: &str| Url::parse(&format!("http://{}{path}", server.address)).unwrap();
    let told = async |request: HttpRequest| {
        let answer = http().send(request).await.unwrap();
        let challenge = answer.header("www-authenticate").map(str::to_owned);
        (answer.status, challenge, String::from_utf8(answer.collect(1_000).await.unwrap()).unwrap())
    };
    // Not even the size or the type of the body matters before one is let in.
    let refused = (
        401,
        Some("Bearer realm=\"cave\"".to_owned()),
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"say the word"}}"#.to_owned(),
    );
    assert_eq!(told(HttpRequest::post(at("/mcp"), "?")).await, refused);
    assert_eq!(told(HttpRequest::get(at("/mcp")).header("Authorization", "Bearer simsim")).await, refused);
    let initialize =
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#;
    let known = HttpRequest::post(at("/mcp"), initialize)
        .header("Content-Type", "application/json")
        .header("Authorization", "Bearer sesame");
    assert_eq!(told(known).await.0, 200);
    let document = (200, None, "{\"doors\":1}".to_owned());
    assert_eq!(told(HttpRequest::get(at("/.well-known/cave"))).await, document);
    assert_eq!(told(HttpRequest::post(at("/.well-known/cave"), "")).await.0, 405);
    assert_eq!(told(HttpRequest::get(at("/elsewhere"))).await.0, 404);
    let foreign = HttpRequest::get(at("/.well-known/cave")).header("Origin", "http://evil.example");
    assert_eq!(told(foreign).await.0, 403);
}

/// Believes whatever name is given.
#[derive(Debug)]
struct Guestbook;

impl Gate for Guestbook {
    fn admit<'a>(
        &'a self,
        _: &'a Method,
        headers: &'a HeaderMap,
    ) -> BoxFuture<'a, Result<Caller, GateRefusal>> {
        let principal = headers.get("x-name").and_then(|name| name.to_str().ok()).map(str::to_owned);
        Box::pin(async move { Ok(Caller { principal, scopes: Vec::new() }) })
    }
}

#[tokio::test]
async fn sessions_and_connections_belong_to_whoever_opened_them() {
    let options = HttpServerOptions { gate: Some(Arc::new(Guestbook)), ..HttpServerOptions::default() };
    let served = serve(Talk::handler(), options).await;
    let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{}}}"#;
    let (ada, bob) = (("X-Name", "ada"), ("X-Name", "bob"));
    let opened = served.send(Method::POST, "/mcp", &[JSON, BOTH, ada], initialize).await;
    let session = opened.header("mcp-session-id").unwrap();
    let mine = ("Mcp-Session-Id", session.as_str());
    for name in [&[bob][..], &[]] {
        let headers = [&[JSON, BOTH, mine], name].concat();
        assert_eq!(served.send(Method::POST, "/mcp", &headers, &call(1, "who")).await.status, 404);
        let headers = [&[EVENTS, mine], name].concat();
        assert_eq!(served.send(Method::GET, "/mcp", &headers, "").await.status, 404);
        assert_eq!(served.send(Method::DELETE, "/mcp", &headers, "").await.status, 404);
    }
    let answer = served.send(Method::POST, "/mcp", &[JSON, BOTH, mine, ada], &call(1, "who")).await;
    assert_eq!(answer.text().await, said(1, "ada"));

    let mut stream = served.send(Method::GET, "/sse", &[EVENTS, ada], "").await;
    let path = stream.event().await.strip_prefix("event: endpoint|data: ").unwrap().to_owned();
    assert_eq!(served.send(Method::POST, &path, &[JSON, bob], initialize).await.status, 404);
    for body in [initialize, &call(1, "who")] {
        assert_eq!(served.send(Method::POST, &path, &[JSON, ada], body).await.status, 202);
    }
    stream.event().await;
    assert_eq!(stream.event().await, format!("event: message|data: {}", said(1, "ada")));
}

#[tokio::test]
async fn a_gate_may_let_somebody_in_and_still_not_run_all_they_want() {
    let stop = CancellationToken::new();
    let options = HttpServerOptions { gate: Some(Arc::new(Password)), ..HttpServerOptions::default() };
    let server = serve_http(Echo::handler(), options, stop.clone()).await.unwrap();
    let url = Url::parse(&format!("http://{}/mcp", server.address)).unwrap();
    let told = async |method: &str, tool: &str| {
        let params = format!(
            r#"{{"name":"{tool}","arguments":{{}},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}"#
        );
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        let request = HttpRequest::post(url.clone(), body)
            .header("Content-Type", "application/json")
            .header("Authorization", "Bearer sesame")
            .header("MCP-Protocol-Version", "2026-07-28")
            .header("Mcp-Method", method)
            .header("Mcp-Name", tool);
        let answer = http().send(request).await.unwrap();
        (answer.status, String::from_utf8(answer.collect(10_000).await.unwrap()).unwrap())
    };
    let refused = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"ali tools/call fail"}}"#;
    assert_eq!(told("tools/call", "fail").await, (403, refused.to_owned()));
    assert_eq!(told("tools/call", "echo").await.0, 200);
    assert_eq!(told("tools/list", "fail").await.0, 200);

    // The oldest transport answers on its stream.
    let served = serve(
        Echo::handler(),
        HttpServerOptions { gate: Some(Arc::new(Password)), ..HttpServerOptions::default() },
    )
    .await;
    let word = ("Authorization", "Bearer sesame");
    let mut stream = served.send(Method::GET, "/sse", &[EVENTS, word], "").await;
    let path = stream.event().await.strip_prefix("event: endpoint|data: ").unwrap().to_owned();
    let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{}}}"#;
    for body in [initialize, &call(1, "fail")] {
        assert_eq!(served.send(Method::POST, &path, &[JSON, word], body).await.status, 202);
    }
    stream.event().await;
    assert_eq!(stream.event().await, format!("event: message|data: {refused}"));
}
