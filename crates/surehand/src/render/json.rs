//! One JSON object a line, as things happen: `--output stream-json`.

use serde::Serialize;
use surehand_host::{Answer, ApprovalRequest, CallRecord, ServerQuestion, ServerStatus};
use surehand_mcp::ElicitAsk;
use surehand_model::{CallId, Note, RawJson};

use crate::error::CommandError;

/// The servers and everything that was left out.
pub(crate) fn init_line(servers: &[ServerStatus], skipped: &[Note], model: &str) -> String {
    #[derive(Serialize)]
    struct Init<'a> {
        model: &'a str,
        servers: &'a [ServerStatus],
        skipped: &'a [Note],
    }
    line("init", &Init { model, servers, skipped })
}

/// More of the answer.
pub(crate) fn text_line(text: &str) -> String {
    #[derive(Serialize)]
    struct Text<'a> {
        text: &'a str,
    }
    line("text", &Text { text })
}

/// A call was made.
pub(crate) fn started_line(id: &CallId, server: &str, tool: &str, arguments: &RawJson) -> String {
    #[derive(Serialize)]
    struct Started<'a> {
        id: &'a CallId,
        server: &'a str,
        tool: &'a str,
        arguments: &'a RawJson,
    }
    line("tool_call", &Started { id, server, tool, arguments })
}

/// A call was answered: the same facts as in the result object.
pub(crate) fn record_line(record: &CallRecord) -> String {
    line("tool_result", record)
}

/// A person is being asked.
pub(crate) fn approval_line(request: &ApprovalRequest) -> String {
    #[derive(Serialize)]
    struct Approval<'a> {
        id: &'a CallId,
        server: &'a str,
        tool: &'a str,
        arguments: &'a RawJson,
        rule: &'a str,
        reason: &'a str,
    }
    let ApprovalRequest { id, server, tool, arguments, rule, reason, .. } = request;
    line("approval", &Approval { id, server, tool, arguments, rule, reason })
}

/// A server asks the person something while its tool runs. It stands under `approval` as well, with `question` in place of a call:
/// whoever reads the stream needs one answer to "is it waiting for a person?".
pub(crate) fn question_line(question: &ServerQuestion) -> String {
    #[derive(Serialize)]
    struct Approval<'a> {
        server: &'a str,
        question: Question<'a>,
    }
    #[derive(Serialize)]
    struct Question<'a> {
        message: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        schema: Option<&'a RawJson>,
        #[serde(skip_serializing_if = "Option::is_none")]
        url: Option<&'a str>,
    }
    let (schema, url) = match &question.request.ask {
        ElicitAsk::Form(form) => (Some(&form.schema), None),
        ElicitAsk::Address { url, .. } => (None, Some(url.as_str())),
    };
    let asked = Question { message: &question.request.message, schema, url };
    line("approval", &Approval { server: &question.server, question: asked })
}

/// The run failed.
pub(crate) fn error_line(error: &CommandError) -> String {
    typed("error", &error.json_line())
}

/// The whole answer, as `--output json` prints it.
pub(crate) fn result_line(answer: &Answer) -> String {
    line("result", answer)
}

fn line<T: Serialize>(kind: &str, value: &T) -> String {
    typed(kind, &serde_json::to_string(value).unwrap_or_default())
}

/// Puts `type` in front of the members of an object that is written already, so that raw JSON inside stays raw.
fn typed(kind: &str, object: &str) -> String {
    let members = object.strip_prefix('{').unwrap_or("}");
    let comma = if members == "}" { "" } else { "," };
    format!("{{\"type\":\"{kind}\"{comma}{members}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_keep_every_digit_and_their_order() {
        let arguments = RawJson::parse(r#"{"b":12345678901234567890.10, "a":1}"#).unwrap();
        assert_eq!(
            started_line(&"c1".into(), "time", "now", &arguments),
            "{\"type\":\"tool_call\",\"id\":\"c1\",\"server\":\"time\",\"tool\":\"now\",\
             \"arguments\":{\"b\":12345678901234567890.10, \"a\":1}}\n"
        );
        assert_eq!(typed("text", "{}"), "{\"type\":\"text\"}\n");
    }
}
