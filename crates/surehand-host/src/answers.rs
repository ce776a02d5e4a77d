//! What a model is told when a call goes wrong on our side of the wire: one JSON object as text, so that any model can read it.
//!
//! A server's own result, failed or not, is not touched by this module.

use std::time::Duration;

use serde_json::{Value, json};
use surehand_model::{Json, RawJson};

/// A message for the model, and whether it is an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

impl Told {
    /// Members in the order in which a reader wants them: first what kind of error it is.
    fn error(members: Vec<(&str, Value)>) -> Self {
        Self { text: object(members), is_error: true }
    }
}

fn object(members: Vec<(&str, Value)>) -> String {
    let members = members.into_iter().map(|(key, value)| (key.to_owned(), Json::from(&value))).collect();
    Json::Object(members).to_string()
}

/// The arguments break the schema; `details` is what `surehand-schema` found.
pub(crate) fn invalid_arguments(explanation: &Json) -> Told {
    Told { text: explanation.to_string(), is_error: true }
}

/// The arguments cannot be read as JSON at all.
pub(crate) fn unreadable_arguments(tool: &str, raw: &str, fault: &str) -> Told {
    let detail = json!({ "path": "", "expected": "one JSON object", "got": shorten(raw), "message": fault });
    Told::error(vec![
        ("error", json!("invalid_arguments")),
        ("tool", json!(tool)),
        ("details", json!([detail])),
        (
            "suggestion",
            json!("The arguments are not valid JSON. Call again with one well-formed JSON object."),
        ),
    ])
}

/// The model was cut off before the call was whole.
pub(crate) fn truncated_call(tool: &str, limit: Option<u32>) -> Told {
    let limit = limit.map_or_else(
        || "its output limit".to_owned(),
        |tokens| format!("the limit of {tokens} output tokens"),
    );
    let detail = json!({
        "path": "",
        "expected": "a whole call",
        "got": "a call cut off before its end",
        "message": format!("The output was cut off at {limit}, so the call was not run."),
    });
    Told::error(vec![
        ("error", json!("invalid_arguments")),
        ("tool", json!(tool)),
        ("details", json!([detail])),
        (
            "suggestion",
            json!("Send a smaller call: shorter arguments, or the work split over several calls."),
        ),
    ])
}

/// No tool of that name is offered.
pub(crate) fn unknown_tool(name: &str, did_you_mean: &[String]) -> Told {
    Told::error(vec![
        ("error", json!("unknown_tool")),
        ("tool", json!(name)),
        ("did_you_mean", json!(did_you_mean)),
    ])
}

/// The tool could not be run, or its server broke the protocol.
pub(crate) fn tool_failed(message: &str, code: Option<i64>, data: Option<&RawJson>, retryable: bool) -> Told {
    let mut members = vec![("error", json!("tool_failed")), ("message", json!(message))];
    if let Some(code) = code {
        members.push(("code", json!(code)));
    }
    if let Some(data) = data {
        members.push(("data", data.to_value()));
    }
    members.push(("retryable", json!(retryable)));
    Told::error(members)
}

/// The tool took too long and was told to stop.
pub(crate) fn timeout(after: Duration) -> Told {
    let seconds = (after.as_millis() as f64) / 1000.0;
    let suggestion = "Ask for less at once, or try again later. Whether the call had an effect is not known.";
    Told::error(vec![
        ("error", json!("timeout")),
        ("after_seconds", json!(seconds)),
        ("suggestion", json!(suggestion)),
    ])
}

/// Policy or a person said no.
pub(crate) fn denied(reason: &str, by_person: bool) -> Told {
    let by = if by_person { "person" } else { "policy" };
    Told::error(vec![("error", json!("denied")), ("reason", json!(reason)), ("by", json!(by))])
}

/// The tool gave back nothing at all. Not an error: an empty answer is an answer.
pub(crate) fn nothing_found() -> Told {
    let text = object(vec![("result", Value::Null), ("message", json!("No matching record."))]);
    Told { text, is_error: false }
}

/// The first 200 characters of a text that is shown back.
fn shorten(text: &str) -> String {
    const SHOWN: usize = 200;
    match text.char_indices().nth(SHOWN) {
        Some((cut, _)) => format!("{}… ({} bytes)", &text[..cut], text.len()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_shape() {
        let all = [
            unreadable_arguments("t", "{a", "a key in double quotes must stand here"),
            truncated_call("t", Some(64)),
            unknown_tool("execute_python", &["search".into()]),
            tool_failed("gone", Some(-32000), None, true),
            timeout(Duration::from_millis(1500)),
            denied("no", true),
            nothing_found(),
        ];
        let shown: Vec<String> = all.iter().map(|told| format!("{} {}", told.is_error, told.text)).collect();
        expect_test::expect![[r#"
            true {"error":"invalid_arguments","tool":"t","details":[{"path":"","expected":"one JSON object","got":"{a","message":"a key in double quotes must stand here"}],"suggestion":"The arguments are not valid JSON. Call again with one well-formed JSON object."}
            true {"error":"invalid_arguments","tool":"t","details":[{"path":"","expected":"a whole call","got":"a call cut off before its end","message":"The output was cut off at the limit of 64 output tokens, so the call was not run."}],"suggestion":"Send a smaller call: shorter arguments, or the work split over several calls."}
            true {"error":"unknown_tool","tool":"execute_python","did_you_mean":["search"]}
            true {"error":"tool_failed","message":"gone","code":-32000,"retryable":true}
            true {"error":"timeout","after_seconds":1.5,"suggestion":"Ask for less at once, or try again later. Whether the call had an effect is not known."}
            true {"error":"denied","reason":"no","by":"person"}
            false {"result":null,"message":"No matching record."}
        "#]]
        .assert_eq(&format!("{}\n", shown.join("\n")));
    }
}
