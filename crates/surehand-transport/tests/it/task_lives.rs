//! How long a task is worked on: until it is cancelled, or its server ends. Whoever drops the work is heard.

use std::sync::Arc;

use surehand_mcp::{
    BoxFuture, CallFailure, Implementation, Offers, ServerHandler, TaskOptions, TaskSupport, ToolInvocation,
    ToolOutput,
};
use surehand_model::{RawJson, Tool};
use surehand_transport::{
    CallOptions, Client, ClientOptions, HttpServerOptions, Started, TASKS, serve_streams,
};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::fixture::{Targeted, http};
use crate::wire::serve;

/// Its one tool becomes a task that never ends.
struct Endless {
    /// One permit for each task that was dropped.
    dropped: Arc<Semaphore>,
}

struct Witness(Arc<Semaphore>);

impl Drop for Witness {
    fn drop(&mut self) {
        self.0.add_permits(1);
    }
}

impl ServerHandler for Endless {
    fn implementation(&self) -> Implementation {
        Implementation { name: "endless".to_owned(), title: None, version: "1".to_owned() }
    }

    fn offers(&self) -> Offers {
        Offers { tasks: true, ..Offers::tools() }
    }

    fn tools(&self) -> Vec<Tool> {
        vec![Tool::new("wait", "Waits.", RawJson::parse(r#"{"type":"object"}"#).unwrap())]
    }

    fn task_support(&self, _: &str) -> TaskSupport {
        TaskSupport::Optional
    }

    fn call<'a>(&'a self, call: ToolInvocation<'a>) -> BoxFuture<'a, Result<ToolOutput, CallFailure>> {
        Box::pin(async move {
            let _witness = Witness(self.dropped.clone());
            call.context.begin_task(TaskOptions::default())?;
            std::future::pending().await
        })
    }
}

async fn begin(client: &Client) -> String {
    let started = client.start_tool("wait", &RawJson::empty_object(), None, CallOptions::default()).await;
    let Ok(Started::Task(task)) = started else { panic!("{started:?}") };
    task.id
}

#[tokio::test]
async fn a_task_outlives_its_request_and_not_its_cancellation_nor_its_server() {
    let dropped = Arc::new(Semaphore::new(0));
    let served = serve(Arc::new(Endless { dropped: dropped.clone() }), HttpServerOptions::default()).await;
    let options = ClientOptions {
        extensions: vec![(TASKS.to_owned(), RawJson::empty_object())],
        ..ClientOptions::default()
    };
    let client = Client::open(served.server.target(), options, &http()).await.unwrap();
    let (first, _second) = (begin(&client).await, begin(&client).await);
    assert_eq!(dropped.available_permits(), 0);
    client.cancel_task(&first).await.unwrap();
    dropped.acquire().await.unwrap().forget();
    assert_eq!(dropped.available_permits(), 0);
    client.close().await;
    served.stop.cancel();
    served.server.finished().await.unwrap();
    dropped.acquire().await.unwrap().forget();
}

#[tokio::test]
async fn a_task_of_a_stream_ends_with_the_stream() {
    let dropped = Arc::new(Semaphore::new(0));
    let (near, far) = tokio::io::duplex(1 << 16);
    let (input, output) = tokio::io::split(far);
    let handler = Arc::new(Endless { dropped: dropped.clone() });
    let serving = serve_streams(handler, input, output, CancellationToken::new());
    let talking = async {
        let (read, mut write) = tokio::io::split(near);
        let mut lines = BufReader::new(read).lines();
        let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}"#;
        let call = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"wait\",\"_meta\":{meta}}}}}\n"
        );
        write.write_all(call.as_bytes()).await.unwrap();
        let answer = lines.next_line().await.unwrap().unwrap();
        assert!(answer.contains(r#""resultType":"task""#), "{answer}");
        assert_eq!(dropped.available_permits(), 0);
        write.shutdown().await.unwrap();
        // Nothing more is said.
        assert_eq!(lines.next_line().await.unwrap(), None);
    };
    let (served, ()) = tokio::join!(serving, talking);
    served.unwrap();
    assert_eq!(dropped.available_permits(), 1);
}
