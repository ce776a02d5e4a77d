use surehand_model::RawJson;

use crate::members::Members;
use crate::revision::Revision;
use crate::types::lifecycle::ServerFacts;

impl ServerFacts {
    /// What the answer to `server/discover` says; whatever is missing is empty.
    pub fn read_discovery(result: &RawJson, revision: Revision) -> Self {
        let members = Members::parse(result.as_str()).unwrap_or_else(|| Members(Vec::new()));
        Self::read(&members, revision)
    }

    /// Whether the server named this among its capabilities: the keys from the outermost inwards, for example `resources` and
    /// `subscribe`. What is `false` or `null` is not named.
    pub fn offers(&self, path: &[&str]) -> bool {
        let mut at = self.capabilities.clone();
        for key in path {
            let inner =
                Members::parse(at.as_str()).and_then(|members| members.present(key).map(RawJson::from));
            let Some(inner) = inner.filter(|inner| inner.as_str() != "false") else { return false };
            at = inner;
        }
        true
    }

    /// The settings of an extension that the server takes part in.
    pub fn extension(&self, identifier: &str) -> Option<RawJson> {
        let capabilities = Members::parse(self.capabilities.as_str())?;
        capabilities.object("extensions")?.present(identifier).map(RawJson::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handler::Implementation;

    #[test]
    fn what_is_named_and_not_switched_off_is_offered() {
        let who = Implementation { name: "s".to_owned(), title: None, version: "1".to_owned() };
        let text = r#"{"resources":{"subscribe":true,"listChanged":false},"logging":{},"extensions":{"a.test/x":{"n":1.10}}}"#;
        let facts = ServerFacts {
            capabilities: RawJson::parse(text).unwrap(),
            ..ServerFacts::of_tools(who, None, Revision::LATEST)
        };
        assert!(facts.offers(&["resources", "subscribe"]) && facts.offers(&["logging"]));
        assert!(!facts.offers(&["resources", "listChanged"]) && !facts.offers(&["tasks", "list"]));
        let settings = |id| facts.extension(id).map(|settings| settings.to_string());
        assert_eq!((settings("a.test/x").as_deref(), settings("a.test/y")), (Some(r#"{"n":1.10}"#), None));
    }
}
