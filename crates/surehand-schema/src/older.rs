//! Spellings of older dialects under a newer label, read as they are meant.

use surehand_model::Json;

/// Keywords that hold one schema, or a list of schemas.
const SCHEMAS: &[&str] = &[
    "items",
    "prefixItems",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
    "allOf",
    "anyOf",
    "oneOf",
];
/// Keywords that hold an object of schemas.
const MAPS: &[&str] =
    &["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];

/// Rewrites draft 4's `exclusiveMinimum: true` (and its twin) to the number it means, and OpenAPI's `nullable: true` to the type
/// `null`. Where the schema calls itself draft 4 or older the first is a spelling of its own and stays.
///
/// Source: JSON Schema draft 6, section 6.2; OpenAPI 3.0.3, "Schema Object".
pub(crate) fn read_older_spellings(root: &mut Json) {
    let dialect = root.get("$schema").and_then(Json::as_str).unwrap_or_default();
    let has_flags = ["draft-03", "draft-04"].iter().any(|old| dialect.contains(old));
    rewrite(root, has_flags);
}

fn rewrite(schema: &mut Json, has_flags: bool) {
    match schema {
        Json::Array(items) => items.iter_mut().for_each(|item| rewrite(item, has_flags)),
        Json::Object(_) => {
            if !has_flags {
                read_exclusive_flags(schema);
            }
            if schema.get("nullable") == Some(&Json::Bool(true)) {
                allow_null(schema);
            }
            for keyword in SCHEMAS {
                if let Some(inner) = schema.get_mut(keyword) {
                    rewrite(inner, has_flags);
                }
            }
            for keyword in MAPS {
                if let Some(Json::Object(members)) = schema.get_mut(keyword) {
                    members.iter_mut().for_each(|(_, inner)| rewrite(inner, has_flags));
                }
            }
        }
        _ => {}
    }
}

/// Draft 4's `exclusiveMinimum: true` (and its twin) becomes the number it means, in this one schema and nothing below it.
pub fn read_exclusive_flags(schema: &mut Json) {
    for (flag, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        match schema.get(flag) {
            Some(Json::Bool(true)) => match schema.remove(bound) {
                Some(value) => schema.set(flag, value),
                None => drop(schema.remove(flag)),
            },
            Some(Json::Bool(false)) => drop(schema.remove(flag)),
            _ => {}
        }
    }
}

/// Lets this one schema take `null` too, where it names a type. The values of an `enum` get it as well: whoever writes both means
/// both.
pub fn allow_null(schema: &mut Json) {
    let null = Json::String("null".to_owned());
    match schema.get_mut("type") {
        Some(Json::Array(names)) if !names.contains(&null) => names.push(null),
        Some(Json::Array(_)) => {}
        Some(name @ Json::String(_)) if *name != null => *name = Json::Array(vec![name.clone(), null]),
        _ => return,
    }
    if let Some(Json::Array(values)) = schema.get_mut("enum")
        && !values.contains(&Json::Null)
    {
        values.push(Json::Null);
    }
}
