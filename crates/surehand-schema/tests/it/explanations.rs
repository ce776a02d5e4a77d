use expect_test::{Expect, expect};
use surehand_model::{Json, RawJson};
use surehand_schema::{Validator, explain};

/// Each violation on a line: `path | expected | got | nearest`, and its message below it.
fn check(schema: &str, arguments: &str, expected: Expect) {
    let validator = Validator::new(&RawJson::parse(schema).unwrap()).unwrap();
    let violations = validator.check(&Json::parse(arguments).unwrap());
    let lines = violations.iter().map(|v| {
        let nearest = v.nearest.as_deref().unwrap_or("-");
        let path = if v.path.is_empty() { "(whole)" } else { &v.path };
        format!("{path} | {} | {} | {nearest}\n    {}\n", v.expected, v.got, v.message)
    });
    expected.assert_eq(&lines.collect::<String>());
}

const WEATHER: &str = r#"{"type":"object","properties":{"city":{"type":"string","minLength":2},
    "unit":{"type":"string","enum":["celsius","fahrenheit"]},"days":{"type":"integer","minimum":1,"maximum":14},
    "at":{"anyOf":[{"type":"string","format":"date"},{"type":"null"}]}},"required":["city"],"additionalProperties":false}"#;

#[test]
fn every_fault_is_named_at_once_by_its_place() {
    check(
        WEATHER,
        r#"{"city":5,"unit":"celcius","days":99,"Unit":"x","at":[1]}"#,
        expect![[r#"
            /city | string | integer 5 | -
                `/city`: expected string, got integer 5.
            /unit | one of "celsius", "fahrenheit" | string "celcius" | "celsius"
                `/unit`: expected one of "celsius", "fahrenheit", got string "celcius". Did you mean "celsius"?
            /days | at most 14 | integer 99 | -
                `/days`: expected at most 14, got integer 99.
            /at | string or null | array [1] | -
                `/at`: expected string or null, got array [1].
            /Unit | one of the properties "city", "unit", "days", "at" | unknown property "Unit" | unit
                `/Unit` is not a property the schema knows. Did you mean "unit"? Allowed: "city", "unit", "days", "at".
        "#]],
    );
}

#[test]
fn a_missing_property_is_named_at_its_own_place_with_its_type() {
    check(
        WEATHER,
        r#"{"town":"Rome","cty":"Rome"}"#,
        expect![[r#"
            /town | one of the properties "city", "unit", "days", "at" | unknown property "town" | -
                `/town` is not a property the schema knows. Allowed: "city", "unit", "days", "at".
            /cty | one of the properties "city", "unit", "days", "at" | unknown property "cty" | city
                `/cty` is not a property the schema knows. Did you mean "city"? Allowed: "city", "unit", "days", "at".
            /city | string | nothing | cty
                `/city` is missing: expected string. Is it what you called "cty"?
        "#]],
    );
    check(
        r##"{"properties":{"a/b":{"$ref":"#/$defs/list"}},"required":["a/b","free"],"$defs":{"list":{"type":"array","items":{"type":["integer","null"]}}}}"##,
        "{}",
        expect![[r#"
            /a~1b | array of integer or null | nothing | -
                `/a~1b` is missing: expected array of integer or null.
            /free | a value | nothing | -
                `/free` is missing: expected a value.
        "#]],
    );
}

#[test]
fn arguments_that_are_no_object_are_said_to_be_none() {
    check(
        WEATHER,
        r#""Rome""#,
        expect![[r#"
        (whole) | object | string "Rome" | -
            The arguments as a whole: expected one JSON object, got string "Rome".
    "#]],
    );
    check(
        "{}",
        "[1]",
        expect![[r#"
        (whole) | object | array [1] | -
            The arguments as a whole: expected one JSON object, got array [1].
    "#]],
    );
}

#[test]
fn a_value_of_none_of_the_kinds_is_told_all_of_them() {
    check(
        r#"{"properties":{"x":{"anyOf":[{"type":"null"},{"type":"array"},{"type":["integer","boolean"]}]}}}"#,
        r#"{"x":"a"}"#,
        expect![[r#"
            /x | array, boolean, integer or null | string "a" | -
                `/x`: expected array, boolean, integer or null, got string "a".
        "#]],
    );
    check(
        r#"{"properties":{"x":{"type":["null","integer"]}}}"#,
        r#"{"x":"a"}"#,
        expect![[r#"
        /x | integer or null | string "a" | -
            `/x`: expected integer or null, got string "a".
    "#]],
    );
}

#[test]
fn the_alternative_that_fits_best_is_explained() {
    let shapes = r##"{"properties":{"shape":{"oneOf":[{"$ref":"#/$defs/circle"},{"$ref":"#/$defs/square"},{"type":"null"}]}},
        "$defs":{"circle":{"type":"object","properties":{"kind":{"const":"circle"},"radius":{"type":"number"}},
        "required":["kind","radius"],"additionalProperties":false},
        "square":{"type":"object","properties":{"kind":{"const":"square"},"side":{"type":"number"}},
        "required":["kind","side"],"additionalProperties":false}}}"##;
    check(
        shapes,
        r#"{"shape":{"kind":"square","side":"wide"}}"#,
        expect![[r#"
        /shape/side | number | string "wide" | -
            `/shape/side`: expected number, got string "wide". (Alternative 2 of 3, the closest.)
    "#]],
    );
    check(
        shapes,
        r#"{"shape":{"kind":"sqare","side":1}}"#,
        expect![[r#"
        /shape/kind | one of "circle", "square" | string "sqare" | "square"
            `/shape/kind`: expected one of "circle", "square", got string "sqare". Did you mean "square"?
    "#]],
    );
    check(
        shapes,
        r#"{"shape":{"kind":"circle","radios":1}}"#,
        expect![[r#"
        /shape/radius | number | nothing | radios
            `/shape/radius` is missing: expected number. Is it what you called "radios"? (Alternative 1 of 3, the closest.)
        /shape/radios | one of the properties "kind", "radius" | unknown property "radios" | radius
            `/shape/radios` is not a property the schema knows. Did you mean "radius"? Allowed: "kind", "radius". (Alternative 1 of 3, the closest.)
    "#]],
    );
}

#[test]
fn every_bound_is_said_in_words() {
    check(
        r#"{"properties":{
            "a":{"minimum":3},"b":{"exclusiveMaximum":3},"c":{"multipleOf":0.5},"d":{"minLength":1},"e":{"maxItems":1},
            "f":{"uniqueItems":true},"g":{"pattern":"^[a-z]+$"},"h":{"const":{"k":1}},"i":{"not":{"type":"string"}},
            "j":false,"k":{"minProperties":1},"l":{"contains":{"const":1}},"m":{"propertyNames":{"maxLength":1}},
            "n":{"oneOf":[{"type":"integer"},{"minimum":0}]}}}"#,
        r#"{"a":1,"b":3,"c":0.3,"d":"","e":[1,2],"f":[1,1],"g":"A1","h":{"k":2},"i":"s","j":1,"k":{},"l":[2],"m":{"no":1},"n":1}"#,
        expect![[r#"
            /a | at least 3 | integer 1 | -
                `/a`: expected at least 3, got integer 1.
            /b | less than 3 | integer 3 | -
                `/b`: expected less than 3, got integer 3.
            /c | a multiple of 0.5 | number 0.3 | -
                `/c`: expected a multiple of 0.5, got number 0.3.
            /d | text of at least 1 character | string "" | -
                `/d`: expected text of at least 1 character, got string "".
            /e | a list of at most 1 item | array [1,2] | -
                `/e`: expected a list of at most 1 item, got array [1,2].
            /f | a list without equal items | array [1,1] | -
                `/f`: expected a list without equal items, got array [1,1].
            /g | text that matches the pattern ^[a-z]+$ | string "A1" | -
                `/g`: expected text that matches the pattern ^[a-z]+$, got string "A1".
            /h | {"k":1} | object {"k":2} | -
                `/h`: expected {"k":1}, got object {"k":2}.
            /i | anything but what fits {"type":"string"} | string "s" | -
                `/i`: expected anything but what fits {"type":"string"}, got string "s".
            /j | no value there | integer 1 | -
                `/j`: expected no value there, got integer 1.
            /k | an object of at least 1 property | object {} | -
                `/k`: expected an object of at least 1 property, got object {}.
            /l | a list with the right number of items that fit `contains` | array [2] | -
                `/l`: expected a list with the right number of items that fit `contains`, got array [2].
            /m/no | a property name: text of at most 1 character | property name "no" | -
                `/m`: the name "no" is not allowed there, expected text of at most 1 character.
            /n | one of the alternatives alone; it fits several | integer 1 | -
                `/n`: expected one of the alternatives alone; it fits several, got integer 1.
        "#]],
    );
}

#[test]
fn allowed_names_come_from_every_part_of_the_schema() {
    check(
        r#"{"allOf":[{"properties":{"first":{}}},{"properties":{"second":{}}}],"unevaluatedProperties":false}"#,
        r#"{"frist":1,"other":2}"#,
        expect![[r#"
            /frist | one of the properties "first", "second" | unknown property "frist" | first
                `/frist` is not a property the schema knows. Did you mean "first"? Allowed: "first", "second".
            /other | one of the properties "first", "second" | unknown property "other" | -
                `/other` is not a property the schema knows. Allowed: "first", "second".
        "#]],
    );
    check(
        r#"{"additionalProperties":false}"#,
        r#"{"a":1}"#,
        expect![[r#"
        /a | no such property | unknown property "a" | -
            `/a` is not a property the schema knows. No other properties are allowed.
    "#]],
    );
    check(
        r#"{"$id":"https://example.test/root","properties":{"x":{"$ref":"inner"}},"$defs":{"i":{"$id":"inner","properties":{"known":{}},"additionalProperties":false}}}"#,
        r#"{"x":{"knwon":1}}"#,
        expect![[r#"
            /x/knwon | one of the properties "known" | unknown property "knwon" | known
                `/x/knwon` is not a property the schema knows. Did you mean "known"? Allowed: "known".
        "#]],
    );
}

#[test]
fn large_numbers_are_shown_and_told_apart_digit_for_digit() {
    check(
        r#"{"properties":{"a":{"type":"string"},"b":{"uniqueItems":true},"c":{"uniqueItems":true}}}"#,
        r#"{"a":123456789012345678901234567890,"b":[100000000000000000001,100000000000000000002],"c":[100000000000000000001,100000000000000000001]}"#,
        expect![[r#"
            /a | string | integer 123456789012345678901234567890 | -
                `/a`: expected string, got integer 123456789012345678901234567890.
            /c | a list without equal items | array [100000000000000000001,100000000000000000001] | -
                `/c`: expected a list without equal items, got array [100000000000000000001,100000000000000000001].
        "#]],
    );
}

#[test]
fn a_model_is_told_in_one_object_what_to_do() {
    let validator = Validator::new(&RawJson::parse(WEATHER).unwrap()).unwrap();
    let violations = validator.check(&Json::parse(r#"{"city":5,"days":"soon"}"#).unwrap());
    expect![[r#"{"error":"invalid_arguments","tool":"mcp__weather__forecast","details":[{"path":"/city","expected":"string","got":"integer 5","message":"`/city`: expected string, got integer 5."},{"path":"/days","expected":"integer","got":"string \"soon\"","message":"`/days`: expected integer, got string \"soon\"."}],"suggestion":"Call mcp__weather__forecast again with /city, /days corrected, and everything else as it was."}"#]].assert_eq(&explain("mcp__weather__forecast", &violations).to_string());
}

#[test]
fn a_model_is_not_flooded() {
    let validator =
        Validator::new(&RawJson::parse(r#"{"properties":{"x":{"items":{"type":"integer"}}}}"#).unwrap())
            .unwrap();
    let many = vec!["true"; 1000].join(",");
    let violations = validator.check(&Json::parse(&format!(r#"{{"x":[{many}]}}"#)).unwrap());
    assert_eq!(violations.len(), 500);
    let told = explain("t", &violations);
    assert_eq!(told.get("details").and_then(Json::as_array).map(<[_]>::len), Some(20));
    assert_eq!(told.get("more"), Some(&Json::Number("480".to_owned())));
}
