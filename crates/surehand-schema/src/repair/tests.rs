use surehand_model::{Json, RawJson};

use super::*;

fn validator(schema: &str) -> Validator {
    Validator::new(&RawJson::parse(schema).unwrap()).unwrap()
}

/// The repaired arguments, and what was changed as `path: from -> to`.
fn repaired(validator: &Validator, arguments: &str) -> (String, Vec<String>) {
    let repaired = validator.repair(&Json::parse(arguments).unwrap());
    let repairs =
        repaired.repairs.iter().map(|repair| format!("{}: {} -> {}", repair.path, repair.from, repair.to));
    (repaired.arguments.to_string(), repairs.collect())
}

fn paths(validator: &Validator, arguments: &str) -> Vec<String> {
    let repaired = validator.repair(&Json::parse(arguments).unwrap());
    validator.check(&repaired.arguments).into_iter().map(|violation| violation.path).collect()
}

/// `(property schema, given, becomes)`, each as the property `x` of an object.
fn assert_property_table(table: &[(&str, &str, &str)]) {
    for (schema, given, expected) in table {
        let validator =
            validator(&format!(r#"{{"type":"object","properties":{{"x":{schema}}},"required":["x"]}}"#));
        let (arguments, repairs) = repaired(&validator, &format!(r#"{{"x":{given}}}"#));
        assert_eq!(arguments, format!(r#"{{"x":{expected}}}"#), "{schema} given {given}, with {repairs:?}");
        assert_eq!(repairs.is_empty(), given == expected, "{schema} given {given}, with {repairs:?}");
    }
}

const EDIT: &str = r#"{"type":"object","properties":{"key":{"type":"string"},"fields":{"type":"object"},
    "labels":{"type":"array","items":{"type":"string"}},"limit":{"type":"integer"},"on":{"type":"boolean"},
    "id":{"type":"integer"},"opt":{"anyOf":[{"type":"array","items":{"type":"string"}},{"type":"null"}]}},
    "required":["key"],"additionalProperties":false}"#;

#[test]
fn everything_sent_as_text_becomes_what_the_schema_says_and_text_stays_text() {
    let (arguments, repairs) = repaired(
        &validator(EDIT),
        r#"{"key":"{\"a\":1}","fields":"{\"t\":\"x\"}","labels":"[\"a\",\"b\"]","limit":"5","on":"true","opt":"[\"z\"]"}"#,
    );
    assert_eq!(
        arguments,
        r#"{"key":"{\"a\":1}","fields":{"t":"x"},"labels":["a","b"],"limit":5,"on":true,"opt":["z"]}"#
    );
    let mut places: Vec<&str> = repairs.iter().filter_map(|repair| repair.split(':').next()).collect();
    places.sort_unstable();
    assert_eq!(places, ["/fields", "/labels", "/limit", "/on", "/opt"]);
}

#[test]
fn a_whole_number_with_a_point_is_spelled_as_an_integer_and_digits_in_text_stay() {
    let (arguments, repairs) = repaired(&validator(EDIT), r#"{"key":"007","limit":5.0}"#);
    assert_eq!(arguments, r#"{"key":"007","limit":5}"#);
    assert_eq!(repairs, ["/limit: integer 5.0 -> integer 5"]);
}

#[test]
fn what_is_not_proved_is_left_alone_and_named_by_its_path() {
    for (given, path) in [
        (r#"{"key":"k","limit":"5 items"}"#, "/limit"),
        (r#"{"key":"k","fields":"{broken"}"#, "/fields"),
        (r#"{"key":"k","labels":"a"}"#, "/labels"),
        (r#"{"key":"k","color":"red"}"#, "/color"),
        (r#"{"key":"k","limit":" 5"}"#, "/limit"),
        (r#"{"key":"k","limit":"5.5"}"#, "/limit"),
        (r#"{"key":"k","limit":5.5}"#, "/limit"),
        (r#"{"key":5}"#, "/key"),
        (r#"{"key":"k","on":1}"#, "/on"),
        (r#"{"key":"k","labels":{"a":1}}"#, "/labels"),
        (r#"{"key":"k","labels":"[1]"}"#, "/labels"),
    ] {
        assert_eq!(repaired(&validator(EDIT), given), (given.to_owned(), vec![]));
        assert_eq!(paths(&validator(EDIT), given), [path], "{given}");
    }
}

#[test]
fn a_large_integer_arrives_digit_for_digit() {
    for digits in ["2512292042121000001", "123456789012345678901234567890", "-99999999999999999999"] {
        let given = format!(r#"{{"key":"k","id":{digits}}}"#);
        assert_eq!(repaired(&validator(EDIT), &given), (given.clone(), vec![]));
        assert_eq!(paths(&validator(EDIT), &given), Vec::<String>::new());
        let as_text = format!(r#"{{"key":"k","id":"{digits}"}}"#);
        assert_eq!(repaired(&validator(EDIT), &as_text).0, given);
    }
}

#[test]
fn text_becomes_the_kind_that_is_wanted_if_it_spells_it_to_the_letter() {
    assert_property_table(&[
        (r#"{"type":"integer"}"#, r#""5""#, "5"),
        (r#"{"type":"integer"}"#, r#""-5""#, "-5"),
        (r#"{"type":"integer"}"#, r#""5.0""#, "5"),
        (r#"{"type":"integer"}"#, r#""007""#, r#""007""#),
        (r#"{"type":"integer"}"#, r#""+5""#, r#""+5""#),
        (r#"{"type":"integer"}"#, r#""5e1""#, "50"),
        (r#"{"type":"integer"}"#, r#""""#, r#""""#),
        (r#"{"type":"integer","minimum":10}"#, r#""5""#, r#""5""#),
        (r#"{"type":"number"}"#, r#""1.50""#, "1.50"),
        (r#"{"type":"number"}"#, r#""NaN""#, r#""NaN""#),
        (r#"{"type":"number"}"#, "5.0", "5.0"),
        (r#"{"type":"boolean"}"#, r#""false""#, "false"),
        (r#"{"type":"boolean"}"#, r#""True""#, "true"),
        (r#"{"type":"boolean"}"#, r#""yes""#, r#""yes""#),
        (r#"{"type":"boolean"}"#, r#""1""#, r#""1""#),
        (r#"{"type":["integer","null"]}"#, r#""5""#, "5"),
        (r#"{"type":["integer","null"]}"#, r#""null""#, "null"),
        (r#"{"type":["integer","string"]}"#, r#""5""#, r#""5""#),
        (r#"{"type":"string"}"#, r#""5""#, r#""5""#),
        (r#"{"type":"string"}"#, r#""[1]""#, r#""[1]""#),
        (r#"{}"#, r#""{}""#, r#""{}""#),
        (r#"{"enum":[1,2]}"#, r#""2""#, "2"),
        (r#"{"enum":[1,2]}"#, r#""3""#, r#""3""#),
        (r#"{"enum":[1,"2"]}"#, r#""1""#, r#""1""#),
        (r#"{"const":true}"#, r#""true""#, "true"),
    ]);
}

#[test]
fn lists_and_objects_sent_as_text_are_opened_even_inside_one_another() {
    assert_property_table(&[
        (r#"{"type":"array","items":{"type":"integer"}}"#, r#"["1","2"]"#, "[1,2]"),
        (r#"{"type":"array","items":{"type":"integer"}}"#, r#""[1, 2]""#, "[1,2]"),
        (r#"{"type":"array","items":{"type":"integer"}}"#, r#""[\"1\"]""#, "[1]"),
        (r#"{"type":"array","items":{"type":"integer"}}"#, r#""[\"a\"]""#, r#""[\"a\"]""#),
        (r#"{"type":"array","items":{"type":"object"}}"#, r#"["{\"a\":1}",{"b":2}]"#, r#"[{"a":1},{"b":2}]"#),
        (r#"{"type":"object"}"#, r#""[]""#, r#""[]""#),
        (r#"{"type":"object"}"#, r#""\n{\"a\": 1} ""#, r#"{"a":1}"#),
        (
            r#"{"type":"object","properties":{"y":{"type":"object","properties":{"n":{"type":"integer"}}}}}"#,
            r#""{\"y\":\"{\\\"n\\\":\\\"7\\\"}\"}""#,
            r#"{"y":{"n":7}}"#,
        ),
        (
            r#"{"type":"object"}"#,
            r#""{\"id\":123456789012345678901,\"a\":1.10}""#,
            r#"{"id":123456789012345678901,"a":1.10}"#,
        ),
    ]);
}

#[test]
fn alternatives_are_repaired_only_where_one_reading_is_left() {
    assert_property_table(&[
        (r#"{"anyOf":[{"type":"integer"},{"type":"null"}]}"#, r#""5""#, "5"),
        (r#"{"oneOf":[{"type":"integer"},{"type":"boolean"}]}"#, r#""true""#, "true"),
        (r#"{"anyOf":[{"type":"integer"},{"type":"number"}]}"#, r#""5""#, "5"),
        (r#"{"anyOf":[{"type":"string","pattern":"^[a-z]+$"},{"type":"integer"}]}"#, r#""5""#, r#""5""#),
        (r#"{"anyOf":[{"enum":["a","b"]},{"type":"integer"}]}"#, r#""5""#, r#""5""#),
        (r#"{"anyOf":[{"type":"string","minLength":9},{"type":"array"}]}"#, r#""[1]""#, r#""[1]""#),
        (
            r##"{"anyOf":[{"$ref":"#/properties/x/$defs/o"},{"type":"null"}],"$defs":{"o":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n","m"]}}}"##,
            r#"{"n":"5"}"#,
            r#"{"n":5}"#,
        ),
        (
            r#"{"oneOf":[{"properties":{"kind":{"const":"a"},"n":{"type":"integer"}}},{"properties":{"kind":{"const":"b"},"n":{"type":"string"}}}]}"#,
            r#"{"kind":"a","n":"5"}"#,
            r#"{"kind":"a","n":5}"#,
        ),
        (
            r#"{"oneOf":[{"properties":{"kind":{"const":"a"},"n":{"type":"integer"}}},{"properties":{"kind":{"const":"b"},"n":{"type":"string"}}}]}"#,
            r#"{"kind":"b","n":"5"}"#,
            r#"{"kind":"b","n":"5"}"#,
        ),
    ]);
}

#[test]
fn two_parts_of_the_schema_that_want_different_things_prove_nothing() {
    assert_property_table(&[(
        r#"{"allOf":[{"type":"integer"},{"type":["boolean","array"]}]}"#,
        r#""5""#,
        r#""5""#,
    )]);
}

#[test]
fn null_goes_away_where_the_property_need_not_be_there() {
    let optional = validator(
        r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":["string","null"]}}}"#,
    );
    assert_eq!(
        repaired(&optional, r#"{"a":null,"b":null}"#),
        (r#"{"b":null}"#.to_owned(), vec!["/a: null -> nothing".to_owned()])
    );
    let required = validator(r#"{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}"#);
    assert_eq!(repaired(&required, r#"{"a":null}"#), (r#"{"a":null}"#.to_owned(), vec![]));
    let items =
        validator(r#"{"type":"object","properties":{"a":{"type":"array","items":{"type":"integer"}}}}"#);
    assert_eq!(repaired(&items, r#"{"a":[1,null]}"#), (r#"{"a":[1,null]}"#.to_owned(), vec![]));
}

#[test]
fn arguments_that_are_one_text_as_a_whole_are_unwrapped_once() {
    let edit = validator(EDIT);
    assert_eq!(
        repaired(&edit, r#""{\"key\":\"k\",\"limit\":\"3\"}""#),
        (
            r#"{"key":"k","limit":3}"#.to_owned(),
            vec![
                r#": string "{\"key\":\"k\",\"limit\":\"3\"}" -> object {"key":"k","limit":"3"}"#.to_owned(),
                r#"/limit: string "3" -> integer 3"#.to_owned(),
            ]
        )
    );
    // Faults inside are then named by their own paths.
    assert_eq!(paths(&edit, r#""{\"limit\":1}""#), ["/key"]);
    assert_eq!(paths(&edit, r#""{}""#), ["/key"]);
    for given in [r#""\"{}\"""#, r#""[1]""#, r#""key""#, "5", "[{}]"] {
        assert_eq!(repaired(&edit, given), (given.to_owned(), vec![]));
        assert_eq!(paths(&edit, given), [""]);
    }
}

#[test]
fn nothing_is_no_arguments_for_a_tool_that_needs_none() {
    let none_needed = validator(r#"{"type":"object","properties":{"a":{"type":"integer"}}}"#);
    for given in [r#""""#, r#"" ""#, "[]", "null"] {
        let (arguments, repairs) = repaired(&none_needed, given);
        assert_eq!((arguments.as_str(), repairs.len()), ("{}", 1), "{given}");
        assert_eq!(repaired(&validator(EDIT), given), (given.to_owned(), vec![]), "{given}");
    }
    assert_eq!(repaired(&none_needed, "{}"), ("{}".to_owned(), vec![]));
}

#[test]
fn members_are_moved_into_the_only_place_they_can_belong() {
    let wrapped = validator(
        r##"{"type":"object","properties":{"request":{"$ref":"#/$defs/Request"}},"required":["request"],
            "$defs":{"Request":{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},
            "required":["city"]}}}"##,
    );
    let (arguments, repairs) = repaired(&wrapped, r#"{"city":"Rome","days":"3"}"#);
    assert_eq!(arguments, r#"{"request":{"city":"Rome","days":3}}"#);
    assert_eq!(repairs.len(), 2);
    assert_eq!(paths(&wrapped, r#"{"city":"Rome","days":"3"}"#), Vec::<String>::new());
    for given in [r#"{"town":"Rome"}"#, r#"{"city":"Rome","town":"x"}"#, r#"{}"#, r#"{"request":{"town":1}}"#]
    {
        assert_eq!(repaired(&wrapped, given), (given.to_owned(), vec![]));
    }
    // Two places, or a name known outside as well: nothing is proved.
    let two = validator(
        r#"{"type":"object","properties":{"a":{"type":"object","properties":{"x":{}}},"b":{"type":"object","properties":{"x":{}}}},"required":["a","b"]}"#,
    );
    assert_eq!(repaired(&two, r#"{"x":1}"#), (r#"{"x":1}"#.to_owned(), vec![]));
    let known_outside = validator(
        r#"{"type":"object","properties":{"a":{"type":"object","properties":{"x":{}}},"x":{}},"required":["a"]}"#,
    );
    assert_eq!(repaired(&known_outside, r#"{"x":1}"#), (r#"{"x":1}"#.to_owned(), vec![]));
}

#[test]
fn one_hopeless_fault_does_not_keep_the_others_from_being_repaired() {
    let (arguments, repairs) =
        repaired(&validator(EDIT), r#"{"key":"k","limit":"5","labels":"a","on":"true"}"#);
    assert_eq!(arguments, r#"{"key":"k","limit":5,"labels":"a","on":true}"#);
    assert_eq!(repairs.len(), 2);
}

#[test]
fn older_dialects_want_integers_without_a_point() {
    let validator = validator(
        r#"{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","properties":{"x":{"type":"integer"}}}"#,
    );
    assert_eq!(repaired(&validator, r#"{"x":5.0}"#).0, r#"{"x":5}"#);
}

#[test]
fn a_large_value_is_repaired_without_taking_for_ever() {
    let validator =
        validator(r#"{"type":"object","properties":{"x":{"type":"array","items":{"type":"integer"}}}}"#);
    let many = (0..150).map(|n| format!("\"{n}\"")).collect::<Vec<_>>().join(",");
    let (arguments, repairs) = repaired(&validator, &format!(r#"{{"x":[{many}]}}"#));
    assert_eq!(repairs.len(), 150);
    assert_eq!(arguments, format!(r#"{{"x":[{}]}}"#, many.replace('"', "")));
}
