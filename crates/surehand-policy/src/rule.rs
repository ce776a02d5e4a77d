use std::fmt;

use surehand_model::{Integrity, Json};

use crate::{CallFacts, Decision, Effect, Glob};

/// One rule: what it is about, and what happens then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// How rulings call it: its `name`, or `rules[0]` by its place in the file.
    pub name: String,
    /// Which calls it is about.
    pub condition: Condition,
    /// What happens to them.
    pub decision: Decision,
    /// Why, in the words of whoever wrote it.
    pub reason: Option<String>,
    /// Why the rule could not be read as written; it denies what it names then.
    pub fault: Option<String>,
}

/// Which calls a rule is about: those for which every part holds. An empty list holds for all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    /// Names of servers, any of them.
    pub server: Vec<Glob>,
    /// Names of tools as their server spells them, any of them.
    pub tool: Vec<Glob>,
    /// Effects, any of them. A tool whose effect nobody vouches for is met by every rule that is stricter than `allow`
    /// and by none that allows.
    pub effect: Vec<Effect>,
    /// Where the arguments come from. A call without a label counts as untrusted.
    pub label: Option<Integrity>,
    /// Arguments by JSON Pointer, and what each must look like. Text is compared as it is, everything else as JSON.
    /// An argument that is not there fits no pattern.
    pub arguments: Vec<(String, Vec<Glob>)>,
    /// Whole pairs of server and tool that are met besides, whatever the patterns say. Only rules that could not be read have
    /// them: the examples that the author wanted to be met.
    pub besides: Vec<(String, String)>,
}

impl Condition {
    /// Whether the names fit, whatever the rest says.
    pub fn names(&self, server: &str, tool: &str) -> bool {
        (any(&self.server, server) && any(&self.tool, tool))
            || self.besides.iter().any(|(s, t)| s == server && t == tool)
    }

    /// Whether it holds for every call of the tools it names, so that it can be known before there is a call.
    pub fn is_about_tools_alone(&self) -> bool {
        self.label.is_none() && self.arguments.is_empty()
    }

    /// Why it does not hold; `None` when it does. `decision` is what the rule would decide.
    pub(crate) fn why_not(&self, facts: &CallFacts<'_>, decision: Decision) -> Option<String> {
        if !self.names(facts.server, facts.tool) {
            return Some("it is about other tools".to_owned());
        }
        if !self.effect.is_empty() {
            match facts.effect {
                Some(effect) if !self.effect.contains(&effect) => {
                    return Some(format!("the tool's effect is `{effect}`"));
                }
                None if decision == Decision::Allow => {
                    return Some("nobody vouches for the tool's effect".to_owned());
                }
                _ => {}
            }
        }
        if let Some(wanted) = self.label {
            let found = facts.label.map_or(Integrity::Untrusted, |label| label.integrity);
            if found != wanted {
                return Some(format!("the arguments are {}", integrity_word(found)));
            }
        }
        for (pointer, patterns) in &self.arguments {
            let found = facts.arguments.and_then(|arguments| arguments.pointer(pointer));
            let fits = found.is_some_and(|value| match value {
                Json::String(text) => any(patterns, text),
                other => any(patterns, &other.to_string()),
            });
            if !fits {
                return Some(format!("the argument at `{pointer}` does not fit"));
            }
        }
        None
    }
}

fn any(patterns: &[Glob], text: &str) -> bool {
    patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(text))
}

pub(crate) fn integrity_word(integrity: Integrity) -> &'static str {
    match integrity {
        Integrity::Trusted => "trusted",
        Integrity::Untrusted => "untrusted",
    }
}

/// As people name tools: `files/read_*`, with what else must hold behind it.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn list(patterns: &[Glob]) -> String {
            match patterns {
                [] => "*".to_owned(),
                patterns => patterns.iter().map(Glob::to_string).collect::<Vec<_>>().join("|"),
            }
        }
        write!(f, "{}/{}", list(&self.server), list(&self.tool))?;
        if !self.effect.is_empty() {
            let effects = self.effect.iter().map(Effect::to_string).collect::<Vec<_>>().join("|");
            write!(f, " with effect {effects}")?;
        }
        if let Some(label) = self.label {
            write!(f, " from {} words", integrity_word(label))?;
        }
        for (pointer, patterns) in &self.arguments {
            write!(f, " where {pointer} is {}", list(patterns))?;
        }
        for (server, tool) in &self.besides {
            write!(f, " and {server}/{tool}")?;
        }
        Ok(())
    }
}
