use surehand_model::{Json, Note};

use crate::{CallFacts, Considered, Decision, Explanation, Rule, Ruling, read};

/// All rules, and what happens where none matches.
///
/// The strictest of all matching rules wins; among equally strict ones the first. Where none matches, the default decides:
/// tools of bundled servers that are known to change nothing run (unless the default is `deny`), everything else meets
/// [`Policy::default_decision`]. So a rule that allows can relax the default, and never another rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// In the order written.
    pub rules: Vec<Rule>,
    /// For whatever no rule names.
    pub default_decision: Decision,
}

/// No rules; what is not known to be harmless asks.
impl Default for Policy {
    fn default() -> Self {
        Self { rules: Vec::new(), default_decision: Decision::Ask }
    }
}

impl Policy {
    /// Reads the `policy` key of a configuration.
    ///
    /// The shape is `{"rules":[{"name"?, "match":{"server"?, "tool"?, "effect"?, "label"?, "arguments"?}, "decision", "reason"?,
    /// "examples"?:{"match"?, "not_match"?}}], "default"?}`. `server`, `tool` and `effect` are a text or a list of texts,
    /// `arguments` an object of JSON Pointers and patterns, examples are lists of `SERVER/TOOL`.
    ///
    /// Every rule is judged alone. One that cannot be read, or whose examples do not hold, denies what it names; what part of
    /// it cannot be read counts as naming everything. Each such fault is a note whose place is a JSON Pointer below `policy`.
    pub fn from_json(policy: &Json) -> (Self, Vec<Note>) {
        read::policy(policy)
    }

    /// What happens to this call, and why.
    pub fn decide(&self, facts: &CallFacts<'_>) -> Ruling {
        let mut decided: Option<&Rule> = None;
        for rule in &self.rules {
            if rule.condition.why_not(facts, rule.decision).is_none()
                && decided.is_none_or(|so_far| rule.decision > so_far.decision)
            {
                decided = Some(rule);
            }
        }
        match decided {
            Some(rule) => {
                Ruling { decision: rule.decision, rule: rule.name.clone(), reason: rule_reason(rule) }
            }
            None => self.by_default(facts),
        }
    }

    /// Whether every call of this tool would be denied, so that a model need not be shown it. Arguments and label are not looked
    /// at.
    pub fn hides(&self, facts: &CallFacts<'_>) -> bool {
        let denied = self.rules.iter().any(|rule| {
            rule.decision == Decision::Deny
                && rule.condition.is_about_tools_alone()
                && rule.condition.why_not(facts, rule.decision).is_none()
        });
        // Where the default denies, a rule for some arguments may still let a call through.
        let never_let_through = || {
            !self
                .rules
                .iter()
                .any(|rule| rule.decision != Decision::Deny && rule.condition.names(facts.server, facts.tool))
        };
        denied || (self.by_default(facts).decision == Decision::Deny && never_let_through())
    }

    /// The ruling, and how each rule came to match or not.
    pub fn explain(&self, facts: &CallFacts<'_>) -> Explanation {
        let considered = self.rules.iter().map(|rule| Considered {
            rule: rule.name.clone(),
            about: rule.condition.to_string(),
            decision: rule.decision,
            why_not: rule.condition.why_not(facts, rule.decision),
        });
        Explanation {
            considered: considered.collect(),
            default: self.by_default(facts),
            ruling: self.decide(facts),
        }
    }

    fn by_default(&self, facts: &CallFacts<'_>) -> Ruling {
        let harmless = facts.bundled && facts.effect.is_some_and(|effect| effect.changes_nothing());
        if harmless && self.default_decision != Decision::Deny {
            return Ruling {
                decision: Decision::Allow,
                rule: "default for bundled tools".to_owned(),
                reason: "A bundled tool that changes nothing.".to_owned(),
            };
        }
        let reason = match self.default_decision {
            Decision::Allow => "No rule is about this tool, and the policy allows what no rule names.",
            Decision::Ask => match facts.effect {
                None if facts.annotations.read_only == Some(true) => {
                    "No rule is about this tool. Its server says that it only reads; nobody else vouches for that."
                }
                None => "No rule is about this tool, and nobody vouches for what it does.",
                Some(effect) if effect.changes_nothing() => {
                    "No rule is about this tool; it only reads, through a server from outside."
                }
                Some(_) => "No rule is about this tool, and it has effects.",
            },
            Decision::Deny => "No rule is about this tool, and the policy denies what no rule names.",
        };
        Ruling { decision: self.default_decision, rule: "default".to_owned(), reason: reason.to_owned() }
    }
}

fn rule_reason(rule: &Rule) -> String {
    match (&rule.fault, &rule.reason) {
        (Some(fault), _) => format!("The rule cannot be read, so what it names is denied: {fault}"),
        (None, Some(reason)) => reason.clone(),
        (None, None) => format!("The policy says {} for {}.", rule.decision, rule.condition),
    }
}
