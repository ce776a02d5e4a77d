use proptest::prelude::*;
use surehand_model::RawJson;

use super::*;

fn parse(text: &str) -> Result<Message<'_>, EnvelopeFault> {
    parse_message(text, EnvelopeLimits::default())
}

fn invalid_as(text: &str) -> (Option<String>, String) {
    match parse(text) {
        Err(EnvelopeFault::Invalid { id, what }) => (id.map(|id| id.to_string()), what),
        other => panic!("{text} was read as {other:?}"),
    }
}

#[test]
fn an_id_is_kept_as_it_was_written() {
    for id in ["1", "-7", "1.50", "1e2", "123456789012345678901234567890", r#""a""#, r#""\u00e9 x""#, r#""""#]
    {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        let Ok(Message::Request { id: read, method, params: None }) = parse(&text) else { panic!("{text}") };
        assert_eq!((read.as_str(), method.as_ref()), (id, "ping"));
        assert_eq!(write_result(&read, "{}"), format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
    }
}

#[test]
fn our_own_number_is_known_again_in_what_other_languages_make_of_it() {
    let read = |text: &str| Id(text.to_owned()).as_number();
    assert_eq!(["7", "7.0", "\"7\""].map(read), [Some(7); 3]);
    assert_eq!(["7.5", "-7", "\"x\"", "1e1"].map(read), [None; 4]);
}

#[test]
fn a_member_that_stands_twice_is_refused_however_it_is_spelled() {
    assert_eq!(
        invalid_as(r#"{"id":1,"method":"a","method":"b"}"#),
        (Some("1".to_owned()), "`method` stands twice".to_owned())
    );
    assert_eq!(invalid_as(r#"{"id":1,"id":2,"method":"a"}"#), (None, "`id` stands twice".to_owned()));
    assert_eq!(
        invalid_as(r#"{"id":1,"method":"a","\u006dethod":"b"}"#),
        (Some("1".to_owned()), "`method` stands twice".to_owned())
    );
    assert_eq!(
        invalid_as(r#"{"id":1,"method":"a","params":{},"params":{}}"#).1,
        "`params` stands twice".to_owned()
    );
}

#[test]
fn what_is_json_and_no_message_says_what_is_wrong() {
    for (text, what) in [
        ("7", "it is not an object"),
        ("null", "it is not an object"),
        ("{}", "it has neither `method` nor `result` nor `error`"),
        (r#"{"id":null,"method":"a"}"#, "`id` is neither a string nor a number"),
        (r#"{"id":true,"method":"a"}"#, "`id` is neither a string nor a number"),
        (r#"{"id":{},"method":"a"}"#, "`id` is neither a string nor a number"),
        (r#"{"id":1,"method":7}"#, "`method` is not a string"),
        (r#"{"jsonrpc":"1.0","id":1,"method":"a"}"#, "`jsonrpc` is not \"2.0\""),
        (r#"{"id":1,"method":"a","result":{}}"#, "it is a request and an answer at once"),
        (r#"{"id":1,"result":{},"error":{}}"#, "it is a request and an answer at once"),
    ] {
        assert_eq!(invalid_as(text).1, what, "{text}");
    }
}

#[test]
fn what_is_not_json_is_a_parse_error() {
    for text in ["", "{", "hello", "{\"id\":1}x", "[1,", "{'a':1}", "\u{feff}{}"] {
        let fault = parse(text).unwrap_err();
        assert_eq!(fault.to_rpc_error().code, ErrorCode::PARSE, "{text}: {fault}");
    }
}

#[test]
fn an_array_is_a_batch_only_when_it_is_asked_for() {
    let text = r#"[{"id":1,"method":"ping"}, {"method":"x"}]"#;
    assert_eq!(parse(text).unwrap_err(), EnvelopeFault::Batch);
    assert_eq!(
        split_batch(text, EnvelopeLimits::default()),
        Ok(vec![r#"{"id":1,"method":"ping"}"#, r#"{"method":"x"}"#])
    );
    assert!(split_batch("[]", EnvelopeLimits::default()).is_err());
}

#[test]
fn size_depth_and_number_of_values_have_an_end() {
    let limits = EnvelopeLimits { bytes: 64, depth: 3, values: 1_000 };
    let long = format!(r#"{{"id":1,"method":"{}"}}"#, "x".repeat(64));
    assert_eq!(
        parse_message(&long, limits).unwrap_err(),
        EnvelopeFault::TooLarge { bytes: long.len(), limit: 64 }
    );
    let at_limit = r#"{"id":1,"method":"[[[[","params":{"a":[1]},"x":[[]]}"#;
    assert!(parse_message(at_limit, limits).is_ok());
    let over = r#"{"id":1,"method":"m","params":{"a":[[1]]}}"#;
    assert_eq!(
        parse_message(over, limits).unwrap_err(),
        EnvelopeFault::TooDeep { limit: 3, id: Some(Id::number(1)) }
    );
    let twice = r#"{"id":1,"id":2,"method":"m","params":{"a":[[1]]}}"#;
    assert_eq!(parse_message(twice, limits).unwrap_err(), EnvelopeFault::TooDeep { limit: 3, id: None });
    let few = EnvelopeLimits { values: 8, ..EnvelopeLimits::default() };
    let full = r#"{"id":1,"method":",[{","params":{"a":[1,2,3]}}"#;
    assert!(parse_message(full, few).is_ok());
    let over = r#"{"id":1,"method":",[{","params":{"a":[1,2,3,4]}}"#;
    assert_eq!(
        parse_message(over, few).unwrap_err(),
        EnvelopeFault::TooMany { limit: 8, id: Some(Id::number(1)) }
    );
    let pit = format!(r#"{{"id":1,"method":"m","params":{}"#, "[".repeat(1_000_000));
    assert!(parse(&pit).is_err());
    let pit =
        format!(r#"{{"id":1,"method":"m","params":{}{}}}"#, "[".repeat(1_000_000), "]".repeat(1_000_000));
    assert_eq!(parse(&pit).unwrap_err(), EnvelopeFault::TooDeep { limit: 128, id: Some(Id::number(1)) });
}

#[test]
fn an_answer_may_say_null_to_what_does_not_apply_and_its_error_may_be_odd() {
    let outcome = |text: &str| match parse(text).unwrap() {
        Message::Answer { outcome, .. } => outcome.map(|raw| raw.get().to_owned()),
        other => panic!("{other:?}"),
    };
    assert_eq!(outcome(r#"{"id":1,"result":{"a":1},"error":null}"#), Ok(r#"{"a":1}"#.to_owned()));
    assert_eq!(outcome(r#"{"id":1,"result":null}"#), Ok("null".to_owned()));
    assert_eq!(
        outcome(r#"{"id":1,"result":null,"error":{"code":-32601,"message":"no","data":[1.10]}}"#),
        Err(RpcError { code: -32601, message: "no".to_owned(), data: RawJson::parse("[1.10]").ok() })
    );
    assert_eq!(outcome(r#"{"id":1,"error":{"code":-32000.0}}"#), Err(RpcError::new(-32000, "")));
    assert_eq!(
        outcome(r#"{"id":1,"error":"went wrong"}"#),
        Err(RpcError::new(ErrorCode::INTERNAL, "went wrong"))
    );
}

/// Any JSON text, with the numbers, escapes and white space that a careless reader would change.
fn any_json() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        Just("1.10".to_owned()),
        Just("1E+2".to_owned()),
        Just("-0".to_owned()),
        Just("123456789012345678901234567890.5".to_owned()),
    ];
    let string = prop_oneof![
        "[a-z é\u{4e2d}]{0,8}".prop_map(|text| format!("\"{text}\"")),
        Just("\"\\u00e9\\ud83d\\ude00\\/\"".to_owned()),
        Just("\"\\ud800\"".to_owned()),
        Just("\"{[\\\"\\\\\"".to_owned()),
    ];
    let leaf = prop_oneof![number, string.clone(), Just("true".to_owned()), Just("null".to_owned())];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let pair = (string.clone(), inner.clone()).prop_map(|(key, value)| format!("{key} :{value}"));
        prop_oneof![
            proptest::collection::vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(" , "))),
            proptest::collection::vec(pair, 0..4).prop_map(|pairs| format!("{{{}}}", pairs.join(","))),
        ]
    })
}

proptest! {
    #[test]
    fn any_payload_passes_byte_for_byte(payload in any_json()) {
        let request = write_request(&Id::number(1), "m", Some(&payload));
        if let Message::Request { params, .. } = parse(&request).unwrap() {
            let expected = Some(payload.as_str()).filter(|payload| *payload != "null");
            prop_assert_eq!(params.map(RawValue::get), expected);
        } else {
            prop_assert!(false);
        }
        let answer = write_result(&Id::number(1), &payload);
        if let Message::Answer { outcome: Ok(result), .. } = parse(&answer).unwrap() {
            prop_assert_eq!(result.get(), payload);
        } else {
            prop_assert!(false);
        }
    }

    #[test]
    fn no_bytes_make_the_reader_panic(text in ".{0,60}") {
        let _ = parse(&text);
    }
}
