//! Source: MCP specification, "Server features: Completion".

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use surehand_model::RawJson;

use super::{ReadResult, ShapeFault};
use crate::members::{Members, string_of};
use crate::method::{Complete, Method};

/// What `completion/complete` asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompleteParams {
    /// What is being filled in.
    pub r#ref: CompletionRef,
    /// Which of its arguments, and what stands there so far.
    pub argument: CompletionArgument,
    /// What has been filled in already.
    #[serde(default, skip_serializing_if = "CompletionContext::is_empty")]
    pub context: CompletionContext,
}

/// Whose argument is completed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum CompletionRef {
    /// A prompt, by name.
    #[serde(rename = "ref/prompt")]
    Prompt {
        /// Its name.
        name: String,
    },
    /// A resource template, by its template.
    #[serde(rename = "ref/resource")]
    Resource {
        /// The template.
        uri: String,
    },
}

/// An argument half written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompletionArgument {
    /// Its name.
    pub name: String,
    /// What stands there so far.
    pub value: String,
}

/// Arguments filled in already.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompletionContext {
    /// Name to value.
    #[serde(default)]
    pub arguments: BTreeMap<String, String>,
}

impl CompletionContext {
    fn is_empty(&self) -> bool {
        self.arguments.is_empty()
    }
}

/// What `completion/complete` answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompleteResult {
    /// Best first.
    pub values: Vec<String>,
    /// How many there are in all, where the server says.
    pub total: Option<u64>,
    /// There are more.
    pub has_more: bool,
}

impl ReadResult for CompleteResult {
    fn read(result: &RawJson) -> Result<Self, ShapeFault> {
        let completion = Members::parse(result.as_str()).and_then(|members| members.object("completion"));
        let Some(completion) = completion else {
            return Err(ShapeFault {
                method: Complete::NAME,
                what: "it has no object `completion`".to_owned(),
            });
        };
        let values =
            completion.array("values").unwrap_or_default().into_iter().filter_map(string_of).collect();
        Ok(Self {
            values,
            total: completion.number("total").map(|total| total as u64),
            has_more: completion.boolean("hasMore").unwrap_or(false),
        })
    }
}

/// At most so many values are sent. Source: MCP specification, "Completion".
const VALUES: usize = 100;

/// `"completion":{..}`.
pub(crate) fn write_completion(result: &CompleteResult) -> String {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Written<'a> {
        values: &'a [String],
        #[serde(skip_serializing_if = "Option::is_none")]
        total: Option<u64>,
        has_more: bool,
    }
    let is_cut = result.values.len() > VALUES;
    let written = Written {
        values: &result.values[..result.values.len().min(VALUES)],
        total: result.total.or(is_cut.then_some(result.values.len() as u64)),
        has_more: result.has_more || is_cut,
    };
    format!("\"completion\":{}", RawJson::from_serialize(&written))
}
