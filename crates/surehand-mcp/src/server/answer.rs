use std::borrow::Cow;

use surehand_model::RawJson;

use crate::envelope::{EnvelopeFault, Id, write_error, write_result};
use crate::error::{ErrorCode, RpcError};
use crate::handler::{CallFailure, Implementation, ToolOutput};
use crate::members::Members;
use crate::meta::{MetaKey, push_member};
use crate::revision::{Feature, Revision};
use crate::types::lifecycle::write_implementation;
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
    /// A result. A stateless one says that it is complete and who gives it; `members` come first, without braces, each
    /// followed by a comma or nothing at all.
    pub(super) fn result(id: &Id, members: &str, who: &Implementation, revision: Revision) -> Self {
        Self { body: write_result(id, &write_members(members, who, revision)), status: 200 }
    }

    pub(super) fn error(id: Option<&Id>, error: &RpcError, status: u16) -> Self {
        Self { body: write_error(id, error), status }
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

fn write_members(members: &str, who: &Implementation, revision: Revision) -> String {
    if !revision.has(Feature::ResultType) {
        return format!("{{{members}}}");
    }
    let comma = if members.is_empty() { "" } else { "," };
    let info = write_implementation(who);
    format!(
        "{{\"resultType\":\"complete\"{comma}{members},\"_meta\":{{\"{}\":{info}}}}}",
        MetaKey::SERVER_INFO
    )
}

/// The result of another server as one of ours: its bytes, with only that put before and behind which the revision demands and
/// the result lacks. Nothing where it is no such result, or the revision cannot say it.
fn handed_on<'a>(output: &'a ToolOutput, revision: Revision, who: &Implementation) -> Option<Cow<'a, str>> {
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
        let info = write_implementation(who);
        out.push_str(&format!(",\"_meta\":{{\"{}\":{info}}}", MetaKey::SERVER_INFO));
    }
    out.push('}');
    Some(Cow::Owned(out))
}

/// A tool call that a client waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingCall {
    /// Under which it is answered.
    pub id: Id,
    /// Which tool.
    pub name: String,
    /// As the client wrote them; `{}` where it left them out.
    pub arguments: RawJson,
    /// In which revision it is answered.
    pub revision: Revision,
    pub(super) who: Implementation,
}

impl PendingCall {
    /// The answer.
    pub fn finish(&self, outcome: Result<ToolOutput, CallFailure>) -> Reply {
        match outcome {
            Ok(output) => {
                if let Some(whole) = handed_on(&output, self.revision, &self.who) {
                    return Reply { body: write_result(&self.id, &whole), status: 200 };
                }
                let members = write_output(&output.with_text(), self.revision);
                Reply::result(&self.id, &members, &self.who, self.revision)
            }
            Err(failure) => Reply::error(Some(&self.id), &failure.to_rpc_error(), 200),
        }
    }

    /// The answer where another request of the same id still runs.
    pub fn id_in_use(&self) -> Reply {
        let words = format!("a request with id {} is still running", self.id);
        Reply::error(Some(&self.id), &RpcError::new(ErrorCode::INVALID_REQUEST, words), 400)
    }

    /// The answer where the client itself took the request back and yet something must be sent, as over HTTP.
    pub fn cancelled(&self) -> Reply {
        let error = RpcError::new(ErrorCode::INTERNAL, "the request was cancelled by the client");
        Reply::error(Some(&self.id), &error, 200)
    }
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
    /// What the client is told.
    pub fn to_rpc_error(&self) -> RpcError {
        let code = match self {
            Self::UnknownTool(_) => ErrorCode::INVALID_PARAMS,
            Self::Internal(_) => ErrorCode::INTERNAL,
            Self::Rpc(error) => return error.clone(),
        };
        RpcError::new(code, self.to_string())
    }
}
