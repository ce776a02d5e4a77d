//! The lists of a server. Each fits on one page, so that no cursor is ever given out.

use surehand_model::Tool;

use super::{Request, ServerMachine};
use crate::handler::Offers;
use crate::members::Members;
use crate::meta::push_member;
use crate::method::{ListPrompts, ListResourceTemplates, ListResources, ListTools, Method};
use crate::revision::{Feature, Revision};
use crate::types::prompts::write_prompt;
use crate::types::resources::{write_resource, write_template};
use crate::types::tasks::TaskSupport;
use crate::types::tools::write_tool;

/// A method that lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    Tools,
    Resources,
    Templates,
    Prompts,
}

impl List {
    pub(super) fn of(method: &str) -> Option<Self> {
        Some(match method {
            ListTools::NAME => Self::Tools,
            ListResources::NAME => Self::Resources,
            ListResourceTemplates::NAME => Self::Templates,
            ListPrompts::NAME => Self::Prompts,
            _ => return None,
        })
    }
}

impl Offers {
    pub(super) fn has(&self, list: List) -> bool {
        match list {
            List::Tools => self.tools,
            List::Resources | List::Templates => self.resources,
            List::Prompts => self.prompts,
        }
    }
}

impl Request<'_> {
    /// What is wrong with the cursor, where there is one.
    pub(super) fn foreign_cursor(&self) -> Option<String> {
        self.params.members.present("cursor")?;
        Some("this cursor was not given out by this server".to_owned())
    }
}

impl ServerMachine {
    /// `"tools":[...]` and the like, without braces.
    pub(super) fn list_members(&self, list: List, revision: Revision) -> String {
        let handler = &self.core.handler;
        match list {
            List::Tools => write("tools", &handler.tools(), |item, out| {
                out.push_str(write_tool(item, revision).as_str());
                if self.core.tasks.is_some() && revision.has(Feature::CoreTasks) {
                    push_task_support(out, handler.task_support(&item.name), item);
                }
            }),
            List::Resources => write("resources", &handler.resources(), |item, out| {
                out.push_str(&write_resource(item, revision));
            }),
            List::Templates => write("resourceTemplates", &handler.resource_templates(), |item, out| {
                out.push_str(&write_template(item, revision));
            }),
            List::Prompts => write("prompts", &handler.prompts(), |item, out| {
                out.push_str(&write_prompt(item, revision));
            }),
        }
    }
}

/// Says behind a tool whether its calls may become tasks, where its own definition does not say it.
fn push_task_support(out: &mut String, support: TaskSupport, tool: &Tool) {
    let says = tool.definition.as_ref().is_some_and(|definition| {
        Members::parse(definition.as_str()).is_some_and(|members| members.get("execution").is_some())
    });
    if support != TaskSupport::Forbidden && !says {
        out.pop();
        let execution = format!("{{\"taskSupport\":\"{}\"}}", support.as_str());
        push_member(out, "execution", &execution);
        out.push('}');
    }
}

fn write<T>(key: &str, items: &[T], item: impl Fn(&T, &mut String)) -> String {
    let mut out = format!("\"{key}\":[");
    for (index, entry) in items.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        item(entry, &mut out);
    }
    out.push(']');
    out
}
