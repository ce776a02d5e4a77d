use proptest::prelude::*;
use serde_json::{Value, json};
use surehand_model::{Json, RawJson};
use surehand_schema::Validator;

/// Values of all kinds, with texts that look like other kinds.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-20_i64..20).prop_map(Value::from),
        prop_oneof![Just(5.0), Just(0.5), Just(-2.0)].prop_map(Value::from),
        prop_oneof![
            Just("5"),
            Just("5.0"),
            Just("true"),
            Just("null"),
            Just("a"),
            Just(""),
            Just("[1]"),
            Just("[\"a\"]"),
            Just("{}"),
            Just("{\"a\":\"1\"}"),
            Just("{\"a\":{\"b\":\"2\"}}"),
            Just("007")
        ]
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[abc]", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Schemas of the shapes that tools have.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({})),
        prop::sample::select(vec!["null", "boolean", "integer", "number", "string", "array", "object"])
            .prop_map(|name| json!({"type": name})),
        Just(json!({"type": ["integer", "null"]})),
        Just(json!({"type": ["string", "array"]})),
        Just(json!({"enum": [1, 2, "a"]})),
        Just(json!({"enum": [5, true]})),
        Just(json!({"const": 5})),
        Just(json!({"type": "integer", "minimum": 3})),
        Just(json!({"type": "string", "minLength": 2})),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        let members = prop::collection::btree_map("[abc]", inner.clone(), 0..3);
        prop_oneof![
            inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            (members, prop::collection::vec("[abc]", 0..2), any::<bool>()).prop_map(|(members, required, open)| {
                let mut required = required;
                required.dedup();
                json!({"type": "object", "properties": members, "required": required, "additionalProperties": open})
            }),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|branches| json!({"anyOf": branches})),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|branches| json!({"oneOf": branches})),
            prop::collection::vec(inner, 1..3).prop_map(|branches| json!({"allOf": branches})),
        ]
    })
}

fn validator(schema: &Value) -> Validator {
    Validator::for_value(&RawJson::from(schema)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_value_has_violations_exactly_when_the_schema_refuses_it(schema in schema(), value in value()) {
        let expected = jsonschema::options().offline().build(&schema).unwrap().is_valid(&value);
        let violations = validator(&schema).check(&Json::from(&value));
        prop_assert_eq!(violations.is_empty(), expected, "{:?}", violations);
    }

    #[test]
    fn a_valid_value_stays_what_it_is(schema in schema(), value in value()) {
        let validator = validator(&schema);
        let given = Json::from(&value);
        if validator.is_valid(&given) {
            let repaired = validator.repair(&given);
            // `5.0` may become `5`, which is the same value.
            let same = |value: &Json| value.to_string().replace("5.0", "5").replace("-2.0", "-2");
            prop_assert_eq!(same(&repaired.arguments), same(&given));
        }
    }

    #[test]
    fn a_repaired_value_is_no_worse_and_changed_only_for_the_better(schema in schema(), value in value()) {
        let validator = validator(&schema);
        let given = Json::from(&value);
        let repaired = validator.repair(&given);
        let (before, after) = (validator.check(&given).len(), validator.check(&repaired.arguments).len());
        prop_assert!(after <= before, "{} then {}: {:?}", before, after, repaired);
        prop_assert_eq!(repaired.repairs.is_empty(), repaired.arguments == given);
    }

    #[test]
    fn a_repaired_value_is_not_repaired_again_into_another(schema in schema(), value in value()) {
        let validator = validator(&schema);
        let once = validator.repair(&Json::from(&value)).arguments;
        prop_assert_eq!(&validator.repair(&once).arguments, &once);
    }

    #[test]
    fn text_where_text_may_stand_is_never_touched(text in "[\\[\\]{}\":,0-9a-z ]{0,12}") {
        for schema in [r#"{"properties":{"x":{"type":"string"}}}"#, r#"{"properties":{"x":{}}}"#,
            r#"{"properties":{"x":{"anyOf":[{"type":"integer"},{"type":"string","pattern":"^q"},{"type":"array"}]}}}"#] {
            let validator = Validator::new(&RawJson::parse(schema).unwrap()).unwrap();
            let given = Json::Object(vec![("x".to_owned(), Json::String(text.clone()))]);
            prop_assert_eq!(&validator.repair(&given).arguments, &given);
        }
    }
}
