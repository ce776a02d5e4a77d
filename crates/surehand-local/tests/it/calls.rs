use surehand_model::{FinishReason, ModelEvent, ToolChoice};

use crate::{answer, ask, calls, pair, provider_in, tool, weather_and_time};

#[tokio::test]
async fn three_cities_are_three_calls_in_one_turn() {
    let dir = tempfile::tempdir().unwrap();
    let provider = provider_in(dir.path());
    let (turn, events) = answer(&provider, &ask("上海、北京、广州天气", weather_and_time())).await;
    let expected =
        ["上海", "北京", "广州"].map(|city| pair("get_weather", &format!(r#"{{"city":"{city}"}}"#)));
    assert_eq!(calls(&turn), expected);
    assert_eq!(turn.finish.reason, FinishReason::ToolCalls);
    let message = turn.to_message();
    let ids: Vec<&str> = message.calls().map(|call| call.id.0.as_str()).collect();
    assert_eq!(ids, ["local_1", "local_2", "local_3"]);
    let told: Vec<_> = events.iter().filter(|event| matches!(event, ModelEvent::Call(_))).collect();
    assert_eq!(told.len(), 3);
    assert!(turn.usage.input_tokens > 100 && turn.usage.output_tokens > 20, "{:?}", turn.usage);

    // What was read for these tools is kept: in this process, and in a file for the next one.
    let prefixes = || std::fs::read_dir(dir.path().join("prefixes")).unwrap().count();
    assert_eq!(prefixes(), 1);
    let (again, _) = answer(&provider, &ask("武汉天气", weather_and_time())).await;
    assert_eq!(calls(&again), [pair("get_weather", r#"{"city":"武汉"}"#)]);
    let later = provider_in(dir.path());
    let (later_turn, _) = answer(&later, &ask("武汉天气", weather_and_time())).await;
    assert_eq!(calls(&later_turn), calls(&again));
    assert_eq!(prefixes(), 1);
}

#[tokio::test]
async fn a_call_is_valid_whatever_the_schema_demands() {
    let dir = tempfile::tempdir().unwrap();
    let provider = provider_in(dir.path());
    let schema = r#"{
        "type": "object",
        "properties": {
            "level": {"enum": ["low", "high"]},
            "count": {"type": "integer", "minimum": 2, "maximum": 4},
            "tags": {"type": "array", "items": {"type": "string", "pattern": "^[a-z]{3}$"}, "minItems": 1, "maxItems": 2},
            "either": {"oneOf": [{"type": "boolean"}, {"type": "null"}]},
            "odd": {"not": {"type": "string"}, "type": ["integer", "string"]}
        },
        "required": ["level", "count", "tags", "either"],
        "additionalProperties": false
    }"#;
    let tools =
        vec![tool("configure", "Sets things up.", schema), tool("other", "Does something else.", "{}")];
    let mut request = ask("Set it up with 900 of the medium level, tagged Überraschung", tools);
    request.tool_choice = ToolChoice::Named("configure".to_owned());
    let (turn, _) = answer(&provider, &request).await;
    let called = calls(&turn);
    assert_eq!(called.len(), 1, "{called:?} {:?}", turn.notes);
    let schema = surehand_model::RawJson::parse(schema).unwrap();
    let arguments = surehand_model::Json::parse(&called[0].1).unwrap();
    let violations = surehand_schema::Validator::new(&schema).unwrap().check(&arguments);
    assert!(violations.is_empty(), "{arguments} {violations:?}");
}

#[tokio::test]
async fn nothing_is_called_where_nothing_may_or_need_be() {
    let dir = tempfile::tempdir().unwrap();
    let provider = provider_in(dir.path());
    let mut request = ask("Weather in Rome?", weather_and_time());
    request.tool_choice = ToolChoice::None;
    request.max_output_tokens = Some(8);
    let (turn, _) = answer(&provider, &request).await;
    assert_eq!(calls(&turn), []);
    let (turn, _) = answer(&provider, &ask("你好！", weather_and_time())).await;
    assert_eq!(calls(&turn), []);
    assert!(!turn.to_message().joined_text().is_empty());
}
