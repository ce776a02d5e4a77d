use surehand_model::{Json, RawJson};
use surehand_schema::Validator;

/// Which of these values the schema takes.
fn taken(schema: &str, values: &[&str]) -> Vec<bool> {
    let validator = Validator::new(&RawJson::parse(schema).unwrap()).unwrap();
    assert_eq!(validator.notes(), [], "{schema}");
    values.iter().map(|value| validator.is_valid(&Json::parse(value).unwrap())).collect()
}

#[test]
fn bounds_and_null_in_older_spellings_hold_under_a_newer_label() {
    let schema = r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{
        "ttl":{"type":"integer","minimum":0,"exclusiveMinimum":true,"maximum":9,"exclusiveMaximum":false},
        "note":{"type":"string","nullable":true,"example":"hi"},
        "list":{"type":"array","items":{"enum":["a"],"type":"string","nullable":true}}},"required":["ttl"]}"#;
    let values = [
        r#"{"ttl":0}"#,
        r#"{"ttl":1,"note":null,"list":["a",null]}"#,
        r#"{"ttl":9}"#,
        r#"{"ttl":10}"#,
        r#"{"ttl":1,"note":5}"#,
        r#"{"ttl":1,"list":["b"]}"#,
    ];
    assert_eq!(taken(schema, &values), [false, true, true, false, false, false]);
}

#[test]
fn the_dialect_that_has_flags_for_bounds_keeps_them() {
    let schema = r#"{"$schema":"http://json-schema.org/draft-04/schema#",
        "properties":{"x":{"type":"integer","minimum":0,"exclusiveMinimum":true}}}"#;
    assert_eq!(taken(schema, &[r#"{"x":0}"#, r#"{"x":1}"#]), [false, true]);
}

#[test]
fn values_and_properties_that_only_look_like_an_older_spelling_stay() {
    let schema = r#"{"properties":{"nullable":{"type":"boolean"},"exclusiveMinimum":{"type":"boolean"},
        "x":{"enum":[{"minimum":1,"exclusiveMinimum":true}]}}}"#;
    let values = [
        r#"{"nullable":true,"exclusiveMinimum":true}"#,
        r#"{"nullable":null}"#,
        r#"{"x":{"minimum":1,"exclusiveMinimum":true}}"#,
        r#"{"x":{"exclusiveMinimum":1}}"#,
    ];
    assert_eq!(taken(schema, &values), [true, false, true, false]);
}

#[test]
fn a_schema_that_refers_to_itself_checks_every_level_and_names_what_is_missing() {
    let schema = r##"{"type":"object","properties":{"root":{"$ref":"#/$defs/node"}},"required":["root"],
        "$defs":{"node":{"type":"object","properties":{"label":{"type":"string"},
        "kids":{"type":"array","items":{"$ref":"#/$defs/node"}}},"required":["label"]}}}"##;
    let validator = Validator::new(&RawJson::parse(schema).unwrap()).unwrap();
    let nested = r#"{"root":{"label":"a","kids":[{"label":"b","kids":[{"label":"c"}]}]}}"#;
    assert_eq!(validator.check(&Json::parse(nested).unwrap()), []);
    let paths = |value: &str| -> Vec<String> {
        validator.check(&Json::parse(value).unwrap()).into_iter().map(|violation| violation.path).collect()
    };
    assert_eq!(paths(r#"{"root":{"kids":[]}}"#), ["/root/label"]);
    assert_eq!(
        paths(r#"{"root":{"label":"a","kids":[{"label":"b","kids":[{}]}]}}"#),
        ["/root/kids/0/kids/0/label"]
    );
}
