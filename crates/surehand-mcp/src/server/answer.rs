use std::borrow::Cow;

use serde::Serialize;
use surehand_model::RawJson;

use crate::envelope::{EnvelopeFault, Id, write_error, write_result};
use crate::error::{ErrorCode, RpcError};
use crate::handler::{CallFailure, ToolOutput};
use crate::members::Members;
use crate::meta::{MetaKey, push_member};
use crate::revision::{Feature, Revision};
use crate::types::tools::{can_say, write_output};

/// An answer as it goes out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// One JSON-RPC message.
    pub body: String,
    /// The status under which HTTP sends it.
    pub status: u16,
}

impl Reply {
    /// A result. A stateless one says that it is complete and who gives it; `members` come first, without braces, possibly
    /// none.
    pub(super) fn result(id: &Id, members: &str, who: &RawJson, revision: Revision) -> Self {
        Self { body: write_result(id, &write_members(members, who, revision)), status: 200 }
    }

    /// The result of a tool call.
    pub(super) fn output(id: &Id, output: ToolOutput, who: &RawJson, revision: Revision) -> Self {
        if let Some(whole) = handed_on(&output, revision, who) {
            return Self { body: write_result(id, &whole), status: 200 };
        }
        Self::result(id, &write_output(&output.with_text(), revision), who, revision)
    }

    /// A call that has become a task.
    pub(super) fn task(id: &Id, members: &str, who: &RawJson, revision: Revision) -> Self {
        let result = if revision.has(Feature::CoreTasks) {
            format!("{{\"task\":{{{members}}}}}")
        } else {
            let info = MetaKey::SERVER_INFO;
            format!("{{\"resultType\":\"task\",{members},\"_meta\":{{\"{info}\":{who}}}}}")
        };
        Self { body: write_result(id, &result), status: 200 }
    }

    pub(super) fn error(id: Option<&Id>, error: &RpcError, status: u16) -> Self {
        Self { body: write_error(id, error), status }
    }

    /// The answer where a request has no result.
    pub(super) fn failure(id: &Id, failure: &CallFailure, revision: Revision) -> Self {
        let status = match failure {
            CallFailure::MissingCapability(_) if revision.is_modern() => 400,
            CallFailure::UnknownMethod(_) if revision.is_modern() => 404,
            _ => 200,
        };
        Self::error(Some(id), &failure.to_rpc_error(revision), status)
    }

    /// The answer where another request of the same id still runs.
    pub fn id_in_use(id: &Id) -> Self {
        let words = format!("a request with id {id} is still running");
        Self::error(Some(id), &RpcError::new(ErrorCode::INVALID_REQUEST, words), 400)
    }

    /// The answer where the client itself took the request back and yet something must be sent, as over HTTP.
    pub fn cancelled(id: &Id) -> Self {
        let error = RpcError::new(ErrorCode::INTERNAL, "the request was cancelled by the client");
        Self::error(Some(id), &error, 200)
    }

    /// The answer where a request was not even begun, or cannot be ended, for a reason of the server's own.
    pub fn internal(id: &Id, words: &str) -> Self {
        Self::error(Some(id), &RpcError::new(ErrorCode::INTERNAL, words), 200)
    }

    /// The answer where whoever asks may not run this.
    pub fn forbidden(id: &Id, words: &str) -> Self {
        Self::error(Some(id), &RpcError::new(ErrorCode::INVALID_REQUEST, words), 403)
    }

    /// Tells why something could not even be looked at.
    pub fn unreadable(words: &str) -> Self {
        Self::error(None, &RpcError::new(ErrorCode::INVALID_REQUEST, words), 400)
    }

    /// Tells that something is not JSON.
    pub fn not_json(words: &str) -> Self {
        Self::fault(&EnvelopeFault::NotJson(words.to_owned()))
    }

    pub(super) fn fault(fault: &EnvelopeFault) -> Self {
        let status = if matches!(fault, EnvelopeFault::TooLarge { .. }) { 413 } else { 400 };
        Self::error(fault.id(), &fault.to_rpc_error(), status)
    }
}

/// The result object of a tool call.
pub(super) fn write_output_result(output: ToolOutput, who: &RawJson, revision: Revision) -> String {
    if let Some(whole) = handed_on(&output, revision, who) {
        return whole.into_owned();
    }
    write_members(&write_output(&output.with_text(), revision), who, revision)
}

fn write_members(members: &str, who: &RawJson, revision: Revision) -> String {
    if !revision.has(Feature::ResultType) {
        return format!("{{{members}}}");
    }
    let comma = if members.is_empty() { "" } else { "," };
    format!(
        "{{\"resultType\":\"complete\"{comma}{members},\"_meta\":{{\"{}\":{who}}}}}",
        MetaKey::SERVER_INFO
    )
}

/// The result of another server as one of ours: its bytes, with only that put before and behind which the revision demands and
/// the result lacks. Nothing where it is no such result, or the revision cannot say it.
fn handed_on<'a>(output: &'a ToolOutput, revision: Revision, who: &RawJson) -> Option<Cow<'a, str>> {
    let whole = output.whole.as_ref().filter(|_| can_say(output, revision))?.as_str();
    let members = Members::parse(whole)?;
    let has = |key: &str| members.get(key).is_some();
    if !revision.has(Feature::ResultType) {
        if !has("resultType") {
            return Some(Cow::Borrowed(whole));
        }
        let mut out = String::from("{");
        for (key, value) in members.0.iter().filter(|(key, _)| key != "resultType") {
            push_member(&mut out, key, value.get());
        }
        out.push('}');
        return Some(Cow::Owned(out));
    }
    if has("resultType") && has("_meta") {
        return Some(Cow::Borrowed(whole));
    }
    let inner = whole.strip_prefix('{')?.strip_suffix('}')?;
    let comma = |is_needed: bool| if is_needed { "," } else { "" };
    let is_filled = !members.0.is_empty();
    let mut out = String::from("{");
    if !has("resultType") {
        out.push_str("\"resultType\":\"complete\"");
        out.push_str(comma(is_filled));
    }
    out.push_str(inner);
    if !has("_meta") {
        out.push_str(&format!(",\"_meta\":{{\"{}\":{who}}}", MetaKey::SERVER_INFO));
    }
    out.push('}');
    Some(Cow::Owned(out))
}

/// What a tool gave back as the result of `tools/call` in a revision, without what only a connection adds.
pub fn encode_output(output: &ToolOutput, revision: Revision) -> RawJson {
    let text = format!("{{{}}}", write_output(output, revision));
    RawJson::parse(text).unwrap_or_else(|_| RawJson::empty_object())
}

impl ToolOutput {
    /// The same, with a structured value standing as text too where there is nothing else to show.
    #[must_use]
    pub fn with_text(mut self) -> Self {
        if let (true, Some(value)) = (self.content.is_empty(), &self.structured) {
            self.content.push(surehand_model::ContentBlock::Text(value.as_str().to_owned()));
        }
        self
    }
}

impl CallFailure {
    /// What the client is told in a revision.
    pub fn to_rpc_error(&self, revision: Revision) -> RpcError {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Missing<'a> {
            required_capabilities: &'a RawJson,
        }
        #[derive(Serialize)]
        struct Unknown<'a> {
            uri: &'a str,
        }
        let (code, data) = match self {
            Self::Rpc(error) => return error.clone(),
            Self::UnknownTool(_) | Self::UnknownPrompt(_) | Self::InvalidParams(_) => {
                (ErrorCode::INVALID_PARAMS, None)
            }
            Self::UnknownResource(uri) => {
                let has_code = revision.has(Feature::ResourceNotFoundCode);
                let code = if has_code { ErrorCode::RESOURCE_NOT_FOUND } else { ErrorCode::INVALID_PARAMS };
                (code, Some(RawJson::from_serialize(&Unknown { uri })))
            }
            Self::UnknownMethod(_) => (ErrorCode::METHOD_NOT_FOUND, None),
            Self::MissingCapability(required_capabilities) if revision.is_modern() => {
                let data = RawJson::from_serialize(&Missing { required_capabilities });
                (ErrorCode::MISSING_CAPABILITY, Some(data))
            }
            Self::MissingCapability(_) => (ErrorCode::INVALID_REQUEST, None),
            Self::InputRequired | Self::Unanswered(_) | Self::Internal(_) => (ErrorCode::INTERNAL, None),
        };
        RpcError { code, message: self.to_string(), data }
    }
}
