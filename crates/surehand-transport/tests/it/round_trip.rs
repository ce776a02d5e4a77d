use std::time::Duration;

use futures_util::future::join_all;
use surehand_mcp::Revision;
use surehand_model::{RawJson, Tool, ToolAnnotations};
use surehand_transport::{CallOptions, ClientError, Era};

use crate::fixture::{ALL, connect, text, within};

fn raw(text: &str) -> RawJson {
    RawJson::parse(text).unwrap()
}

#[tokio::test]
async fn every_wire_gives_the_same_facts_and_the_same_tools() {
    for (wire, era) in ALL {
        let connected = connect(wire, era).await;
        let client = &connected.client;
        let server = client.server();
        let revision = if era == Era::Legacy { Revision::V2025_11_25 } else { Revision::V2026_07_28 };
        assert_eq!(
            (server.name.as_str(), server.title.as_deref(), server.version.as_str(), server.revision),
            ("echo", Some("Echo"), "1.2", revision),
            "{}",
            connected.name
        );
        assert_eq!(server.instructions.as_deref(), Some("Say something."));
        assert_eq!((server.has_tools, server.has_resources, server.has_prompts), (true, false, false));
        let listing = client.list_tools().await.unwrap();
        let annotations = ToolAnnotations { read_only: Some(true), ..ToolAnnotations::default() };
        let expected =
            Tool { annotations, ..Tool::new("echo", "Does echo.", raw(r#"{"type":"object","big":1}"#)) };
        let first = Tool { definition: None, ..listing.items[0].clone() };
        assert_eq!((first, listing.items.len(), listing.notes), (expected, 7, vec![]), "{}", connected.name);
        assert_eq!(client.list_resources().await.unwrap().items, []);
        assert_eq!(client.list_prompts().await.unwrap().items, []);
        connected.client.close().await;
    }
}

#[tokio::test]
async fn arguments_and_results_pass_byte_for_byte_over_every_wire() {
    let arguments = raw(
        r#"{"b":1.10,"a":[1E+2,-0,123456789012345678901234567890],"a":"\u00e9\ud83d\ude00\/","deep":{"x" : [ ] ,"":null},"lone":"\ud800"}"#,
    );
    for (wire, era) in ALL {
        let connected = connect(wire, era).await;
        let outcome = connected.client.call_tool("echo", &arguments, CallOptions::default()).await.unwrap();
        assert_eq!(outcome.structured.as_ref(), Some(&arguments), "{}", connected.name);
        assert_eq!((text(&outcome), outcome.is_error, outcome.notes.len()), ("here it is", false, 0));
        assert!(outcome.raw.as_str().contains(arguments.as_str()), "{}", connected.name);
    }
}

#[tokio::test]
async fn failures_are_told_apart_over_every_wire_and_none_of_them_is_an_end() {
    for (wire, era) in ALL {
        let connected = connect(wire, era).await;
        let call = async |name: &str| {
            connected.client.call_tool(name, &RawJson::empty_object(), CallOptions::default()).await
        };
        let failed = call("fail").await.unwrap();
        assert_eq!((text(&failed), failed.is_error), ("told to fail", true), "{}", connected.name);
        let message = "Unknown tool: nothing".to_owned();
        assert_eq!(
            call("nothing").await,
            Err(ClientError::Rpc { code: -32602, message, data: None }),
            "{}",
            connected.name
        );
        let message = "the tool `panic` panicked: told to panic".to_owned();
        assert_eq!(
            call("panic").await,
            Err(ClientError::Rpc { code: -32603, message, data: None }),
            "{}",
            connected.name
        );
        assert_eq!(text(&call("large").await.unwrap()).len(), 1 << 20, "{}", connected.name);
    }
}

#[tokio::test]
async fn thirty_two_calls_run_side_by_side_and_each_gets_its_own_answer() {
    for (wire, era) in ALL {
        let connected = connect(wire, era).await;
        let client = &connected.client;
        let calls = (0..32).map(|who| async move {
            let arguments = RawJson::from_serialize(&serde_json::json!({"n": 32, "who": who}));
            client.call_tool("meet", &arguments, within(Duration::from_secs(30))).await.unwrap()
        });
        let answers: Vec<String> =
            join_all(calls).await.iter().map(|outcome| text(outcome).to_owned()).collect();
        let expected: Vec<String> = (0..32).map(|who| format!("met {who}")).collect();
        assert_eq!(answers, expected, "{}", connected.name);
    }
}

#[tokio::test]
async fn a_call_that_times_out_or_is_dropped_is_cancelled_at_the_server() {
    for (wire, era) in ALL {
        let connected = connect(wire, era).await;
        let client = &connected.client;
        let nothing = RawJson::empty_object();
        let after = Duration::from_millis(50);
        assert_eq!(
            client.call_tool("wait", &nothing, within(after)).await,
            Err(ClientError::Timeout { after })
        );
        let dropped = client.call_tool("dropped", &nothing, within(Duration::from_secs(20))).await;
        assert_eq!(text(&dropped.unwrap()), "a call was dropped", "{} after a time-out", connected.name);

        let call = client.call_tool("wait", &nothing, within(Duration::from_secs(60)));
        assert!(tokio::time::timeout(after, call).await.is_err());
        let dropped = client.call_tool("dropped", &nothing, within(Duration::from_secs(20))).await;
        assert_eq!(text(&dropped.unwrap()), "a call was dropped", "{} after a drop", connected.name);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_is_shared_between_tasks_on_several_threads() {
    for (wire, era) in ALL {
        let connected = connect(wire, era).await;
        let client = std::sync::Arc::new(connected.client);
        let mut tasks = tokio::task::JoinSet::new();
        for who in 0..8 {
            let client = client.clone();
            tasks.spawn(async move {
                let arguments = RawJson::from_serialize(&serde_json::json!({"n": 8, "who": who}));
                let outcome = client.call_tool("meet", &arguments, CallOptions::default()).await.unwrap();
                assert_eq!(text(&outcome), format!("met {who}"));
            });
        }
        while let Some(outcome) = tasks.join_next().await {
            outcome.unwrap();
        }
        assert!(!client.is_closed(), "{}", connected.name);
    }
}
