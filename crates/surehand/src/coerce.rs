//! `k=v` on a command line, read by the tool's schema: what the schema calls a number becomes one, what it calls a string stays
//! as typed. Whoever needs exact JSON uses `--args`.

use surehand_model::{Json, RawJson};
use thiserror::Error;

/// How many references are followed, and how deep combined schemas are looked into.
const DEPTH: usize = 8;

/// Why words of a command line are no arguments.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum ArgumentError {
    /// No `=`, or nothing before it.
    #[error("`{0}` is not an argument")]
    NotAPair(String),
    /// The schema wants another type than this can be read as.
    #[error("`{key}` must be {expected}, not `{value}`")]
    WrongType {
        /// Which argument.
        key: String,
        /// The types that the schema takes.
        expected: String,
        /// As typed.
        value: String,
    },
    /// Given twice, and the schema does not call it a list.
    #[error("`{0}` is given more than once and is not a list")]
    Twice(String),
}

/// The arguments that the words say, in their order. A list is written as JSON, or item by item: `tag=a tag=b`.
///
/// # Errors
///
/// [`ArgumentError`] at the first word that cannot be read. What is missing or unknown is left to the validation.
pub(crate) fn arguments(words: &[String], schema: &RawJson) -> Result<RawJson, ArgumentError> {
    let schema = schema.to_json().unwrap_or(Json::Null);
    let mut members: Vec<(String, Json)> = Vec::new();
    for word in words {
        let (key, value) = match word.split_once('=') {
            Some((key, value)) if !key.is_empty() => (key, value),
            _ => return Err(ArgumentError::NotAPair(word.clone())),
        };
        let property = property(&schema, key, DEPTH);
        let types = property.map(|property| types(&schema, property, DEPTH)).unwrap_or_default();
        let value = if types.contains(&"array") && !value.trim_start().starts_with('[') {
            let item = property.and_then(|property| items(&schema, property, DEPTH));
            let item_types = item.map(|item| self::types(&schema, item, DEPTH)).unwrap_or_default();
            Json::Array(vec![read(key, value, &item_types)?])
        } else {
            read(key, value, &types)?
        };
        match members.iter_mut().find(|(known, _)| known == key) {
            None => members.push((key.to_owned(), value)),
            Some((_, Json::Array(known))) if types.contains(&"array") => match value {
                Json::Array(more) => known.extend(more),
                one => known.push(one),
            },
            Some(_) => return Err(ArgumentError::Twice(key.to_owned())),
        }
    }
    Ok(RawJson::from(&Json::Object(members)))
}

/// Reads a word as the first type that fits. A string comes last, since everything fits it; without types it is one.
fn read(key: &str, value: &str, types: &[&str]) -> Result<Json, ArgumentError> {
    if types.is_empty() {
        return Ok(Json::String(value.to_owned()));
    }
    if let Ok(parsed) = Json::parse(value)
        && !matches!(parsed, Json::String(_))
    {
        let name = parsed.type_name();
        if types.contains(&name) || (name == "integer" && types.contains(&"number")) {
            return Ok(parsed);
        }
    }
    if types.contains(&"boolean") {
        match value.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" => return Ok(Json::Bool(true)),
            "false" | "no" | "off" => return Ok(Json::Bool(false)),
            _ => {}
        }
    }
    if types.contains(&"string") {
        return Ok(Json::String(value.to_owned()));
    }
    if types.contains(&"null") && value.is_empty() {
        return Ok(Json::Null);
    }
    let expected = types.iter().map(|name| with_article(name)).collect::<Vec<_>>().join(" or ");
    Err(ArgumentError::WrongType { key: key.to_owned(), expected, value: value.to_owned() })
}

fn with_article(name: &str) -> String {
    match name {
        "null" => "empty".to_owned(),
        "array" => "a list (JSON)".to_owned(),
        "object" => "an object (JSON)".to_owned(),
        "integer" => "a whole number".to_owned(),
        "boolean" => "true or false".to_owned(),
        name => format!("a {name}"),
    }
}

/// The schema of a property, looked for in the combined schemas too.
fn property<'a>(root: &'a Json, key: &str, depth: usize) -> Option<&'a Json> {
    find_property(root, root, key, depth)
}

fn find_property<'a>(root: &'a Json, schema: &'a Json, key: &str, depth: usize) -> Option<&'a Json> {
    if depth == 0 {
        return None;
    }
    let own = schema.get("properties").and_then(|properties| properties.get(key));
    own.or_else(|| parts(root, schema).find_map(|part| find_property(root, part, key, depth - 1)))
}

/// The schema of a list's items.
fn items<'a>(root: &'a Json, schema: &'a Json, depth: usize) -> Option<&'a Json> {
    if depth == 0 {
        return None;
    }
    schema.get("items").or_else(|| parts(root, schema).find_map(|part| items(root, part, depth - 1)))
}

/// Every type that the schema lets through, as far as it says so; empty where it says nothing.
fn types<'a>(root: &'a Json, schema: &'a Json, depth: usize) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    if depth == 0 {
        return found;
    }
    match schema.get("type") {
        Some(Json::String(name)) => found.push(name),
        Some(Json::Array(names)) => found.extend(names.iter().filter_map(Json::as_str)),
        _ => {
            let values =
                schema.get("enum").and_then(Json::as_array).into_iter().flatten().chain(schema.get("const"));
            found.extend(values.map(|value| value.type_name()));
        }
    }
    if found.is_empty() {
        for part in parts(root, schema) {
            found.extend(types(root, part, depth - 1));
        }
    }
    let mut seen = Vec::new();
    found.retain(|name| {
        !seen.contains(name) && {
            seen.push(*name);
            true
        }
    });
    found
}

/// The schemas that this one is made of: what it refers to and what it combines.
fn parts<'a>(root: &'a Json, schema: &'a Json) -> impl Iterator<Item = &'a Json> {
    let referred = schema
        .get("$ref")
        .and_then(Json::as_str)
        .and_then(|reference| reference.strip_prefix('#'))
        .and_then(|pointer| root.pointer(pointer));
    let combined = ["anyOf", "oneOf", "allOf"]
        .into_iter()
        .filter_map(|key| schema.get(key).and_then(Json::as_array))
        .flatten();
    referred.into_iter().chain(combined)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<String, ArgumentError> {
        let schema = RawJson::parse(
            r##"{"type":"object","$defs":{"Unit":{"enum":["celsius","fahrenheit"]},"Days":{"type":"integer"}},
            "properties":{"city":{"type":"string"},"days":{"$ref":"#/$defs/Days"},"unit":{"$ref":"#/$defs/Unit"},
            "exact":{"type":["boolean","null"]},"share":{"type":"number"},"tags":{"type":"array","items":{"type":"string"}},
            "ids":{"anyOf":[{"type":"array","items":{"type":"integer"}},{"type":"null"}]},
            "place":{"type":"object"},"any":{}}}"##,
        )
        .unwrap();
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        arguments(&words, &schema).map(|arguments| arguments.to_string())
    }

    #[test]
    fn the_schema_decides_what_a_word_is() {
        assert_eq!(
            read(&["city=5", "days=5", "unit=celsius", "exact=yes", "share=1.50", "any=7", "other=true"])
                .unwrap(),
            r#"{"city":"5","days":5,"unit":"celsius","exact":true,"share":1.50,"any":"7","other":"true"}"#
        );
        assert_eq!(
            read(&["exact=null", "city=null", "city2=a=b"]).unwrap(),
            r#"{"exact":null,"city":"null","city2":"a=b"}"#
        );
    }

    #[test]
    fn lists_are_json_or_one_item_a_word() {
        assert_eq!(
            read(&["tags=a", "tags=b,c", "ids=[1,2]"]).unwrap(),
            r#"{"tags":["a","b,c"],"ids":[1,2]}"#
        );
        assert_eq!(
            read(&["ids=1", "ids=2", "place={\"a\":1.0}"]).unwrap(),
            r#"{"ids":[1,2],"place":{"a":1.0}}"#
        );
    }

    #[test]
    fn a_digit_too_many_for_a_machine_number_is_kept() {
        assert_eq!(
            read(&["days=123456789012345678901234567890"]).unwrap(),
            r#"{"days":123456789012345678901234567890}"#
        );
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        assert_eq!(read(&["days"]), Err(ArgumentError::NotAPair("days".into())));
        assert_eq!(read(&["=5"]), Err(ArgumentError::NotAPair("=5".into())));
        assert_eq!(read(&["city=a", "city=b"]), Err(ArgumentError::Twice("city".into())));
        assert_eq!(
            read(&["days=soon"]).unwrap_err().to_string(),
            "`days` must be a whole number, not `soon`"
        );
        assert_eq!(read(&["place=x"]).unwrap_err().to_string(), "`place` must be an object (JSON), not `x`");
    }
}
