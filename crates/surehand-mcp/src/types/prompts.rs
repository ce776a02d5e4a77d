//! Source: MCP specification, "Server features: Prompts".

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use surehand_model::{ContentBlock, Note, RawJson};

use super::content::{read_block, write_block};
use super::{Page, ReadResult, Reporter, ShapeFault, extra_members};
use crate::handler::PromptOutput;
use crate::members::Members;
use crate::meta::push_member;
use crate::method::{GetPrompt, ListPrompts, Method};
use crate::revision::{Feature, Revision};

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
    /// The whole entry as it came. Of a server's own: what is to be said beside the members above, such as `icons`.
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

impl Prompt {
    /// A prompt without anything to fill in.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: Some(description.into()),
            arguments: Vec::new(),
            raw: RawJson::empty_object(),
        }
    }

    /// With something more to fill in.
    #[must_use]
    pub fn with_argument(
        mut self,
        name: impl Into<String>,
        description: impl Into<String>,
        required: bool,
    ) -> Self {
        let (name, description) = (name.into(), Some(description.into()));
        self.arguments.push(PromptArgument { name, title: None, description, required });
        self
    }
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

/// A prompt as a revision knows it.
pub(crate) fn write_prompt(prompt: &Prompt, revision: Revision) -> String {
    #[derive(Serialize)]
    struct Written<'a> {
        name: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<&'a str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        arguments: Vec<Argument<'a>>,
    }
    #[derive(Serialize)]
    struct Argument<'a> {
        name: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<&'a str>,
        required: bool,
    }
    let has_titles = revision.has(Feature::Titles);
    let arguments = prompt.arguments.iter().map(|argument| Argument {
        name: &argument.name,
        title: argument.title.as_deref().filter(|_| has_titles),
        description: argument.description.as_deref(),
        required: argument.required,
    });
    let written = RawJson::from_serialize(&Written {
        name: &prompt.name,
        title: prompt.title.as_deref().filter(|_| has_titles),
        description: prompt.description.as_deref(),
        arguments: arguments.collect(),
    });
    extra_members(&written, &prompt.raw, &["title"], revision)
}

/// A prompt filled in, as `description` and `messages`, without braces.
pub(crate) fn write_prompt_output(output: &PromptOutput, revision: Revision) -> String {
    let mut members = String::from("{");
    if let Some(description) = &output.description {
        push_member(&mut members, "description", RawJson::from_serialize(description).as_str());
    }
    let messages: Vec<String> = output
        .messages
        .iter()
        .map(|message| {
            let content = write_block(&message.content, revision);
            format!("{{\"role\":{},\"content\":{content}}}", RawJson::from_serialize(&message.role))
        })
        .collect();
    push_member(&mut members, "messages", &format!("[{}]", messages.join(",")));
    members.split_off(1)
}
