//! The peer's server with one tool, in the fastest way it offers. `peer stdio`, or `peer http`, which prints its address.
#![allow(clippy::unwrap_used, reason = "a server of a benchmark that cannot run must say so at once")]
#![expect(clippy::print_stdout, reason = "the address is told on standard output")]

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, JsonObject, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::io::stdio_pipes;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};

#[derive(Clone)]
struct Echo;

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = r#"{"type":"object","properties":{"text":{"type":"string"}}}"#;
        let schema: JsonObject = serde_json::from_str(schema).unwrap();
        Ok(ListToolsResult::with_all_items(vec![Tool::new("echo", "Says it again.", schema)]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let text = arguments.get("text").and_then(|text| text.as_str()).unwrap_or_default();
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

async fn http(with_sessions: bool) {
    let mut config = StreamableHttpServerConfig::default();
    config.legacy_session_mode = with_sessions;
    config.json_response = true;
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(|| Ok(Echo), sessions, config);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("{}", listener.local_addr().unwrap());
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await.unwrap();
}

fn main() {
    let mode = std::env::args().nth(1);
    match mode.as_deref() {
        Some("http" | "sessions") => {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
            runtime.unwrap().block_on(http(mode.as_deref() == Some("sessions")));
        }
        _ => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async {
                Echo.serve(stdio_pipes()).await.unwrap().waiting().await.unwrap();
            });
        }
    }
}
