//! Arguments that a tool wants repeated in headers, so that whoever stands between may go by them: both must say the same.
//!
//! Source: MCP 2026-07-28, "Request metadata headers".

use surehand_model::{Json, RawJson};

use super::{Arrival, Request, ServerMachine};
use crate::header::{ParamHeader, decode_header_value, param_headers};

impl ServerMachine {
    /// Compares the `Mcp-Param-*` of a call with its arguments.
    ///
    /// An argument that is absent or null needs no header, and a header whose argument is not there is let pass. A tool whose
    /// marks are not usable is called as if it had none; what is wrong with an argument itself is the tool's to say.
    ///
    /// # Errors
    ///
    /// In words, the first header that is absent, not readable or different.
    pub(super) fn check_repeated(&self, request: &Request<'_>, arrival: Arrival<'_>) -> Result<(), String> {
        let Arrival::Http(facts) = arrival else { return Ok(()) };
        let tool = request.params.members.string("name").and_then(|name| self.core.handler.tool(&name));
        let headers = tool.map(|tool| marks_of(&tool.input_schema)).unwrap_or_default();
        if headers.is_empty() {
            return Ok(());
        }
        let Some(arguments) = request.params.members.present("arguments") else { return Ok(()) };
        // What cannot be compared is not let through.
        let arguments = RawJson::from(arguments).to_json().map_err(|error| error.to_string())?;
        for header in &headers {
            let Some(argument) = header.path.iter().try_fold(&arguments, |value, key| value.get(key)) else {
                continue;
            };
            if !matches!(argument, Json::String(_) | Json::Number(_) | Json::Bool(_)) {
                continue;
            }
            let name = &header.header;
            let mut is_there = false;
            for (_, value) in facts.params.iter().filter(|(other, _)| other.eq_ignore_ascii_case(name)) {
                is_there = true;
                let Some(text) = value.and_then(decode_header_value) else {
                    return Err(format!("`{name}` is not readable"));
                };
                if !is_same(argument, &text) {
                    return Err(format!("`{name}` is {text} and the body says {argument}"));
                }
            }
            if !is_there {
                return Err(format!("`{name}` is absent and the body says {argument}"));
            }
        }
        Ok(())
    }
}

/// The marks of a schema, which is looked at more closely only where there may be any: a mark without its own letters is written
/// with escapes.
fn marks_of(schema: &RawJson) -> Vec<ParamHeader> {
    let text = schema.as_str();
    if !text.contains("x-mcp-header") && !text.contains("\\u") {
        return Vec::new();
    }
    param_headers(schema).unwrap_or_default()
}

/// Numbers are the same when their values are, however they are written.
fn is_same(argument: &Json, text: &str) -> bool {
    match argument {
        Json::String(argument) => argument == text,
        Json::Bool(argument) => argument.to_string() == text,
        // Two written without point and exponent are the same only digit by digit, however long they are.
        Json::Number(argument) if is_plain(argument) && is_plain(text) => argument == text,
        Json::Number(argument) => match (argument.parse::<f64>(), text.parse::<f64>()) {
            (Ok(argument), Ok(text)) => argument.is_finite() && argument == text,
            _ => false,
        },
        _ => false,
    }
}

fn is_plain(number: &str) -> bool {
    number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}
