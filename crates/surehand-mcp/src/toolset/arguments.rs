use serde::de::DeserializeOwned;
use surehand_model::{Json, RawJson, Tool};
use surehand_schema::{Validator, Violation, explain};

use crate::ToolOutput;

/// Checks the arguments of one tool and reads them into its type.
pub(super) struct ArgumentCheck {
    tool: String,
    /// `None` where the schema of a type, written by hand, is none. The type itself still decides then.
    validator: Option<Validator>,
}

impl ArgumentCheck {
    pub(super) fn new(tool: &Tool) -> Self {
        Self { tool: tool.name.clone(), validator: Validator::new(&tool.input_schema).ok() }
    }

    /// The tool's name.
    pub(super) fn tool(&self) -> &str {
        &self.tool
    }

    /// The arguments as the tool's own type, or what to tell the caller: every fault at once.
    pub(super) fn read<A: DeserializeOwned>(&self, arguments: &RawJson) -> Result<A, ToolOutput> {
        let nothing = RawJson::empty_object();
        let arguments = if arguments.as_str() == "null" { &nothing } else { arguments };
        let tree = arguments.to_json().map_err(|error| self.refuse(&[misfit(error.to_string())]))?;
        let violations = self.validator.as_ref().map(|validator| validator.check(&tree)).unwrap_or_default();
        if !violations.is_empty() {
            return Err(self.refuse(&violations));
        }
        read_tree(arguments, &tree).map_err(|message| self.refuse(&[misfit(message)]))
    }

    fn refuse(&self, violations: &[Violation]) -> ToolOutput {
        ToolOutput::error(explain(&self.tool, violations).to_string())
    }
}

/// A fault that only the type finds, such as a date that is no day; the schema had nothing against it.
fn misfit(message: String) -> Violation {
    Violation {
        path: String::new(),
        expected: "arguments that the tool can read".to_owned(),
        got: "arguments that it cannot".to_owned(),
        message,
        nearest: None,
    }
}

/// To JSON Schema `5.0` is an integer, to serde it is not: where the text as written does not fit, whole numbers are written
/// without their fraction and tried again.
fn read_tree<A: DeserializeOwned>(arguments: &RawJson, tree: &Json) -> Result<A, String> {
    let first = match arguments.to_type::<A>() {
        Ok(arguments) => return Ok(arguments),
        Err(error) => error,
    };
    let mut plain = tree.clone();
    let retried = if write_plainly(&mut plain) { RawJson::from(&plain).to_type::<A>().ok() } else { None };
    retried.ok_or_else(|| {
        let message = first.to_string();
        // Line and column mean nothing to a caller that sent a value, not a text.
        message.rsplit_once(" at line ").map_or(message.clone(), |(words, _)| words.to_owned())
    })
}

fn write_plainly(value: &mut Json) -> bool {
    match value {
        Json::Number(text) if value_is_whole_with_fraction(text) => {
            *text = text.split('.').next().unwrap_or_default().to_owned();
            true
        }
        Json::Array(items) => items.iter_mut().fold(false, |changed, item| write_plainly(item) | changed),
        Json::Object(members) => {
            members.iter_mut().fold(false, |changed, (_, item)| write_plainly(item) | changed)
        }
        _ => false,
    }
}

/// `5.0` and `5.00`, but neither `5` nor `5.1` nor anything with an exponent.
fn value_is_whole_with_fraction(text: &str) -> bool {
    text.split_once('.')
        .is_some_and(|(_, fraction)| !fraction.is_empty() && fraction.bytes().all(|digit| digit == b'0'))
}
