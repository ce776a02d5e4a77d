//! What a server asks the client's model. Source: MCP 2025-11-25 and 2026-07-28, "Sampling".

use std::collections::BTreeSet;

use serde_json::value::RawValue;
use surehand_model::RawJson;

use crate::client::SamplingModes;
use crate::error::{ErrorCode, RpcError};
use crate::members::Members;

/// Checks the parameters of `sampling/createMessage`; apart from that they stay as they came.
///
/// # Errors
///
/// What the server is told: there are no messages, it asks for tools that this client has not offered, or a call of a tool in
/// the messages is not answered right behind it.
pub fn read_sampling(params: Option<&RawJson>, modes: SamplingModes) -> Result<RawJson, RpcError> {
    let raw = params.ok_or_else(|| refuse("the parameters are missing"))?;
    let members = Members::parse(raw.as_str()).ok_or_else(|| refuse("the parameters are not an object"))?;
    let messages = members.array("messages").ok_or_else(|| refuse("`messages` is not an array"))?;
    let wanted = ["tools", "toolChoice"].into_iter().find(|key| members.present(key).is_some());
    if let (Some(key), false) = (wanted, modes.tools) {
        return Err(refuse(format!("`{key}` is used, and this client has not offered `sampling.tools`")));
    }
    check_tool_turns(&messages).map_err(refuse)?;
    Ok(raw.clone())
}

/// Each call of a tool is answered by the very next message, which holds nothing but answers.
fn check_tool_turns(messages: &[&RawValue]) -> Result<(), String> {
    let mut open: BTreeSet<String> = BTreeSet::new();
    for (index, raw) in messages.iter().enumerate() {
        let message = Members::of(raw).ok_or_else(|| format!("message {index} is not an object"))?;
        let role = message.string("role").unwrap_or_default();
        let blocks: Vec<Members<'_>> = match message.array("content") {
            Some(blocks) => blocks.into_iter().filter_map(Members::of).collect(),
            None => message.object("content").into_iter().collect(),
        };
        let ids = |kind: &str, key: &str| -> Vec<String> {
            let of_kind = blocks.iter().filter(|block| block.string("type").as_deref() == Some(kind));
            of_kind.map(|block| block.string(key).unwrap_or_default()).collect()
        };
        let (calls, answers) = (ids("tool_use", "id"), ids("tool_result", "toolUseId"));
        if !answers.is_empty() && answers.len() < blocks.len() {
            return Err(format!("message {index} holds results of tools and something else"));
        }
        for answer in answers {
            if role != "user" || !open.remove(&answer) {
                return Err(format!("message {index} answers `{answer}`, which was not called just before"));
            }
        }
        if let Some(left) = open.first() {
            return Err(format!("message {index} comes before the call `{left}` is answered"));
        }
        if !calls.is_empty() && role != "assistant" {
            return Err(format!("message {index} calls a tool and is not the assistant's"));
        }
        open = calls.into_iter().collect();
    }
    match open.first() {
        Some(left) => Err(format!("the call `{left}` is not answered")),
        None => Ok(()),
    }
}

fn refuse(what: impl Into<String>) -> RpcError {
    RpcError::new(ErrorCode::INVALID_PARAMS, what.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const WITH_TOOLS: SamplingModes = SamplingModes { tools: true, context: false };

    fn checked(params: &str, modes: SamplingModes) -> Result<String, String> {
        let params = RawJson::parse(params).unwrap();
        read_sampling(Some(&params), modes)
            .map(|raw| raw.as_str().to_owned())
            .map_err(|error| format!("{} {}", error.code, error.message))
    }

    #[test]
    fn a_question_stays_byte_for_byte_and_tools_are_refused_unless_offered() {
        let plain = r#"{"messages":[{"role":"user","content":{"type":"text","text":"?"}}],"maxTokens":1e2, "x":1.10}"#;
        assert_eq!(checked(plain, SamplingModes::default()).as_deref(), Ok(plain));
        let tools = r#"{"messages":[],"tools":[]}"#;
        assert_eq!(checked(tools, WITH_TOOLS).as_deref(), Ok(tools));
        let why = "-32602 `tools` is used, and this client has not offered `sampling.tools`";
        assert_eq!(checked(tools, SamplingModes::default()), Err(why.to_owned()));
        assert_eq!(
            checked(r#"{"maxTokens":1}"#, WITH_TOOLS),
            Err("-32602 `messages` is not an array".to_owned())
        );
    }

    #[test]
    fn every_call_is_answered_right_behind_it_by_a_message_of_answers_alone() {
        let call =
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"a"},{"type":"tool_use","id":"b"}]}"#;
        let answer = |blocks: &str| format!(r#"{{"role":"user","content":[{blocks}]}}"#);
        let (a, b) =
            (r#"{"type":"tool_result","toolUseId":"a"}"#, r#"{"type":"tool_result","toolUseId":"b"}"#);
        let turn = |messages: &[&str]| {
            checked(&format!(r#"{{"messages":[{}]}}"#, messages.join(",")), WITH_TOOLS).map(drop)
        };
        assert_eq!(turn(&[call, &answer(&format!("{a},{b}"))]), Ok(()));
        let refused = [
            (vec![call.to_owned()], "the call `a` is not answered"),
            (vec![call.to_owned(), answer(a)], "message 1 comes before the call `b` is answered"),
            (vec![answer(a)], "message 0 answers `a`, which was not called just before"),
            (
                vec![call.to_owned(), answer(&format!(r#"{a},{b},{{"type":"text","text":"!"}}"#))],
                "message 1 holds results of tools and something else",
            ),
        ];
        for (messages, why) in refused {
            let messages: Vec<&str> = messages.iter().map(String::as_str).collect();
            assert_eq!(turn(&messages), Err(format!("-32602 {why}")));
        }
    }
}
