use serde_json::{Map, Value, json};
use surehand_model::Tool;

/// A Lark grammar that accepts exactly one call, `{"name": "...", "arguments": {...}}`, of one of `tools`, the arguments by that
/// tool's schema.
///
/// What the grammar library has no word for is left out of the grammar, so the arguments must be validated afterwards.
pub(crate) fn call_grammar<'a>(tools: impl IntoIterator<Item = &'a Tool>) -> String {
    let mut names = Vec::new();
    let mut rules = String::new();
    for (index, tool) in tools.into_iter().enumerate() {
        let name = Value::from(tool.name.as_str()).to_string();
        // The name stands inside the JSON text, so it is escaped once as JSON and once more as a Lark string.
        let head = Value::from(format!("{{\"name\": {name}, \"arguments\": ")).to_string();
        let mut schema = tool.input_schema.to_value();
        close_objects(&mut schema);
        if let Value::Object(members) = &mut schema {
            members.insert("type".to_owned(), "object".into());
            members.insert("x-guidance".to_owned(), spacing());
        } else {
            schema = json!({"type": "object", "x-guidance": spacing()});
        }
        names.push(format!("call{index}"));
        rules.push_str(&format!("call{index}: {head} args{index} \"}}\"\nargs{index}: %json {schema}\n"));
    }
    format!("start: {}\n{rules}", names.join(" | "))
}

/// The spacing that models write by themselves, and leave to ignore what the library does not know.
fn spacing() -> Value {
    json!({
        "whitespace_flexible": false,
        "item_separator": ", ",
        "key_separator": ": ",
        "coerce_one_of": true,
        "lenient": true,
    })
}

/// The most items of a list that says nothing about it: a small model that has begun to repeat itself would fill it for ever.
const MOST_ITEMS: u64 = 64;

fn least_items(members: &Map<String, Value>) -> u64 {
    members.get("minItems").and_then(Value::as_u64).unwrap_or(0)
}

/// Bounds lists, and says of every object with named properties that it has no others, where the schema leaves it open:
/// a small model would fill the opening with inventions. Objects without named properties stay open.
fn close_objects(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if members.get("type").is_some_and(|kind| kind == "array") && !members.contains_key("maxItems") {
                members.insert("maxItems".to_owned(), MOST_ITEMS.max(least_items(members)).into());
            }
            let named = matches!(members.get("properties"), Some(Value::Object(named)) if !named.is_empty());
            if named && !members.contains_key("additionalProperties") && !is_composed(members) {
                members.insert("additionalProperties".to_owned(), false.into());
            }
            for (key, value) in members.iter_mut() {
                match key.as_str() {
                    "enum" | "const" | "default" | "examples" | "required" => {}
                    "properties" | "patternProperties" | "$defs" | "definitions" => {
                        if let Value::Object(schemas) = value {
                            schemas.values_mut().for_each(close_objects);
                        }
                    }
                    _ => close_objects(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close_objects),
        _ => {}
    }
}

/// Whether further properties may come from schemas beside this one.
fn is_composed(members: &Map<String, Value>) -> bool {
    ["allOf", "anyOf", "oneOf", "$ref", "if", "dependentSchemas"].iter().any(|key| members.contains_key(*key))
}

#[cfg(test)]
mod tests {
    use surehand_model::RawJson;

    use super::*;

    fn tool(name: &str, schema: &str) -> Tool {
        Tool::new(name, "", RawJson::parse(schema).unwrap())
    }

    #[test]
    fn every_tool_is_one_alternative_with_its_own_schema() {
        let one = tool("a", r#"{"type":"object","properties":{"x":{"type":"string"}}}"#);
        let other = tool("b\"c", "true");
        let grammar = call_grammar([&one, &other]);
        let lines: Vec<&str> = grammar.lines().collect();
        assert_eq!(lines[0], "start: call0 | call1");
        assert_eq!(lines[1], r#"call0: "{\"name\": \"a\", \"arguments\": " args0 "}""#);
        assert_eq!(lines[3], r#"call1: "{\"name\": \"b\\\"c\", \"arguments\": " args1 "}""#);
        assert_eq!(lines.len(), 5);
    }

    #[test]
    fn objects_with_named_properties_are_closed_and_others_stay_open() {
        let mut schema = json!({
            "type": "object",
            "properties": {
                "free": {"type": "object"},
                "open": {"type": "object", "properties": {"a": {}}, "additionalProperties": true},
                "list": {"type": "array", "items": {"type": "object", "properties": {"b": {}}}},
            },
        });
        close_objects(&mut schema);
        assert_eq!(
            schema,
            json!({
                "type": "object",
                "properties": {
                    "free": {"type": "object"},
                    "open": {"type": "object", "properties": {"a": {}}, "additionalProperties": true},
                    "list": {"type": "array", "maxItems": 64, "items": {
                        "type": "object", "properties": {"b": {}}, "additionalProperties": false,
                    }},
                },
                "additionalProperties": false,
            })
        );
    }
}
