use std::time::Duration;

use surehand_model::{FinishReason, Message, ModelEvent, PartKind, Role, ToolCall, ToolResult};
use surehand_provider::Provider;

use crate::{answer, ask, calls, provider_in, weather_and_time};

#[tokio::test]
async fn the_answer_is_written_from_the_data_in_the_users_language() {
    let dir = tempfile::tempdir().unwrap();
    let provider = provider_in(dir.path());
    let call = ToolCall::new("local_1", "get_weather", r#"{"city":"北京"}"#);
    let result = ToolResult::text(
        call.id.clone(),
        "get_weather",
        r#"{"city":"北京","temperature":"3.7 °C","sky":"晴"}"#,
    );
    let mut request = ask("北京今天天气怎么样？", weather_and_time());
    request.messages.push(Message { role: Role::Assistant, parts: vec![PartKind::Call(call).into()] });
    request.messages.push(Message::results(vec![result]));
    let (turn, events) = answer(&provider, &request).await;
    assert_eq!(calls(&turn), []);
    let text = turn.to_message().joined_text();
    assert!(text.contains("3.7"), "{text}");
    let numbers: Vec<&str> = text
        .split(|c: char| !c.is_ascii_digit() && c != '.')
        .filter(|run| run.chars().any(|c| c.is_ascii_digit()))
        .collect();
    assert!(numbers.iter().all(|number| number.trim_matches('.') == "3.7"), "{text}");
    let streamed: String = events
        .iter()
        .filter_map(|event| match event {
            ModelEvent::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(streamed, text);
    assert_eq!(turn.finish.reason, FinishReason::Stop);
}

#[tokio::test]
async fn a_dropped_question_makes_room_for_the_next_one() {
    let dir = tempfile::tempdir().unwrap();
    let provider = provider_in(dir.path());
    provider.load().await.unwrap();
    let mut endless = ask("Write a very long story about a ship, with many chapters.", vec![]);
    endless.max_output_tokens = Some(4000);
    let (first_word, mut heard) = tokio::sync::mpsc::unbounded_channel();
    {
        let mut sink = |event| {
            if matches!(event, ModelEvent::Text(_)) {
                let _ = first_word.send(());
            }
        };
        tokio::select! {
            _ = provider.answer(&endless, &mut sink) => panic!("it cannot have finished"),
            _ = heard.recv() => {}
        }
    }
    let mut short = ask("Say hello.", vec![]);
    short.max_output_tokens = Some(2);
    let next = tokio::time::timeout(Duration::from_secs(30), answer(&provider, &short)).await;
    let (turn, _) = next.expect("the story went on although nobody wanted it");
    assert!(turn.usage.output_tokens <= 2);
}

#[tokio::test]
async fn a_prompt_longer_than_the_context_is_an_error_that_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let provider = provider_in(dir.path());
    let request = ask(&"word ".repeat(9000), vec![]);
    let error = provider.answer(&request, &mut |_| ()).await.unwrap_err().to_string();
    assert!(error.contains("tokens and the context holds 8192; ask a shorter question"), "{error}");
}
