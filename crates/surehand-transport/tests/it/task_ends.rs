//! Both ends of a task, ours and ours, over every wire that is not a process.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use surehand_mcp::{
    BoxFuture, CallFailure, Implementation, Offers, Question, ServerHandler, TaskOptions, TaskSupport,
    ToolInvocation, ToolOutput,
};
use surehand_model::{RawJson, Tool};
use surehand_transport::{
    CallOptions, Client, ClientError, ClientOptions, Era, HttpServerOptions, Root, Roots, Started, TASKS,
    Target, TaskStatus, serve_http,
};
use tokio_util::sync::CancellationToken;

use crate::fixture::{Targeted, open, within};

/// `ask` becomes a task and then asks for the folders; `wait` becomes one that never ends; `fail` one that fails.
struct Worker;

impl ServerHandler for Worker {
    fn implementation(&self) -> Implementation {
        Implementation { name: "worker".to_owned(), title: None, version: "1".to_owned() }
    }

    fn offers(&self) -> Offers {
        Offers { tasks: true, ..Offers::tools() }
    }

    fn tools(&self) -> Vec<Tool> {
        let schema = || RawJson::parse(r#"{"type":"object"}"#).unwrap();
        ["ask", "wait", "fail"].map(|name| Tool::new(name, name, schema())).to_vec()
    }

    fn task_support(&self, _: &str) -> TaskSupport {
        TaskSupport::Required
    }

    fn call<'a>(&'a self, call: ToolInvocation<'a>) -> BoxFuture<'a, Result<ToolOutput, CallFailure>> {
        Box::pin(async move {
            call.context.require_task(TaskOptions {
                poll_interval_ms: Some(20),
                status_message: Some("on it".to_owned()),
                ..TaskOptions::default()
            })?;
            match call.name {
                "ask" => {
                    let folders = call.context.ask("where", Question::Roots).await?;
                    Ok(ToolOutput { structured: Some(folders), ..ToolOutput::text("asked") })
                }
                "fail" => Err(CallFailure::Internal("no disk".to_owned())),
                _ => std::future::pending().await,
            }
        })
    }
}

struct Folder;

impl Roots for Folder {
    fn roots(&self) -> Vec<Root> {
        vec![Root { uri: "file:///w".to_owned(), name: None }]
    }
}

async fn each_wire(test: impl AsyncFn(&Client, &str)) {
    for (era, in_process) in [(Era::Modern, true), (Era::Modern, false), (Era::Legacy, false)] {
        let server = serve_http(Arc::new(Worker), HttpServerOptions::default(), CancellationToken::new());
        let server = server.await.unwrap();
        let target = if in_process { Target::InProcess(Arc::new(Worker)) } else { server.target() };
        let options = ClientOptions {
            era,
            roots: Some(Arc::new(Folder)),
            extensions: vec![(TASKS.to_owned(), RawJson::empty_object())],
            ..ClientOptions::default()
        };
        let client = open(target, options).await.0.unwrap();
        client.list_tools().await.unwrap();
        test(&client, &format!("{era:?}, in process: {in_process}")).await;
        client.close().await;
    }
}

#[tokio::test]
async fn a_task_asks_is_answered_and_ends() {
    each_wire(async |client, wire| {
        let options = within(Duration::from_secs(30));
        let outcome = client.call_tool("ask", &RawJson::empty_object(), options).await;
        let outcome = outcome.unwrap_or_else(|error| panic!("{wire}: {error}"));
        let structured = outcome.structured.unwrap().to_value();
        assert_eq!(structured["roots"], json!([{"uri": "file:///w"}]), "{wire}");
    })
    .await;
}

#[tokio::test]
async fn a_task_that_fails_or_takes_too_long_is_told_apart_and_given_up() {
    each_wire(async |client, wire| {
        let nothing = RawJson::empty_object();
        let failure = client.call_tool("fail", &nothing, within(Duration::from_secs(30))).await.unwrap_err();
        assert!(failure.to_string().contains("no disk"), "{wire}: {failure}");

        let ttl = Some(Duration::from_secs(60));
        let started = client.start_tool("wait", &nothing, ttl, CallOptions::default()).await.unwrap();
        let Started::Task(task) = started else { panic!("{wire}: {started:?}") };
        let state = client.get_task(&task.id).await.unwrap();
        assert_eq!(state.status, TaskStatus::Working, "{wire}");
        let after = Duration::from_millis(100);
        let outcome = client.finish_task("wait", &task, within(after)).await;
        assert_eq!(outcome, Err(ClientError::Timeout { after }), "{wire}");
        assert_eq!(client.get_task(&task.id).await.unwrap().status, TaskStatus::Cancelled, "{wire}");
    })
    .await;
}
