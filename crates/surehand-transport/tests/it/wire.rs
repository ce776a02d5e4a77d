//! HTTP as it is on the wire: requests of any shape, and streams of events read one at a time.

use std::sync::Arc;
use std::time::Duration;

use surehand_mcp::ServerHandler;
use surehand_transport::{HttpRequest, HttpResponse, HttpServer, HttpServerOptions, Method, serve_http};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::fixture::http;

pub(crate) const JSON: (&str, &str) = ("Content-Type", "application/json");
pub(crate) const BOTH: (&str, &str) = ("Accept", "application/json, text/event-stream");
pub(crate) const EVENTS: (&str, &str) = ("Accept", "text/event-stream");

/// A server, and what ends it.
pub(crate) struct Served {
    pub(crate) server: HttpServer,
    pub(crate) stop: CancellationToken,
}

pub(crate) async fn serve(handler: Arc<dyn ServerHandler>, options: HttpServerOptions) -> Served {
    let stop = CancellationToken::new();
    Served { server: serve_http(handler, options, stop.clone()).await.unwrap(), stop }
}

/// An answer, its body still to be read.
pub(crate) struct Answer {
    pub(crate) status: u16,
    response: HttpResponse,
    read: String,
}

impl Served {
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let url = Url::parse(&format!("http://{}{path}", self.server.address)).unwrap();
        let mut request = HttpRequest { method, ..HttpRequest::post(url, body.to_owned()) };
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let response = http().send(request).await.unwrap();
        Answer { status: response.status, response, read: String::new() }
    }

    /// Opens a session of this revision whose client declares these capabilities; gives its id.
    pub(crate) async fn open(&self, revision: &str, capabilities: &str) -> String {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{capabilities}}}}}"#
        );
        let answer = self.send(Method::POST, "/mcp", &[JSON, BOTH], &body).await;
        assert_eq!(answer.status, 200);
        answer.header("mcp-session-id").unwrap()
    }

    /// Posts in a session.
    pub(crate) async fn post(&self, session: &str, body: &str) -> Answer {
        self.send(Method::POST, "/mcp", &[JSON, BOTH, ("Mcp-Session-Id", session)], body).await
    }

    /// Opens a session's own stream, or takes up another behind this event.
    pub(crate) async fn get(&self, session: &str, last: &str) -> Answer {
        let headers = [EVENTS, ("Mcp-Session-Id", session), ("Last-Event-ID", last)];
        self.send(Method::GET, "/mcp", &headers[..if last.is_empty() { 2 } else { 3 }], "").await
    }

    /// Asks in the stateless era. `params` and `meta` are members, each followed by a comma.
    pub(crate) async fn ask(&self, method: &str, name: &str, params: &str, meta: &str) -> Answer {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}"_meta":{{{meta}"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
        );
        let mut headers = vec![JSON, BOTH, ("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method)];
        if !name.is_empty() {
            headers.push(("Mcp-Name", name));
        }
        self.send(Method::POST, "/mcp", &headers, &body).await
    }

    /// Calls a tool in the stateless era.
    pub(crate) async fn call(&self, tool: &str, meta: &str) -> Answer {
        self.ask("tools/call", tool, &format!(r#""name":"{tool}","#), meta).await
    }
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        self.response.header(name).map(str::to_owned)
    }

    /// The next event as it is written, its lines joined by `|`; `end` after the last.
    pub(crate) async fn event(&mut self) -> String {
        loop {
            if let Some((event, rest)) = self.read.split_once("\n\n") {
                let (event, rest) = (event.replace('\n', "|"), rest.to_owned());
                self.read = rest;
                return event;
            }
            let chunk = tokio::time::timeout(Duration::from_secs(20), self.response.chunk()).await.unwrap();
            match chunk.unwrap() {
                Some(bytes) => self.read.push_str(std::str::from_utf8(&bytes).unwrap()),
                None if self.read.is_empty() => return "end".to_owned(),
                None => return format!("cut off: {}", self.read),
            }
        }
    }

    /// Every event up to the end of the stream.
    pub(crate) async fn events(&mut self) -> Vec<String> {
        let mut all = Vec::new();
        loop {
            match self.event().await {
                end if end == "end" => return all,
                event => all.push(event),
            }
        }
    }

    /// The whole body.
    pub(crate) async fn text(self) -> String {
        String::from_utf8(self.response.collect(1 << 20).await.unwrap()).unwrap()
    }
}

/// `tools/call` without arguments.
pub(crate) fn call(id: u32, tool: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","_meta":{{"progressToken":"p"}}}}}}"#
    )
}

/// The answer to it in the older era.
pub(crate) fn said(id: u32, text: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#)
}
