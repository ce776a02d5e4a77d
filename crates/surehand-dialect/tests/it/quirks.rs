//! Streams and answers as endpoints really send them, each kind once.

use surehand_model::{FinishReason, ModelEvent, ModelTurn, Usage};

use crate::support::{calls, dialect, names, stream};

/// Reads OpenAI pieces of calls: each text is the `tool_calls` list of one event. Whole JSON objects are events of their own.
fn pieces(lists: &[&str]) -> ModelTurn {
    pieces_ending(lists, "\"tool_calls\"").1
}

fn pieces_ending(lists: &[&str], finish: &str) -> (Vec<ModelEvent>, ModelTurn) {
    let mut events: Vec<String> = lists
        .iter()
        .map(|list| {
            if list.starts_with('{') {
                (*list).to_owned()
            } else {
                format!(r#"{{"choices":[{{"index":0,"delta":{{"tool_calls":{list}}}}}]}}"#)
            }
        })
        .collect();
    events.push(format!(r#"{{"choices":[{{"index":0,"delta":{{}},"finish_reason":{finish}}}]}}"#));
    events.push("[DONE]".to_owned());
    stream("openai", events).unwrap()
}

const TWO: [&str; 2] =
    [r#"a weather__get_weather {"city":"上海"}"#, r#"b weather__get_weather {"city":"北京"}"#];

#[test]
fn pieces_without_any_index_belong_to_the_last_call_that_began() {
    let turn = pieces(&[
        r#"[{"id":"a","type":"function","function":{"name":"weather__get_weather","arguments":"{\"city\":"}}]"#,
        r#"[{"function":{"arguments":"\"上海\"}"}}]"#,
        r#"[{"id":"b","function":{"name":"weather__get_weather","arguments":""}}]"#,
        r#"[{"function":{"arguments":"{\"city\":\"北京\"}"}}]"#,
    ]);
    assert_eq!(calls(&turn), TWO);
}

#[test]
fn an_index_that_is_null_is_no_index() {
    let turn = pieces(&[
        r#"[{"index":null,"id":"a","function":{"name":"weather__get_weather","arguments":"{\"city\":"}}]"#,
        r#"[{"index":null,"id":null,"function":{"name":null,"arguments":"\"上海\"}"}}]"#,
    ]);
    assert_eq!(calls(&turn), TWO[..1]);
}

#[test]
fn an_index_on_the_first_piece_only_is_enough() {
    let turn = pieces(&[
        r#"[{"index":0,"id":"a","function":{"name":"weather__get_weather","arguments":"{\"ci"}}]"#,
        r#"[{"function":{"arguments":"ty\":\"上"}}]"#,
        r#"[{"function":{"arguments":"海\"}"}}]"#,
    ]);
    assert_eq!(calls(&turn), TWO[..1]);
}

#[test]
fn calls_that_share_index_0_are_told_apart_by_their_ids() {
    let turn = pieces(&[
        r#"[{"index":0,"id":"a","function":{"name":"weather__get_weather","arguments":"{\"city\":\"上海\"}"}}]"#,
        r#"[{"index":0,"id":"b","function":{"name":"weather__get_weather","arguments":"{\"city\":\"北京\"}"}}]"#,
    ]);
    assert_eq!(calls(&turn), TWO);
}

#[test]
fn calls_that_share_index_0_and_have_no_ids_are_told_apart_once_the_first_is_whole() {
    let turn = pieces(&[
        r#"[{"index":0,"function":{"name":"weather__get_weather","arguments":"{\"city\":\"上海\"}"}}]"#,
        r#"[{"index":0,"function":{"name":"weather__get_weather","arguments":"{\"city\":\"北京\"}"}}]"#,
        r#"[{"index":0,"function":{"name":"time__now","arguments":""}}]"#,
    ]);
    assert_eq!(
        calls(&turn),
        [
            r#"call_1 weather__get_weather {"city":"上海"}"#,
            r#"call_2 weather__get_weather {"city":"北京"}"#,
            "call_3 time__now {}"
        ]
    );
    assert!(turn.to_message().calls().all(|call| call.id_minted));
}

#[test]
fn two_pieces_of_one_call_in_one_event_are_joined() {
    let turn = pieces(&[
        r#"[{"index":0,"id":"a","function":{"name":"weather__get_weather","arguments":""}},{"index":0,"function":{"arguments":"{\"city\":\"上海\"}"}}]"#,
    ]);
    assert_eq!(calls(&turn), TWO[..1]);
}

#[test]
fn a_piece_on_an_index_that_never_began_belongs_to_the_only_open_call() {
    let turn = pieces(&[
        r#"[{"index":0,"id":"a","function":{"name":"weather__get_weather","arguments":"{\"city\":"}}]"#,
        r#"[{"index":1,"function":{"arguments":"\"上海\"}"}}]"#,
    ]);
    assert_eq!(calls(&turn), TWO[..1]);
}

#[test]
fn a_piece_that_could_be_of_several_calls_makes_none_of_them_runnable() {
    let turn = pieces(&[
        r#"[{"index":0,"id":"a","function":{"name":"weather__get_weather","arguments":"{\"city\":"}}]"#,
        r#"[{"index":1,"id":"b","function":{"name":"weather__get_weather","arguments":"{\"city\":"}}]"#,
        r#"[{"index":7,"function":{"arguments":"\"上海\"}"}}]"#,
        r#"[{"index":0,"function":{"arguments":"\"x\"}"}},{"index":1,"function":{"arguments":"\"y\"}"}}]"#,
    ]);
    assert!(turn.to_message().calls().all(|call| call.arguments.is_none()));
    assert_eq!(
        turn.notes.iter().map(|note| note.what.as_str()).collect::<Vec<_>>(),
        ["a piece of arguments fits no call"]
    );
}

#[test]
fn a_call_is_announced_once_its_late_name_is_known_and_never_without_one() {
    let (events, turn) = pieces_ending(
        &[
            r#"[{"index":0,"id":"a","function":{"name":"","arguments":""}}]"#,
            r#"[{"index":0,"function":{"name":"weather__get_weather","arguments":"{\"city\":\"上海\"}"}}]"#,
        ],
        "\"tool_calls\"",
    );
    assert_eq!(calls(&turn), TWO[..1]);
    let call = turn.to_message().calls().next().unwrap().clone();
    assert_eq!(
        events,
        [ModelEvent::CallStarted { name: "weather__get_weather".to_owned() }, ModelEvent::Call(call)]
    );
}

#[test]
fn a_name_that_comes_after_the_arguments_is_kept() {
    let turn = pieces(&[
        r#"[{"index":0,"id":"a","function":{"arguments":"{\"city\":\"上海\"}"}}]"#,
        r#"[{"index":0,"function":{"name":"weather__get_weather"}}]"#,
    ]);
    assert_eq!(calls(&turn), TWO[..1]);
}

#[test]
fn empty_names_and_ids_on_later_pieces_change_nothing() {
    let turn = pieces(&[
        r#"[{"index":0,"id":"a","function":{"name":"weather__get_weather","arguments":"{\"city\":"}}]"#,
        r#"[{"index":0,"id":"","function":{"name":"","arguments":"\"上海\"}"}}]"#,
        r#"[{"index":0,"id":"","type":"","function":{"name":"","arguments":""}}]"#,
    ]);
    assert_eq!(calls(&turn), TWO[..1]);
}

#[test]
fn a_name_in_pieces_is_joined_and_one_that_is_repeated_or_grows_is_not_doubled() {
    for names in [
        ["weather__get_", "weather", ""],
        ["weather__get_weather", "weather__get_weather", "weather__get_weather"],
        ["weather__", "weather__get_", "weather__get_weather"],
        ["w", "eather__get_weath", "er"],
    ] {
        let turn = pieces(&[
            &format!(r#"[{{"index":0,"id":"a","function":{{"name":"{}"}}}}]"#, names[0]),
            &format!(r#"[{{"index":0,"function":{{"name":"{}"}}}}]"#, names[1]),
            &format!(r#"[{{"index":0,"function":{{"name":"{}","arguments":"{{\"city\":"}}}}]"#, names[2]),
            &format!(r#"[{{"index":0,"function":{{"name":"{}","arguments":"\"上海\"}}"}}}}]"#, names[1]),
        ]);
        assert_eq!(calls(&turn), TWO[..1], "{names:?}");
    }
}

#[test]
fn null_arguments_add_nothing() {
    let turn = pieces(&[
        r#"[{"index":0,"id":"a","function":{"name":"weather__get_weather","arguments":"{\"city\":\"上海\"}"}}]"#,
        r#"[{"index":0,"id":"a","function":{"name":null,"arguments":null}}]"#,
    ]);
    assert_eq!(calls(&turn), TWO[..1]);
}

#[test]
fn arguments_that_are_empty_in_any_way_are_an_empty_object() {
    for arguments in [r#""""#, r#""   ""#, r#""null""#, r#""{}""#, "null", "{}"] {
        let event =
            format!(r#"[{{"index":0,"id":"a","function":{{"name":"time__now","arguments":{arguments}}}}}]"#);
        assert_eq!(calls(&pieces(&[&event])), ["a time__now {}"], "{arguments}");
        let answer = format!(
            r#"{{"choices":[{{"message":{{"tool_calls":[{{"id":"a","type":"function","function":{{"name":"time__now","arguments":{arguments}}}}}]}}}}]}}"#
        );
        let turn = dialect("openai").decode(answer.as_bytes(), &names("openai")).unwrap();
        assert_eq!(calls(&turn), ["a time__now {}"], "{arguments}");
    }
    assert_eq!(
        calls(&pieces(&[r#"[{"index":0,"id":"a","function":{"name":"time__now"}}]"#])),
        ["a time__now {}"]
    );
}

#[test]
fn an_empty_string_or_list_as_arguments_is_left_to_whoever_knows_the_schema() {
    let turn = pieces(&[
        r#"[{"index":0,"id":"a","function":{"name":"time__now","arguments":"\"\""}},{"index":1,"id":"b","function":{"name":"time__now","arguments":"[]"}}]"#,
    ]);
    assert_eq!(calls(&turn), [r#"a time__now """#, "b time__now []"]);
}

#[test]
fn arguments_may_come_as_an_object_and_keep_their_bytes() {
    let turn = pieces(&[
        r#"[{"index":0,"id":"a","function":{"name":"weather__get_weather","arguments":{ "n": 123456789012345678901.10 }}}]"#,
    ]);
    assert_eq!(calls(&turn), [r#"a weather__get_weather { "n": 123456789012345678901.10 }"#]);
}

#[test]
fn an_empty_object_that_holds_the_place_of_the_arguments_gives_way_to_them() {
    let turn = pieces(&[
        r#"[{"index":0,"id":"a","function":{"name":"weather__get_weather","arguments":{}}}]"#,
        r#"[{"index":0,"function":{"arguments":"{\"city\":"}}]"#,
        r#"[{"index":0,"function":{"arguments":"\"上海\"}"}}]"#,
    ]);
    assert_eq!(calls(&turn), TWO[..1]);
}

#[test]
fn arguments_encoded_twice_are_unwrapped_once_with_a_note_and_only_to_an_object() {
    let turn = pieces(&[
        r#"[{"index":0,"id":"a","function":{"name":"weather__get_weather","arguments":"\"{\\\"city\\\":\\\"上海\\\"}\""}}]"#,
        r#"[{"index":1,"id":"b","function":{"name":"weather__get_weather","arguments":"\"[1]\""}}]"#,
    ]);
    assert_eq!(calls(&turn), [TWO[0], r#"b weather__get_weather "[1]""#]);
    assert_eq!(turn.notes.len(), 1);
}

#[test]
fn ids_that_are_missing_or_empty_are_made() {
    let turn = pieces(&[
        r#"[{"index":0,"function":{"name":"time__now","arguments":"{}"}},{"index":1,"id":"","function":{"name":"time__now","arguments":"{}"}}]"#,
    ]);
    assert_eq!(calls(&turn), ["call_1 time__now {}", "call_2 time__now {}"]);
}

#[test]
fn an_id_that_comes_late_belongs_to_the_call_that_has_none() {
    let turn = pieces(&[
        r#"[{"index":0,"function":{"name":"weather__get_weather","arguments":""}}]"#,
        r#"[{"index":0,"id":"a","function":{"arguments":"{\"city\":\"上海\"}"}}]"#,
    ]);
    assert_eq!(calls(&turn), TWO[..1]);
}

#[test]
fn two_calls_under_one_id_are_both_kept_under_ids_of_their_own() {
    let turn = pieces(&[
        r#"[{"index":0,"id":"a","function":{"name":"weather__get_weather","arguments":"{\"city\":\"上海\"}"}}]"#,
        r#"[{"index":1,"id":"a","function":{"name":"weather__get_weather","arguments":"{\"city\":\"北京\"}"}}]"#,
    ]);
    assert_eq!(calls(&turn), [TWO[0], r#"a_2 weather__get_weather {"city":"北京"}"#]);
    let answer = br#"{"choices":[{"message":{"tool_calls":[{"id":"x","function":{"name":"time__now","arguments":"{}"}},{"id":"x","function":{"name":"time__now","arguments":""}}]}}]}"#;
    let turn = dialect("openai").decode(answer, &names("openai")).unwrap();
    assert_eq!(calls(&turn), ["x time__now {}", "x_2 time__now {}"]);
}

#[test]
fn a_whole_call_that_is_sent_again_counts_once() {
    let whole = r#"[{"index":0,"id":"a","function":{"name":"weather__get_weather","arguments":"{\"city\":\"上海\"}"}}]"#;
    assert_eq!(calls(&pieces(&[whole, whole])), TWO[..1]);
}

#[test]
fn pieces_of_several_calls_may_come_in_any_turn() {
    let turn = pieces(&[
        r#"[{"index":0,"id":"a","function":{"name":"weather__get_weather","arguments":""}},{"index":1,"id":"b","function":{"name":"weather__get_weather","arguments":""}}]"#,
        r#"[{"index":1,"function":{"arguments":"{\"city\":"}},{"index":0,"function":{"arguments":"{\"city\":"}}]"#,
        r#"[{"index":0,"function":{"arguments":"\"上海\"}"}}]"#,
        r#"[{"index":1,"function":{"arguments":"\"北京\"}"}}]"#,
    ]);
    assert_eq!(calls(&turn), TWO);
}

#[test]
fn whether_the_model_waits_for_results_is_told_by_its_calls_and_not_by_its_word() {
    let call = r#"[{"index":0,"id":"a","function":{"name":"time__now","arguments":"{}"}}]"#;
    for said in [r#""stop""#, r#""""#, "null", r#""tool_calls""#, r#""function_call""#] {
        let turn = pieces_ending(&[call], said).1;
        assert_eq!(
            (turn.finish.reason, calls(&turn)),
            (FinishReason::ToolCalls, vec!["a time__now {}".to_owned()]),
            "{said}"
        );
    }
    let text = r#"{"choices":[{"delta":{"content":"hi"}}]}"#;
    assert_eq!(pieces_ending(&[text], r#""tool_calls""#).1.finish.reason, FinishReason::Stop);
}

#[test]
fn a_choice_without_a_delta_and_an_event_without_choices_are_passed_over() {
    let turn = pieces(&[
        r#"{"choices":[],"prompt_filter_results":[]}"#,
        r#"{"choices":[{"index":0,"content_filter_offsets":{},"finish_reason":null}]}"#,
        r#"[{"index":0,"id":"a","function":{"name":"time__now","arguments":"{}"}}]"#,
        r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}"#,
    ]);
    assert_eq!((calls(&turn), turn.usage.input_tokens), (vec!["a time__now {}".to_owned()], 7));
}

#[test]
fn a_call_without_a_type_is_a_function_call_and_the_old_form_is_one_too() {
    let answer = br#"{"choices":[{"message":{"content":null,"function_call":{"name":"time__now","arguments":""}},"finish_reason":"function_call"}]}"#;
    let turn = dialect("openai").decode(answer, &names("openai")).unwrap();
    assert_eq!(calls(&turn), ["call_1 time__now {}"]);
    let answer = br#"{"choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"time__now","arguments":"{}"}}],"function_call":null}}]}"#;
    assert_eq!(calls(&dialect("openai").decode(answer, &names("openai")).unwrap()), ["a time__now {}"]);
}

#[test]
fn a_call_that_may_have_been_cut_off_is_never_taken_for_whole() {
    let half = r#"{"city":"上"#;
    let whole = r#"{"city":"上海"}"#;
    let wrong = r#"{"city": up"}"#;
    for (arguments, finish, expected) in [
        (half, r#""length""#, "cut off"),
        (half, r#""tool_calls""#, "cut off"),
        (whole, r#""length""#, "cut off"),
        (wrong, r#""tool_calls""#, "unreadable"),
    ] {
        let text = serde_json::to_string(arguments).unwrap();
        let event = format!(
            r#"[{{"index":0,"id":"a","function":{{"name":"weather__get_weather","arguments":{text}}}}}]"#
        );
        let turn = pieces_ending(&[&event], finish).1;
        assert_eq!(calls(&turn), [format!("a weather__get_weather {expected}: {arguments}")], "{finish}");
    }
}

#[test]
fn a_stream_that_ends_without_its_end_mark_is_an_error_and_no_short_answer() {
    let open = |name: &str, events: &[&str]| stream(name, events).map(|(_, turn)| turn.finish.reason);
    let text = r#"{"choices":[{"delta":{"content":"half an"}}]}"#;
    assert!(open("openai", &[text]).is_err());
    assert!(open("openai", &[]).is_err());
    assert_eq!(
        open("openai", &[text, r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#]).unwrap(),
        FinishReason::Stop
    );
    assert_eq!(open("openai", &[text, "[DONE]"]).unwrap(), FinishReason::Stop);

    let start =
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"half an"}}"#;
    assert!(open("anthropic", &[start]).is_err());
    assert!(open("anthropic", &[start, r#"{"type":"content_block_stop","index":0}"#]).is_err());
    assert!(open("anthropic", &[]).is_err());

    let part = r#"{"candidates":[{"content":{"parts":[{"text":"half an"}]}}]}"#;
    assert!(open("gemini", &[part]).is_err());
    assert_eq!(
        open("gemini", &[part, r#"{"candidates":[{"finishReason":"STOP"}]}"#]).unwrap(),
        FinishReason::Stop
    );
}

#[test]
fn a_failure_inside_a_stream_is_told_in_the_providers_words() {
    for (name, event) in [
        ("openai", r#"{"error":{"message":"out of room","code":500}}"#),
        ("openai", r#"{"choices":[{"delta":{},"finish_reason":"error","error":{"message":"out of room"}}]}"#),
        ("anthropic", r#"{"type":"error","error":{"type":"overloaded_error","message":"out of room"}}"#),
        ("gemini", r#"{"error":{"code":503,"message":"out of room","status":"UNAVAILABLE"}}"#),
    ] {
        assert_eq!(stream(name, [event]).unwrap_err().to_string(), "out of room", "{event}");
    }
}

#[test]
fn an_anthropic_call_without_any_delta_has_empty_arguments() {
    let turn = anthropic(&[
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"time__now","input":{}}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"b","name":"time__now","input":{}}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
    ]);
    assert_eq!(calls(&turn), ["a time__now {}", "b time__now {}"]);
}

#[test]
fn anthropic_deltas_go_to_the_block_of_their_index_and_not_to_the_newest() {
    let turn = anthropic(&[
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"weather__get_weather","input":{}}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"b","name":"weather__get_weather","input":{}}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"city\":\"上海\"}"}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"city\":\"北京\"}"}}"#,
    ]);
    assert_eq!(calls(&turn), TWO);
}

fn anthropic(events: &[&str]) -> ModelTurn {
    let end =
        [r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#, r#"{"type":"message_stop"}"#];
    stream("anthropic", events.iter().copied().chain(end)).unwrap().1
}

#[test]
fn an_anthropic_call_that_the_limit_cuts_off_needs_no_end_of_its_block() {
    let turn = stream(
        "anthropic",
        [
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"weather__get_weather","input":{}}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"city\":\"上"}}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"max_tokens"}}"#,
            r#"{"type":"message_stop"}"#,
        ],
    )
    .unwrap()
    .1;
    assert_eq!(
        (turn.finish.reason, calls(&turn)),
        (FinishReason::Length, vec![r#"a weather__get_weather cut off: {"city":"上"#.to_owned()])
    );
}

#[test]
fn arguments_cut_anywhere_are_the_same_arguments() {
    let arguments = r#"{"city":"上海 \"x\" \\u00e9 😀","n":-1.50e+2,"deep":[{"a":{}}]}"#;
    let whole = pieces(&[&piece(0, Some("a"), Some("weather__get_weather"), arguments)]);
    for cut in arguments.char_indices().map(|(at, _)| at) {
        let turn = pieces(&[
            &piece(0, Some("a"), Some("weather__get_weather"), &arguments[..cut]),
            &piece(0, None, None, &arguments[cut..]),
        ]);
        assert_eq!(turn, whole, "cut at {cut}");
    }
}

fn piece(index: u64, id: Option<&str>, name: Option<&str>, arguments: &str) -> String {
    serde_json::json!([{"index": index, "id": id, "function": {"name": name, "arguments": arguments}}])
        .to_string()
}

proptest::proptest! {
    #[test]
    fn calls_that_come_in_turns_never_mix(
        texts in proptest::collection::vec("[a-z\"\\\\{}\\[\\]:, 上海]{0,12}", 1..5),
        cuts in proptest::collection::vec(0_usize..4, 1..6),
        indexed in proptest::bool::ANY,
    ) {
        let whole: Vec<String> = texts.iter().map(|text| serde_json::json!({"city": text}).to_string()).collect();
        let mut lists: Vec<String> = Vec::new();
        let start = |at: usize| {
            let mut list = piece(at as u64, Some(&format!("id{at}")), Some("weather__get_weather"), "");
            if !indexed {
                list = list.replace(&format!("\"index\":{at},"), "");
            }
            list
        };
        if indexed {
            lists.extend((0..whole.len()).map(start));
        }
        for (at, text) in whole.iter().enumerate() {
            if !indexed {
                lists.push(start(at));
            }
            let characters: Vec<char> = text.chars().collect();
            for part in characters.chunks(cuts[at % cuts.len()] + 1) {
                let part: String = part.iter().collect();
                let mut list = piece(at as u64, None, None, &part);
                if !indexed {
                    list = list.replace(&format!("\"index\":{at},"), "");
                }
                lists.push(list);
            }
        }
        let lists: Vec<&str> = lists.iter().map(String::as_str).collect();
        let expected: Vec<String> =
            whole.iter().enumerate().map(|(at, text)| format!("id{at} weather__get_weather {text}")).collect();
        proptest::prop_assert_eq!(calls(&pieces(&lists)), expected);
    }
}

#[test]
fn counts_of_tokens_that_no_number_holds_break_nothing() {
    let most = u64::MAX;
    let gemini = format!(
        r#"{{"candidates":[{{"content":{{"parts":[{{"text":"hi"}}]}},"finishReason":"STOP"}}],"usageMetadata":{{"promptTokenCount":1,"candidatesTokenCount":{most},"thoughtsTokenCount":{most}}}}}"#
    );
    let anthropic = format!(
        r#"{{"content":[{{"type":"text","text":"hi"}}],"stop_reason":"end_turn","usage":{{"input_tokens":{most},"cache_creation_input_tokens":{most},"cache_read_input_tokens":{most},"output_tokens":1}}}}"#
    );
    for (name, answer, usage) in [
        ("gemini", gemini, Usage { input_tokens: 1, output_tokens: most }),
        ("anthropic", anthropic, Usage { input_tokens: most, output_tokens: 1 }),
    ] {
        assert_eq!(dialect(name).decode(answer.as_bytes(), &names(name)).unwrap().usage, usage, "{name}");
    }
}

#[test]
fn thoughts_are_shown_whichever_key_holds_them() {
    let (said, _) = stream(
        "openai",
        [
            r#"{"choices":[{"delta":{"reasoning_content":"","reasoning":"hm"}}]}"#,
            r#"{"choices":[{"delta":{"reasoning_content":"so","reasoning":"so"}}]}"#,
            r#"{"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}"#,
        ],
    )
    .unwrap();
    assert_eq!(
        said,
        [
            ModelEvent::Reasoning("hm".to_owned()),
            ModelEvent::Reasoning("so".to_owned()),
            ModelEvent::Text("ok".to_owned()),
        ]
    );
}
