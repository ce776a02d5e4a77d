//! What requests look like on each wire.

use serde_json::{Value, json};
use surehand_dialect::{Quirks, vendor};
use surehand_model::{
    ContentBlock, Message, ModelRequest, Part, PartKind, ProviderState, RawJson, Role, Tool, ToolCall,
    ToolChoice, ToolResult,
};

use crate::support::{DIALECTS, body, encode, encode_with, question, request, tools};

fn call(id: &str, name: &str, arguments: &str) -> Part {
    PartKind::Call(ToolCall::new(id, name, arguments)).into()
}

fn assistant(parts: Vec<Part>) -> Message {
    Message { role: Role::Assistant, parts }
}

fn result(id: &str, text: &str) -> ToolResult {
    ToolResult::text(id.into(), "weather__get_weather", text)
}

/// The results of a body, in order: id (or name, where there are no ids) and text.
fn results(dialect: &str, body: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    match dialect {
        "openai" => body["messages"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|message| message["role"] == "tool")
            .map(|message| (text(&message["tool_call_id"]), text(&message["content"])))
            .collect(),
        "anthropic" => body["messages"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|message| message["content"].as_array().unwrap())
            .filter(|block| block["type"] == "tool_result")
            .map(|block| (text(&block["tool_use_id"]), text(&block["content"])))
            .collect(),
        "gemini" => body["contents"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|content| content["parts"].as_array().unwrap())
            .filter_map(|part| part.get("functionResponse"))
            .map(|response| {
                let said = response["response"].as_object().unwrap().values().next().unwrap();
                (text(&response["id"]), text(said))
            })
            .collect(),
        other => panic!("no dialect {other}"),
    }
}

#[test]
fn every_call_is_answered_once_under_its_id_in_order_whatever_the_history_looks_like() {
    let lost =
        "The run was interrupted before this call gave a result. Whether it had any effect is not known.";
    let asks = || {
        assistant(vec![call("t1", "weather__get_weather", "{}"), call("t2", "weather__get_weather", "{}")])
    };
    let user = |text: &str| Message::text(Role::User, text);
    type End<'a> = (&'a str, Vec<Message>, Vec<(&'a str, &'a str)>);
    let ends: [End<'_>; 7] = [
        (
            "killed in between",
            vec![asks(), Message::results(vec![result("t1", "ok")])],
            vec![("t1", "ok"), ("t2", lost)],
        ),
        ("killed at once", vec![asks()], vec![("t1", lost), ("t2", lost)]),
        (
            "an answer that no call asked for",
            vec![asks(), Message::results(vec![result("t9", "?"), result("t1", "1"), result("t2", "2")])],
            vec![("t1", "1"), ("t2", "2")],
        ),
        (
            "a late answer",
            vec![
                asks(),
                Message::results(vec![result("t1", "1")]),
                user("hello?"),
                Message::results(vec![result("t2", "2")]),
            ],
            vec![("t1", "1"), ("t2", "2")],
        ),
        (
            "answers in another order",
            vec![asks(), Message::results(vec![result("t2", "2"), result("t1", "1")])],
            vec![("t1", "1"), ("t2", "2")],
        ),
        (
            "an answer whose call was cut away",
            vec![Message::results(vec![result("t1", "1")]), user("go on")],
            vec![],
        ),
        (
            "an id that is used again in every turn",
            vec![
                assistant(vec![call("t1", "weather__get_weather", "{}")]),
                user("stop"),
                assistant(vec![call("t1", "weather__get_weather", "{}")]),
                Message::results(vec![result("t1", "second")]),
            ],
            vec![("t1", lost), ("t1_2", "second")],
        ),
    ];
    for (what, rest, expected) in ends {
        for dialect in DIALECTS {
            let mut messages = question().messages;
            messages.extend(rest.clone());
            let encoded = encode(dialect, &request(messages));
            let found = results(dialect, &body(&encoded));
            let found: Vec<(&str, &str)> =
                found.iter().map(|(id, text)| (id.as_str(), text.trim_start_matches("Error: "))).collect();
            assert_eq!(found, expected, "{what}, {dialect}");
        }
    }
}

#[test]
fn no_message_is_empty_or_blank() {
    for dialect in DIALECTS {
        let mut messages = question().messages;
        messages.push(assistant(vec![Part::text(""), Part::text(" \n"), call("a", "time__now", "")]));
        messages.push(Message::results(vec![result("a", "  \n")]));
        messages.push(assistant(vec![Part::text("")]));
        messages.push(assistant(vec![]));
        messages.push(Message::text(Role::User, ""));
        messages.push(Message::text(Role::System, " "));
        let encoded = encode(dialect, &request(messages));
        assert_eq!(
            results(dialect, &body(&encoded)),
            [("a".to_owned(), "(no output)".to_owned())],
            "{dialect}"
        );
        let text = String::from_utf8(encoded.body).unwrap();
        for blank in [r#":"""#, r#":" \n""#, r#"[]"#, r#":null"#] {
            assert!(!text.contains(blank), "{dialect}: {blank} in {text}");
        }
    }
}

#[test]
fn arguments_in_the_history_are_always_valid_and_otherwise_byte_for_byte() {
    let conversation = |arguments: &str| {
        let mut messages = question().messages;
        messages.push(assistant(vec![call("a", "weather__get_weather", arguments)]));
        messages.push(Message::results(vec![result("a", "x")]));
        request(messages)
    };
    for (arguments, expected) in [
        ("", "{}"),
        ("null", "{}"),
        ("{broken", "{}"),
        ("[]", "{}"),
        (r#""text""#, "{}"),
        (r#"{ "n": 1.10, "big": 123456789012345678901 }"#, r#"{ "n": 1.10, "big": 123456789012345678901 }"#),
    ] {
        let text = |dialect: &str| String::from_utf8(encode(dialect, &conversation(arguments)).body).unwrap();
        let quoted = serde_json::to_string(expected).unwrap();
        assert!(text("openai").contains(&format!(r#""arguments":{quoted}"#)), "{}", text("openai"));
        assert!(text("anthropic").contains(&format!(r#""input":{expected}"#)), "{}", text("anthropic"));
        assert!(text("gemini").contains(&format!(r#""args":{expected}"#)), "{}", text("gemini"));
    }
}

#[test]
fn opaque_state_goes_back_to_its_own_dialect_and_vendor_only() {
    let state = |dialect: &str, key: &str, value: &str| ProviderState {
        dialect: dialect.to_owned(),
        key: key.to_owned(),
        value: RawJson::parse(value).unwrap(),
    };
    let thought = Part {
        kind: PartKind::Reasoning("hm".to_owned()),
        state: vec![
            state(
                "anthropic",
                "thinking",
                r#"{"type":"thinking","thinking":"hm","signature":"ANTHROPIC-SIGNATURE"}"#,
            ),
            state("openai", "reasoning_content", r#""OPENAI-REASONING""#),
            state("openai/deepseek", "reasoning_content", r#""DEEPSEEK-REASONING""#),
        ],
    };
    let signed = Part {
        state: vec![state("gemini", "thoughtSignature", r#""GEMINI-SIGNATURE""#)],
        ..call("a", "time__now", "{}")
    };
    let mut messages = question().messages;
    messages.push(assistant(vec![thought, signed]));
    messages.push(Message::results(vec![result("a", "x")]));
    let request = request(messages);
    let marks = ["ANTHROPIC-SIGNATURE", "OPENAI-REASONING", "DEEPSEEK-REASONING", "GEMINI-SIGNATURE"];
    for (dialect, own) in [("anthropic", marks[0]), ("openai", marks[1]), ("gemini", marks[3])] {
        let text = String::from_utf8(encode(dialect, &request).body).unwrap();
        let found: Vec<&str> = marks.into_iter().filter(|mark| text.contains(mark)).collect();
        assert_eq!(found, [own], "{dialect}");
    }
}

fn vendor_body(name: &str, request: &ModelRequest) -> Value {
    use surehand_dialect::{Dialect, EncodeOptions, OpenAi};
    let quirks = &vendor(name).unwrap().quirks;
    body(&OpenAi::of_vendor(name).encode(request, EncodeOptions { stream: true, quirks }))
}

#[test]
fn each_vendor_gets_its_reasoning_back_where_it_wants_it() {
    let said = |text: &str| Part {
        kind: PartKind::Reasoning(text.to_owned()),
        state: ["deepseek", "kimi", "openrouter", "groq"]
            .map(|vendor| ProviderState {
                dialect: format!("openai/{vendor}"),
                key: "reasoning_content".to_owned(),
                value: RawJson::from_serialize(text),
            })
            .into(),
    };
    let mut messages = question().messages;
    messages.push(assistant(vec![said("thought"), call("a", "time__now", "{}")]));
    messages.push(Message::results(vec![result("a", "x")]));
    messages.push(assistant(vec![call("b", "time__now", "{}")]));
    messages.push(Message::results(vec![result("b", "x")]));
    messages.push(assistant(vec![Part::text("done")]));
    let request = request(messages);
    let reasoning = |name: &str| -> Vec<Option<String>> {
        vendor_body(name, &request)["messages"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|message| message["role"] == "assistant")
            .map(|message| message.get("reasoning_content").map(|text| text.as_str().unwrap().to_owned()))
            .collect()
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(reasoning("deepseek"), [some("thought"), some(""), some("")]);
    assert_eq!(reasoning("kimi"), [some("thought"), some(" "), None]);
    assert_eq!(reasoning("groq"), [None, None, None]);
    assert_eq!(reasoning("openrouter"), [None, None, None]);
}

#[test]
fn mistral_gets_ids_of_nine_letters_and_digits_the_same_each_time() {
    let mut messages = question().messages;
    for id in ["call_abc", "call_abd", "Abcdef123", "call_abc"] {
        messages.push(assistant(vec![call(id, "weather__get_weather", "{}")]));
        messages.push(Message::results(vec![result(id, "x")]));
    }
    let ids = |request: &ModelRequest| -> Vec<String> {
        let body = vendor_body("mistral", request);
        let messages = body["messages"].as_array().unwrap();
        let asked: Vec<String> = messages
            .iter()
            .filter_map(|message| Some(message["tool_calls"][0]["id"].as_str()?.to_owned()))
            .collect();
        let answered: Vec<String> = messages
            .iter()
            .filter_map(|message| Some(message["tool_call_id"].as_str()?.to_owned()))
            .collect();
        assert_eq!(asked, answered);
        asked
    };
    let all = ids(&request(messages.clone()));
    assert!(
        all.iter().all(|id| id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())),
        "{all:?}"
    );
    assert_eq!(all[2], "Abcdef123");
    assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), 4);
    messages.truncate(3);
    assert_eq!(ids(&request(messages)), all[..1]);
}

#[test]
fn kimi_behind_a_raw_template_gets_ids_counted_over_the_conversation() {
    let quirks = Quirks { ids: surehand_dialect::IdRule::Kimi, ..Quirks::DEFAULT };
    let mut messages = question().messages;
    for id in ["x", "y"] {
        messages.push(assistant(vec![call(id, "weather__get_weather", "{}")]));
        messages.push(Message::results(vec![result(id, "x")]));
    }
    let found = results("openai", &body(&encode_with("openai", &request(messages), &quirks)));
    let ids: Vec<&str> = found.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["functions.weather__get_weather:0", "functions.weather__get_weather:1"]);
}

#[test]
fn ids_of_other_providers_are_made_to_fit_anthropic_and_stay_apart() {
    let mut messages = question().messages;
    let ids = ["functions.Bash:0", "functions_Bash_0", "functions/Bash/0", "调用"];
    messages.push(assistant(ids.map(|id| call(id, "time__now", "{}")).into()));
    messages.push(Message::results(ids.map(|id| result(id, id)).into()));
    let found = results("anthropic", &body(&encode("anthropic", &request(messages))));
    assert_eq!(found.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(), ids);
    let wires: std::collections::BTreeSet<&String> = found.iter().map(|(id, _)| id).collect();
    assert_eq!(wires.len(), 4);
    assert!(
        wires
            .iter()
            .all(|id| id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'))
    );
}

#[test]
fn ids_that_were_made_here_are_not_sent_to_gemini() {
    let mut minted = ToolCall::new("call_1", "time__now", "{}");
    minted.id_minted = true;
    let mut messages = question().messages;
    messages.push(assistant(vec![PartKind::Call(minted).into()]));
    messages.push(Message::results(vec![result("call_1", "x")]));
    let text = String::from_utf8(encode("gemini", &request(messages)).body).unwrap();
    assert!(!text.contains("call_1"), "{text}");
}

#[test]
fn a_call_of_another_model_gets_a_stand_in_for_the_signature_that_gemini_3_demands() {
    let mut messages = question().messages;
    messages.push(assistant(vec![call("a", "time__now", "{}"), call("b", "time__now", "{}")]));
    messages.push(Message::results(vec![result("a", "x"), result("b", "y")]));
    let signatures = |model: &str| -> Vec<bool> {
        let request = ModelRequest { model: model.to_owned(), ..request(messages.clone()) };
        let body = body(&encode("gemini", &request));
        body["contents"][1]["parts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|part| part.get("thoughtSignature").is_some())
            .collect()
    };
    assert_eq!(signatures("gemini-3-pro"), [true, false]);
    assert_eq!(signatures("models/gemini-10.5-flash"), [true, false]);
    assert_eq!(signatures("gemini-2.5-pro"), [false, false]);
}

#[test]
fn a_picture_in_a_result_reaches_the_model_on_every_wire() {
    let mut messages = question().messages;
    messages.push(assistant(vec![call("a", "time__now", "{}"), call("b", "time__now", "{}")]));
    let picture = ContentBlock::Image { data: "aGk=".to_owned(), mime_type: "image/png".to_owned() };
    let shown =
        ToolResult { content: vec![ContentBlock::Text("see".to_owned()), picture], ..result("a", "") };
    messages.push(Message::results(vec![shown, result("b", "second")]));
    let request = request(messages);
    let openai = body(&encode("openai", &request))["messages"].clone();
    assert_eq!(
        openai.as_array().unwrap()[2..],
        [
            json!({"role":"tool","tool_call_id":"a","content":"see\n[image, image/png, 2 bytes; shown in the next message]"}),
            json!({"role":"tool","tool_call_id":"b","content":"second"}),
            json!({"role":"user","content":[
                {"type":"text","text":"From the result of time__now (a):"},
                {"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}
            ]}),
        ]
    );
    let anthropic = body(&encode("anthropic", &request))["messages"][2]["content"].clone();
    assert_eq!(
        anthropic[0]["content"],
        json!([
            {"type":"text","text":"see"},
            {"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}
        ])
    );
    let third = ModelRequest { model: "gemini-3-pro".to_owned(), ..request.clone() };
    let gemini = body(&encode("gemini", &third))["contents"][2]["parts"][0]["functionResponse"].clone();
    assert_eq!(
        gemini,
        json!({"id":"a","name":"time__now","response":{"output":"see"},"parts":[{"inlineData":{"mimeType":"image/png","data":"aGk="}}]})
    );
    let second = ModelRequest { model: "gemini-2.5-pro".to_owned(), ..request };
    let gemini = body(&encode("gemini", &second))["contents"].clone();
    assert_eq!(gemini[2]["parts"].as_array().unwrap().len(), 2);
    assert_eq!(gemini[3]["parts"][1], json!({"inlineData":{"mimeType":"image/png","data":"aGk="}}));
}

#[test]
fn an_error_is_told_in_each_wires_own_way() {
    let mut messages = question().messages;
    messages.push(assistant(vec![call("a", "time__now", "{}"), call("b", "time__now", "{}")]));
    let failed = |id: &str, text: &str| ToolResult { is_error: true, ..result(id, text) };
    messages.push(Message::results(vec![failed("a", "no such city"), failed("b", "Error: twice")]));
    let request = request(messages);
    let openai = body(&encode("openai", &request))["messages"].clone();
    assert_eq!(
        (&openai[2]["content"], &openai[3]["content"]),
        (&json!("Error: no such city"), &json!("Error: twice"))
    );
    let object = r#"{"error":"unknown_tool","tool":"x","did_you_mean":[]}"#;
    let mut ours = question().messages;
    ours.push(assistant(vec![call("a", "x", "{}"), call("b", "time__now", "{}")]));
    ours.push(Message::results(vec![failed("a", object), failed("b", r#"{"code":5}"#)]));
    let openai = body(&encode("openai", &self::request(ours)))["messages"].clone();
    assert_eq!(
        (&openai[2]["content"], &openai[3]["content"]),
        (&json!(object), &json!(r#"Error: {"code":5}"#))
    );
    let anthropic = body(&encode("anthropic", &request))["messages"][2]["content"].clone();
    assert_eq!(
        anthropic[0],
        json!({"type":"tool_result","tool_use_id":"a","content":"no such city","is_error":true})
    );
    let gemini =
        body(&encode("gemini", &request))["contents"][2]["parts"][0]["functionResponse"]["response"].clone();
    assert_eq!(gemini, json!({"error":"no such city"}));
}

#[test]
fn each_kind_of_tool_choice_has_its_words() {
    let choice = |dialect: &str, choice: ToolChoice, parallel: bool| {
        let request = ModelRequest { tool_choice: choice, parallel_calls: parallel, ..question() };
        let body = body(&encode(dialect, &request));
        match dialect {
            "gemini" => body["toolConfig"]["functionCallingConfig"].clone(),
            _ => body["tool_choice"].clone(),
        }
    };
    let named = || ToolChoice::Named("files.read file".to_owned());
    let wire = encode("openai", &question()).names.wire("files.read file");
    let gemini_wire = encode("gemini", &question()).names.wire("files.read file");
    assert_eq!(choice("openai", ToolChoice::Auto, true), Value::Null);
    assert_eq!(choice("openai", ToolChoice::None, true), json!("none"));
    assert_eq!(choice("openai", ToolChoice::Required, true), json!("required"));
    assert_eq!(choice("openai", named(), true), json!({"type":"function","function":{"name":wire}}));
    assert_eq!(choice("anthropic", ToolChoice::Auto, true), Value::Null);
    assert_eq!(
        choice("anthropic", ToolChoice::Auto, false),
        json!({"type":"auto","disable_parallel_tool_use":true})
    );
    assert_eq!(choice("anthropic", ToolChoice::None, false), json!({"type":"none"}));
    assert_eq!(choice("anthropic", ToolChoice::Required, true), json!({"type":"any"}));
    assert_eq!(
        choice("anthropic", named(), false),
        json!({"type":"tool","name":wire,"disable_parallel_tool_use":true})
    );
    assert_eq!(choice("gemini", ToolChoice::Auto, true), Value::Null);
    assert_eq!(choice("gemini", ToolChoice::None, true), json!({"mode":"NONE"}));
    assert_eq!(choice("gemini", ToolChoice::Required, true), json!({"mode":"ANY"}));
    assert_eq!(choice("gemini", named(), true), json!({"mode":"ANY","allowedFunctionNames":[gemini_wire]}));
    let serial = ModelRequest { parallel_calls: false, ..question() };
    assert_eq!(body(&encode("openai", &serial))["parallel_tool_calls"], json!(false));
    assert_eq!(vendor_body("qwen", &question())["parallel_tool_calls"], json!(true));
    assert_eq!(vendor_body("deepseek", &serial)["parallel_tool_calls"], Value::Null);
}

#[test]
fn a_tool_that_cannot_be_offered_is_left_out_alone_and_a_demand_for_it_is_dropped() {
    let mut offered = tools();
    offered.push(Tool::new("bad", "", RawJson::parse(r#"{"type":"string"}"#).unwrap()));
    offered.push(offered[0].clone());
    let request =
        ModelRequest { tools: offered, tool_choice: ToolChoice::Named("bad".to_owned()), ..question() };
    for dialect in DIALECTS {
        let encoded = encode(dialect, &request);
        let body = body(&encoded);
        let list = match dialect {
            "gemini" => &body["tools"][0]["functionDeclarations"],
            _ => &body["tools"],
        };
        assert_eq!(list.as_array().unwrap().len(), 3, "{dialect}");
        assert_eq!((body.get("tool_choice"), body.get("toolConfig")), (None, None));
        let said: Vec<&str> = encoded.notes.iter().map(|note| note.r#where.as_str()).collect();
        assert_eq!(said, ["tool bad", "tool weather__get_weather", "tool choice"], "{dialect}");
    }
}

#[test]
fn tools_are_written_as_each_provider_takes_them() {
    let read_file = encode("openai", &question()).names.wire("files.read file");
    let path = json!({"type":"object","properties":{"path":{"type":"string"}},"required":["path"]});
    let city = json!({"type":"object","properties":{"city":{"type":"string"}},"required":["city"]});
    let nothing = json!({"type":"object","properties":{}});
    assert_eq!(
        body(&encode("openai", &question()))["tools"],
        json!([
            {"type":"function","function":{"name":"weather__get_weather","description":"Tells the weather of a city.","parameters":city}},
            {"type":"function","function":{"name":"time__now","description":"Tells the time.","parameters":nothing}},
            {"type":"function","function":{"name":read_file,"parameters":path}}
        ])
    );
    assert_eq!(
        body(&encode("anthropic", &question()))["tools"],
        json!([
            {"name":"weather__get_weather","description":"Tells the weather of a city.","input_schema":city},
            {"name":"time__now","description":"Tells the time.","input_schema":nothing},
            {"name":read_file,"input_schema":path}
        ])
    );
    let read_file = encode("gemini", &question()).names.wire("files.read file");
    assert_eq!(
        body(&encode("gemini", &question()))["tools"],
        json!([{"functionDeclarations":[
            {"name":"weather__get_weather","description":"Tells the weather of a city.","parametersJsonSchema":city},
            {"name":"time__now","description":"Tells the time."},
            {"name":read_file,"parametersJsonSchema":path}
        ]}])
    );
}

#[test]
fn limits_and_sampling_are_written_digit_for_digit() {
    let mut asked = question();
    asked.max_output_tokens = Some(100);
    asked.sampling.temperature_milli = Some(700);
    asked.sampling.top_p_milli = Some(1000);
    let text = |dialect: &str| String::from_utf8(encode(dialect, &asked).body).unwrap();
    assert!(text("openai").contains(r#""temperature":0.7,"top_p":1,"max_tokens":100"#), "{}", text("openai"));
    assert!(text("anthropic").contains(r#""temperature":0.7,"top_p":1"#), "{}", text("anthropic"));
    assert!(
        text("gemini").contains(r#"{"temperature":0.7,"topP":1,"maxOutputTokens":100}"#),
        "{}",
        text("gemini")
    );
    assert_eq!(body(&encode_with("openai", &asked, &Quirks::OPENAI))["max_completion_tokens"], json!(100));
    assert_eq!(body(&encode("anthropic", &question()))["max_tokens"], json!(16384));
}

#[test]
fn the_path_says_which_model_where_the_wire_wants_it_there() {
    let path = |model: &str| encode("gemini", &ModelRequest { model: model.to_owned(), ..question() }).path;
    assert_eq!(path("gemini-3-pro"), "/models/gemini-3-pro:generateContent");
    assert_eq!(path("tunedModels/my model?"), "/tunedModels/my%20model%3F:generateContent");
    assert_eq!(encode("openai", &question()).path, "/chat/completions");
    assert_eq!(encode("anthropic", &question()).path, "/messages");
}

#[test]
fn a_name_of_any_letters_and_any_length_fits_each_wire_and_comes_back() {
    let long = format!("mcp__{}__list_files", "server".repeat(30));
    for name in ["mcp__天气__查询", "mcp__größe__t.x", long.as_str()] {
        for dialect in DIALECTS {
            let mut request = question();
            request.tools = vec![Tool::new(name, "", RawJson::empty_object())];
            let encoded = encode(dialect, &request);
            let body = body(&encoded);
            let wire = match dialect {
                "openai" => &body["tools"][0]["function"]["name"],
                "anthropic" => &body["tools"][0]["name"],
                _ => &body["tools"][0]["functionDeclarations"][0]["name"],
            };
            let wire = wire.as_str().unwrap();
            assert!(
                wire.len() <= 64 && wire.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.:".contains(&b))
            );
            let answer = match dialect {
                "openai" => json!({"choices": [{"finish_reason": "tool_calls", "message": {"tool_calls":
                    [{"id": "a", "type": "function", "function": {"name": wire, "arguments": "{}"}}]}}]}),
                "anthropic" => json!({"stop_reason": "tool_use", "content":
                    [{"type": "tool_use", "id": "a", "name": wire, "input": {}}]}),
                _ => json!({"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts":
                    [{"functionCall": {"name": wire, "args": {}}}]}}]}),
            };
            let codec = crate::support::dialect(dialect);
            let turn = codec.decode(answer.to_string().as_bytes(), &encoded.names).unwrap();
            let called: Vec<String> = turn.to_message().calls().map(|call| call.name.clone()).collect();
            assert_eq!(called, [name], "{dialect}");
        }
    }
}
