//! Answers over HTTP that are streams, and the streams that belong to no answer.

use std::sync::Arc;
use std::time::Duration;

use surehand_mcp::Change;
use surehand_transport::{HttpServerOptions, Method, SealKey};
use tokio::sync::Semaphore;

use crate::talk::Talk;
use crate::wire::{BOTH, EVENTS, JSON, Served, call, said, serve};

const PROGRESS: &str = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1,"total":2}}"#;
const HALFWAY: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","data":"halfway"}}"#;
const ALONE: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}"#;
const TOOLS_CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

async fn talk() -> (Served, Arc<Talk>) {
    let handler = Talk::handler();
    (serve(handler.clone(), HttpServerOptions::default()).await, handler)
}

async fn wait_for(semaphore: &Semaphore) {
    tokio::time::timeout(Duration::from_secs(20), semaphore.acquire()).await.unwrap().unwrap().forget();
}

/// The id of an event.
fn id_of(event: &str) -> &str {
    event.strip_prefix("id: ").and_then(|rest| rest.split('|').next()).unwrap()
}

/// The event without its id line.
fn data_of(event: &str) -> &str {
    event.split_once("|data: ").map_or(event, |(_, data)| data)
}

#[tokio::test]
async fn a_stateless_answer_is_json_unless_something_comes_before_it() {
    let (served, _) = talk().await;
    let answer = served.call("work", "").await;
    assert_eq!(answer.header("content-type").as_deref(), Some("application/json"));
    let worked = answer.text().await;
    assert!(worked.contains(r#""text":"worked""#), "{worked}");

    let meta = r#""progressToken":"p","io.modelcontextprotocol/logLevel":"warning","#;
    let mut answer = served.call("work", meta).await;
    assert_eq!(answer.header("content-type").as_deref(), Some("text/event-stream"));
    assert_eq!(answer.header("x-accel-buffering").as_deref(), Some("no"));
    let expected = [PROGRESS, HALFWAY, &worked].map(|message| format!("data: {message}"));
    assert_eq!(answer.events().await, expected);
}

#[tokio::test]
async fn a_session_gets_ids_and_since_2025_11_25_an_event_of_no_data_first() {
    let (served, _) = talk().await;
    for (revision, is_primed) in [("2025-03-26", false), ("2025-06-18", false), ("2025-11-25", true)] {
        let session = served.open(revision, "{}").await;
        let events = served.post(&session, &call(7, "work")).await.events().await;
        let number = id_of(&events[0]).split('.').next().unwrap();
        let mut expected = vec![
            format!("id: {number}.1|data: {PROGRESS}"),
            format!("id: {number}.2|data: {HALFWAY}"),
            format!("id: {number}.3|data: {}", said(7, "worked")),
        ];
        if is_primed {
            expected.insert(0, format!("id: {number}.0|retry: 500|data: "));
        }
        assert_eq!(events, expected, "{revision}");
    }
}

#[tokio::test]
async fn a_client_gets_the_form_that_it_takes() {
    let (served, _) = talk().await;
    let session = served.open("2025-11-25", "{}").await;
    let mine = ("Mcp-Session-Id", session.as_str());
    let only_json = [JSON, ("Accept", "application/json"), mine];
    let answer = served.send(Method::POST, "/mcp", &only_json, &call(1, "work")).await;
    assert_eq!(answer.text().await, said(1, "worked"));
    let ping = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    let mut answer = served.send(Method::POST, "/mcp", &[JSON, EVENTS, mine], ping).await;
    assert_eq!(answer.events().await, [r#"data: {"jsonrpc":"2.0","id":2,"result":{}}"#]);
}

#[tokio::test]
async fn a_session_whose_client_hangs_up_goes_on_and_its_answer_is_fetched_later() {
    let (served, handler) = talk().await;
    let session = served.open("2025-11-25", "{}").await;
    let mut answer = served.post(&session, &call(1, "hold")).await;
    let primer = answer.event().await;
    assert_eq!(data_of(&answer.event().await), ALONE);
    drop(answer);
    handler.go.add_permits(1);
    let mut rest = served.get(&session, id_of(&primer)).await;
    let events = rest.events().await;
    let told: Vec<&str> = events.iter().map(|event| data_of(event)).collect();
    assert_eq!(told, [ALONE, &said(1, "held")]);
    // And again from further on, as often as it likes.
    let mut rest = served.get(&session, id_of(&events[0])).await;
    assert_eq!(rest.events().await, events[1..]);
    let other = served.open("2025-11-25", "{}").await;
    assert_eq!(served.get(&other, id_of(&events[0])).await.status, 400, "it is another's stream");
}

#[tokio::test]
async fn hanging_up_is_how_a_stateless_request_is_cancelled() {
    let (served, handler) = talk().await;
    let mut answer = served.call("hold", r#""progressToken":"p","#).await;
    assert_eq!(answer.event().await, format!("data: {ALONE}"));
    assert_eq!(handler.dropped.available_permits(), 0);
    drop(answer);
    wait_for(&handler.dropped).await;
}

#[tokio::test]
async fn a_server_that_is_dropped_ends_its_streams_and_the_calls_behind_them() {
    let (served, handler) = talk().await;
    let session = served.open("2025-11-25", "{}").await;
    let mut streams = [
        served.call("hold", r#""progressToken":"p","#).await,
        served.post(&session, &call(1, "hold")).await,
        served.get(&session, "").await,
        served.ask("subscriptions/listen", "", r#""notifications":{},"#, "").await,
        served.send(Method::GET, "/sse", &[EVENTS], "").await,
    ];
    drop(served.server);
    for stream in &mut streams {
        stream.events().await;
    }
    for _ in 0..2 {
        wait_for(&handler.dropped).await;
    }
}

#[tokio::test]
async fn a_call_that_pauses_its_stream_is_answered_on_the_next_one() {
    let (served, handler) = talk().await;
    let session = served.open("2025-11-25", "{}").await;
    let mut answer = served.post(&session, &call(1, "pause")).await;
    let events = answer.events().await;
    assert_eq!((events.len(), data_of(&events[0])), (1, ""));
    let mut rest = served.get(&session, id_of(&events[0])).await;
    handler.go.add_permits(1);
    assert_eq!(data_of(&rest.event().await), said(1, "held"));
    assert_eq!(rest.event().await, "end");
    // Before there were events of no data, nothing could be taken up again, so nothing pauses.
    let session = served.open("2025-06-18", "{}").await;
    handler.go.add_permits(1);
    assert_eq!(served.post(&session, &call(1, "pause")).await.text().await, said(1, "held"));
}

#[tokio::test]
async fn a_question_comes_on_the_stream_of_its_call_and_its_answer_by_another_request() {
    let (served, _) = talk().await;
    let session = served.open("2025-06-18", r#"{"elicitation":{}}"#).await;
    let mut answer = served.post(&session, &call(1, "ask")).await;
    let question = answer.event().await;
    let question: serde_json::Value = serde_json::from_str(data_of(&question)).unwrap();
    assert_eq!(
        (question["method"].as_str(), question["params"]["message"].as_str()),
        (Some("elicitation/create"), Some("Who?"))
    );
    let reply = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"action":"decline"}}}}"#, question["id"]);
    // Nobody else answers it.
    let other = served.open("2025-06-18", "{}").await;
    assert_eq!(served.post(&other, &reply).await.status, 202);
    assert_eq!(served.post(&session, &reply).await.status, 202);
    assert_eq!(data_of(&answer.event().await), said(1, r#"{\"action\":\"decline\"}"#));
    assert_eq!(answer.event().await, "end");
}

#[tokio::test]
async fn a_call_that_is_cancelled_ends_its_stream() {
    let (served, handler) = talk().await;
    let session = served.open("2025-11-25", "{}").await;
    let mut answer = served.post(&session, &call(1, "hold")).await;
    answer.event().await;
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    assert_eq!(served.post(&session, cancel).await.status, 202);
    wait_for(&handler.dropped).await;
    assert!(answer.events().await.last().unwrap().contains("the request was cancelled by the client"));
}

#[tokio::test]
async fn a_session_hears_of_changes_on_its_own_stream_until_it_ends() {
    let (served, handler) = talk().await;
    let session = served.open("2025-06-18", "{}").await;
    let mut stream = served.get(&session, "").await;
    assert_eq!(stream.status, 200);
    let subscribe = |method: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"resources/{method}","params":{{"uri":"a:b"}}}}"#)
    };
    let updated = r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b"}}"#;
    let change = Change::Resource("a:b".to_owned());
    handler.announce(&change);
    assert_eq!(served.post(&session, &subscribe("subscribe")).await.status, 200);
    handler.announce(&change);
    handler.announce(&Change::Resource("other:".to_owned()));
    handler.announce(&Change::Tools);
    assert_eq!(data_of(&stream.event().await), updated);
    let last = stream.event().await;
    assert_eq!(data_of(&last), TOOLS_CHANGED);
    // What comes while the client is away waits for it.
    drop(stream);
    served.post(&session, &subscribe("unsubscribe")).await;
    handler.announce(&change);
    handler.announce(&Change::Tools);
    let mut stream = served.get(&session, id_of(&last)).await;
    assert_eq!(data_of(&stream.event().await), TOOLS_CHANGED);
    let mine = ("Mcp-Session-Id", session.as_str());
    assert_eq!(served.send(Method::DELETE, "/mcp", &[mine], "").await.status, 204);
    assert_eq!(stream.event().await, "end");
    assert_eq!(served.get(&session, "").await.status, 404);
}

#[tokio::test]
async fn the_level_of_log_messages_is_the_sessions_own() {
    let (served, _) = talk().await;
    let session = served.open("2025-06-18", "{}").await;
    let level = r#"{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"error"}}"#;
    assert_eq!(served.post(&session, level).await.status, 200);
    let other = served.open("2025-06-18", "{}").await;
    for (session, expected) in [(session, 2), (other, 3)] {
        assert_eq!(served.post(&session, &call(1, "work")).await.events().await.len(), expected);
    }
}

#[tokio::test]
async fn a_stream_of_changes_is_acknowledged_tells_what_was_asked_for_and_ends_with_an_answer() {
    let (served, handler) = talk().await;
    let wanted = r#""notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["a:b"]},"#;
    let mut stream = served.ask("subscriptions/listen", "", wanted, "").await;
    let tag = r#""_meta":{"io.modelcontextprotocol/subscriptionId":1}"#;
    let granted = r#"{"toolsListChanged":true,"resourceSubscriptions":["a:b"]}"#;
    let acknowledged = format!(
        r#"data: {{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{{tag},"notifications":{granted}}}}}"#
    );
    assert_eq!(stream.event().await, acknowledged);
    for change in [Change::Resource("other:".to_owned()), Change::Prompts, Change::Tools] {
        handler.announce(&change);
    }
    let changed = format!(
        r#"data: {{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{{{tag}}}}}"#
    );
    assert_eq!(stream.event().await, changed);
    served.stop.cancel();
    let last = format!(r#"data: {{"jsonrpc":"2.0","id":1,"result":{{"resultType":"complete",{tag}}}}}"#);
    assert_eq!(stream.events().await, [last]);
    served.server.finished().await.unwrap();
}

#[tokio::test]
async fn a_server_of_the_same_key_takes_over_the_sessions_of_another() {
    let key = SealKey::random().unwrap();
    let options = || HttpServerOptions { seal_key: Some(key.clone()), ..HttpServerOptions::default() };
    let (first, second) = (serve(Talk::handler(), options()).await, serve(Talk::handler(), options()).await);
    let (stranger, _) = talk().await;
    let session = first.open("2025-06-18", "{}").await;
    let ping = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    assert_eq!(second.post(&session, ping).await.status, 200);
    assert_eq!(stranger.post(&session, ping).await.status, 404);
}

#[tokio::test]
async fn several_messages_in_one_body_are_answered_in_one_where_the_revision_has_that() {
    let (served, _) = talk().await;
    let session = served.open("2025-03-26", "{}").await;
    let ping = |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
    let pong = |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
    let both = format!("[{},{}]", ping(1), ping(2));
    assert_eq!(served.post(&session, &both).await.text().await, format!("[{},{}]", pong(1), pong(2)));
    let quiet = r#"[{"jsonrpc":"2.0","method":"notifications/initialized"}]"#;
    assert_eq!(served.post(&session, quiet).await.status, 202);
    let mixed = format!("[{},{}]", ping(1), call(2, "work"));
    let events = served.post(&session, &mixed).await.events().await;
    assert_eq!(data_of(&events[2]), format!("[{},{}]", pong(1), said(2, "worked")));
    assert_eq!(served.post(&session, "[]").await.status, 400);
    let later = served.open("2025-06-18", "{}").await;
    assert_eq!(served.post(&later, &both).await.status, 400);
}

#[tokio::test]
async fn the_http_of_2024_11_05_has_a_stream_and_a_path_for_what_is_sent() {
    let (served, handler) = talk().await;
    let mut stream = served.send(Method::GET, "/sse", &[EVENTS], "").await;
    let endpoint = stream.event().await;
    let path = endpoint.strip_prefix("event: endpoint|data: ").unwrap().to_owned();
    assert!(path.starts_with("/messages?sessionId="), "{path}");
    let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{}}}"#;
    assert_eq!(served.send(Method::POST, &path, &[JSON], initialize).await.status, 202);
    assert!(stream.event().await.starts_with(
        r#"event: message|data: {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2024-11-05""#
    ));
    let broken_up = call(1, "work").replace(',', ",\n");
    assert_eq!(served.send(Method::POST, &path, &[JSON, BOTH], &broken_up).await.status, 202);
    handler.announce(&Change::Tools);
    for expected in [PROGRESS, HALFWAY, &said(1, "worked")] {
        let event = stream.event().await;
        let event = if data_of(&event) == TOOLS_CHANGED { stream.event().await } else { event };
        assert_eq!(event, format!("event: message|data: {expected}"));
    }
    // Hanging up ends what still runs.
    assert_eq!(served.send(Method::POST, &path, &[JSON], &call(2, "hold")).await.status, 202);
    while !stream.event().await.contains(ALONE) {}
    drop(stream);
    wait_for(&handler.dropped).await;
    assert_eq!(served.send(Method::POST, &path, &[JSON], &call(3, "work")).await.status, 404);
}

#[tokio::test]
async fn what_one_connection_of_2024_11_05_began_another_does_not_see() {
    let (served, _) = talk().await;
    let mut connections = Vec::new();
    for _ in 0..2 {
        let mut stream = served.send(Method::GET, "/sse", &[EVENTS], "").await;
        let path = stream.event().await.strip_prefix("event: endpoint|data: ").unwrap().to_owned();
        let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}"#;
        served.send(Method::POST, &path, &[JSON], initialize).await;
        stream.event().await;
        connections.push((path, stream));
    }
    let task = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work","task":{}}}"#;
    served.send(Method::POST, &connections[0].0, &[JSON], task).await;
    while !connections[0].1.event().await.contains(r#""task":{"#) {}
    let list = r#"{"jsonrpc":"2.0","id":2,"method":"tasks/list"}"#;
    for (at, (path, stream)) in connections.iter_mut().enumerate() {
        served.send(Method::POST, path, &[JSON], list).await;
        let listed = loop {
            let event = stream.event().await;
            if event.contains(r#""id":2"#) {
                break event;
            }
        };
        assert_eq!(listed.contains(r#""taskId""#), at == 0, "{listed}");
    }
}
