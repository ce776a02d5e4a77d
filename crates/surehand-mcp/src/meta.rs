//! `_meta`: the reserved keys, and putting them into parameters without touching anything else.

use surehand_model::RawJson;

use crate::members::Members;
use crate::types::utilities::LogLevel;

/// The keys of `_meta` that the protocol reserves. Source: MCP 2026-07-28, "`_meta`".
pub(crate) enum MetaKey {}

impl MetaKey {
    pub(crate) const PROGRESS_TOKEN: &'static str = "progressToken";
    pub(crate) const PROTOCOL_VERSION: &'static str = "io.modelcontextprotocol/protocolVersion";
    pub(crate) const CLIENT_CAPABILITIES: &'static str = "io.modelcontextprotocol/clientCapabilities";
    pub(crate) const CLIENT_INFO: &'static str = "io.modelcontextprotocol/clientInfo";
    pub(crate) const LOG_LEVEL: &'static str = "io.modelcontextprotocol/logLevel";
    pub(crate) const SUBSCRIPTION_ID: &'static str = "io.modelcontextprotocol/subscriptionId";
    pub(crate) const RELATED_TASK: &'static str = "io.modelcontextprotocol/related-task";
    pub(crate) const SERVER_INFO: &'static str = "io.modelcontextprotocol/serverInfo";
}

/// `params` with `entries` in its `_meta`. Entries that stand there already are replaced, all other bytes stay.
/// Parameters that are no object are taken as none.
pub(crate) fn with_meta(params: Option<&RawJson>, entries: &[(&str, RawJson)]) -> String {
    let members = params
        .and_then(|params| Members::parse(params.as_str()))
        .map(|members| members.0)
        .unwrap_or_default();
    let mut out =
        String::with_capacity(params.map_or(2, |params| params.as_str().len()) + 160 * entries.len());
    out.push('{');
    for (key, value) in members.iter().filter(|(key, _)| key != "_meta") {
        push_member(&mut out, key, value.get());
    }
    let present = members.iter().rev().find(|(key, _)| key == "_meta");
    let present = present.and_then(|(_, value)| Members::of(value)).map(|meta| meta.0).unwrap_or_default();
    let mut meta = String::from("{");
    for (key, value) in present.iter().filter(|(key, _)| entries.iter().all(|(name, _)| name != key)) {
        push_member(&mut meta, key, value.get());
    }
    for (key, value) in entries {
        push_member(&mut meta, key, value.as_str());
    }
    meta.push('}');
    push_member(&mut out, "_meta", &meta);
    out.push('}');
    out
}

/// `params` of a stateless request that asks for log messages from this level on. Apart from `_meta` nothing is touched.
pub fn with_log_level(params: Option<&RawJson>, level: LogLevel) -> RawJson {
    let text = with_meta(params, &[(MetaKey::LOG_LEVEL, RawJson::from_serialize(level.as_str()))]);
    RawJson::parse(text).unwrap_or_else(|_| RawJson::empty_object())
}

/// `text` as a JSON string. Most texts hold nothing that must be escaped and are copied as they are.
pub(crate) fn push_string(out: &mut String, text: &str) {
    if text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
        out.reserve(text.len() + 2);
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        out.push_str(RawJson::from_serialize(text).as_str());
    }
}

pub(crate) fn push_member(out: &mut String, key: &str, value: &str) {
    if !out.ends_with('{') {
        out.push(',');
    }
    push_string(out, key);
    out.push(':');
    out.push_str(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_meta_already_is_kept_and_arguments_keep_their_bytes() {
        let params = RawJson::parse(
            r#"{"name":"t","arguments":{"n": 1.10 ,"n":2},"_meta":{"a":1,"progressToken":0}}"#,
        );
        let out = with_meta(params.ok().as_ref(), &[(MetaKey::PROGRESS_TOKEN, RawJson::from_serialize(&7))]);
        assert_eq!(out, r#"{"name":"t","arguments":{"n": 1.10 ,"n":2},"_meta":{"a":1,"progressToken":7}}"#);
    }

    #[test]
    fn a_string_is_escaped_where_it_must_be() {
        for text in ["", "plain é\u{7f}\u{2028}", "\"", "\\", "\n", "a\0b"] {
            let mut out = String::new();
            push_string(&mut out, text);
            assert_eq!(serde_json::from_str::<String>(&out).unwrap(), text);
            assert_eq!(out, RawJson::from_serialize(text).as_str());
        }
    }

    #[test]
    fn no_parameters_become_an_object_with_meta_alone() {
        assert_eq!(with_meta(None, &[("k", RawJson::null())]), r#"{"_meta":{"k":null}}"#);
    }
}
