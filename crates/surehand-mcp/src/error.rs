use std::fmt;

use serde_json::value::RawValue;
use surehand_model::RawJson;

use crate::members::{Members, string_of};
use crate::meta::push_string;

/// JSON-RPC error codes that the protocol gives a meaning to.
///
/// Source: JSON-RPC 2.0 section 5.1; MCP 2026-07-28, "Error codes".
pub enum ErrorCode {}

impl ErrorCode {
    /// Not JSON.
    pub const PARSE: i64 = -32700;
    /// JSON, but no message of the protocol.
    pub const INVALID_REQUEST: i64 = -32600;
    /// No such method here.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The parameters are wrong, or name a tool, prompt or resource that does not exist.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The other side broke its own promise.
    pub const INTERNAL: i64 = -32603;
    /// The person said no to a sampling request, up to 2025-11-25.
    pub const REJECTED: i64 = -1;
    /// The person must open the addresses in `data.elicitations` first; 2025-11-25 only.
    pub const ADDRESS_ELICITATION: i64 = -32042;
    /// No such resource, up to 2025-11-25.
    pub const RESOURCE_NOT_FOUND: i64 = -32002;
    /// A header and the body say different things.
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The request needs a client capability that it did not name.
    pub const MISSING_CAPABILITY: i64 = -32021;
    /// The revision is not spoken here; `data.supported` lists those that are.
    pub const UNSUPPORTED_REVISION: i64 = -32022;
}

/// A JSON-RPC error object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RpcError {
    /// See [`ErrorCode`]; a server may use any other.
    pub code: i64,
    /// In the other side's words.
    pub message: String,
    /// Whatever else it said, as it came.
    pub data: Option<RawJson>,
}

impl RpcError {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Reads an error object leniently: whatever is missing or of the wrong type is empty, and a value that is no object at
    /// all becomes the message.
    pub(crate) fn read(raw: &RawValue) -> Self {
        let Some(members) = Members::of(raw) else {
            let message = string_of(raw).unwrap_or_else(|| raw.get().to_owned());
            return Self { code: ErrorCode::INTERNAL, message, data: None };
        };
        let code = members.get("code").and_then(|code| serde_json::from_str::<f64>(code.get()).ok());
        Self {
            code: code.map_or(ErrorCode::INTERNAL, |code| code as i64),
            message: members.string("message").unwrap_or_default(),
            data: members.get("data").map(RawJson::from),
        }
    }

    /// The object as JSON.
    pub(crate) fn write(&self, out: &mut String) {
        out.push_str("{\"code\":");
        out.push_str(&self.code.to_string());
        out.push_str(",\"message\":");
        push_string(out, &self.message);
        if let Some(data) = &self.data {
            out.push_str(",\"data\":");
            out.push_str(data.as_str());
        }
        out.push('}');
    }

    /// The revisions that the other side lists in `data.supported`, in its spelling and order.
    pub fn supported_revisions(&self) -> Vec<String> {
        #[derive(serde::Deserialize)]
        struct Data {
            #[serde(default)]
            supported: Vec<String>,
        }
        self.data
            .as_ref()
            .and_then(|data| data.to_type::<Data>().ok())
            .map(|data| data.supported)
            .unwrap_or_default()
    }

    /// Whether the server says that it does not speak the revision asked in. Servers written against drafts of 2026-07-28 use
    /// another code; with the list of revisions beside it, it means the same.
    pub fn is_unsupported_revision(&self) -> bool {
        self.code == ErrorCode::UNSUPPORTED_REVISION
            || self.code == DRAFT_UNSUPPORTED_REVISION && !self.supported_revisions().is_empty()
    }
}

const DRAFT_UNSUPPORTED_REVISION: i64 = -32004;

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.message.is_empty() {
            write!(f, "error {}", self.code)
        } else {
            write!(f, "{} (code {})", self.message, self.code)
        }
    }
}

impl std::error::Error for RpcError {}
