//! Header values that repeat what a body says. Source: MCP 2026-07-28, "Request metadata headers".

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use surehand_model::{Json, RawJson};

const OPEN: &str = "=?base64?";
const CLOSE: &str = "?=";

/// A text as a header value: as it is where it is plain, in the base64 form otherwise.
pub fn encode_header_value(text: &str) -> String {
    let is_printable = text.bytes().all(|byte| matches!(byte, 0x20..=0x7e));
    let has_margin = text.starts_with(' ') || text.ends_with(' ');
    let looks_encoded = text.starts_with(OPEN) && text.ends_with(CLOSE);
    let is_plain = is_printable && !has_margin && !looks_encoded;
    if is_plain { text.to_owned() } else { format!("{OPEN}{}{CLOSE}", STANDARD.encode(text)) }
}

/// The text that a header value stands for. White space around it is no part of it; nothing where the base64 form is broken.
pub fn decode_header_value(value: &str) -> Option<String> {
    let value = value.trim_matches([' ', '\t']);
    match value.strip_prefix(OPEN).and_then(|rest| rest.strip_suffix(CLOSE)) {
        Some(inner) => String::from_utf8(STANDARD.decode(inner).ok()?).ok(),
        None => Some(value.to_owned()),
    }
}

/// An argument of a tool that is repeated in a header: where it stands, and in which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamHeader {
    /// The keys that lead to it from the root of the arguments.
    pub path: Vec<String>,
    /// The whole name of the header, `Mcp-Param-` included.
    pub header: String,
}

/// The arguments that a tool's schema wants repeated (`x-mcp-header`).
///
/// # Errors
///
/// Says what is wrong with such a mark; the whole tool is then not to be used over HTTP.
pub fn param_headers(schema: &RawJson) -> Result<Vec<ParamHeader>, String> {
    // Most schemas have no mark; looking for the word saves parsing them.
    if !schema.as_str().contains(MARK) {
        return Ok(Vec::new());
    }
    let schema = schema.to_json().map_err(|error| error.to_string())?;
    let mut found = Vec::new();
    let mut path = Vec::new();
    collect(&schema, &mut path, Position::Reachable, &mut found)?;
    for (index, header) in found.iter().enumerate() {
        let repeated = found[..index]
            .iter()
            .any(|other: &ParamHeader| other.header.eq_ignore_ascii_case(&header.header));
        if repeated {
            return Err(format!("two arguments have the same `{MARK}`"));
        }
    }
    Ok(found)
}

/// The headers for one call. Integers in decimal, truth values as words, an absent or null argument none.
pub fn encode_params(headers: &[ParamHeader], arguments: &RawJson) -> Vec<(String, String)> {
    if headers.is_empty() {
        return Vec::new();
    }
    let Ok(arguments) = arguments.to_json() else { return Vec::new() };
    headers
        .iter()
        .filter_map(|header| {
            let value = header.path.iter().try_fold(&arguments, |value, key| value.get(key))?;
            let text = match value {
                Json::String(text) => encode_header_value(text),
                Json::Number(text) => text.clone(),
                Json::Bool(truth) => truth.to_string(),
                _ => return None,
            };
            Some((header.header.clone(), text))
        })
        .collect()
}

const MARK: &str = "x-mcp-header";

/// Whether a schema node is reached from the root through `properties` alone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    Reachable,
    Elsewhere,
}

fn collect(
    schema: &Json,
    path: &mut Vec<String>,
    position: Position,
    found: &mut Vec<ParamHeader>,
) -> Result<(), String> {
    match schema {
        Json::Object(members) => {
            if let Some(mark) = schema.get(MARK) {
                found.push(read_mark(mark, schema, path, position)?);
            }
            for (key, value) in members {
                if key == "properties" {
                    for (name, property) in value.as_object().unwrap_or_default() {
                        path.push(name.clone());
                        collect(property, path, position, found)?;
                        path.pop();
                    }
                } else if !matches!(key.as_str(), "default" | "const" | "enum" | "examples" | MARK) {
                    collect(value, path, Position::Elsewhere, found)?;
                }
            }
            Ok(())
        }
        Json::Array(items) => {
            items.iter().try_for_each(|item| collect(item, path, Position::Elsewhere, found))
        }
        _ => Ok(()),
    }
}

fn read_mark(mark: &Json, schema: &Json, path: &[String], position: Position) -> Result<ParamHeader, String> {
    let name = mark.as_str().filter(|name| is_token(name));
    let name = name.ok_or_else(|| format!("`{MARK}` is {mark}, which is no header name"))?;
    if position == Position::Elsewhere || path.is_empty() {
        return Err(format!("`{MARK}: {name}` is on a value that not every call has at the same place"));
    }
    match schema.get("type").and_then(Json::as_str) {
        Some("string" | "integer" | "boolean") => {
            Ok(ParamHeader { path: path.to_vec(), header: format!("Mcp-Param-{name}") })
        }
        _ => Err(format!("`{MARK}: {name}` is on a value that is no string, integer or boolean")),
    }
}

/// Source: RFC 9110, section 5.6.2.
fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_values_stay_and_all_others_come_back_from_base64() {
        assert_eq!(encode_header_value("get weather"), "get weather");
        assert_eq!(encode_header_value(""), "");
        for text in ["天気", " x", "x ", "a\tb", "a\nb", "=?base64?eA==?=", "é"] {
            let value = encode_header_value(text);
            assert!(value.starts_with(OPEN) && value.is_ascii(), "{value}");
            assert_eq!(decode_header_value(&value).as_deref(), Some(text));
        }
        assert_eq!(decode_header_value("  x\t").as_deref(), Some("x"));
        assert_eq!(decode_header_value("=?base64?%%?="), None);
    }

    #[test]
    fn marked_arguments_become_headers_and_absent_ones_none() {
        let schema = RawJson::parse(
            r#"{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},
            "o":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}},
            "b":{"type":"boolean","x-mcp-header":"B"},"plain":{"type":"string"}}}"#,
        )
        .unwrap();
        let headers = param_headers(&schema).unwrap();
        let arguments = RawJson::parse(r#"{"region":"北","o":{"n":7},"b":null,"plain":"x"}"#).unwrap();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            encode_params(&headers, &arguments),
            [pair("Mcp-Param-Region", "=?base64?5YyX?="), pair("Mcp-Param-N", "7")]
        );
    }

    #[test]
    fn a_mark_that_cannot_be_honoured_condemns_the_tool() {
        let schemas = [
            r#"{"properties":{"a":{"type":"string","x-mcp-header":""}}}"#,
            r#"{"properties":{"a":{"type":"string","x-mcp-header":"a b"}}}"#,
            r#"{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}"#,
            r#"{"properties":{"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}}}"#,
            r#"{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}"#,
            r#"{"$defs":{"a":{"type":"string","x-mcp-header":"A"}}}"#,
        ];
        for schema in schemas {
            assert!(param_headers(&RawJson::parse(schema).unwrap()).is_err(), "{schema}");
        }
        let named = r#"{"properties":{"a":{"const":{"x-mcp-header":""}}}}"#;
        assert_eq!(param_headers(&RawJson::parse(named).unwrap()), Ok(vec![]));
    }
}
