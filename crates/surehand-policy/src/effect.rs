use std::fmt;

use serde::{Deserialize, Serialize};

/// What running a tool does to the world, as far as its bundler or the operator vouches for it. Ordered mildest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Computes from its arguments; touches nothing.
    Pure,
    /// Looks at something and changes nothing.
    Read,
    /// Changes something that can be changed back.
    Write,
    /// Changes something that cannot be taken back: deletes, pays, sends.
    Irreversible,
    /// Carries data out to others.
    Egress,
}

impl Effect {
    /// Reads the word for an effect; `reads` and `writes` are understood as well.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "pure" => Some(Self::Pure),
            "read" | "reads" => Some(Self::Read),
            "write" | "writes" => Some(Self::Write),
            "irreversible" => Some(Self::Irreversible),
            "egress" => Some(Self::Egress),
            _ => None,
        }
    }

    /// Whether a call leaves the world as it was.
    pub fn changes_nothing(self) -> bool {
        matches!(self, Self::Pure | Self::Read)
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pure => "pure",
            Self::Read => "read",
            Self::Write => "write",
            Self::Irreversible => "irreversible",
            Self::Egress => "egress",
        })
    }
}
