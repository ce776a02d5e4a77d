use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};
use surehand_model::{Json, RawJson};

/// The formats that JSON Schema knows. Rust's own (`uint8`, `double`) say nothing to a model and trouble strict providers.
///
/// Source: JSON Schema 2020-12, validation, section 7.3.
const FORMATS: [&str; 19] = [
    "date-time",
    "date",
    "time",
    "duration",
    "email",
    "idn-email",
    "hostname",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uri-reference",
    "iri",
    "iri-reference",
    "uuid",
    "uri-template",
    "json-pointer",
    "relative-json-pointer",
    "regex",
];

/// What stands first in a schema, for whoever reads it.
const FIRST: [&str; 5] = ["type", "description", "enum", "properties", "required"];

/// The schema of arguments: an object, everything inlined that is not recursive, the type's own name and words left out.
pub(super) fn of_arguments<A: JsonSchema>() -> RawJson {
    finish::<A>(SchemaSettings::draft2020_12().for_deserialize())
}

/// The schema of a structured result, with the same care.
pub(super) fn of_result<T: JsonSchema>() -> RawJson {
    finish::<T>(SchemaSettings::draft2020_12().for_serialize())
}

fn finish<T: JsonSchema>(settings: SchemaSettings) -> RawJson {
    let settings = settings.with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut root = settings.into_generator().into_root_schema_for::<T>();
    let root = root.ensure_object();
    root.remove("title");
    root.remove("description");
    // The protocol demands an object at the root, and some providers demand that its properties are spelt out.
    root.entry("type").or_insert_with(|| "object".into());
    if !["properties", "$ref", "oneOf", "anyOf", "allOf"].iter().any(|key| root.contains_key(*key)) {
        root.insert("properties".to_owned(), Value::Object(Map::new()));
    }
    RawJson::from(&tidy_object(root))
}

/// A schema with its keys in reading order, required properties first and in the order of the type's fields.
fn tidy(schema: &Value) -> Json {
    match schema {
        Value::Object(members) => tidy_object(members),
        other => Json::from(other),
    }
}

fn tidy_object(members: &Map<String, Value>) -> Json {
    let first = FIRST.into_iter().filter(|key| members.contains_key(*key));
    let rest = members.keys().map(String::as_str).filter(|key| !FIRST.contains(key));
    let required = members.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut tidied = Vec::new();
    for key in first.chain(rest) {
        let value = &members[key];
        let value = match (key, value) {
            ("format", Value::String(format)) if !FORMATS.contains(&format.as_str()) => continue,
            ("description", Value::String(text)) => Json::String(reflow(text)),
            ("properties", Value::Object(properties)) => tidy_properties(properties, required),
            ("$defs" | "patternProperties" | "dependentSchemas", Value::Object(schemas)) => {
                Json::Object(schemas.iter().map(|(name, schema)| (name.clone(), tidy(schema))).collect())
            }
            ("oneOf" | "anyOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
                Json::Array(schemas.iter().map(tidy).collect())
            }
            (
                "items"
                | "additionalProperties"
                | "not"
                | "if"
                | "then"
                | "else"
                | "contains"
                | "propertyNames",
                schema,
            ) => tidy(schema),
            (_, other) => Json::from(other),
        };
        tidied.push((key.to_owned(), value));
    }
    Json::Object(tidied)
}

fn tidy_properties(properties: &Map<String, Value>, required: &[Value]) -> Json {
    let required: Vec<&str> = required.iter().filter_map(Value::as_str).collect();
    let rest = properties.keys().map(String::as_str).filter(|name| !required.contains(name));
    let names = required.iter().copied().chain(rest);
    Json::Object(
        names.filter_map(|name| properties.get(name).map(|schema| (name.to_owned(), tidy(schema)))).collect(),
    )
}

/// Joins lines that were wrapped to fit a source file; paragraphs, lists, tables, quotes and code stay as they are.
pub(super) fn reflow(text: &str) -> String {
    let mut out = String::new();
    let (mut in_code, mut may_join) = (false, false);
    for line in text.trim().lines() {
        let line = line.trim_end();
        let fence = line.trim_start().starts_with("```");
        let own_line = in_code || fence || line.is_empty() || starts_something(line);
        if may_join && !own_line {
            let between = joiner(&out, line);
            out.push_str(between);
            out.push_str(line.trim_start());
        } else {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(line);
        }
        if fence {
            in_code = !in_code;
        }
        may_join = !in_code && !fence && !line.is_empty();
    }
    out
}

/// A list item, a heading, a table row or a quotation.
fn starts_something(line: &str) -> bool {
    let line = line.trim_start();
    let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let marker = ["- ", "* ", "+ ", "#", "|", ">"].iter().any(|mark| line.starts_with(mark));
    marker || (numbered.len() < line.len() && (numbered.starts_with(". ") || numbered.starts_with(") ")))
}

/// Chinese and Japanese are written without spaces.
fn joiner(before: &str, after: &str) -> &'static str {
    let wide = |character: Option<char>| character.is_some_and(|c| ('\u{2e80}'..='\u{ffef}').contains(&c));
    if wide(before.chars().next_back()) && wide(after.trim_start().chars().next()) { "" } else { " " }
}
