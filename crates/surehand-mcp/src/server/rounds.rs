//! Requests that are asked in several rounds, each with the answers to the server's questions of the round before.
//!
//! Source: MCP 2026-07-28, "Multi round-trip requests".

use surehand_model::RawJson;

use super::answer::Reply;
use super::state::{Binding, StateSeal};
use crate::envelope::{Id, write_result};
use crate::handler::Inputs;
use crate::members::{Members, string_of};
use crate::meta::{MetaKey, push_member};

/// The answers that a request brings, of this round and of those before.
///
/// # Errors
///
/// In words, why the state it brings is not taken.
pub(super) fn read_answers(
    params: &Members<'_>,
    binding: &Binding,
    seal: &dyn StateSeal,
) -> Result<Vec<(String, RawJson)>, String> {
    let mut answers = match params.get("requestState") {
        None => Vec::new(),
        Some(state) => {
            let state = string_of(state).ok_or("`requestState` is not a string")?;
            binding.open(&state, seal)?
        }
    };
    let responses = params.object("inputResponses").map(|all| all.0).unwrap_or_default();
    for (key, response) in responses {
        // What is no object answers nothing: the question is asked again.
        if response.get().starts_with('{') && answers.iter().all(|(known, _)| *known != key) {
            answers.push((key.into_owned(), RawJson::from(response)));
        }
    }
    Ok(answers)
}

/// The result that asks what is open and gives the client the state to bring back.
pub(super) fn ask(id: &Id, inputs: &Inputs, binding: &Binding, seal: &dyn StateSeal, who: &RawJson) -> Reply {
    let mut requests = String::from("{");
    for (key, question) in &inputs.open {
        push_member(&mut requests, key, &question.write());
    }
    requests.push('}');
    // An answer to a question that is asked again was none.
    let is_open = |key: &str| inputs.open.iter().any(|(open, _)| open == key);
    let kept = inputs.answers.iter().filter(|(key, _)| !is_open(key)).cloned().collect();
    let state = binding.seal(kept, seal);
    let result = format!(
        "{{\"resultType\":\"input_required\",\"inputRequests\":{requests},\"requestState\":{},\"_meta\":{{\"{}\":{who}}}}}",
        RawJson::from_serialize(&state),
        MetaKey::SERVER_INFO,
    );
    Reply { body: write_result(id, &result), status: 200 }
}
