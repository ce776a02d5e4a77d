use surehand_model::{
    Message, ModelEvent, ModelRequest, ModelTurn, RawJson, Role, Tool, ToolCall, ToolResult,
};
use surehand_provider::{Provider, ProviderError, ScriptProvider};

fn tool(name: &str) -> Tool {
    Tool::new(name, "", RawJson::empty_object())
}

fn asked(text: &str, tools: &[&str]) -> ModelRequest {
    let tools = tools.iter().map(|name| tool(name)).collect();
    ModelRequest::new("script", vec![Message::text(Role::User, text)], tools)
}

async fn play(
    provider: &ScriptProvider,
    request: &ModelRequest,
) -> Result<(ModelTurn, Vec<ModelEvent>), String> {
    let mut events = Vec::new();
    match provider.answer(request, &mut |event| events.push(event)).await {
        Ok(turn) => Ok((turn, events)),
        Err(error @ ProviderError::Script { .. }) => Err(error.to_string()),
        Err(other) => panic!("not a script error: {other:?}"),
    }
}

fn calls(turn: &ModelTurn) -> Vec<(String, String, String)> {
    turn.to_message()
        .calls()
        .map(|call: &ToolCall| (call.id.0.clone(), call.name.clone(), call.raw_arguments.clone()))
        .collect()
}

fn line(id: &str, name: &str, arguments: &str) -> (String, String, String) {
    (id.to_owned(), name.to_owned(), arguments.to_owned())
}

#[tokio::test]
async fn a_line_is_a_turn_and_arguments_keep_their_bytes() {
    let script = ScriptProvider::parse(
        "// first\n\n  {\"text\":\"Looking.\",\"tool_calls\":[{\"id\":\"a\",\"name\":\"get_weather\",\"arguments\":{\"n\": 1.10}},\
         {\"name\":\"get_weather\",\"arguments\":\"{broken\"},{\"name\":\"now\"}]}\n{\"text\":\"Done.\"}\n",
    )
    .unwrap();
    let request = asked("weather?", &["mcp__weather__get_weather", "mcp__time__now"]);
    let (turn, events) = play(&script, &request).await.unwrap();
    assert_eq!(
        calls(&turn),
        [
            line("a", "mcp__weather__get_weather", "{\"n\": 1.10}"),
            line("call_1_2", "mcp__weather__get_weather", "{broken"),
            line("call_1_3", "mcp__time__now", ""),
        ]
    );
    assert_eq!(events.len(), 7);
    assert_eq!(script.remaining(), 1);
}

#[tokio::test]
async fn a_bare_name_that_two_tools_fit_stays_as_it_is() {
    let script = ScriptProvider::parse(r#"{"tool_calls":[{"name":"search","arguments":{}}]}"#).unwrap();
    let (turn, _) = play(&script, &asked("?", &["mcp__a__search", "mcp__b__search"])).await.unwrap();
    assert_eq!(calls(&turn), [line("call_1_1", "search", "{}")]);
}

#[tokio::test]
async fn a_wrong_line_is_named_with_its_number() {
    for (text, says) in [
        ("{\"text\":\"a\"}\n{\"txt\":\"b\"}", "line 2: unknown field `txt`"),
        ("\n\n{}", "line 3: it has neither `text` nor `tool_calls`"),
        ("// c\n{\"text\":", "line 2: EOF"),
        ("{\"text\":\"a\",\"finish\":\"end\"}", "`finish` is `stop`, `tool_calls` or `length`, not `end`"),
    ] {
        let error = ScriptProvider::parse(text).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[tokio::test]
async fn a_call_without_its_result_does_not_fit() {
    let conversation = |results: Vec<&str>| {
        let parts =
            ["a", "b"].map(|id| surehand_model::PartKind::Call(ToolCall::new(id, "t", "{}")).into()).into();
        let results = results.into_iter().map(|id| ToolResult::text(id.into(), "t", "ok")).collect();
        ModelRequest::new(
            "script",
            vec![
                Message::text(Role::User, "go"),
                Message { role: Role::Assistant, parts },
                Message::results(results),
            ],
            vec![tool("t")],
        )
    };
    for (results, says) in [
        (vec!["a"], Some("the call `b` has no result right after it")),
        (vec!["a", "b", "c"], Some("the result `c` answers no call right before it")),
        (vec!["b", "a"], Some("another order (b, a) than the calls (a, b)")),
        (vec!["a", "b", "a"], Some("several results: a, b, a")),
        (vec!["a", "b"], None),
    ] {
        let script = ScriptProvider::parse(r#"{"text":"fine"}"#).unwrap();
        let outcome = play(&script, &conversation(results)).await;
        match says {
            Some(says) => {
                let error = outcome.unwrap_err();
                assert!(error.contains(says), "{error}");
            }
            None => assert_eq!(outcome.unwrap().0.to_message(), Message::text(Role::Assistant, "fine")),
        }
    }
}

#[tokio::test]
async fn being_asked_once_too_often_is_an_error() {
    let script = ScriptProvider::parse(r#"{"text":"only"}"#).unwrap();
    let request = asked("?", &[]);
    play(&script, &request).await.unwrap();
    let error = play(&script, &request).await.unwrap_err();
    assert_eq!(error, "the script does not fit: it has 1 turn, and the model was asked once more");
}

#[tokio::test]
async fn what_the_model_should_have_been_told_is_checked() {
    let script = ScriptProvider::parse(
        "{\"expect\":[\"Shang\",\"hai\"],\"text\":\"1\"}\n{\"expect\":\"Paris\",\"text\":\"2\"}",
    );
    let script = script.unwrap();
    let request = asked("Shanghai", &[]);
    play(&script, &request).await.unwrap();
    let error = play(&script, &request).await.unwrap_err();
    assert_eq!(
        error,
        "the script does not fit: line 2: expected to be told \"Paris\", but was told \"Shanghai\""
    );
}

#[tokio::test(start_paused = true)]
async fn a_delay_is_waited_out() {
    let script = ScriptProvider::parse(r#"{"text":"late","delay_ms":90000}"#).unwrap();
    let begun = tokio::time::Instant::now();
    play(&script, &asked("?", &[])).await.unwrap();
    assert_eq!(begun.elapsed().as_secs(), 90);
}
