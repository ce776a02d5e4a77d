use surehand_model::RawJson;
use thiserror::Error;

use super::capabilities::ClientCapabilities;
use crate::envelope::{Id, write_notification, write_request};
use crate::handler::Implementation;
use crate::members::{Members, string_of};
use crate::meta::{MetaKey, with_meta};
use crate::method::name;
use crate::revision::{Feature, Revision};
use crate::types::lifecycle::write_implementation;

/// Writes a client's messages in one revision.
#[derive(Clone, Debug)]
pub struct Speaker {
    revision: Revision,
    /// What a stateless request says about its sender, ready to be put into `_meta`.
    introduction: Vec<(&'static str, RawJson)>,
}

impl Speaker {
    /// A speaker of `revision` in the name of `who`, who offers `capabilities`.
    pub fn new(revision: Revision, who: &Implementation, capabilities: ClientCapabilities) -> Self {
        let introduction = if revision.has(Feature::Stateless) {
            vec![
                (MetaKey::PROTOCOL_VERSION, RawJson::from_serialize(revision.as_str())),
                (MetaKey::CLIENT_INFO, write_implementation(who)),
                (MetaKey::CLIENT_CAPABILITIES, capabilities.write(revision)),
            ]
        } else {
            Vec::new()
        };
        Self { revision, introduction }
    }

    /// The revision spoken.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// A request. With `wants_progress` the server may report how far it is, under the request's own id as token.
    /// Apart from `_meta` the parameters go out byte for byte.
    pub fn request(&self, id: u64, method: &str, params: Option<&RawJson>, wants_progress: bool) -> String {
        let id = Id::number(id);
        if self.introduction.is_empty() && !wants_progress {
            return write_request(&id, method, params.map(RawJson::as_str));
        }
        let mut entries = self.introduction.clone();
        if wants_progress {
            entries.push((MetaKey::PROGRESS_TOKEN, RawJson::from_serialize(&id.as_number())));
        }
        write_request(&id, method, Some(&with_meta(params, &entries)))
    }

    /// Tells the server that nobody waits for the answer any more.
    pub fn cancelled(&self, id: u64, reason: &str) -> String {
        let params = serde_json::json!({"requestId": id, "reason": reason}).to_string();
        write_notification(name::CANCELLED, Some(&params))
    }
}

/// A result that is not the answer to what was asked.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ResultFault {
    /// The server wants something from the user before it goes on, which this client has not offered.
    #[error(
        "the server asks for input ({what}) before it answers, and this client has not offered to give any"
    )]
    InputRequired {
        /// The methods of the questions, for example `elicitation/create`.
        what: String,
        /// The whole result.
        raw: RawJson,
    },
    /// A kind of result that this client does not know. Guessing what it means would be worse than failing.
    #[error("the server answered with a result of unknown type `{0}`")]
    UnknownType(String),
}

/// Checks that a result is complete. Where a stateless server left `resultType` out, it is.
///
/// # Errors
///
/// [`ResultFault`] for every other type of result.
///
/// Source: MCP 2026-07-28, "Results".
pub fn check_result(revision: Revision, result: &RawJson) -> Result<(), ResultFault> {
    if !revision.has(Feature::ResultType) {
        return Ok(());
    }
    let Some(members) = Members::parse(result.as_str()) else { return Ok(()) };
    let Some(kind) = members.present("resultType") else { return Ok(()) };
    match string_of(kind).as_deref() {
        Some("complete") => Ok(()),
        Some("input_required") => {
            let requests = members.object("inputRequests").map(|requests| requests.0).unwrap_or_default();
            let mut methods: Vec<String> =
                requests.iter().filter_map(|(_, request)| Members::of(request)?.string("method")).collect();
            methods.dedup();
            let what = if methods.is_empty() { "a retry".to_owned() } else { methods.join(", ") };
            Err(ResultFault::InputRequired { what, raw: result.clone() })
        }
        Some(other) => Err(ResultFault::UnknownType(other.to_owned())),
        None => Err(ResultFault::UnknownType(kind.get().to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(result: &str) -> Result<(), ResultFault> {
        check_result(Revision::V2026_07_28, &RawJson::parse(result).unwrap())
    }

    #[test]
    fn a_result_without_a_type_is_complete_and_an_unknown_type_is_a_fault() {
        assert_eq!(checked(r#"{"content":[]}"#), Ok(()));
        assert_eq!(checked(r#"{"resultType":"complete"}"#), Ok(()));
        assert_eq!(checked(r#"{"resultType":null}"#), Ok(()));
        assert_eq!(checked(r#"{"resultType":"task"}"#), Err(ResultFault::UnknownType("task".to_owned())));
        assert_eq!(checked(r#"{"resultType":7}"#), Err(ResultFault::UnknownType("7".to_owned())));
    }

    #[test]
    fn a_question_back_is_never_taken_for_an_empty_answer() {
        let text = r#"{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{}}},"_meta":{}}"#;
        let raw = RawJson::parse(text).unwrap();
        let what = "elicitation/create".to_owned();
        assert_eq!(checked(text), Err(ResultFault::InputRequired { what, raw }));
    }

    #[test]
    fn an_older_revision_knows_no_types_of_results() {
        let result = RawJson::parse(r#"{"resultType":"anything"}"#).unwrap();
        assert_eq!(check_result(Revision::V2025_11_25, &result), Ok(()));
    }
}
