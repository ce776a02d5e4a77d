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
        let caller = Caller { principal: Some("ali".to_owned()) };
        Box::pin(async move { if knows { Ok(caller) } else { Err(refusal) } })
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
