use surehand_model::RawJson;

use crate::error::ErrorCode;
use crate::members::{Members, string_of};
use crate::meta::push_member;

/// A result in which a stateless server says what it needs before it can answer.
///
/// The client answers by asking again: the same method and parameters with the answers and the server's state added, under a
/// new id.
///
/// Source: MCP 2026-07-28, "Multi round-trip requests".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputRequired {
    /// What it needs, in the order written; none where it only wants to be asked again.
    pub requests: Vec<InputRequest>,
    /// Its state, which goes back byte for byte and to nobody else.
    pub state: Option<RawJson>,
}

/// One thing that a server needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputRequest {
    /// Under which its answer is given.
    pub key: String,
    /// A method that the server would have called had it a way to; empty where it named none.
    pub method: String,
    /// Its parameters, as they came.
    pub params: Option<RawJson>,
}

impl InputRequired {
    /// Reads a result; nothing where it is of another type.
    pub fn read(result: &RawJson) -> Option<Self> {
        let members = Members::parse(result.as_str())?;
        if members.string("resultType").as_deref() != Some("input_required") {
            return None;
        }
        let state = members.get("requestState").map(RawJson::from);
        Some(Self { requests: Self::read_requests(&members), state })
    }

    /// What stands under `inputRequests`.
    pub(crate) fn read_requests(members: &Members<'_>) -> Vec<InputRequest> {
        let requests = members.object("inputRequests").map(|requests| requests.0).unwrap_or_default();
        let requests = requests.into_iter().map(|(key, raw)| {
            let request = Members::of(raw);
            let method = request.as_ref().and_then(|request| string_of(request.get("method")?));
            let params = request.as_ref().and_then(|request| request.present("params")).map(RawJson::from);
            InputRequest { key: key.into_owned(), method: method.unwrap_or_default(), params }
        });
        requests.collect()
    }

    /// The parameters with which to ask again. `params` are those of the first time, `responses` the answers by key.
    pub fn retry(&self, params: Option<&RawJson>, responses: &[(String, RawJson)]) -> RawJson {
        let members = params.and_then(|params| Members::parse(params.as_str())).map(|members| members.0);
        let mut out = String::from("{");
        for (key, value) in members.unwrap_or_default() {
            if key != "inputResponses" && key != "requestState" {
                push_member(&mut out, &key, value.get());
            }
        }
        if !self.requests.is_empty() {
            let mut answers = String::from("{");
            for (key, response) in responses {
                push_member(&mut answers, key, response.as_str());
            }
            answers.push('}');
            push_member(&mut out, "inputResponses", &answers);
        }
        if let Some(state) = &self.state {
            push_member(&mut out, "requestState", state.as_str());
        }
        out.push('}');
        RawJson::parse(out).unwrap_or_else(|_| RawJson::empty_object())
    }
}

/// The questions in an error that says which addresses the person has to open before the request can be made: parameters of
/// `elicitation/create`, in order. Nothing where it is another error, or names none.
///
/// Source: MCP 2025-11-25, "URL Elicitation Required Error".
pub fn wanted_addresses(code: i64, data: Option<&RawJson>) -> Option<Vec<RawJson>> {
    if code != ErrorCode::ADDRESS_ELICITATION {
        return None;
    }
    let wanted = Members::parse(data?.as_str())?.array("elicitations")?;
    let params = wanted.into_iter().map(|raw| {
        let mut out = String::from("{");
        for (key, value) in Members::of(raw)?.0.into_iter().filter(|(key, _)| key != "mode") {
            push_member(&mut out, &key, value.get());
        }
        // Nothing but addresses can stand here; some servers leave out to say so.
        push_member(&mut out, "mode", "\"url\"");
        out.push('}');
        RawJson::parse(out).ok()
    });
    params.collect::<Option<Vec<_>>>().filter(|params| !params.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> RawJson {
        RawJson::parse(text).unwrap()
    }

    #[test]
    fn the_state_goes_back_byte_for_byte_and_the_arguments_stay_as_they_were() {
        let result = raw(
            r#"{"resultType":"input_required","requestState":"a\/\u00e9 ","inputRequests":{"k":{"method":"elicitation/create","params":{"n":1.10}},"odd":7}}"#,
        );
        let input = InputRequired::read(&result).unwrap();
        let request = |key: &str, method: &str, params: Option<&str>| InputRequest {
            key: key.to_owned(),
            method: method.to_owned(),
            params: params.map(raw),
        };
        let expected = [request("k", "elicitation/create", Some(r#"{"n":1.10}"#)), request("odd", "", None)];
        assert_eq!(input.requests, expected);
        let params = raw(r#"{"name":"t","arguments":{"n": 1.10 }}"#);
        assert_eq!(
            input.retry(Some(&params), &[("k".to_owned(), raw(r#"{"action":"decline"}"#))]).as_str(),
            r#"{"name":"t","arguments":{"n": 1.10 },"inputResponses":{"k":{"action":"decline"}},"requestState":"a\/\u00e9 "}"#
        );
    }

    #[test]
    fn a_server_that_only_wants_to_be_asked_again_gets_nothing_but_its_state() {
        let input =
            InputRequired::read(&raw(r#"{"resultType":"input_required","requestState":"s"}"#)).unwrap();
        assert_eq!(
            input.retry(Some(&raw(r#"{"name":"t"}"#)), &[]).as_str(),
            r#"{"name":"t","requestState":"s"}"#
        );
        let stateless = raw(r#"{"resultType":"input_required","inputRequests":{"k":{"method":"x"}}}"#);
        let stateless = InputRequired::read(&stateless).unwrap();
        assert_eq!(
            stateless.retry(None, &[("k".to_owned(), RawJson::empty_object())]).as_str(),
            r#"{"inputResponses":{"k":{}}}"#
        );
        assert_eq!(InputRequired::read(&raw(r#"{"resultType":"complete"}"#)), None);
    }

    #[test]
    fn an_error_may_name_addresses_to_open_first_and_any_other_names_none() {
        let data = raw(
            r#"{"elicitations":[{"mode":"url","url":"https://a.test","message":"?"},{"url":"https://b.test"}]}"#,
        );
        assert_eq!(
            wanted_addresses(-32042, Some(&data)),
            Some(vec![
                raw(r#"{"url":"https://a.test","message":"?","mode":"url"}"#),
                raw(r#"{"url":"https://b.test","mode":"url"}"#)
            ])
        );
        assert_eq!(wanted_addresses(-32602, Some(&data)), None);
        assert_eq!(wanted_addresses(-32042, Some(&raw(r#"{"elicitations":[]}"#))), None);
        assert_eq!(wanted_addresses(-32042, Some(&raw(r#"{"elicitations":[7]}"#))), None);
    }
}
