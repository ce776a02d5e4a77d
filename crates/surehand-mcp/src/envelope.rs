//! One JSON-RPC message: what it is, read in one pass, its payload left as the text it came in.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use thiserror::Error;

use crate::error::{ErrorCode, RpcError};
use crate::members::{Key, string_of};
use crate::meta::push_string;

/// The id of a request, as the text it was written in: any JSON string or number. It goes back byte for byte, so `1.50`,
/// `"é"` and numbers beyond 64 bits are answered under the very id that was sent.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(String);

impl Id {
    /// An id of our own making.
    pub fn number(number: u64) -> Self {
        Self(number.to_string())
    }

    /// The JSON text of it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The number that this is, also where the other side wrote our `7` as `7.0` or `"7"`.
    pub fn as_number(&self) -> Option<u64> {
        let text = self.0.trim_matches('"');
        text.strip_suffix(".0").unwrap_or(text).parse().ok()
    }

    /// The id that `raw` is: a string or a number, nothing else.
    pub(crate) fn read(raw: &RawValue) -> Option<Self> {
        match raw.get().as_bytes().first() {
            Some(b'"' | b'-' | b'0'..=b'9') => Some(Self(raw.get().to_owned())),
            _ => None,
        }
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A message of either side.
#[derive(Clone, Debug)]
pub enum Message<'a> {
    /// Wants an answer under this id.
    Request {
        /// Under which it is answered.
        id: Id,
        /// Which method.
        method: Cow<'a, str>,
        /// As it came; absent where it was left out or `null`.
        params: Option<&'a RawValue>,
    },
    /// Wants no answer.
    Notification {
        /// Which method.
        method: Cow<'a, str>,
        /// As it came; absent where it was left out or `null`.
        params: Option<&'a RawValue>,
    },
    /// Answers a request.
    Answer {
        /// Which request. Absent where the other side could not tell (`null` or left out).
        id: Option<Id>,
        /// What came of it.
        outcome: Result<&'a RawValue, RpcError>,
    },
}

/// What one message may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnvelopeLimits {
    /// In bytes, looked at before anything is parsed.
    pub bytes: usize,
    /// How deep arrays and objects may nest, the envelope itself included.
    pub depth: usize,
    /// How many values it may hold: short ones cost far more in a tree than as text.
    pub values: usize,
}

impl Default for EnvelopeLimits {
    /// 32 MiB, 128 levels, 4 million values.
    fn default() -> Self {
        Self { bytes: 32 * 1024 * 1024, depth: 128, values: 4_000_000 }
    }
}

/// Why a text is no message.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum EnvelopeFault {
    /// Longer than allowed.
    #[error("message of {bytes} bytes is over the limit of {limit}")]
    TooLarge {
        /// Its length.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// Nested deeper than allowed.
    #[error("message is nested deeper than {limit} levels")]
    TooDeep {
        /// The limit.
        limit: usize,
        /// Its id, where it has a usable one.
        id: Option<Id>,
    },
    /// Holds more values than allowed.
    #[error("message holds more than {limit} values")]
    TooMany {
        /// The limit.
        limit: usize,
        /// Its id, where it has a usable one.
        id: Option<Id>,
    },
    /// Breaks the grammar of JSON.
    #[error("not JSON: {0}")]
    NotJson(String),
    /// An array of messages; see [`split_batch`].
    #[error("an array of messages, which this revision does not have")]
    Batch,
    /// JSON, but no message.
    #[error("not a JSON-RPC message: {what}")]
    Invalid {
        /// Its id, where it has a usable one.
        id: Option<Id>,
        /// What is wrong.
        what: String,
    },
}

impl EnvelopeFault {
    /// What the sender is told.
    pub fn to_rpc_error(&self) -> RpcError {
        let code = match self {
            Self::NotJson(_) => ErrorCode::PARSE,
            _ => ErrorCode::INVALID_REQUEST,
        };
        RpcError::new(code, self.to_string())
    }

    /// Under which id it is told.
    pub fn id(&self) -> Option<&Id> {
        match self {
            Self::Invalid { id, .. } | Self::TooDeep { id, .. } | Self::TooMany { id, .. } => id.as_ref(),
            _ => None,
        }
    }
}

/// Reads one message.
///
/// A member of the envelope that stands twice is refused: two parsers could otherwise see two different messages. A missing
/// `jsonrpc` is let pass, another value of it than `"2.0"` is not. Unknown members are ignored, except that what has them and no
/// `jsonrpc` answers nothing: it is a line of somebody's log that happens to have an `id`.
///
/// # Errors
///
/// [`EnvelopeFault`]; for an array [`EnvelopeFault::Batch`].
///
/// Source: JSON-RPC 2.0 sections 4 and 5.
pub fn parse_message(text: &str, limits: EnvelopeLimits) -> Result<Message<'_>, EnvelopeFault> {
    if text.len() > limits.bytes {
        return Err(EnvelopeFault::TooLarge { bytes: text.len(), limit: limits.bytes });
    }
    let start = text.trim_start_matches([' ', '\t', '\n', '\r']);
    if start.starts_with('[') {
        return match serde_json::from_str::<IgnoredAny>(text) {
            Ok(_) => Err(EnvelopeFault::Batch),
            Err(error) => Err(EnvelopeFault::NotJson(error.to_string())),
        };
    }
    if !start.starts_with('{') {
        return match serde_json::from_str::<IgnoredAny>(text) {
            Ok(_) => Err(invalid(None, "it is not an object")),
            Err(error) => Err(EnvelopeFault::NotJson(error.to_string())),
        };
    }
    let fields = read_fields(text)?;
    let id = || {
        let is_told = fields.repeated != Some("id");
        fields.id.filter(|_| is_told).and_then(Id::read)
    };
    match excess(text, limits) {
        None => fields.into_message(),
        Some(Excess::Depth) => Err(EnvelopeFault::TooDeep { limit: limits.depth, id: id() }),
        Some(Excess::Values) => Err(EnvelopeFault::TooMany { limit: limits.values, id: id() }),
    }
}

/// The messages inside an array, for the one revision that has batches. An empty array is no batch.
///
/// # Errors
///
/// [`EnvelopeFault`] when it is no array, or an empty one, or over the limits.
pub fn split_batch(text: &str, limits: EnvelopeLimits) -> Result<Vec<&str>, EnvelopeFault> {
    if text.len() > limits.bytes {
        return Err(EnvelopeFault::TooLarge { bytes: text.len(), limit: limits.bytes });
    }
    let items: Vec<&RawValue> =
        serde_json::from_str(text).map_err(|error| EnvelopeFault::NotJson(error.to_string()))?;
    if items.is_empty() {
        return Err(invalid(None, "an empty array"));
    }
    Ok(items.into_iter().map(RawValue::get).collect())
}

/// A request as one line of JSON.
pub fn write_request(id: &Id, method: &str, params: Option<&str>) -> String {
    let mut out = String::with_capacity(64 + method.len() + params.map_or(0, str::len));
    out.push_str("{\"jsonrpc\":\"2.0\",\"id\":");
    out.push_str(id.as_str());
    out.push_str(",\"method\":");
    write_method(&mut out, method, params);
    out
}

/// A notification.
pub fn write_notification(method: &str, params: Option<&str>) -> String {
    let mut out = String::with_capacity(48 + method.len() + params.map_or(0, str::len));
    out.push_str("{\"jsonrpc\":\"2.0\",\"method\":");
    write_method(&mut out, method, params);
    out
}

/// The answer to a request.
pub fn write_result(id: &Id, result: &str) -> String {
    let mut out = String::with_capacity(40 + id.as_str().len() + result.len());
    out.push_str("{\"jsonrpc\":\"2.0\",\"id\":");
    out.push_str(id.as_str());
    out.push_str(",\"result\":");
    out.push_str(result);
    out.push('}');
    out
}

/// The answer to a request that failed; without an id where none could be read.
pub fn write_error(id: Option<&Id>, error: &RpcError) -> String {
    let mut out = String::with_capacity(96 + error.message.len());
    out.push_str("{\"jsonrpc\":\"2.0\",\"id\":");
    out.push_str(id.map_or("null", Id::as_str));
    out.push_str(",\"error\":");
    error.write(&mut out);
    out.push('}');
    out
}

fn write_method(out: &mut String, method: &str, params: Option<&str>) {
    push_string(out, method);
    if let Some(params) = params {
        out.push_str(",\"params\":");
        out.push_str(params);
    }
    out.push('}');
}

fn invalid(id: Option<Id>, what: impl Into<String>) -> EnvelopeFault {
    EnvelopeFault::Invalid { id, what: what.into() }
}

/// The members of the envelope, each at most once.
#[derive(Default)]
struct Fields<'a> {
    jsonrpc: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
    repeated: Option<&'static str>,
    /// There are members that no envelope has.
    has_others: bool,
}

fn read_fields(text: &str) -> Result<Fields<'_>, EnvelopeFault> {
    struct Read;
    impl<'de> Visitor<'de> for Read {
        type Value = Fields<'de>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a JSON-RPC message")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut fields = Fields::default();
            while let Some(Key(key)) = map.next_key::<Key<'de>>()? {
                let (slot, name) = match key.as_ref() {
                    "jsonrpc" => (&mut fields.jsonrpc, "jsonrpc"),
                    "id" => (&mut fields.id, "id"),
                    "method" => (&mut fields.method, "method"),
                    "params" => (&mut fields.params, "params"),
                    "result" => (&mut fields.result, "result"),
                    "error" => (&mut fields.error, "error"),
                    _ => {
                        map.next_value::<IgnoredAny>()?;
                        fields.has_others = true;
                        continue;
                    }
                };
                let value = map.next_value()?;
                if slot.replace(value).is_some() {
                    fields.repeated = Some(name);
                }
            }
            Ok(fields)
        }
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let fields = deserializer.deserialize_map(Read);
    let whole = fields.and_then(|fields| deserializer.end().map(|()| fields));
    whole.map_err(|error| EnvelopeFault::NotJson(error.to_string()))
}

impl<'a> Fields<'a> {
    fn into_message(self) -> Result<Message<'a>, EnvelopeFault> {
        let id = self.id.and_then(Id::read);
        if let Some(name) = self.repeated {
            // Which of two ids is meant cannot be told, so neither is echoed.
            let id = if name == "id" { None } else { id };
            return Err(invalid(id, format!("`{name}` stands twice")));
        }
        if self.jsonrpc.is_some_and(|version| version.get() != "\"2.0\"") {
            return Err(invalid(id, "`jsonrpc` is not \"2.0\""));
        }
        // Whoever waits under that id must not take it for the answer.
        let is_noise = self.jsonrpc.is_none() && self.has_others;
        let id = id.filter(|_| {
            !is_noise || (self.method.is_some() && self.result.is_none() && self.error.is_none())
        });
        match (self.method, self.result, self.error) {
            (None, _, _) if is_noise => {
                Err(invalid(None, "it has no `jsonrpc` and members that no message has"))
            }
            (Some(method), None, None) => {
                let Some(method) = method_name(method) else {
                    return Err(invalid(id, "`method` is not a string"));
                };
                let params = self.params.filter(|params| params.get() != "null");
                match (self.id, id) {
                    (None, _) => Ok(Message::Notification { method, params }),
                    (Some(_), Some(id)) => Ok(Message::Request { id, method, params }),
                    (Some(_), None) => Err(invalid(None, "`id` is neither a string nor a number")),
                }
            }
            // Some servers write both members and leave the one that does not apply null.
            (None, Some(result), None) => Ok(Message::Answer { id, outcome: Ok(result) }),
            (None, Some(result), Some(error)) if error.get() == "null" => {
                Ok(Message::Answer { id, outcome: Ok(result) })
            }
            (None, result, Some(error)) if result.is_none_or(|result| result.get() == "null") => {
                Ok(Message::Answer { id, outcome: Err(RpcError::read(error)) })
            }
            (None, None, None) => {
                let id = id.filter(|_| self.jsonrpc.is_some());
                Err(invalid(id, "it has neither `method` nor `result` nor `error`"))
            }
            _ => Err(invalid(id, "it is a request and an answer at once")),
        }
    }
}

fn method_name(raw: &RawValue) -> Option<Cow<'_, str>> {
    match serde_json::from_str::<Key<'_>>(raw.get()) {
        Ok(Key(name)) => Some(name),
        Err(_) => string_of(raw).map(Cow::Owned),
    }
}

/// What there is too much of.
enum Excess {
    Depth,
    Values,
}

/// Whether valid JSON nests deeper, or holds more values, than is allowed.
fn excess(text: &str, limits: EnvelopeLimits) -> Option<Excess> {
    // Fewer opening brackets than levels, wherever they stand, cannot nest too deep, and a value takes two bytes at least, with
    // what stands between it and the next. This settles nearly every message.
    let openings = || text.bytes().filter(|byte| matches!(byte, b'{' | b'[')).count();
    if text.len() / 2 < limits.values && openings() <= limits.depth {
        return None;
    }
    let (mut depth, mut values, mut in_string, mut escaped) = (0usize, 1usize, false, false);
    for byte in text.bytes() {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => {
                depth += 1;
                // The first of its members; each further one stands behind a comma.
                values += 1;
                if depth > limits.depth {
                    return Some(Excess::Depth);
                }
            }
            b',' => values += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    (values > limits.values).then_some(Excess::Values)
}

#[cfg(test)]
mod tests;
