use surehand_model::{Json, RawJson};
use surehand_schema::{SchemaFault, Validator, explain};

fn fault(schema: impl Into<String>) -> SchemaFault {
    Validator::new(&RawJson::parse(schema).unwrap()).map(|_| ()).unwrap_err()
}

#[test]
fn nothing_outside_the_schema_is_ever_fetched() {
    for reference in [
        "http://example.test/a.json",
        "https://example.test/a",
        "file:///etc/hostname",
        "//example.test/x",
        "other.json",
    ] {
        let schema = format!(r#"{{"properties":{{"x":{{"$ref":"{reference}"}}}}}}"#);
        assert!(matches!(fault(schema), SchemaFault::OutsideReference { .. }), "{reference}");
    }
}

#[test]
fn a_reference_that_leads_nowhere_is_said_to() {
    for reference in ["#/$defs/none", "#none"] {
        let schema = format!(r#"{{"properties":{{"x":{{"$ref":"{reference}"}}}}}}"#);
        assert!(matches!(fault(schema), SchemaFault::LostReference { .. }), "{reference}");
    }
}

#[test]
fn an_unknown_dialect_is_refused_and_named() {
    assert_eq!(
        fault(r#"{"$schema":"https://example.test/my-dialect"}"#),
        SchemaFault::UnknownDialect { uri: "https://example.test/my-dialect".to_owned() }
    );
}

#[test]
fn every_known_dialect_is_read_by_its_own_rules() {
    for (dialect, refused) in [
        ("http://json-schema.org/draft-04/schema#", true),
        ("http://json-schema.org/draft-06/schema#", false),
        ("http://json-schema.org/draft-07/schema#", false),
        ("https://json-schema.org/draft/2019-09/schema", false),
        ("https://json-schema.org/draft/2020-12/schema", false),
    ] {
        let schema = format!(r#"{{"$schema":"{dialect}","properties":{{"x":{{"type":"integer"}}}}}}"#);
        let validator = Validator::new(&RawJson::parse(schema).unwrap()).unwrap();
        // The first dialects do not take `5.0` for an integer.
        assert_eq!(!validator.is_valid(&Json::parse(r#"{"x":5.0}"#).unwrap()), refused, "{dialect}");
    }
}

#[test]
fn what_is_no_schema_at_all_is_refused() {
    for schema in ["null", "[]", "5", "\"object\""] {
        assert!(matches!(fault(schema), SchemaFault::Invalid { path, .. } if path.is_empty()), "{schema}");
    }
}

#[test]
fn a_schema_of_great_depth_or_size_is_refused() {
    let deep = format!("{}{}", r#"{"items":"#.repeat(100_000), "true".to_owned() + &"}".repeat(100_000));
    assert!(matches!(fault(deep), SchemaFault::TooCostly { .. }));
    let large = format!(r#"{{"description":"{}"}}"#, "a".repeat(2_000_000));
    assert!(matches!(fault(large), SchemaFault::TooCostly { .. }));
}

#[test]
fn alternatives_that_multiply_are_refused() {
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let levels = (0..40).map(|n| {
            let next = n + 1;
            format!(r##""d{n}":{{"{keyword}":[{{"$ref":"#/$defs/d{next}"}},{{"$ref":"#/$defs/d{next}"}}]}}"##)
        });
        let levels = levels.collect::<Vec<_>>().join(",");
        let schema = format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{levels},"d40":{{"type":"object"}}}}}}"##);
        assert!(matches!(fault(schema), SchemaFault::TooCostly { .. }), "{keyword}");
    }
}

#[test]
fn a_reference_that_leads_back_to_itself_is_refused_and_one_that_goes_down_is_fine() {
    for schema in [
        r##"{"$ref":"#"}"##,
        r##"{"allOf":[{"$ref":"#"}]}"##,
        r##"{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"anyOf":[{"$ref":"#/$defs/a"}]}}}"##,
        r##"{"$ref":"#here","$defs":{"a":{"$anchor":"here","not":{"$ref":"#here"}}}}"##,
        r##"{"$id":"https://example.test/root","properties":{"x":{"$ref":"loop"}},"$defs":{"l":{"$id":"loop","allOf":[{"$ref":"#"}]}}}"##,
    ] {
        assert!(matches!(fault(schema), SchemaFault::TooCostly { .. }), "{schema}");
    }
    let tree = r##"{"$ref":"#/$defs/node","$defs":{"node":{"type":"object","properties":{"children":{"type":"array","items":{"anyOf":[{"$ref":"#/$defs/node"},{"type":"null"}]}},"name":{"type":"string"}}}}}"##;
    let validator = Validator::new(&RawJson::parse(tree).unwrap()).unwrap();
    let value = Json::parse(r#"{"children":[{"name":"a","children":[{"name":5}]},null]}"#).unwrap();
    let paths: Vec<String> = validator.check(&value).into_iter().map(|violation| violation.path).collect();
    assert_eq!(paths, ["/children/0/children/0/name"]);
}

#[test]
fn an_address_is_not_taken_for_one_that_only_ends_like_it() {
    let schema = r##"{"$id":"https://example.test/strict-tree","$ref":"tree","unevaluatedProperties":false,
        "$defs":{"t":{"$id":"tree","type":"object","properties":{"data":true,"children":{"items":{"$ref":"#"}}}}}}"##;
    let validator = Validator::new(&RawJson::parse(schema).unwrap()).unwrap();
    assert!(validator.is_valid(&Json::parse(r#"{"data":1,"children":[{"data":2}]}"#).unwrap()));
    assert!(!validator.is_valid(&Json::parse(r#"{"daat":1}"#).unwrap()));
}

#[test]
fn a_value_that_would_take_for_ever_is_refused_at_once() {
    // Each level doubles the work, whether the schema is recursive or only long.
    let recursive =
        r##"{"properties":{"a":{"anyOf":[{"$ref":"#"},{"$ref":"#","required":["z"]}]}},"required":["a"]}"##;
    let branch =
        |n: usize| format!(r##"{{"properties":{{"a":{{"$ref":"#/$defs/d{n}"}}}},"required":["a"]}}"##);
    let levels = (0..60)
        .map(|n| format!(r#""d{n}":{{"anyOf":[{0},{0}]}}"#, branch(n + 1)))
        .collect::<Vec<_>>()
        .join(",");
    let long = format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{levels},"d60":{{"type":"null"}}}}}}"##);
    for schema in [recursive, long.as_str()] {
        let validator = Validator::new(&RawJson::parse(schema).unwrap()).unwrap();
        let nested =
            |levels: usize| Json::parse(&(r#"{"a":"#.repeat(levels) + "5" + &"}".repeat(levels))).unwrap();
        let violations = validator.check(&nested(55));
        assert_eq!(violations.len(), 1, "{violations:?}");
        assert_eq!(violations[0].expected, "a value that nests less deep");
        assert_eq!(validator.repair(&nested(55)).arguments, nested(55));
        assert!(validator.check(&nested(6)).iter().all(|violation| !violation.path.is_empty()));
    }
}

#[test]
fn a_long_chain_at_every_level_of_a_deep_value_does_not_overflow_the_stack() {
    for chain in [1, 10, 30] {
        let links = (1..chain).map(|n| format!(r##""c{n}":{{"allOf":[{{"$ref":"#/$defs/c{}"}}]}}"##, n + 1));
        let links = links.collect::<Vec<_>>().join(",");
        let links = if links.is_empty() { links } else { format!("{links},") };
        let schema = format!(
            r##"{{"$ref":"#/$defs/c1","$defs":{{{links}"c{chain}":{{"properties":{{"a":{{"$ref":"#/$defs/c1"}}}}}}}}}}"##
        );
        let validator = Validator::new(&RawJson::parse(schema).unwrap()).unwrap();
        for (levels, affordable) in [(20, true), (127, chain < 10)] {
            let value = Json::parse(&(r#"{"a":"#.repeat(levels) + "5" + &"}".repeat(levels))).unwrap();
            assert_eq!(validator.repair(&value).arguments, value);
            assert_eq!(validator.is_valid(&value), affordable, "{chain} links, {levels} levels");
        }
    }
}

#[test]
fn a_chain_of_many_references_is_refused_before_it_is_followed() {
    let levels = (0..5_000)
        .map(|n| format!(r##""d{n}":{{"$ref":"#/$defs/d{}"}}"##, n + 1))
        .collect::<Vec<_>>()
        .join(",");
    let schema = format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{levels},"d5000":{{}}}}}}"##);
    assert!(matches!(fault(schema), SchemaFault::TooCostly { .. }));
}

#[test]
fn a_pattern_made_to_take_for_ever_is_given_up() {
    for pattern in ["^(a+)+$", "^(?=(a+)+$)b", r"^(a*)*\\1b$", "^(([a-z])+.)+[A-Z]([a-z])+$"] {
        let schema = format!(r#"{{"properties":{{"x":{{"pattern":"{pattern}"}}}}}}"#);
        let validator = Validator::new(&RawJson::parse(schema).unwrap()).unwrap();
        let value = Json::Object(vec![("x".to_owned(), Json::String(format!("{}!", "a".repeat(5_000))))]);
        assert!(!validator.is_valid(&value), "{pattern}");
    }
}

#[test]
fn a_keyword_that_breaks_the_rules_is_left_out_and_the_rest_is_checked() {
    let table: &[(&str, &[&str])] = &[
        (
            r#"{"type":"object","properties":{"x":{"type":"integer","required":true}}}"#,
            &["/properties/x/required"],
        ),
        (r#"{"type":"object","properties":{"x":{"type":"integer"}},"required":null}"#, &["/required"]),
        (
            r#"{"type":"object","properties":{"x":{"type":"integer"},"y":{"type":"any"}}}"#,
            &["/properties/y/type"],
        ),
        (
            r#"{"type":"object","properties":{"x":{"type":"integer"},"y":{"pattern":"(?P<a>x)\\Z("},"z":{"minLength":"1"}}}"#,
            &["/properties/y/pattern", "/properties/z/minLength"],
        ),
        (r#"{"type":"object","properties":{"x":{"type":"integer"}},"required":["x",1]}"#, &["/required"]),
    ];
    for (schema, left_out) in table {
        let validator = Validator::new(&RawJson::parse(*schema).unwrap()).unwrap();
        let mut places: Vec<&str> = validator.notes().iter().map(|note| note.r#where.as_str()).collect();
        places.sort_unstable();
        assert_eq!(places, *left_out, "{schema}");
        assert!(validator.is_valid(&Json::parse(r#"{"x":1}"#).unwrap()), "{schema}");
        assert!(!validator.is_valid(&Json::parse(r#"{"x":"a"}"#).unwrap()), "{schema}");
    }
}

#[test]
fn arguments_of_great_length_are_described_briefly() {
    let validator = Validator::new(
        &RawJson::parse(r#"{"properties":{"x":{"type":"integer"}},"additionalProperties":false}"#).unwrap(),
    )
    .unwrap();
    let long = "a".repeat(100_000);
    let value = Json::Object(vec![("x".to_owned(), Json::String(long.clone())), (long, Json::Null)]);
    let violations = validator.check(&value);
    assert_eq!(violations.len(), 2);
    let told = explain("t", &violations).to_string();
    assert!(told.len() < 2_500, "{} bytes: {told}", told.len());
}

#[test]
fn a_property_that_stands_twice_is_refused_since_two_readers_would_see_two_values() {
    let validator = Validator::new(&RawJson::parse(r#"{"type":"object"}"#).unwrap()).unwrap();
    let value = Json::parse(r#"{"path":"a","list":[{"x":1,"x":1}],"path":"b","path":"c"}"#).unwrap();
    let told: Vec<(String, String)> =
        validator.check(&value).into_iter().map(|violation| (violation.path, violation.got)).collect();
    assert_eq!(
        told,
        [
            ("/path".to_owned(), "property \"path\" 3 times".to_owned()),
            ("/list/0/x".to_owned(), "property \"x\" 2 times".to_owned()),
        ]
    );
}
