//! What a client asks of a server beside calling tools. What reached the server is what counts.

use serde_json::{Value, json};
use surehand_mcp::LogLevel;
use surehand_model::{Note, RawJson};
use surehand_transport::{CallOptions, Client, ClientError, ClientEvent, ClientOptions, ServerNotice};

use crate::fixture::open;
use crate::scripted::{DISCOVERED, INITIALIZED, NO_DISCOVERY, process};

async fn kept(client: &Client) -> Value {
    let outcome = client.call_tool("t", &RawJson::empty_object(), CallOptions::default()).await.unwrap();
    outcome.structured.unwrap().to_value()
}

const KEPT: (&str, &[&str]) =
    ("*tools/call*", &[r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":KEPT}}"#]);
const DONE: &str = r#"{"jsonrpc":"2.0","id":ID,"result":{}}"#;

#[tokio::test]
async fn a_server_is_asked_to_tell_of_a_resource_and_its_word_arrives() {
    let updated = r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:1"}}"#;
    let target = process(&[NO_DISCOVERY, INITIALIZED, ("=*resources/*subscribe*", &[updated, DONE]), KEPT]);
    let (client, events) = open(target, ClientOptions::default()).await;
    let client = client.unwrap();
    client.subscribe("a:1").await.unwrap();
    let asked = kept(&client).await;
    assert_eq!((&asked["method"], &asked["params"]), (&json!("resources/subscribe"), &json!({"uri": "a:1"})));
    client.unsubscribe("a:1").await.unwrap();
    assert_eq!(kept(&client).await["method"], json!("resources/unsubscribe"));
    let told = ClientEvent::Notice(ServerNotice::ResourceUpdated { uri: "a:1".to_owned() });
    assert_eq!(*events.lock().unwrap(), [told.clone(), told]);
}

#[tokio::test]
async fn both_sides_ask_whether_anybody_is_there_and_are_answered() {
    let theirs = r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#;
    let target = process(&[
        NO_DISCOVERY,
        INITIALIZED,
        (r#"*\"method\":\"ping\"*"#, &[theirs, DONE]),
        (r#"=*\"id\":\"p\"*"#, &[]),
        KEPT,
    ]);
    let client = open(target, ClientOptions::default()).await.0.unwrap();
    client.ping().await.unwrap();
    assert_eq!(kept(&client).await, json!({"jsonrpc": "2.0", "id": "p", "result": {}}));
}

#[tokio::test]
async fn what_a_revision_or_a_server_does_not_have_is_not_asked_for() {
    let client = open(process(&[DISCOVERED]), ClientOptions::default()).await.0.unwrap();
    let failures = [client.ping().await, client.subscribe("a:1").await, client.unsubscribe("a:1").await];
    for failure in failures {
        assert!(matches!(failure, Err(ClientError::NotOffered { .. })), "{failure:?}");
    }
}

#[tokio::test]
async fn one_odd_resource_or_prompt_never_costs_the_list() {
    let resources = r#"{"jsonrpc":"2.0","id":ID,"result":{"resources":[{"name":"no uri"},{"uri":"a:1","name":"one","size":1e3,"icons":[{"src":"data:,"}],"odd":1.10}]}}"#;
    let prompts = r#"{"jsonrpc":"2.0","id":ID,"result":{"prompts":[7,{"name":"p","arguments":[{"required":true},{"name":"a","required":true}]}]}}"#;
    let target = process(&[
        NO_DISCOVERY,
        INITIALIZED,
        ("*resources/list*", &[resources]),
        ("*prompts/list*", &[prompts]),
    ]);
    let client = open(target, ClientOptions::default()).await.0.unwrap();
    let listing = client.list_resources().await.unwrap();
    let read: Vec<_> = listing.items.iter().map(|item| (item.uri.as_str(), item.size)).collect();
    assert_eq!(read, [("a:1", Some(1_000))]);
    assert!(listing.items[0].raw.as_str().contains(r#""odd":1.10"#));
    assert_eq!(listing.notes, [Note::new("resources/list /resources/0", "left out", "it has no `uri`")]);
    let listing = client.list_prompts().await.unwrap();
    assert_eq!(listing.items[0].arguments.len(), 1);
    assert_eq!(
        listing.notes,
        [
            Note::new("prompts/list /prompts/0", "left out", "it is not an object"),
            Note::new("prompts/list /prompts/1", "argument 0 left out", "it has no `name`"),
        ]
    );
}

#[tokio::test]
async fn a_result_that_breaks_its_tools_output_schema_is_noted_and_given_all_the_same() {
    let list = r#"{"jsonrpc":"2.0","id":ID,"result":{"tools":[{"name":"t","inputSchema":{},"outputSchema":{"type":"object","required":["n"]}}]}}"#;
    let result = r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":{"m":1.10}}}"#;
    let target =
        process(&[NO_DISCOVERY, INITIALIZED, ("*tools/list*", &[list]), ("*tools/call*", &[result])]);
    let client = open(target, ClientOptions::default()).await.0.unwrap();
    let call =
        async || client.call_tool("t", &RawJson::empty_object(), CallOptions::default()).await.unwrap();
    assert_eq!(call().await.notes, []);
    client.list_tools().await.unwrap();
    let outcome = call().await;
    assert_eq!(outcome.structured.unwrap().as_str(), r#"{"m":1.10}"#);
    let notes: Vec<_> = outcome.notes.iter().map(|note| note.what.as_str()).collect();
    assert_eq!(notes, ["structured content breaks the tool's own output schema"]);
}

#[tokio::test]
async fn a_server_is_told_once_from_which_level_on_to_log_and_a_stateless_one_with_each_request() {
    let target = process(&[NO_DISCOVERY, INITIALIZED, ("=*setLevel*", &[DONE]), KEPT]);
    let client = open(target, ClientOptions::default()).await.0.unwrap();
    client.set_log_level(LogLevel::Warning).await.unwrap();
    let asked = kept(&client).await;
    assert_eq!(
        (&asked["method"], &asked["params"]),
        (&json!("logging/setLevel"), &json!({"level": "warning"}))
    );

    let logging = r#"{"jsonrpc":"2.0","id":ID,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"logging":{}}}}"#;
    let echo = r#"{"jsonrpc":"2.0","id":ID,"result":{"resultType":"complete","content":[],"structuredContent":LINE}}"#;
    let target = process(&[("*server/discover*", &[logging]), ("*tools/call*", &[echo])]);
    let client = open(target, ClientOptions::default()).await.0.unwrap();
    let level = async || kept(&client).await["params"]["_meta"]["io.modelcontextprotocol/logLevel"].clone();
    assert_eq!(level().await, Value::Null);
    client.set_log_level(LogLevel::Debug).await.unwrap();
    assert_eq!(level().await, json!("debug"));

    let client = open(process(&[DISCOVERED]), ClientOptions::default()).await.0.unwrap();
    let refused = client.set_log_level(LogLevel::Debug).await;
    assert!(matches!(refused, Err(ClientError::NotOffered { .. })), "{refused:?}");
}
