use surehand_model::RawJson;

use crate::meta::push_member;
use crate::revision::{Feature, Revision};
use crate::types::tasks::TASKS;

/// What a server has beside what every server has. Decides the capabilities that are told, and which methods exist.
///
/// Source: MCP specification, `ServerCapabilities`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offers {
    /// Tools.
    pub tools: bool,
    /// The set of tools may change, and [`Changes`](super::Changes) tells of it.
    pub tools_change: bool,
    /// Resources.
    pub resources: bool,
    /// The set of resources may change.
    pub resources_change: bool,
    /// Clients may want to hear when one resource changes.
    pub subscriptions: bool,
    /// Prompts.
    pub prompts: bool,
    /// The set of prompts may change.
    pub prompts_change: bool,
    /// Completion of arguments.
    pub completions: bool,
    /// Log messages for the client.
    pub logging: bool,
    /// Calls may become tasks.
    pub tasks: bool,
    /// Other extensions: identifier and settings object.
    pub extensions: Vec<(String, RawJson)>,
}

impl Offers {
    /// Tools, and nothing else.
    pub fn tools() -> Self {
        Self { tools: true, ..Self::default() }
    }

    /// Whether there is anything that a client could listen for.
    pub(crate) fn has_changes(&self) -> bool {
        self.tools_change || self.resources_change || self.prompts_change || self.subscriptions || self.tasks
    }

    /// The capabilities object of a revision. What it has no word for is not told.
    pub(crate) fn write(&self, revision: Revision) -> RawJson {
        let changes = |changes: bool| if changes { r#"{"listChanged":true}"# } else { "{}" };
        let mut out = String::from("{");
        if self.logging {
            push_member(&mut out, "logging", "{}");
        }
        if self.completions && revision.has(Feature::CompletionsCapability) {
            push_member(&mut out, "completions", "{}");
        }
        if self.prompts {
            push_member(&mut out, "prompts", changes(self.prompts_change));
        }
        if self.resources {
            let mut inner = String::from("{");
            if self.subscriptions {
                push_member(&mut inner, "subscribe", "true");
            }
            if self.resources_change {
                push_member(&mut inner, "listChanged", "true");
            }
            inner.push('}');
            push_member(&mut out, "resources", &inner);
        }
        if self.tools {
            push_member(&mut out, "tools", changes(self.tools_change));
        }
        if self.tasks && revision.has(Feature::CoreTasks) {
            push_member(&mut out, "tasks", r#"{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}"#);
        }
        let mut extensions = String::from("{");
        // Hosts of the older era ask for extensions too, and whoever does not know the member passes it over.
        if self.tasks && revision.is_modern() {
            push_member(&mut extensions, TASKS, "{}");
        }
        for (identifier, settings) in &self.extensions {
            push_member(&mut extensions, identifier, settings.as_str());
        }
        extensions.push('}');
        if extensions.len() > 2 {
            push_member(&mut out, "extensions", &extensions);
        }
        out.push('}');
        RawJson::parse(out).unwrap_or_else(|_| RawJson::empty_object())
    }
}
