//! Source: MCP specification, "Server features: Prompts".

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use surehand_model::{ContentBlock, Note, RawJson};

use super::content::read_block;
use super::{Page, ReadResult, Reporter, ShapeFault};
use crate::members::Members;
use crate::method::{GetPrompt, ListPrompts, Method};

/// A prompt that a server offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// Under which it is got.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// What can be filled in, in order.
    pub arguments: Vec<PromptArgument>,
    /// The whole entry as it came.
    pub raw: RawJson,
}

/// Something to fill in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it means.
    pub description: Option<String>,
    /// It must be given.
    pub required: bool,
}

/// What `prompts/get` asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetPromptParams {
    /// Which.
    pub name: String,
    /// Values are always strings.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub arguments: BTreeMap<String, String>,
}

/// What `prompts/get` answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetPromptResult {
    /// What it is for.
    pub description: Option<String>,
    /// In order.
    pub messages: Vec<PromptMessage>,
    /// What was left out, and why.
    pub notes: Vec<Note>,
    /// The whole answer as it came.
    pub raw: RawJson,
}

/// One message of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptMessage {
    /// `user` or `assistant`; what else a server says is kept.
    pub role: String,
    /// What is said.
    pub content: ContentBlock,
}

impl ReadResult for Page<Prompt> {
    fn read(result: &RawJson) -> Result<Self, ShapeFault> {
        Self::read_items(result, (ListPrompts::NAME, "prompts"), |raw, reporter| {
            let members = Members::of(raw).ok_or("it is not an object")?;
            let name = members.string("name").filter(|name| !name.is_empty()).ok_or("it has no `name`")?;
            let mut arguments = Vec::new();
            for (index, raw) in members.array("arguments").unwrap_or_default().into_iter().enumerate() {
                let Some((argument, name)) = Members::of(raw)
                    .and_then(|argument| argument.string("name").map(|name| (argument, name)))
                else {
                    reporter.note(format!("argument {index} left out"), "it has no `name`");
                    continue;
                };
                arguments.push(PromptArgument {
                    name,
                    title: argument.string("title"),
                    description: argument.string("description"),
                    required: argument.boolean("required").unwrap_or(false),
                });
            }
            Ok(Prompt {
                name,
                title: reporter.string(&members, "title"),
                description: reporter.string(&members, "description"),
                arguments,
                raw: RawJson::from(raw),
            })
        })
    }
}

impl ReadResult for GetPromptResult {
    fn read(result: &RawJson) -> Result<Self, ShapeFault> {
        let fault = |what: &str| ShapeFault { method: GetPrompt::NAME, what: what.to_owned() };
        let members = Members::parse(result.as_str()).ok_or_else(|| fault("it is not an object"))?;
        let items = members.array("messages").ok_or_else(|| fault("it has no array `messages`"))?;
        let mut notes = Vec::new();
        let mut messages = Vec::with_capacity(items.len());
        for (index, raw) in items.into_iter().enumerate() {
            let mut reporter =
                Reporter { place: format!("{} /messages/{index}", GetPrompt::NAME), notes: &mut notes };
            let Some((message, content)) =
                Members::of(raw).and_then(|message| message.get("content").map(|content| (message, content)))
            else {
                reporter.note("left out", "it has no `content`");
                continue;
            };
            let content = read_block(content).unwrap_or_else(|why| {
                reporter.note("kept as it came", why);
                ContentBlock::Unknown(RawJson::from(content))
            });
            messages.push(PromptMessage { role: message.string("role").unwrap_or_default(), content });
        }
        Ok(Self { description: members.string("description"), messages, notes, raw: result.clone() })
    }
}
