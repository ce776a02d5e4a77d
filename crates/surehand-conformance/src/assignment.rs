use serde_json::Value;
use surehand_mcp::Revision;
use surehand_model::RawJson;
use thiserror::Error;
use url::Url;

/// What the suite wants of a client: the last argument is the server's address, the rest stands in variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Where the suite's server listens.
    pub url: Url,
    /// `MCP_CONFORMANCE_SCENARIO`.
    pub scenario: String,
    /// `MCP_CONFORMANCE_PROTOCOL_VERSION`; none where the suite leaves the choice to the client.
    pub revision: Option<Revision>,
    /// `MCP_CONFORMANCE_CONTEXT`, a JSON object with what the scenario hands out; none for most.
    pub context: Option<RawJson>,
}

/// A call to make exactly as the suite wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptedCall {
    /// The tool.
    pub name: String,
    /// Its arguments; an empty object where the suite gave none.
    pub arguments: RawJson,
}

/// Why an assignment cannot be carried out.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum AssignmentFault {
    /// The last argument is no address.
    #[error("the last argument must be the server's address: {0}")]
    Address(String),
    /// No scenario is named.
    #[error("MCP_CONFORMANCE_SCENARIO is not set")]
    Scenario,
    /// The revision is not one of ours.
    #[error("MCP_CONFORMANCE_PROTOCOL_VERSION names no revision that this client speaks: {0}")]
    Revision(String),
    /// The context is not what the scenario promises.
    #[error("MCP_CONFORMANCE_CONTEXT: {0}")]
    Context(String),
}

impl Assignment {
    /// Reads it. `variable` gives a variable of the environment.
    ///
    /// # Errors
    ///
    /// [`AssignmentFault`].
    pub fn read(
        last_argument: Option<&str>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, AssignmentFault> {
        let address = last_argument.unwrap_or_default();
        let url = Url::parse(address).map_err(|error| AssignmentFault::Address(error.to_string()))?;
        let variable = |name| variable(name).filter(|value| !value.is_empty());
        let scenario = variable("MCP_CONFORMANCE_SCENARIO").ok_or(AssignmentFault::Scenario)?;
        let revision = variable("MCP_CONFORMANCE_PROTOCOL_VERSION")
            .map(|text| Revision::parse(&text).ok_or(AssignmentFault::Revision(text)))
            .transpose()?;
        let context = variable("MCP_CONFORMANCE_CONTEXT")
            .map(|text| RawJson::parse(text).map_err(|error| AssignmentFault::Context(error.to_string())))
            .transpose()?;
        Ok(Self { url, scenario, revision, context })
    }

    /// The calls under `toolCalls` of the context, in order.
    ///
    /// # Errors
    ///
    /// [`AssignmentFault::Context`] where there are none or one has no name.
    pub fn scripted_calls(&self) -> Result<Vec<ScriptedCall>, AssignmentFault> {
        let fault = |words: &str| AssignmentFault::Context(words.to_owned());
        let context = self.context.as_ref().ok_or_else(|| fault("not set"))?;
        let context: Value = serde_json::from_str(context.as_str())
            .map_err(|error| AssignmentFault::Context(error.to_string()))?;
        let calls = context.get("toolCalls").and_then(Value::as_array);
        let calls = calls.ok_or_else(|| fault("`toolCalls` is no list"))?;
        calls
            .iter()
            .map(|call| {
                let name =
                    call.get("name").and_then(Value::as_str).ok_or_else(|| fault("a call has no name"))?;
                let arguments =
                    call.get("arguments").map_or_else(RawJson::empty_object, RawJson::from_serialize);
                Ok(ScriptedCall { name: name.to_owned(), arguments })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(address: &str, variables: &[(&str, &str)]) -> Result<Assignment, AssignmentFault> {
        Assignment::read(Some(address), |name| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn an_assignment_is_the_address_and_three_variables_of_which_only_the_scenario_is_needed() {
        let url = Url::parse("http://localhost:1/mcp").unwrap();
        let scenario = ("MCP_CONFORMANCE_SCENARIO", "tools_call");
        let bare =
            Assignment { url: url.clone(), scenario: "tools_call".to_owned(), revision: None, context: None };
        assert_eq!(read(url.as_str(), &[scenario, ("MCP_CONFORMANCE_CONTEXT", "")]), Ok(bare.clone()));
        let full = [
            scenario,
            ("MCP_CONFORMANCE_PROTOCOL_VERSION", Revision::V2025_11_25.as_str()),
            ("MCP_CONFORMANCE_CONTEXT", r#"{"toolCalls":[{"name":"t","arguments":{"n":1}},{"name":"u"}]}"#),
        ];
        let full = read(url.as_str(), &full).unwrap();
        assert_eq!(full.revision, Some(Revision::V2025_11_25));
        let call = |name: &str, arguments: &str| ScriptedCall {
            name: name.to_owned(),
            arguments: RawJson::parse(arguments).unwrap(),
        };
        assert_eq!(full.scripted_calls(), Ok(vec![call("t", r#"{"n":1}"#), call("u", "{}")]));
        assert_eq!(bare.scripted_calls(), Err(AssignmentFault::Context("not set".to_owned())));
    }

    #[test]
    fn what_is_missing_or_unknown_is_named() {
        assert_eq!(read("http://localhost/", &[]), Err(AssignmentFault::Scenario));
        assert!(matches!(read("nowhere", &[]), Err(AssignmentFault::Address(_))));
        let odd = [("MCP_CONFORMANCE_SCENARIO", "s"), ("MCP_CONFORMANCE_PROTOCOL_VERSION", "1999-01-01")];
        assert_eq!(read("http://localhost/", &odd), Err(AssignmentFault::Revision("1999-01-01".to_owned())));
    }
}
