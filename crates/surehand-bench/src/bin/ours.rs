//! Our server with one tool. `ours stdio`, or `ours http`, which prints its address.
#![allow(clippy::unwrap_used, reason = "a server of a benchmark that cannot run must say so at once")]
#![expect(clippy::print_stdout, reason = "the address is told on standard output")]

use std::future::pending;
use std::sync::Arc;

use serde::Deserialize;
use surehand_mcp::{BoxFuture, CallFailure, Implementation, ServerHandler, ToolInvocation, ToolOutput};
use surehand_model::{RawJson, Tool};
use surehand_transport::{HttpServerOptions, serve_http, serve_stdio};
use tokio_util::sync::CancellationToken;

struct Echo;

#[derive(Deserialize)]
struct Arguments {
    text: String,
}

impl ServerHandler for Echo {
    fn implementation(&self) -> Implementation {
        Implementation { name: "ours".to_owned(), title: None, version: "1".to_owned() }
    }

    fn tools(&self) -> Vec<Tool> {
        let schema = r#"{"type":"object","properties":{"text":{"type":"string"}}}"#;
        vec![Tool::new("echo", "Says it again.", RawJson::parse(schema).unwrap())]
    }

    fn call<'a>(&'a self, call: ToolInvocation<'a>) -> BoxFuture<'a, Result<ToolOutput, CallFailure>> {
        Box::pin(async move {
            match call.arguments.to_type::<Arguments>() {
                Ok(arguments) => Ok(ToolOutput::text(arguments.text)),
                Err(error) => Ok(ToolOutput::error(error.to_string())),
            }
        })
    }
}

async fn http() {
    let options = HttpServerOptions::default();
    let server = serve_http(Arc::new(Echo), options, CancellationToken::new()).await.unwrap();
    println!("{}", server.address);
    pending().await
}

fn main() {
    if std::env::args().nth(1).as_deref() == Some("http") {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        runtime.unwrap().block_on(http());
    } else {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(serve_stdio(Arc::new(Echo), CancellationToken::new())).unwrap();
    }
}
