//! Calls that become tasks. What reached the server is what counts: each process here gives back what it heard.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use surehand_model::RawJson;
use surehand_transport::{
    CallOptions, Client, ClientError, ClientOptions, Root, Roots, Started, TASKS, Target, TaskStatus,
};

use crate::fixture::{open, shell, within};

/// A process that answers by pattern in the shell's own words; `result` writes one.
fn process(cases: &str) -> Target {
    let script = r#"result() { printf '%s\n' '{"jsonrpc":"2.0","id":'"$id"',"result":'"$1"'}'; }
    heard=
    while read -r line; do
        id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\)[,}].*/\1/p')
        case "$line" in *server/discover*|*initialize*|*tools/list*) ;; *) heard="$heard$comma$line"; comma=,;; esac
        case "$line" in
        CASES
        esac
    done"#;
    Target::Child(shell(&script.replace("CASES", cases)))
}

const STATELESS: &str = r#"*server/discover*) result '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}}';;
*tools/call*) result '{"resultType":"task","taskId":"a/1","status":"working","ttlMs":60000,"pollIntervalMs":20}';;
"#;

const CORE: &str = r#"*server/discover*) printf '%s\n' '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32601,"message":"?"}}';;
*\"initialize\"*) result '{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}},"serverInfo":{"name":"sh","version":"1"}}';;
*notifications/initialized*) heard= comma=;;
*tools/list*) result '{"tools":[{"name":"t","inputSchema":{},"execution":{"taskSupport":"required"}},{"name":"u","inputSchema":{},"execution":{"taskSupport":"optional"}}]}';;
*tools/call*) result '{"task":{"taskId":"a","status":"working","createdAt":"2025-11-25T00:00:00Z","ttl":60000,"pollInterval":20}}';;
"#;

struct Folder;

impl Roots for Folder {
    fn roots(&self) -> Vec<Root> {
        vec![Root { uri: "file:///w".to_owned(), name: None }]
    }
}

fn taking_tasks() -> ClientOptions {
    ClientOptions {
        roots: Some(Arc::new(Folder)),
        extensions: vec![(TASKS.to_owned(), RawJson::empty_object())],
        ..ClientOptions::default()
    }
}

async fn connect(cases: &[&str], options: ClientOptions) -> Client {
    open(process(&cases.concat()), options).await.0.unwrap()
}

async fn call(client: &Client, tool: &str, options: CallOptions<'_>) -> Result<Value, ClientError> {
    let arguments = RawJson::parse(r#"{"n":1.10}"#).unwrap();
    Ok(client.call_tool(tool, &arguments, options).await?.structured.unwrap().to_value())
}

/// Method, task and what was given of each request.
fn heard(structured: &Value) -> Vec<Value> {
    let requests = structured["heard"].as_array().unwrap().iter();
    requests
        .map(|request| {
            let params = &request["params"];
            json!([request["method"], params["taskId"], params["inputResponses"], params["task"]])
        })
        .collect()
}

#[tokio::test]
async fn a_call_that_becomes_a_task_is_looked_at_until_it_ends_and_given_what_it_waits_for() {
    let steps = r#"*tasks/update*) updated=1; result '{"resultType":"complete"}';;
*tasks/get*) looks=$((looks + 1))
    case "$looks$updated" in
    1) result '{"resultType":"complete","taskId":"a/1","status":"working","pollIntervalMs":20}';;
    2) result '{"resultType":"complete","taskId":"a/1","status":"input_required","pollIntervalMs":20,"inputRequests":{"k":{"method":"roots/list"}}}';;
    *) result '{"resultType":"complete","taskId":"a/1","status":"completed","result":{"content":[],"structuredContent":{"heard":['"$heard"']}}}';;
    esac;;"#;
    let client = connect(&[STATELESS, steps], taking_tasks()).await;
    let structured = call(&client, "t", CallOptions::default()).await.unwrap();
    let given = json!({"k": {"roots": [{"uri": "file:///w"}]}});
    assert_eq!(
        heard(&structured),
        [
            json!(["tools/call", null, null, null]),
            json!(["tasks/get", "a/1", null, null]),
            json!(["tasks/get", "a/1", null, null]),
            json!(["tasks/update", "a/1", given, null]),
            json!(["tasks/get", "a/1", null, null]),
        ]
    );
}

#[tokio::test]
async fn a_task_may_be_left_and_taken_up_again_and_fails_as_its_server_says() {
    let steps = r#"*tasks/get*) result '{"resultType":"complete","taskId":"a/1","status":"failed","error":{"code":-32603,"message":"no disk"}}';;
*tasks/cancel*) result '{"resultType":"complete"}';;"#;
    let client = connect(&[STATELESS, steps], taking_tasks()).await;
    let started = client.start_tool("t", &RawJson::empty_object(), None, CallOptions::default()).await;
    let Ok(Started::Task(task)) = started else { panic!("{started:?}") };
    assert_eq!((task.id.as_str(), task.status, task.ttl), ("a/1", TaskStatus::Working, Some(60_000)));
    assert_eq!(client.get_task("a/1").await.unwrap().status, TaskStatus::Failed);
    let failure = client.finish_task("t", &task, CallOptions::default()).await.unwrap_err();
    assert_eq!(failure, ClientError::Rpc { code: -32603, message: "no disk".to_owned(), data: None });
    client.cancel_task("a/1").await.unwrap();
    assert!(matches!(client.list_tasks().await, Err(ClientError::NotOffered { .. })));
}

#[tokio::test]
async fn a_task_that_takes_too_long_or_gets_no_answer_is_given_up_and_says_so() {
    let cancelled = r#"*tasks/cancel*) gone=1; result '{"resultType":"complete"}';;
*tasks/get*) case "$gone" in
    1) result '{"resultType":"complete","taskId":"a/1","status":"cancelled","statusMessage":"by you"}';;
    *) result '{"resultType":"complete","taskId":"a/1","status":"STATUS","pollIntervalMs":20,"inputRequests":{"k":{"method":"sampling/createMessage"}}}';;
    esac;;"#;
    let by_you = ClientError::TaskCancelled { why: Some("by you".to_owned()) };
    for status in ["working", "input_required"] {
        let client = connect(&[STATELESS, &cancelled.replace("STATUS", status)], taking_tasks()).await;
        let after = Duration::from_millis(200);
        let failure = call(&client, "t", within(after)).await.unwrap_err();
        match failure {
            ClientError::Timeout { after: time } => assert_eq!((time, status), (after, "working")),
            ClientError::InputRequired { what, .. } => {
                assert_eq!((what.as_str(), status), ("sampling/createMessage", "input_required"));
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(call(&client, "t", CallOptions::default()).await.unwrap_err(), by_you);
    }
}

#[tokio::test]
async fn a_task_that_was_not_asked_for_is_no_result() {
    let client = connect(&[STATELESS], ClientOptions::default()).await;
    let failure = call(&client, "t", CallOptions::default()).await.unwrap_err();
    assert!(matches!(&failure, ClientError::Protocol { what } if what.contains("`task`")), "{failure}");
}

#[tokio::test]
async fn in_the_core_protocol_a_tool_that_runs_as_a_task_is_asked_to_and_its_result_is_fetched() {
    let steps = r#"*tasks/get*) result '{"taskId":"a","status":"completed","createdAt":"x","ttl":1}';;
*tasks/list*) result '{"tasks":[{"taskId":"a","status":"completed"},{}]}';;
*tasks/result*) result '{"content":[],"structuredContent":{"heard":['"$heard"']}}';;"#;
    let client = connect(&[CORE, steps], ClientOptions::default()).await;
    client.list_tools().await.unwrap();
    let structured = call(&client, "t", CallOptions::default()).await.unwrap();
    assert_eq!(
        heard(&structured),
        [
            json!(["tools/call", null, null, {"ttl": 120_000}]),
            json!(["tasks/get", "a", null, null]),
            json!(["tasks/result", "a", null, null]),
        ]
    );
    let listing = client.list_tasks().await.unwrap();
    assert_eq!((listing.items.len(), listing.notes.len()), (1, 1));
    // One that may but need not is asked to only where the caller wants a task.
    let ttl = Some(Duration::from_secs(1));
    let started = client.start_tool("u", &RawJson::empty_object(), ttl, CallOptions::default()).await;
    let Ok(Started::Task(task)) = started else { panic!("{started:?}") };
    let raw = client.finish_task("u", &task, CallOptions::default()).await.unwrap().structured.unwrap();
    let call = &heard(&raw.to_value())[4];
    assert_eq!(*call, json!(["tools/call", null, null, {"ttl": 1_000}]));
}

#[tokio::test]
async fn in_the_core_protocol_what_a_task_asks_is_answered_in_its_name() {
    let steps = r#"*tasks/get*) result '{"taskId":"a","status":"input_required"}';;
*tasks/result*) waiting=$id
    printf '%s\n' '{"jsonrpc":"2.0","id":"ask","method":"roots/list","params":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"a"}}}}';;
*\"id\":\"ask\"*) id=$waiting; result '{"content":[],"structuredContent":'"$line"'}';;"#;
    let client = connect(&[CORE, steps], taking_tasks()).await;
    client.list_tools().await.unwrap();
    assert_eq!(
        call(&client, "t", CallOptions::default()).await.unwrap()["result"],
        json!({"roots": [{"uri": "file:///w"}], "_meta": {"io.modelcontextprotocol/related-task": {"taskId": "a"}}})
    );
}
