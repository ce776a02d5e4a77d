use std::collections::BTreeSet;

use surehand_model::{ModelRequest, Note, RawJson, Tool, ToolChoice};

use crate::{NameRule, NameTable, SchemaTarget, lower};

/// The tools of a request as one provider takes them.
#[derive(Debug)]
pub(crate) struct Prepared<'a> {
    pub(crate) tools: Vec<PreparedTool<'a>>,
    pub(crate) names: NameTable,
    pub(crate) choice: Choice,
    pub(crate) notes: Vec<Note>,
}

#[derive(Debug)]
pub(crate) struct PreparedTool<'a> {
    pub(crate) tool: &'a Tool,
    pub(crate) name: String,
    /// `None` for a tool without parameters, where the provider wants none written.
    pub(crate) schema: Option<RawJson>,
}

/// [`ToolChoice`], with the name as it is on the wire and only where it names a tool that is offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Auto,
    None,
    Required,
    Named(String),
}

/// Names and lowers the tools. One that cannot be lowered is left out alone.
pub(crate) fn prepare(request: &ModelRequest, rule: NameRule, target: SchemaTarget) -> Prepared<'_> {
    let mut notes = Vec::new();
    let mut tools = Vec::new();
    let mut seen = BTreeSet::new();
    // Names are given to all tools, so that a tool that is left out changes no other's name.
    let names = NameTable::of(rule, request.tools.iter().map(|tool| tool.name.as_str()));
    for tool in &request.tools {
        let place = format!("tool {}", tool.name);
        if !seen.insert(tool.name.as_str()) {
            notes.push(Note::new(place, "offered twice", "the second one was left out of this request"));
            continue;
        }
        match lower(&tool.input_schema, target) {
            Ok(lowered) => {
                notes.extend(
                    lowered
                        .losses
                        .into_iter()
                        .map(|loss| Note::new(format!("{place} {}", loss.r#where), loss.what, loss.why)),
                );
                tools.push(PreparedTool { tool, name: names.wire(&tool.name), schema: lowered.schema });
            }
            Err(why) => notes.push(Note::new(place, "left out of this request", why)),
        }
    }
    let choice = match &request.tool_choice {
        ToolChoice::None => Choice::None,
        ToolChoice::Required if !tools.is_empty() => Choice::Required,
        ToolChoice::Named(name) if tools.iter().any(|prepared| prepared.tool.name == *name) => {
            Choice::Named(names.wire(name))
        }
        ToolChoice::Named(name) => {
            notes.push(Note::new(
                "tool choice",
                format!("`{name}` cannot be demanded"),
                "it is not among the tools of this request; the model is free to choose",
            ));
            Choice::Auto
        }
        ToolChoice::Auto | ToolChoice::Required => Choice::Auto,
    };
    Prepared { tools, names, choice, notes }
}

/// Thousandths as a JSON number, every digit exact: 700 is `0.7`.
pub(crate) fn milli(thousandths: u32) -> RawJson {
    let text = format!("{}.{:03}", thousandths / 1000, thousandths % 1000);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    RawJson::parse(text).unwrap_or_else(|_| RawJson::null())
}
