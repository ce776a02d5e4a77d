use std::fmt;

use crate::{Decision, Ruling};

/// How a ruling came about, rule by rule. Its text is for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// Every rule, in the order written.
    pub considered: Vec<Considered>,
    /// What the default says; it counts only where no rule matches.
    pub default: Ruling,
    /// What happens.
    pub ruling: Ruling,
}

/// One rule in the light of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Considered {
    /// The rule's name.
    pub rule: String,
    /// Which calls it is about, as `server/tool` patterns.
    pub about: String,
    /// What it says.
    pub decision: Decision,
    /// Why it does not match; `None` when it does.
    pub why_not: Option<String>,
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {} (by {})", self.ruling.decision, self.ruling.reason, self.ruling.rule)?;
        for considered in &self.considered {
            write!(f, "  {} says {} for {}: ", considered.rule, considered.decision, considered.about)?;
            match &considered.why_not {
                None => writeln!(f, "matches")?,
                Some(why) => writeln!(f, "does not match, {why}")?,
            }
        }
        if self.considered.iter().any(|considered| considered.why_not.is_none()) {
            writeln!(f, "  default: not needed, a rule matches")
        } else {
            writeln!(f, "  {} says {}", self.default.rule, self.default.decision)
        }
    }
}
