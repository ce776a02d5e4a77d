use surehand_model::RawJson;

use crate::members::{Members, string_of};
use crate::meta::push_member;
use crate::method::name;
use crate::types::lifecycle::ServerFacts;

/// What a client wants to be told of by a server, or is going to be. A stateless server is asked for it in one request, one of
/// the older era tells of lists unasked.
///
/// Source: MCP 2026-07-28, "Subscriptions".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The set of tools.
    pub tools: bool,
    /// The set of prompts.
    pub prompts: bool,
    /// The set of resources.
    pub resources: bool,
    /// Single resources, by URI.
    pub updates: Vec<String>,
}

impl Wanted {
    /// The method that asks for it.
    pub const METHOD: &'static str = name::LISTEN;

    /// All lists of whose changes a server says that it tells.
    pub fn of(server: &ServerFacts) -> Self {
        let tells = |kind| server.offers(&[kind, "listChanged"]);
        Self {
            tools: tells("tools"),
            prompts: tells("prompts"),
            resources: tells("resources"),
            updates: Vec::new(),
        }
    }

    /// Nothing is wanted.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What of this is not among `granted`, in words.
    pub fn missing(&self, granted: &Self) -> Vec<String> {
        let lists = [
            (self.tools && !granted.tools, "tools"),
            (self.prompts && !granted.prompts, "prompts"),
            (self.resources && !granted.resources, "resources"),
        ];
        let lists = lists.into_iter().filter(|(is_missing, _)| *is_missing).map(|(_, what)| what.to_owned());
        lists.chain(self.updates.iter().filter(|uri| !granted.updates.contains(uri)).cloned()).collect()
    }

    /// The parameters that ask for it.
    pub fn params(&self) -> RawJson {
        let mut filter = String::from("{");
        for (key, is_wanted) in [(TOOLS, self.tools), (PROMPTS, self.prompts), (RESOURCES, self.resources)] {
            if is_wanted {
                push_member(&mut filter, key, "true");
            }
        }
        if !self.updates.is_empty() {
            push_member(&mut filter, UPDATES, RawJson::from_serialize(&self.updates).as_str());
        }
        filter.push('}');
        RawJson::parse(format!("{{\"notifications\":{filter}}}")).unwrap_or_else(|_| RawJson::empty_object())
    }

    /// What an acknowledgement grants; whatever is missing is not granted.
    pub(crate) fn read(params: Option<&Members<'_>>) -> Self {
        let Some(filter) = params.and_then(|params| params.object("notifications")) else {
            return Self::default();
        };
        let is_granted = |key| filter.boolean(key) == Some(true);
        Self {
            tools: is_granted(TOOLS),
            prompts: is_granted(PROMPTS),
            resources: is_granted(RESOURCES),
            updates: filter.array(UPDATES).unwrap_or_default().into_iter().filter_map(string_of).collect(),
        }
    }
}

const TOOLS: &str = "toolsListChanged";
const PROMPTS: &str = "promptsListChanged";
const RESOURCES: &str = "resourcesListChanged";
const UPDATES: &str = "resourceSubscriptions";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_wanted_is_written_and_only_what_is_granted_is_read() {
        let wanted =
            Wanted { tools: true, prompts: false, resources: true, updates: vec!["file:///é".to_owned()] };
        let params = wanted.params();
        let expected = r#"{"notifications":{"toolsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["file:///é"]}}"#;
        assert_eq!(params.as_str(), expected);
        assert_eq!(Wanted::read(Members::parse(params.as_str()).as_ref()), wanted);
        let granted = Members::parse(r#"{"notifications":{"toolsListChanged":true,"more":[]}}"#);
        let granted = Wanted::read(granted.as_ref());
        assert_eq!(granted, Wanted { tools: true, ..Wanted::default() });
        assert_eq!(wanted.missing(&granted), ["resources", "file:///é"]);
        assert_eq!(Wanted::read(None), Wanted::default());
    }
}
