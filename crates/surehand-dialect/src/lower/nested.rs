use surehand_model::{Json, Note};
use surehand_schema::{allow_null, read_exclusive_flags};

use super::{loss, step};

/// Keywords whose value is one schema.
const SCHEMA: [&str; 12] = [
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
    "additionalItems",
];
/// Keywords whose value is a list of schemas.
const LIST: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
/// Keywords whose value names schemas.
const NAMED: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// Brings a schema and everything below it up to 2020-12, and closes references that lead nowhere in `root`.
pub(super) fn modernise(schema: &mut Json, root: &Json, losses: &mut Vec<Note>) {
    walk(schema, root, "", losses);
}

fn walk(schema: &mut Json, root: &Json, pointer: &str, losses: &mut Vec<Note>) {
    if !matches!(schema, Json::Object(_)) {
        return;
    }
    old_spellings(schema, pointer, losses);
    references(schema, root, pointer, losses);
    properties(schema, pointer, losses);
    let Json::Object(members) = schema else {
        return;
    };
    for (key, value) in members {
        let below = format!("{pointer}/{}", step(key));
        match value {
            value @ Json::Object(_) if SCHEMA.contains(&key.as_str()) => walk(value, root, &below, losses),
            Json::Array(items) if LIST.contains(&key.as_str()) => {
                for (index, item) in items.iter_mut().enumerate() {
                    walk(item, root, &format!("{below}/{index}"), losses);
                }
            }
            Json::Object(named) if NAMED.contains(&key.as_str()) => {
                for (name, item) in named {
                    walk(item, root, &format!("{below}/{}", step(name)), losses);
                }
            }
            _ => {}
        }
    }
}

/// Draft 4, draft 7 and OpenAPI spellings.
fn old_spellings(schema: &mut Json, pointer: &str, losses: &mut Vec<Note>) {
    for key in [
        "required",
        "properties",
        "type",
        "enum",
        "items",
        "description",
        "additionalProperties",
        "exclusiveMinimum",
        "exclusiveMaximum",
    ] {
        if matches!(schema.get(key), Some(Json::Null)) {
            schema.remove(key);
        }
    }
    if matches!(schema.get("type"), Some(Json::String(name)) if name.is_empty()) {
        schema.remove("type");
    }
    if matches!(schema.get("required"), Some(Json::Bool(_))) {
        // Draft 3: said about the property itself. The object around it cannot be reached from here.
        schema.remove("required");
        losses.push(loss(
            pointer,
            "`required` as true or false",
            "this spelling was given up in draft 4; the property is optional",
        ));
    }
    read_exclusive_flags(schema);
    if matches!(schema.get("items"), Some(Json::Array(_)))
        && let Some(items) = schema.remove("items")
    {
        schema.set("prefixItems", items);
        if let Some(rest) = schema.remove("additionalItems") {
            schema.set("items", rest);
        }
    }
    match schema.remove("nullable") {
        Some(Json::Bool(true)) => allow_null(schema),
        Some(Json::Bool(false)) | None => {}
        // Not the keyword: a member of that name that means something else stays.
        Some(other) => schema.set("nullable", other),
    }
    // OpenAPI says it this way; 2020-12 has `examples`.
    if schema.get("type").is_some()
        && let Some(example) = schema.remove("example")
        && schema.get("examples").is_none()
    {
        schema.set("examples", Json::Array(vec![example]));
    }
}

/// A reference stays where it leads somewhere inside the schema.
fn references(schema: &mut Json, root: &Json, pointer: &str, losses: &mut Vec<Note>) {
    let Some(Json::String(reference)) = schema.get("$ref") else {
        return;
    };
    if resolve(reference, root).is_some() {
        return;
    }
    let why = if reference.starts_with('#') {
        "it leads nowhere; anything is allowed there"
    } else {
        "it leads outside the schema, and nothing is fetched; anything is allowed there"
    };
    losses.push(loss(pointer, format!("the reference `{reference}`"), why));
    schema.remove("$ref");
}

/// Where a reference leads inside `root`: a JSON Pointer after `#`, or an anchor.
pub(super) fn resolve<'a>(reference: &str, root: &'a Json) -> Option<&'a Json> {
    let fragment = reference.strip_prefix('#')?;
    if fragment.is_empty() || fragment.starts_with('/') {
        return root.pointer(&percent_decoded(fragment)?);
    }
    ["$defs", "definitions"].iter().find_map(|list| {
        let named = root.get(list)?.as_object()?;
        named.iter().map(|(_, schema)| schema).find(|schema| {
            schema.get("$anchor").and_then(Json::as_str) == Some(fragment)
                || schema.get("$dynamicAnchor").and_then(Json::as_str) == Some(fragment)
        })
    })
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let high = char::from(rest.next()?).to_digit(16)?;
            let low = char::from(rest.next()?).to_digit(16)?;
            bytes.push((high * 16 + low) as u8);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// `true` becomes "anything"; `false` is left out, together with the demand for it.
fn properties(schema: &mut Json, pointer: &str, losses: &mut Vec<Note>) {
    let mut never = Vec::new();
    if let Some(Json::Object(members)) = schema.get_mut("properties") {
        members.retain_mut(|(name, value)| match value {
            Json::Bool(true) | Json::Null => {
                *value = Json::Object(Vec::new());
                true
            }
            Json::Bool(false) => {
                never.push(name.clone());
                false
            }
            _ => true,
        });
    }
    if let Some(Json::Array(required)) = schema.get_mut("required") {
        required.retain(|name| !never.iter().any(|gone| name.as_str() == Some(gone)));
    }
    for name in never {
        losses.push(loss(
            &format!("{pointer}/properties/{}", step(&name)),
            "the property is not shown to the model",
            "its schema is `false`: no value is allowed",
        ));
    }
}
