use surehand_model::Json;

use crate::DecodeError;

/// What a provider says about its own failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderFault {
    /// Its word for it, for example `overloaded_error` or `RESOURCE_EXHAUSTED`.
    pub code: Option<String>,
    /// Its words.
    pub message: String,
}

/// Finds the message in the body of a failed answer, in any of the shapes that providers and the proxies before them use.
/// `None` where there is none.
pub fn read_fault(body: &[u8]) -> Option<ProviderFault> {
    let json = Json::parse(std::str::from_utf8(body).ok()?).ok()?;
    fault_in(json.as_array().and_then(<[Json]>::first).unwrap_or(&json))
}

fn fault_in(json: &Json) -> Option<ProviderFault> {
    let inner = ["error", "errors", "detail"].iter().find_map(|key| json.get(key)).unwrap_or(json);
    let inner = inner.as_array().and_then(<[Json]>::first).unwrap_or(inner);
    let text = |key: &str| match inner.get(key) {
        Some(Json::String(text)) if !text.is_empty() => Some(text.clone()),
        Some(Json::Number(number)) => Some(number.clone()),
        _ => None,
    };
    let message = match inner {
        Json::String(text) if !text.is_empty() => text.clone(),
        _ => text("message")
            .or_else(|| text("msg"))
            .or_else(|| json.get("message")?.as_str().map(str::to_owned))?,
    };
    // OpenRouter keeps the words of the provider behind it one level down.
    let behind = inner.pointer("/metadata/raw").and_then(Json::as_str);
    let message = match behind {
        Some(behind) if !behind.is_empty() => format!("{message}: {behind}"),
        _ => message,
    };
    let code = text("type").or_else(|| text("status")).or_else(|| text("code"));
    Some(ProviderFault { code, message })
}

/// The error that an `error` member inside an answer stands for; `None` for `null` and the like.
pub(crate) fn error_member(raw: Option<&surehand_model::RawJson>) -> Option<DecodeError> {
    let raw = raw.filter(|raw| !matches!(raw.as_str(), "null" | "false" | "{}" | "\"\""))?;
    let fault = raw.to_json().ok().and_then(|json| fault_in(&json));
    Some(match fault {
        Some(ProviderFault { code, message }) => DecodeError::Provider { code, message },
        None => DecodeError::Provider { code: None, message: raw.as_str().to_owned() },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_is_found_in_every_shape_that_providers_use() {
        for (body, code, message) in [
            (
                r#"{"error":{"message":"no","type":"invalid_request_error","code":null}}"#,
                Some("invalid_request_error"),
                "no",
            ),
            (
                r#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#,
                Some("overloaded_error"),
                "busy",
            ),
            (
                r#"[{"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED"}}]"#,
                Some("RESOURCE_EXHAUSTED"),
                "slow",
            ),
            (r#"{"error":"model not found"}"#, None, "model not found"),
            (r#"{"detail":[{"msg":"field required","type":"missing"}]}"#, Some("missing"), "field required"),
            (r#"{"object":"error","message":"bad id","code":3280}"#, Some("3280"), "bad id"),
            (
                r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"name too long"}}}"#,
                Some("400"),
                "Provider returned error: name too long",
            ),
        ] {
            let fault = ProviderFault { code: code.map(str::to_owned), message: message.to_owned() };
            assert_eq!(read_fault(body.as_bytes()), Some(fault), "{body}");
        }
        assert_eq!(read_fault(b"<html>"), None);
    }
}
