use serde::{Deserialize, Serialize};

/// How far the words of a source may steer what happens. Ordered: the weaker one wins when values are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Integrity {
    /// Anybody may have written it: tool results, files, web pages.
    #[default]
    Untrusted,
    /// The person at the keyboard, or the operator's own configuration.
    Trusted,
}

/// Where a value comes from and how far it may be trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// How far it may be trusted.
    pub integrity: Integrity,
    /// `user`, `operator`, or `server/tool`. Empty where nobody said.
    pub sources: Vec<String>,
}

impl Label {
    /// Said by the person who uses the program.
    pub fn user() -> Self {
        Self { integrity: Integrity::Trusted, sources: vec!["user".to_owned()] }
    }

    /// Came out of a tool.
    pub fn tool(server: &str, tool: &str) -> Self {
        Self { integrity: Integrity::Untrusted, sources: vec![format!("{server}/{tool}")] }
    }

    /// The label of a value made of both: the weaker integrity, all sources once, in order.
    #[must_use]
    pub fn join(&self, other: &Self) -> Self {
        let mut sources = self.sources.clone();
        for source in &other.sources {
            if !sources.contains(source) {
                sources.push(source.clone());
            }
        }
        Self { integrity: self.integrity.min(other.integrity), sources }
    }
}
