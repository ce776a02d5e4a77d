use super::*;

fn asked(schema: &str) -> ElicitRequest {
    let params = format!(r#"{{"message":"Where to?","requestedSchema":{schema}}}"#);
    ElicitRequest::read(RawJson::parse(params).ok().as_ref()).unwrap()
}

fn form(request: &ElicitRequest) -> &Form {
    match &request.ask {
        ElicitAsk::Form(form) => form,
        ElicitAsk::Address { url, .. } => panic!("{url} is no form"),
    }
}

fn refused(params: &str) -> String {
    ElicitRequest::read(RawJson::parse(params).ok().as_ref()).unwrap_err().to_string()
}

/// Answers `{"x": value}` to a form whose only field is `field`.
fn answer(field: &str, value: &str) -> Result<String, String> {
    let request = asked(&format!(r#"{{"type":"object","properties":{{"x":{field}}}}}"#));
    let given = vec![("x".to_owned(), Json::parse(value).unwrap())];
    let result = request.result(ElicitAnswer::Accept(given));
    result.map(|result| result.as_str().to_owned()).map_err(|faults| faults[0].what.clone())
}

fn choices(pairs: &[(&str, &str)]) -> Vec<Choice> {
    pairs
        .iter()
        .map(|(value, label)| Choice { value: Json::from(*value), label: (*label).to_owned() })
        .collect()
}

#[test]
fn every_kind_of_field_is_read_as_it_is_meant() {
    let request = asked(
        r#"{"type":"object","required":["mail"],"properties":{
            "mail":{"type":"string","format":"email","title":"Mail","description":"Yours.","minLength":3,"maxLength":50},
            "age":{"type":"integer","minimum":0,"maximum":1.5e2},
            "ratio":{"type":["number","null"],"default":0.50},
            "news":{"type":"boolean","default":true},
            "plain":{"type":"string","enum":["a","b"]},
            "named":{"type":"string","enum":["a","b"],"enumNames":["A!","B!"],"default":"b"},
            "titled":{"type":"string","oneOf":[{"const":"a","title":"A!"},{"const":"b"}]},
            "many":{"type":"array","items":{"type":"string","enum":["a","b"]},"minItems":1,"maxItems":2},
            "lots":{"type":"array","items":{"anyOf":[{"const":"a","title":"A!"},{"const":"b","title":"B!"}]},"default":["a"]},
            "maybe":{"anyOf":[{"type":"null"},{"type":"integer"}]}
        }}"#,
    );
    let number = |whole, minimum: Option<&str>, maximum: Option<&str>| FieldKind::Number {
        whole,
        minimum: minimum.map(str::to_owned),
        maximum: maximum.map(str::to_owned),
    };
    let kinds: Vec<(&str, FieldKind)> =
        form(&request).fields.iter().map(|field| (field.name.as_str(), field.kind.clone())).collect();
    assert_eq!(
        kinds,
        [
            (
                "mail",
                FieldKind::FreeText {
                    format: Some("email".to_owned()),
                    min_length: Some(3),
                    max_length: Some(50)
                }
            ),
            ("age", number(true, Some("0"), Some("1.5e2"))),
            ("ratio", number(false, None, None)),
            ("news", FieldKind::Boolean),
            ("plain", FieldKind::One(choices(&[("a", "a"), ("b", "b")]))),
            ("named", FieldKind::One(choices(&[("a", "A!"), ("b", "B!")]))),
            ("titled", FieldKind::One(choices(&[("a", "A!"), ("b", "b")]))),
            (
                "many",
                FieldKind::Several {
                    choices: choices(&[("a", "a"), ("b", "b")]),
                    min_items: Some(1),
                    max_items: Some(2)
                }
            ),
            (
                "lots",
                FieldKind::Several {
                    choices: choices(&[("a", "A!"), ("b", "B!")]),
                    min_items: None,
                    max_items: None
                }
            ),
            ("maybe", number(true, None, None)),
        ]
    );
    let first = &form(&request).fields[0];
    assert_eq!((first.label(), first.description.as_deref(), first.required), ("Mail", Some("Yours."), true));
    assert_eq!((request.message.as_str(), request.notes.as_slice()), ("Where to?", &[][..]));
}

#[test]
fn what_is_left_open_gets_its_default_and_nothing_else() {
    let request = asked(
        r#"{"type":"object","required":["city","unit"],"properties":{
            "city":{"type":"string"},
            "unit":{"type":"string","enum":["C","F"],"default":"C"},
            "days":{"type":"integer","default":3.0},
            "note":{"type":"string"}
        }}"#,
    );
    let city = ("city".to_owned(), Json::from("上海"));
    assert_eq!(
        request.result(ElicitAnswer::Accept(vec![city])).unwrap().as_str(),
        r#"{"action":"accept","content":{"city":"上海","unit":"C","days":3.0}}"#
    );
    let unit = ("unit".to_owned(), Json::from("F"));
    let odd = ("colour".to_owned(), Json::from("red"));
    assert_eq!(
        request.result(ElicitAnswer::Accept(vec![unit, odd])).unwrap_err(),
        [
            FieldFault { field: "colour".to_owned(), what: "The form has no such field.".to_owned() },
            FieldFault { field: "city".to_owned(), what: "It must be filled in.".to_owned() },
        ]
    );
    assert_eq!(request.result(ElicitAnswer::Decline).unwrap().as_str(), r#"{"action":"decline"}"#);
    assert_eq!(request.result(ElicitAnswer::Cancel).unwrap().as_str(), r#"{"action":"cancel"}"#);
}

#[test]
fn a_value_that_a_field_does_not_take_is_never_sent() {
    let accepted = |value: &str| Ok(format!(r#"{{"action":"accept","content":{{"x":{value}}}}}"#));
    let email = r#"{"type":"string","format":"email"}"#;
    assert_eq!(answer(email, r#""a@b.test""#), accepted(r#""a@b.test""#));
    assert_eq!(
        answer(email, r#""a at b""#),
        Err("It must be an address such as name@example.org.".to_owned())
    );
    let choice = r#"{"type":"string","enum":["a","b"]}"#;
    assert_eq!(answer(choice, r#""b""#), accepted(r#""b""#));
    assert_eq!(answer(choice, r#""c""#), Err("It must be one of the choices.".to_owned()));
    assert_eq!(
        answer(r#"{"type":"integer","minimum":1}"#, "12345678901234567890"),
        accepted("12345678901234567890")
    );
    assert_eq!(
        answer(r#"{"type":"integer","minimum":1}"#, "0"),
        Err("Expected at least 1, got integer 0.".to_owned())
    );
    for (field, value) in [
        (r#"{"type":"integer"}"#, "1.5"),
        (r#"{"type":"number"}"#, r#""1""#),
        (r#"{"type":"boolean"}"#, r#""yes""#),
        (r#"{"type":"string","maxLength":2}"#, r#""abc""#),
        (r#"{"type":"string","pattern":"^a"}"#, r#""b""#),
        (r#"{"type":"array","items":{"enum":["a"]},"minItems":1}"#, "[]"),
        (r#"{"type":"array","items":{"enum":["a"]}}"#, r#"["b"]"#),
    ] {
        let outcome = answer(field, value);
        assert!(outcome.is_err(), "{field} takes {value}: {outcome:?}");
    }
}

#[test]
fn dates_addresses_and_times_are_told_from_what_only_looks_like_them() {
    for (format, text, fits) in [
        ("date", "2024-02-29", true),
        ("date", "2026-02-29", false),
        ("date", "2026-7-28", false),
        ("date-time", "2026-07-28T09:30:00Z", true),
        ("date-time", "2026-07-28t09:30:60.25+05:30", true),
        ("date-time", "2026-07-28T09:30:00", false),
        ("date-time", "2026-07-28T24:00:00Z", false),
        ("uri", "https://example.org/a?b", true),
        ("uri", "mailto:a@b", true),
        ("uri", "example.org", false),
        ("email", "name@", false),
        ("hostname", "anything at all", true),
    ] {
        assert_eq!(format::is_of_format(text, format), fits, "{text} as {format}");
    }
}

#[test]
fn a_field_nobody_can_fill_in_is_left_out_unless_it_is_needed() {
    let request = asked(
        r#"{"type":"object","properties":{"deep":{"type":"object"},"n":{"type":"number","default":"x"}}}"#,
    );
    assert_eq!(form(&request).fields.iter().map(|field| &field.name).collect::<Vec<_>>(), ["n"]);
    assert_eq!(form(&request).fields[0].default, None);
    assert_eq!(request.notes.len(), 2);
    let needed = r#"{"requestedSchema":{"type":"object","required":["deep"],"properties":{"deep":{"type":"object"}}}}"#;
    assert_eq!(
        refused(needed),
        "the field `deep` cannot be filled in: a form has no fields of type `object` (code -32602)"
    );
}

#[test]
fn an_address_is_a_question_too_and_unknown_modes_are_refused() {
    let params = r#"{"mode":"url","message":"Log in.","url":"https://a.test/x","elicitationId":"e1"}"#;
    let request = ElicitRequest::read(RawJson::parse(params).ok().as_ref()).unwrap();
    let ask = ElicitAsk::Address { url: "https://a.test/x".to_owned(), id: Some("e1".to_owned()) };
    assert_eq!(request, ElicitRequest { message: "Log in.".to_owned(), ask, notes: vec![] });
    let accepted = request.result(ElicitAnswer::Accept(Vec::new())).unwrap();
    assert_eq!(accepted.as_str(), r#"{"action":"accept"}"#);
    assert_eq!(refused(r#"{"mode":"voice"}"#), "there is no mode `voice` (code -32602)");
    assert_eq!(refused(r#"{"message":"?"}"#), "`requestedSchema` is missing (code -32602)");
    assert_eq!(refused("[]"), "the parameters are not an object (code -32602)");
}
