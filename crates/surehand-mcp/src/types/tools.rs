//! Source: MCP specification, "Server features: Tools".

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use surehand_model::{ContentBlock, Note, RawJson, Tool, ToolAnnotations};

use super::content::{read_block, write_block};
use super::{Page, ReadResult, Reporter, ShapeFault};
use crate::handler::ToolOutput;
use crate::members::{Members, string_of};
use crate::meta::{push_member, push_string};
use crate::method::{CallTool, ListTools, Method};
use crate::revision::{Feature, Revision};

/// What `tools/call` asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallToolParams {
    /// The tool's own name.
    pub name: String,
    /// As the caller wrote them; left out means none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<RawJson>,
}

/// What `tools/call` answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallToolResult {
    /// In order; a block that this version has no word for is [`ContentBlock::Unknown`].
    pub content: Vec<ContentBlock>,
    /// `structuredContent`, as it came.
    pub structured: Option<RawJson>,
    /// The tool says that it failed.
    pub is_error: bool,
    /// What was odd about it.
    pub notes: Vec<Note>,
}

impl ReadResult for CallToolResult {
    fn read(result: &RawJson) -> Result<Self, ShapeFault> {
        let Some(members) = Members::parse(result.as_str()) else {
            return Err(ShapeFault { method: CallTool::NAME, what: "it is not an object".to_owned() });
        };
        let mut notes = Vec::new();
        let mut reporter = Reporter { place: CallTool::NAME.to_owned(), notes: &mut notes };
        let structured = members.get("structuredContent").map(RawJson::from);
        let is_error = reporter.boolean(&members, "isError").unwrap_or(false);
        let content = match members.present("content") {
            Some(_) => match members.array("content") {
                Some(blocks) => blocks
                    .into_iter()
                    .enumerate()
                    .map(|(index, raw)| {
                        read_block(raw).unwrap_or_else(|why| {
                            reporter.note(format!("content block {index} kept as it came"), why);
                            ContentBlock::Unknown(RawJson::from(raw))
                        })
                    })
                    .collect(),
                None => lone_content(&members, &mut reporter),
            },
            None if structured.is_some() => Vec::new(),
            None => {
                reporter.note("taken as empty", "the result has neither `content` nor `structuredContent`");
                Vec::new()
            }
        };
        Ok(Self { content, structured, is_error, notes })
    }
}

/// `content` that is no array: one block, or a bare string, which some servers send.
fn lone_content(members: &Members<'_>, reporter: &mut Reporter<'_>) -> Vec<ContentBlock> {
    let Some(raw) = members.get("content") else { return Vec::new() };
    reporter.note("taken as one block", "`content` is not an array");
    match string_of(raw) {
        Some(text) => vec![ContentBlock::Text(text)],
        None => vec![read_block(raw).unwrap_or_else(|_| ContentBlock::Unknown(RawJson::from(raw)))],
    }
}

impl ReadResult for Page<Tool> {
    fn read(result: &RawJson) -> Result<Self, ShapeFault> {
        Self::read_items(result, (ListTools::NAME, "tools"), read_tool)
    }
}

fn read_tool(raw: &RawValue, reporter: &mut Reporter<'_>) -> Result<Tool, String> {
    let members = Members::of(raw).ok_or("it is not an object")?;
    let name = members.string("name").filter(|name| !name.is_empty()).ok_or("it has no `name`")?;
    if let Some(key) = members.repeated(&["name", "inputSchema"]) {
        return Err(format!("tool `{name}` has `{key}` twice, so what it is cannot be told"));
    }
    reporter.place = format!("{} `{name}`", reporter.place);
    let input_schema = match members.present("inputSchema") {
        Some(schema) if schema.get().starts_with('{') => RawJson::from(schema),
        other => {
            let why =
                if other.is_some() { "`inputSchema` is not an object" } else { "it has no `inputSchema`" };
            reporter.note("takes any arguments", why);
            RawJson::from_serialize(&serde_json::json!({"type": "object"}))
        }
    };
    let output_schema = match members.present("outputSchema") {
        Some(schema) if matches!(schema.get().as_bytes()[0], b'{' | b't' | b'f') => {
            Some(RawJson::from(schema))
        }
        Some(_) => {
            reporter.note("`outputSchema` ignored", "it is not a schema");
            None
        }
        None => None,
    };
    let hints = members.object("annotations");
    if hints.is_none() && members.present("annotations").is_some() {
        reporter.note("`annotations` ignored", "they are not an object");
    }
    let annotations = match &hints {
        Some(hints) => ToolAnnotations {
            read_only: reporter.boolean(hints, "readOnlyHint"),
            destructive: reporter.boolean(hints, "destructiveHint"),
            idempotent: reporter.boolean(hints, "idempotentHint"),
            open_world: reporter.boolean(hints, "openWorldHint"),
        },
        None => ToolAnnotations::default(),
    };
    let title = reporter.string(&members, "title").or_else(|| hints.as_ref()?.string("title"));
    let description = reporter.string(&members, "description").unwrap_or_default();
    let definition = Some(RawJson::from(raw));
    Ok(Tool { name, title, description, input_schema, output_schema, annotations, definition })
}

/// A tool as a revision knows it: what the revision has no word for is left out. One that another server defined goes out as it
/// came, but for its name here and an output schema that the revision cannot say.
pub fn write_tool(tool: &Tool, revision: Revision) -> RawJson {
    if let Some(definition) = &tool.definition {
        return hand_on_definition(definition, tool, revision);
    }
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Written<'a> {
        name: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<&'a str>,
        #[serde(skip_serializing_if = "str::is_empty")]
        description: &'a str,
        input_schema: &'a RawJson,
        #[serde(skip_serializing_if = "Option::is_none")]
        output_schema: Option<&'a RawJson>,
        #[serde(skip_serializing_if = "Option::is_none")]
        annotations: Option<Hints<'a>>,
    }
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Hints<'a> {
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        read_only_hint: Option<bool>,
        #[serde(skip_serializing_if = "Option::is_none")]
        destructive_hint: Option<bool>,
        #[serde(skip_serializing_if = "Option::is_none")]
        idempotent_hint: Option<bool>,
        #[serde(skip_serializing_if = "Option::is_none")]
        open_world_hint: Option<bool>,
    }
    let title = tool.title.as_deref();
    let has_titles = revision.has(Feature::Titles);
    let claims = tool.annotations;
    let has_hints = claims != ToolAnnotations::default() || (title.is_some() && !has_titles);
    RawJson::from_serialize(&Written {
        name: &tool.name,
        title: title.filter(|_| has_titles),
        description: &tool.description,
        input_schema: &tool.input_schema,
        output_schema: tool.output_schema.as_ref().filter(|schema| has_output(schema, revision)),
        annotations: (has_hints && revision.has(Feature::ToolAnnotations)).then_some(Hints {
            title: title.filter(|_| !has_titles),
            read_only_hint: claims.read_only,
            destructive_hint: claims.destructive,
            idempotent_hint: claims.idempotent,
            open_world_hint: claims.open_world,
        }),
    })
}

fn hand_on_definition(definition: &RawJson, tool: &Tool, revision: Revision) -> RawJson {
    let members = Members::parse(definition.as_str()).map(|members| members.0).unwrap_or_default();
    let is_named = |raw: &RawValue| string_of(raw).as_deref() == Some(tool.name.as_str());
    // A revision that knows no output schemas passes over them; one that knows some kinds would refuse the tool for another.
    let is_sayable = |raw: &RawValue| {
        !revision.has(Feature::StructuredOutput) || has_output(&RawJson::from(raw), revision)
    };
    let is_kept = |(key, raw): &(Cow<'_, str>, &RawValue)| match key.as_ref() {
        "name" => is_named(raw),
        "outputSchema" => is_sayable(raw),
        _ => true,
    };
    if members.iter().all(is_kept) {
        return definition.clone();
    }
    let mut out = String::from("{");
    for (key, raw) in &members {
        match key.as_ref() {
            "name" => push_member(&mut out, key, RawJson::from_serialize(&tool.name).as_str()),
            "outputSchema" if !is_sayable(raw) => {}
            _ => push_member(&mut out, key, raw.get()),
        }
    }
    out.push('}');
    RawJson::parse(out).unwrap_or_else(|_| definition.clone())
}

/// Whether a revision has words for all that a tool gave back.
pub(crate) fn can_say(output: &ToolOutput, revision: Revision) -> bool {
    let has_block = |block: &ContentBlock| match block {
        ContentBlock::Audio { .. } => revision.has(Feature::AudioContent),
        ContentBlock::ResourceLink { .. } => revision.has(Feature::ResourceLinks),
        _ => true,
    };
    let has_value = output
        .structured
        .as_ref()
        .is_none_or(|value| value.is_object() || revision.has(Feature::StructuredOutputOfAnyType));
    has_value && output.content.iter().all(has_block)
}

/// Whether a revision can say this output schema: some want an object at its root.
fn has_output(schema: &RawJson, revision: Revision) -> bool {
    let names_object = || {
        Members::parse(schema.as_str()).and_then(|members| members.string("type")).as_deref()
            == Some("object")
    };
    revision.has(Feature::StructuredOutputOfAnyType)
        || revision.has(Feature::StructuredOutput) && names_object()
}

/// What a tool gave back, as `content`, `structuredContent` and `isError` of a revision, without braces.
pub(crate) fn write_output(output: &ToolOutput, revision: Revision) -> String {
    let structured = output.structured.as_ref();
    let mut out = String::from("\"content\":[");
    for (index, block) in output.content.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        match block {
            // By far the most common, and written without a tree.
            ContentBlock::Text(words) => {
                out.push_str("{\"type\":\"text\",\"text\":");
                push_string(&mut out, words);
                out.push('}');
            }
            block => out.push_str(write_block(block, revision).as_str()),
        }
    }
    out.push(']');
    let sayable = |value: &&RawJson| {
        revision.has(Feature::StructuredOutputOfAnyType)
            || revision.has(Feature::StructuredOutput) && value.is_object()
    };
    if let Some(value) = structured.filter(sayable) {
        out.push_str(",\"structuredContent\":");
        out.push_str(value.as_str());
    }
    if output.is_error {
        out.push_str(",\"isError\":true");
    }
    out
}

#[cfg(test)]
mod tests;
