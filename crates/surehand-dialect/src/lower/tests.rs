use proptest::prelude::*;

use super::*;

fn lowered(schema: &str, target: SchemaTarget) -> (Option<String>, Vec<String>) {
    let lowered = lower(&RawJson::parse(schema).unwrap(), target).unwrap();
    (
        lowered.schema.map(|raw| raw.as_str().to_owned()),
        lowered.losses.iter().map(|note| format!("{}: {}", note.r#where, note.what)).collect(),
    )
}

fn written(schema: &str) -> String {
    let (schema, losses) = lowered(schema, SchemaTarget::Anthropic);
    assert_eq!(losses, [""; 0]);
    schema.unwrap()
}

#[test]
fn a_schema_that_is_taken_passes_byte_for_byte() {
    let schema = r#"{ "type":"object", "properties": {"n": {"type":"number","minimum":1.10, "x-mine":[1 ,2]}}, "required":["n"] }"#;
    for target in [SchemaTarget::OpenAi, SchemaTarget::Anthropic, SchemaTarget::Gemini] {
        assert_eq!(lowered(schema, target), (Some(schema.to_owned()), vec![]));
    }
}

#[test]
fn a_tool_without_parameters_works_however_it_says_so() {
    for schema in
        ["{}", r#"{"type":"object"}"#, r#"{"type":"object","properties":{},"required":null}"#, "true", "null"]
    {
        assert_eq!(written(schema), r#"{"type":"object","properties":{}}"#);
        assert_eq!(lowered(schema, SchemaTarget::Gemini), (None, vec![]));
    }
}

#[test]
fn true_is_anything_and_false_is_left_out_with_a_note() {
    assert_eq!(
        lowered(
            r#"{"type":"object","properties":{"raw":true,"never":false},"required":["raw","never"]}"#,
            SchemaTarget::OpenAi
        ),
        (
            Some(r#"{"type":"object","properties":{"raw":{}},"required":["raw"]}"#.to_owned()),
            vec!["/properties/never: the property is not shown to the model".to_owned()]
        )
    );
}

#[test]
fn spellings_of_older_drafts_are_brought_up_to_date() {
    assert_eq!(
        written(
            r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"ttl":{"type":"integer","minimum":0,"exclusiveMinimum":true,"maximum":9,"exclusiveMaximum":false},"note":{"type":"string","nullable":true,"example":"hi"},"pair":{"type":"array","items":[{"type":"string"}],"additionalItems":false}}}"#
        ),
        r#"{"type":"object","properties":{"ttl":{"type":"integer","exclusiveMinimum":0,"maximum":9},"note":{"type":["string","null"],"examples":["hi"]},"pair":{"type":"array","prefixItems":[{"type":"string"}],"items":false}}}"#
    );
}

#[test]
fn a_property_that_has_the_name_of_a_keyword_is_no_keyword() {
    let schema = r##"{"type":"object","properties":{"required":{"type":"boolean"},"$ref":{"type":"string"},"nullable":{"type":"boolean"},"items":{"type":"string"},"example":{"type":"string"},"type":{"type":"string"}}}"##;
    assert_eq!(written(schema), schema);
    let values = r#"{"type":"object","properties":{"a":{"default":{"nullable":true,"required":null},"enum":[{"$ref":"x"}]}}}"#;
    assert_eq!(written(values), values);
}

#[test]
fn a_schema_that_refers_to_itself_keeps_its_definitions() {
    let schema = r##"{"type":"object","properties":{"root":{"$ref":"#/$defs/node"}},"required":["root"],"$defs":{"node":{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/node"}}}}}}"##;
    assert_eq!(written(schema), schema);
}

#[test]
fn a_reference_that_leads_nowhere_or_outside_becomes_anything() {
    assert_eq!(
        lowered(
            r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/Gone"},"b":{"$ref":"https://x.example/s.json","title":"B"}}}"##,
            SchemaTarget::Gemini
        ),
        (
            Some(r#"{"type":"object","properties":{"a":{},"b":{"title":"B"}}}"#.to_owned()),
            vec![
                "/properties/a: the reference `#/$defs/Gone`".to_owned(),
                "/properties/b: the reference `https://x.example/s.json`".to_owned()
            ]
        )
    );
}

#[test]
fn a_root_that_refers_is_what_it_refers_to() {
    assert_eq!(
        written(
            r##"{"$ref":"#/$defs/A","$defs":{"A":{"type":"object","properties":{"x":{"type":"string"}}}}}"##
        ),
        r##"{"$defs":{"A":{"type":"object","properties":{"x":{"type":"string"}}}},"type":"object","properties":{"x":{"type":"string"}}}"##
    );
    let endless = RawJson::parse(r##"{"$ref":"#"}"##).unwrap();
    assert_eq!(
        lower(&endless, SchemaTarget::Anthropic),
        Err("its schema refers to itself and to nothing else".to_owned())
    );
}

#[test]
fn a_choice_at_the_root_is_folded_and_told_in_words() {
    assert_eq!(
        lowered(
            r#"{"type":"object","properties":{"all":{"type":"boolean"}},"anyOf":[{"properties":{"id":{"type":"integer"},"k":{"const":1}},"required":["id","k"]},{"properties":{"name":{"type":"string"},"k":{"const":2}},"required":["name","k"],"additionalProperties":false}]}"#,
            SchemaTarget::Anthropic
        ),
        (
            Some(
                r#"{"type":"object","properties":{"all":{"type":"boolean"},"id":{"type":"integer"},"k":{"anyOf":[{"const":1},{"const":2}]},"name":{"type":"string"}},"required":["k"],"description":"The arguments follow at least one of these forms: `id`, `k` = 1; `name`, `k` = 2."}"#
                    .to_owned()
            ),
            vec!["/anyOf: `anyOf` at the root was folded into one object".to_owned()]
        )
    );
}

#[test]
fn what_all_of_the_root_says_is_one_object_without_loss() {
    assert_eq!(
        written(
            r##"{"allOf":[{"$ref":"#/$defs/base"},{"properties":{"b":{"type":"string"}},"required":["b"]}],"$defs":{"base":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}}}"##
        ),
        r##"{"$defs":{"base":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}},"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a","b"]}"##
    );
}

#[test]
fn nested_choices_stay() {
    let schema = r#"{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}}"#;
    assert_eq!(written(schema), schema);
}

#[test]
fn arguments_that_are_no_object_cannot_be_offered() {
    for schema in [r#"{"type":"string"}"#, "false", "[]", "3", r#"{"type":["array","null"]}"#] {
        assert!(lower(&RawJson::parse(schema).unwrap(), SchemaTarget::OpenAi).is_err(), "{schema}");
    }
}

#[test]
fn a_reference_into_a_choice_that_was_folded_away_is_closed_too() {
    let (schema, losses) = lowered(
        r##"{"anyOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"b":{"$ref":"#/anyOf/0/properties/a"}}}]}"##,
        SchemaTarget::OpenAi,
    );
    assert!(schema.unwrap().contains(r#""properties":{"a":{"type":"string"},"b":{}}"#));
    assert_eq!(losses.last().unwrap(), "/properties/b: the reference `#/anyOf/0/properties/a`");
}

#[test]
fn what_all_of_one_branch_demands_is_demanded_of_that_branch_only() {
    let (schema, _) = lowered(
        r#"{"anyOf":[{"allOf":[{"properties":{"a":{}},"required":["a"]},{"properties":{"b":{}},"required":["b"]}]},{"properties":{"c":{}},"required":["c"]}]}"#,
        SchemaTarget::OpenAi,
    );
    assert_eq!(
        schema.unwrap(),
        r#"{"type":"object","properties":{"a":{},"b":{},"c":{}},"description":"The arguments follow at least one of these forms: `a`, `b`; `c`."}"#
    );
}

#[test]
fn a_schema_that_unfolds_without_end_costs_a_moment_and_is_still_an_object() {
    let branch = r##"{"$ref":"#/$defs/a"}"##;
    let branches = [branch; 100].join(",");
    let schema = format!(
        r##"{{"allOf":[{branches}],"$defs":{{"a":{{"allOf":[{branches}],"anyOf":[{branches}]}}}}}}"##
    );
    let (schema, losses) = lowered(&schema, SchemaTarget::OpenAi);
    let schema = schema.unwrap();
    assert!(
        schema.starts_with(r#"{"type":"object","#) && schema.ends_with(r#""properties":{}}"#),
        "{schema}"
    );
    assert_eq!(losses, ["/allOf: some of its branches"]);
    let large = format!(r#"{{"type":"object","description":"{}"}}"#, "x".repeat(300_000));
    assert!(lower(&RawJson::parse(large).unwrap(), SchemaTarget::OpenAi).is_err());
}

/// Schemas as a careless or hostile server may write them.
fn any_schema() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("{}".to_owned()),
        Just("true".to_owned()),
        Just("false".to_owned()),
        Just("null".to_owned()),
        Just("[]".to_owned()),
        Just(r#"{"type":"string","nullable":true}"#.to_owned()),
        Just(r##"{"$ref":"#"}"##.to_owned()),
        Just(r##"{"$ref":"#/$defs/a"}"##.to_owned()),
        Just(r##"{"$ref":"#/anyOf/0"}"##.to_owned()),
        Just(r#"{"type":["object","null"],"required":["a"]}"#.to_owned()),
        Just(r#"{"exclusiveMinimum":true,"minimum":1.0}"#.to_owned()),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let list =
            proptest::collection::vec(inner.clone(), 0..3).prop_map(|items| format!("[{}]", items.join(",")));
        let named = proptest::collection::vec(("[ab~/]{1,2}", inner.clone()), 0..3).prop_map(|items| {
            let members: Vec<String> =
                items.iter().map(|(name, item)| format!("\"{name}\":{item}")).collect();
            format!("{{{}}}", members.join(","))
        });
        let member = prop_oneof![
            (
                prop_oneof![Just("allOf"), Just("anyOf"), Just("oneOf"), Just("prefixItems"), Just("items")],
                list
            )
                .prop_map(|(key, list)| format!("\"{key}\":{list}")),
            (prop_oneof![Just("properties"), Just("$defs"), Just("patternProperties")], named)
                .prop_map(|(key, named)| format!("\"{key}\":{named}")),
            (prop_oneof![Just("items"), Just("not"), Just("additionalProperties")], inner)
                .prop_map(|(key, one)| format!("\"{key}\":{one}")),
            Just("\"required\":[\"a\"]".to_owned()),
            Just("\"type\":\"object\"".to_owned()),
        ];
        proptest::collection::vec(member, 1..4).prop_map(|members| format!("{{{}}}", members.join(",")))
    })
}

/// Every reference in a schema, wherever a keyword can hold one.
fn dangling(json: &Json, root: &Json) -> Vec<String> {
    match json {
        Json::Object(members) => members
            .iter()
            .flat_map(|(key, value)| match value {
                Json::String(reference) if key == "$ref" && nested::resolve(reference, root).is_none() => {
                    vec![reference.clone()]
                }
                _ => dangling(value, root),
            })
            .collect(),
        Json::Array(items) => items.iter().flat_map(|item| dangling(item, root)).collect(),
        _ => Vec::new(),
    }
}

proptest! {
    #[test]
    fn whatever_a_server_writes_becomes_an_object_that_is_taken_or_is_left_out(text in any_schema()) {
        let source = RawJson::parse(text).unwrap();
        for target in [SchemaTarget::OpenAi, SchemaTarget::Anthropic, SchemaTarget::Gemini] {
            let Ok(Lowered { schema: Some(schema), .. }) = lower(&source, target) else {
                continue;
            };
            let json = schema.to_json().unwrap();
            prop_assert_eq!(json.get("type").and_then(Json::as_str), Some("object"));
            prop_assert!(matches!(json.get("properties"), Some(Json::Object(_))));
            for key in ["allOf", "anyOf", "oneOf", "$ref"] {
                prop_assert!(json.get(key).is_none(), "{} in {}", key, schema);
            }
            prop_assert_eq!(dangling(&json, &json), Vec::<String>::new());
            let again = lower(&schema, target).unwrap();
            prop_assert_eq!(again.schema, Some(schema));
        }
    }
}
