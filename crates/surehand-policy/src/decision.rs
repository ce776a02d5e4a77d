use std::fmt;

use serde::{Deserialize, Serialize};

/// What happens to a call. Ordered mildest first, so that `max` is the strictest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// It runs.
    Allow,
    /// A person is asked, and shown exactly what would run.
    Ask,
    /// It does not run, whoever says yes.
    Deny,
}

impl Decision {
    /// Reads `allow`, `ask` or `deny`.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "allow" => Some(Self::Allow),
            "ask" => Some(Self::Ask),
            "deny" => Some(Self::Deny),
            _ => None,
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        })
    }
}

/// A decision, and on what it rests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// What happens.
    pub decision: Decision,
    /// The rule that decided: its name, `rules[0]` for a rule without one, or `default` where no rule matched.
    pub rule: String,
    /// Why, in words for a person.
    pub reason: String,
}
