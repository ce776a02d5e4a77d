//! JSON with everything in it that a careless reader changes.

use proptest::prelude::*;
use surehand_model::RawJson;

/// Any JSON value: numbers of many digits and odd spellings, escapes, white space, keys in any order, keys that stand twice,
/// keys that the protocol uses itself.
pub(crate) fn any_value() -> impl Strategy<Value = RawJson> {
    any_text().prop_map(|text| RawJson::parse(text).unwrap())
}

/// Any JSON object.
pub(crate) fn any_object() -> impl Strategy<Value = RawJson> {
    object_of(any_text().boxed()).prop_map(|text| RawJson::parse(text).unwrap())
}

/// Members for an object that has others already: none of their keys stands for anything in the protocol.
pub(crate) fn unknown_members() -> impl Strategy<Value = String> {
    proptest::collection::vec(("\"x[a-c]\"", any_text()), 0..3).prop_map(|pairs| {
        pairs.into_iter().map(|(key, value)| format!(",{key} :{value} ")).collect::<String>()
    })
}

/// A request id: a string or a number, also of more digits than a machine counts with.
pub(crate) fn any_id() -> impl Strategy<Value = String> {
    prop_oneof![
        "-?(0|[1-9][0-9]{0,45})(\\.[0-9]{1,3})?([eE][+-]?[0-9]{1,2})?",
        "\"[a-z é中]{0,8}\"",
        Just("\"\\u0061\\/\"".to_owned()),
    ]
}

fn any_text() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        "-?[1-9][0-9]{0,45}(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?",
        Just("1.10".to_owned()),
        Just("-0".to_owned()),
        "\"[a-z é中\u{1f600}]{0,8}\"",
        Just("\"\\u00E9\\ud800\\/\\n\"".to_owned()),
        Just("null".to_owned()),
        Just("true".to_owned()),
    ];
    leaf.prop_recursive(3, 16, 4, move |inner| {
        let list = proptest::collection::vec(inner.clone(), 0..4)
            .prop_map(|items| format!("[{}]", items.join(" ,")));
        prop_oneof![list, object_of(inner.boxed())]
    })
}

fn object_of(value: BoxedStrategy<String>) -> impl Strategy<Value = String> {
    let key = prop_oneof![
        "\"[a-c]\"",
        Just("\"_meta\"".to_owned()),
        Just("\"name\"".to_owned()),
        Just("\"\\u0061\"".to_owned())
    ];
    proptest::collection::vec((key, value), 0..4)
        .prop_map(|pairs| {
            pairs.into_iter().map(|(key, value)| format!("{key} : {value}")).collect::<Vec<_>>().join(",")
        })
        .prop_map(|pairs| format!("{{{pairs}}}"))
}
