//! Streams on which a client of the stateless era hears of changes.
//!
//! Source: MCP 2026-07-28, "Subscriptions"; for tasks SEP-2663.

use surehand_model::RawJson;

use crate::envelope::{Id, write_notification, write_result};
use crate::handler::{Change, Offers};
use crate::members::{Members, string_of};
use crate::meta::{MetaKey, push_member};
use crate::method::name;

/// How many resources and tasks one client may listen for.
const SUBJECTS: usize = 1_024;
/// How many bytes their names may have together.
const BYTES: usize = 64 * 1024;

/// What a client listens for, as far as the server has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscription {
    /// The request's id: every message of the stream names it, and the last one answers it.
    pub id: Id,
    tools: bool,
    prompts: bool,
    resources: bool,
    uris: Vec<String>,
    tasks: Vec<String>,
}

impl Subscription {
    /// Reads the parameters of `subscriptions/listen` and leaves out what is not offered.
    ///
    /// # Errors
    ///
    /// In words, what is wrong with them.
    pub(super) fn read(id: Id, params: &Members<'_>, offers: &Offers) -> Result<Self, String> {
        let filter =
            params.object("notifications").ok_or("`notifications` is missing or is not an object")?;
        let wants = |key: &str, offered: bool| offered && filter.boolean(key) == Some(true);
        let names = |key: &str, offered: bool| -> Result<Vec<String>, String> {
            if !offered || filter.present(key).is_none() {
                return Ok(Vec::new());
            }
            let items = filter.array(key).ok_or_else(|| format!("`{key}` is not an array"))?;
            if items.len() > SUBJECTS {
                return Err(format!("`{key}` has more than {SUBJECTS} items"));
            }
            let names: Vec<String> = items.into_iter().filter_map(string_of).collect();
            if names.iter().map(String::len).sum::<usize>() > BYTES {
                return Err(format!("`{key}` has more than {BYTES} bytes"));
            }
            Ok(names)
        };
        Ok(Self {
            tools: wants("toolsListChanged", offers.tools_change),
            prompts: wants("promptsListChanged", offers.prompts_change),
            resources: wants("resourcesListChanged", offers.resources_change),
            uris: names("resourceSubscriptions", offers.subscriptions)?,
            tasks: names("taskIds", offers.tasks)?,
            id,
        })
    }

    /// The tasks it names.
    pub(super) fn tasks_mut(&mut self) -> &mut Vec<String> {
        &mut self.tasks
    }

    /// The first message of the stream: what the client will hear of.
    pub fn acknowledgement(&self) -> String {
        let mut granted = String::from("{");
        for (key, is_granted) in [
            ("toolsListChanged", self.tools),
            ("promptsListChanged", self.prompts),
            ("resourcesListChanged", self.resources),
        ] {
            if is_granted {
                push_member(&mut granted, key, "true");
            }
        }
        for (key, names) in [("resourceSubscriptions", &self.uris), ("taskIds", &self.tasks)] {
            if !names.is_empty() {
                push_member(&mut granted, key, RawJson::from_serialize(names).as_str());
            }
        }
        granted.push('}');
        let params = format!("{{\"_meta\":{},\"notifications\":{granted}}}", self.meta());
        write_notification(name::ACKNOWLEDGED, Some(&params))
    }

    /// The notification of a change; none where the client did not ask for it.
    pub fn message_for(&self, change: &Change) -> Option<String> {
        let wants = match change {
            Change::Tools => self.tools,
            Change::Prompts => self.prompts,
            Change::Resources => self.resources,
            Change::Resource(uri) => self.uris.contains(uri),
            Change::Task(id, _) => self.tasks.contains(id),
        };
        if !wants {
            return None;
        }
        let (method, params) = change.parts(Some(&self.meta()))?;
        Some(write_notification(method, params.as_deref()))
    }

    /// The last message of the stream, where the server ends it.
    pub fn finished(&self) -> String {
        write_result(&self.id, &format!("{{\"resultType\":\"complete\",\"_meta\":{}}}", self.meta()))
    }

    fn meta(&self) -> String {
        format!("{{\"{}\":{}}}", MetaKey::SUBSCRIPTION_ID, self.id)
    }
}
