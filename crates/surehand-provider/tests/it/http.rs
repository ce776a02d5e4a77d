use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use surehand_model::{FinishReason, Message, ModelEvent, ModelRequest, ModelTurn, RawJson, Role, Tool};
use surehand_provider::{Provider, ProviderError};
use tokio::time::timeout;

use crate::fake::{Fake, Reply};

const HALF: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"half an\"}}]}\n\n";
const WHOLE: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"whole\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

fn request() -> ModelRequest {
    let schema = RawJson::parse(r#"{"type":"object","properties":{"city":{"type":"string"}}}"#).unwrap();
    let tools = vec![
        Tool::new("weather__get_weather", "", schema),
        Tool::new("time__now", "", RawJson::empty_object()),
    ];
    ModelRequest::new("ignored", vec![Message::text(Role::User, "上海?")], tools)
}

async fn ask(provider: &Arc<dyn Provider>) -> (Result<ModelTurn, ProviderError>, Vec<ModelEvent>) {
    let mut events = Vec::new();
    let request = request();
    let mut sink = |event| events.push(event);
    let outcome = timeout(Duration::from_secs(30), provider.answer(&request, &mut sink)).await.unwrap();
    (outcome, events)
}

/// What was noted, without the place.
fn notes(events: &[ModelEvent]) -> Vec<String> {
    events
        .iter()
        .filter_map(|event| match event {
            ModelEvent::Note(note) => Some(format!("{}: {}", note.what, note.why)),
            _ => None,
        })
        .collect()
}

fn golden(file: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../surehand-dialect/tests/golden");
    std::fs::read_to_string(folder.join(file)).unwrap()
}

#[tokio::test]
async fn each_dialect_is_streamed_from_its_own_path_with_its_own_key_header() {
    for (id, file, path, key) in [
        (
            "openai/gpt-test",
            "openai/parallel_stream.sse",
            "post /v1/chat/completions ",
            "authorization: bearer k-123456",
        ),
        (
            "anthropic/claude-test",
            "anthropic/thinking_and_calls_stream.sse",
            "post /v1/messages ",
            "x-api-key: k-123456",
        ),
        (
            "gemini/gemini-test",
            "gemini/parallel_signed_stream.sse",
            "post /v1beta/models/gemini-test:streamgeneratecontent?alt=sse ",
            "x-goog-api-key: k-123456",
        ),
    ] {
        let fake = Fake::start(vec![Reply::stream(&golden(file))]).await;
        let provider = fake.provider(id, Some("K-123456"));
        let (turn, events) = ask(&provider).await;
        let turn = turn.unwrap();
        let arguments: Vec<String> = turn
            .to_message()
            .calls()
            .map(|call| format!("{} {}", call.name, call.arguments.as_ref().unwrap()))
            .collect();
        assert_eq!(turn.finish.reason, FinishReason::ToolCalls);
        assert_eq!(
            arguments,
            [
                r#"weather__get_weather {"city":"上海"}"#,
                if id.starts_with("openai") {
                    r#"weather__get_weather {"city": "北京"}"#
                } else {
                    r#"weather__get_weather {"city":"北京"}"#
                },
                "time__now {}"
            ],
            "{id}"
        );
        assert!(events.contains(&ModelEvent::Text("我来".to_owned())), "{id}: {events:?}");
        assert_eq!(events.iter().filter(|event| matches!(event, ModelEvent::Call(_))).count(), 3, "{id}");
        let request = &fake.requests()[0];
        assert!(request.head.starts_with(path), "{}", request.head);
        assert!(request.head.contains(key), "{}", request.head);
        if !id.starts_with("gemini") {
            let model = id.split_once('/').unwrap().1;
            assert!(request.body.contains(&format!("\"model\":\"{model}\"")), "{}", request.body);
        }
        assert_eq!(provider.id(), id);
    }
}

#[tokio::test]
async fn an_answer_that_comes_whole_although_a_stream_was_asked_for_is_read_too() {
    let fake = Fake::start(vec![Reply::json(200, &golden("openai/parallel.json"))]).await;
    let (turn, events) = ask(&fake.provider("openai/x", None)).await;
    assert_eq!(turn.unwrap().to_message().calls().count(), 3);
    assert!(events.contains(&ModelEvent::Text("我来查。".to_owned())));
}

#[tokio::test]
async fn failures_of_the_provider_are_tried_again_and_each_try_is_told() {
    for status in [408, 429, 500, 502, 503, 504, 529] {
        let busy = || Reply::json(status, r#"{"error":{"message":"busy"}}"#);
        let fake = Fake::start(vec![busy(), busy(), Reply::stream(WHOLE)]).await;
        let (turn, events) = ask(&fake.provider("openai/x", None)).await;
        assert_eq!(turn.unwrap().to_message().joined_text(), "whole", "{status}");
        let told = notes(&events);
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(
            told[0].starts_with("asking again in 0.0 s (try 2 of 3): ") && told[0].ends_with("busy"),
            "{told:?}"
        );
        assert_eq!(fake.requests().len(), 3);
    }
}

#[tokio::test]
async fn tries_end_and_the_last_failure_is_told() {
    let busy = || Reply::json(503, r#"{"error":{"message":"busy"}}"#);
    let fake = Fake::start(vec![busy(), busy(), busy(), Reply::stream(WHOLE)]).await;
    let (outcome, _) = ask(&fake.provider("openai/x", None)).await;
    assert_eq!(outcome.unwrap_err().to_string(), "openai is not reachable: it failed with status 503: busy");
    assert_eq!(fake.requests().len(), 3);
}

#[tokio::test]
async fn retry_after_is_kept_to_and_one_that_is_too_long_is_passed_on() {
    let slow = |wait: &str| Reply::new(429, &[("retry-after", wait)], r#"{"error":{"message":"slow down"}}"#);
    let fake = Fake::start(vec![slow("0.2"), Reply::stream(WHOLE)]).await;
    let begun = tokio::time::Instant::now();
    let (turn, events) = ask(&fake.provider("openai/x", None)).await;
    assert_eq!(turn.unwrap().to_message().joined_text(), "whole");
    assert!(begun.elapsed() >= Duration::from_millis(200));
    assert_eq!(
        notes(&events),
        ["asking again in 0.2 s (try 2 of 3): openai limits the rate of requests: slow down"]
    );

    let fake = Fake::start(vec![slow("3600")]).await;
    let (outcome, _) = ask(&fake.provider("openai/x", None)).await;
    let Err(ProviderError::RateLimited { retry_after, .. }) = outcome else { panic!("{outcome:?}") };
    assert_eq!((retry_after, fake.requests().len()), (Some(Duration::from_secs(3600)), 1));
}

#[tokio::test]
async fn a_refusal_is_told_once_in_the_providers_words() {
    for (reply, says) in [
        (
            Reply::json(400, r#"{"error":{"message":"unknown field"}}"#),
            "openai rejected the request (400): unknown field",
        ),
        (
            Reply::json(404, r#"{"error":"model not found"}"#),
            "openai rejected the request (404): model not found",
        ),
        (
            Reply::new(501, &[("content-type", "text/html")], "<html><h1>Not here</h1></html>"),
            "openai is not reachable: it failed with status 501: Not here",
        ),
        (
            Reply::json(429, r#"{"error":{"message":"no money","type":"insufficient_quota"}}"#),
            "openai limits the rate of requests: no money",
        ),
        (
            Reply::new(503, &[("x-should-retry", "false")], r#"{"error":{"message":"for good"}}"#),
            "openai is not reachable: it failed with status 503: for good",
        ),
    ] {
        let fake = Fake::start(vec![reply, Reply::stream(WHOLE)]).await;
        let (outcome, _) = ask(&fake.provider("openai/x", None)).await;
        assert_eq!(outcome.unwrap_err().to_string(), says);
        assert_eq!(fake.requests().len(), 1, "{says}");
    }
}

#[tokio::test]
async fn a_web_page_is_no_short_answer_and_is_not_asked_for_again() {
    let page = || Reply::new(200, &[("content-type", "text/html; charset=utf-8")], "<html>Welcome</html>");
    let fake = Fake::start(vec![page(), page()]).await;
    let (answer, events) = ask(&fake.provider("openai/x", None)).await;
    assert_eq!(
        answer.unwrap_err().to_string(),
        "openai is not reachable: a web page came back and no answer of a model; is the base URL right? Many end in /v1"
    );
    assert_eq!((notes(&events), fake.requests().len()), (vec![], 1));
}

#[tokio::test]
async fn a_refused_login_names_the_variable_and_never_the_key() {
    for status in [401, 403] {
        let body = r#"{"error":{"message":"Incorrect API key provided: sk-secret-key."}}"#;
        let fake = Fake::start(vec![Reply::json(status, body)]).await;
        let (outcome, events) = ask(&fake.provider("deepseek/x", Some("sk-secret-key"))).await;
        let error = outcome.unwrap_err();
        assert_eq!(
            error.to_string(),
            "deepseek refused the login: Incorrect API key provided: ***. (check the key in DEEPSEEK_API_KEY)"
        );
        assert!(!format!("{error:?}{events:?}").contains("secret"));
    }
    let fake = Fake::start(vec![Reply::json(401, "{}")]).await;
    let (outcome, _) = ask(&fake.provider("gemini/x", None)).await;
    assert!(outcome.unwrap_err().to_string().contains("set GEMINI_API_KEY or GOOGLE_API_KEY"));
}

#[tokio::test]
async fn a_stream_that_ends_early_is_never_a_short_answer_and_not_tried_again_once_shown() {
    for reply in [Reply::stream(HALF), Reply::broken_stream(HALF)] {
        let fake = Fake::start(vec![reply, Reply::stream(WHOLE)]).await;
        let (outcome, events) = ask(&fake.provider("openai/x", None)).await;
        let error = outcome.unwrap_err().to_string();
        assert!(
            error.starts_with("openai gave a broken answer: the answer ended before it was whole"),
            "{error}"
        );
        assert_eq!(events, [ModelEvent::Text("half an".to_owned())]);
        assert_eq!(fake.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_stream_that_breaks_before_anything_was_shown_is_tried_again() {
    let overloaded = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";
    let end = golden("anthropic/thinking_and_calls_stream.sse");
    for first in [
        Reply::stream(overloaded),
        Reply::stream(""),
        Reply::stream("event: message_start\ndata: {\"type\":\"mess"),
        Reply::broken_stream(""),
    ] {
        let fake = Fake::start(vec![first, Reply::stream(&end)]).await;
        let (turn, _) = ask(&fake.provider("anthropic/x", None)).await;
        assert_eq!(turn.unwrap().to_message().calls().count(), 3);
        assert_eq!(fake.requests().len(), 2);
    }
}

#[tokio::test]
async fn nobody_listening_is_tried_again_and_then_told() {
    let fake = Fake::start(vec![]).await;
    let address = fake.address.clone();
    let provider = fake.provider("openai/x", None);
    drop(fake);
    let (outcome, events) = ask(&provider).await;
    let error = outcome.unwrap_err().to_string();
    assert!(error.starts_with(&format!("openai is not reachable: `{address}`")), "{error}");
    assert_eq!(notes(&events).len(), 2);
}

#[tokio::test]
async fn a_broken_event_is_told_with_its_place() {
    let fake = Fake::start(vec![Reply::stream(&format!("{HALF}data: {{oops\n\n"))]).await;
    let (outcome, _) = ask(&fake.provider("openai/x", None)).await;
    let error = outcome.unwrap_err().to_string();
    assert!(
        error.starts_with("openai gave a broken answer: event 2 is not what this provider sends"),
        "{error}"
    );
}

#[tokio::test]
async fn dropping_the_future_closes_the_connection() {
    let mut fake = Fake::start(vec![Reply::held_stream(HALF)]).await;
    let provider = fake.provider("openai/x", None);
    let request = request();
    let (tell, mut shown) = tokio::sync::mpsc::unbounded_channel();
    let mut sink = move |event| tell.send(event).unwrap();
    {
        let answer = provider.answer(&request, &mut sink);
        tokio::pin!(answer);
        tokio::select! {
            outcome = &mut answer => panic!("it cannot end: {outcome:?}"),
            event = shown.recv() => assert_eq!(event, Some(ModelEvent::Text("half an".to_owned()))),
        }
    }
    timeout(Duration::from_secs(30), fake.closed.recv()).await.unwrap().unwrap();
}

#[tokio::test]
async fn what_was_left_out_of_requests_is_told_once_and_not_each_time() {
    let fake = Fake::start(vec![Reply::stream(WHOLE), Reply::stream(WHOLE)]).await;
    let provider = fake.provider("openai/x", None);
    let mut request = request();
    request.tools.push(Tool::new("odd", "", RawJson::parse(r#"{"type":"string"}"#).unwrap()));
    let mut told = Vec::new();
    for _ in 0..2 {
        let mut events = Vec::new();
        provider.answer(&request, &mut |event| events.push(event)).await.unwrap();
        told.push(notes(&events).len());
    }
    assert_eq!(told, [1, 0]);
    assert!(!fake.requests()[0].body.contains("odd"));
}

#[tokio::test]
async fn an_end_mark_ends_the_answer_even_where_the_server_keeps_the_stream_open() {
    let mut fake = Fake::start(vec![Reply::held_stream(WHOLE)]).await;
    let (turn, _) = ask(&fake.provider("openai/x", None)).await;
    assert_eq!(turn.unwrap().to_message().joined_text(), "whole");
    timeout(Duration::from_secs(30), fake.closed.recv()).await.unwrap().unwrap();
}
