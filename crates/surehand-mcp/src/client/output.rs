use std::collections::HashMap;
use std::fmt;
use std::sync::OnceLock;

use surehand_model::{Note, RawJson, Tool};
use surehand_schema::Validator;

use crate::method::{CallTool, Method};
use crate::types::tools::CallToolResult;

/// How many violations of one result are spelled out.
const SHOWN: usize = 5;

/// What tools promise of their structured results, and whether they keep it.
///
/// A result that breaks a promise is a result all the same; the note is for whoever wonders. A schema that cannot be used costs
/// only this check.
#[derive(Default)]
pub struct OutputSchemas {
    by_tool: HashMap<String, Promise>,
}

struct Promise {
    schema: RawJson,
    /// Made when it is first needed: most tools of most servers are never called.
    validator: OnceLock<Result<Validator, String>>,
}

impl OutputSchemas {
    /// Takes the promises of a list of tools in, in the place of all earlier ones.
    pub fn learn(&mut self, tools: &[Tool]) {
        let mut before = std::mem::take(&mut self.by_tool);
        for tool in tools {
            let Some(schema) = &tool.output_schema else { continue };
            let promise = before.remove(&tool.name).filter(|promise| promise.schema == *schema);
            let fresh = || Promise { schema: schema.clone(), validator: OnceLock::new() };
            self.by_tool.insert(tool.name.clone(), promise.unwrap_or_else(fresh));
        }
    }

    /// What is wrong with a result; nothing where the tool promises nothing, or says that it failed.
    pub fn check(&self, tool: &str, result: &CallToolResult) -> Option<Note> {
        let promise = self.by_tool.get(tool).filter(|_| !result.is_error)?;
        let note =
            |what: &str, why: String| Some(Note::new(format!("{} `{tool}`", CallTool::NAME), what, why));
        let Some(structured) = &result.structured else {
            return note("no structured content", "the tool has an output schema".to_owned());
        };
        let validator = promise
            .validator
            .get_or_init(|| Validator::for_value(&promise.schema).map_err(|fault| fault.to_string()));
        let validator = match validator {
            Ok(validator) => validator,
            Err(fault) => return note("structured content not checked", fault.clone()),
        };
        let value = match structured.to_json() {
            Ok(value) => value,
            Err(error) => return note("structured content not checked", error.to_string()),
        };
        let violations = validator.check(&value);
        if violations.is_empty() {
            return None;
        }
        let mut words: Vec<String> = violations
            .iter()
            .take(SHOWN)
            .map(|violation| format!("{}: {}", place(&violation.path), violation.message))
            .collect();
        if violations.len() > SHOWN {
            words.push(format!("and {} more", violations.len() - SHOWN));
        }
        note("structured content breaks the tool's own output schema", words.join("; "))
    }
}

fn place(path: &str) -> &str {
    if path.is_empty() { "the whole" } else { path }
}

impl fmt::Debug for OutputSchemas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutputSchemas").field("tools", &self.by_tool.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::ReadResult;

    fn tool(name: &str, schema: &str) -> Tool {
        let output_schema = Some(RawJson::parse(schema).unwrap());
        Tool { output_schema, ..Tool::new(name, "", RawJson::empty_object()) }
    }

    fn checked(schemas: &OutputSchemas, tool: &str, result: &str) -> Option<String> {
        let result = CallToolResult::read(&RawJson::parse(result).unwrap()).unwrap();
        schemas.check(tool, &result).map(|note| note.to_string())
    }

    #[test]
    fn a_broken_promise_is_noted_and_a_kept_one_is_not() {
        let mut schemas = OutputSchemas::default();
        schemas.learn(&[
            tool("t", r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#),
            tool("any", r#"{"type":["array","string"]}"#),
            Tool::new("free", "", RawJson::empty_object()),
        ]);
        let note = |tool: &str, result: &str| checked(&schemas, tool, result);
        assert_eq!(note("t", r#"{"content":[],"structuredContent":{"n":12345678901234567890123}}"#), None);
        assert_eq!(note("any", r#"{"content":[],"structuredContent":[1]}"#), None);
        assert_eq!(note("free", r#"{"content":[]}"#), None);
        assert_eq!(note("unknown", r#"{"content":[]}"#), None);
        assert_eq!(note("t", r#"{"content":[],"isError":true}"#), None);
        let broken = note("t", r#"{"content":[],"structuredContent":{"n":"1"}}"#).unwrap();
        assert!(
            broken.starts_with("tools/call `t`: structured content breaks the tool's own output schema"),
            "{broken}"
        );
        assert!(broken.contains("/n") && broken.contains("integer"), "{broken}");
        assert_eq!(
            note("t", r#"{"content":[{"type":"text","text":"1"}]}"#).as_deref(),
            Some("tools/call `t`: no structured content: the tool has an output schema")
        );
    }

    #[test]
    fn a_schema_that_cannot_be_used_costs_only_the_check() {
        let mut schemas = OutputSchemas::default();
        schemas
            .learn(&[tool("far", r#"{"$ref":"https://a.test/s.json"}"#), tool("near", r#"{"type":"null"}"#)]);
        let far = checked(&schemas, "far", r#"{"content":[],"structuredContent":{}}"#).unwrap();
        assert!(far.starts_with("tools/call `far`: structured content not checked"), "{far}");
        assert_eq!(checked(&schemas, "near", r#"{"content":[],"structuredContent":null}"#), None);
        schemas.learn(&[]);
        assert_eq!(checked(&schemas, "far", r#"{"content":[],"structuredContent":{}}"#), None);
    }
}
