use surehand_model::{Integrity, Json, Note};

use crate::{Condition, Decision, Effect, Glob, Policy, Rule};

const POLICY_KEYS: &[&str] = &["rules", "default"];
const RULE_KEYS: &[&str] = &["name", "match", "decision", "reason", "examples"];
const MATCH_KEYS: &[&str] = &["server", "tool", "effect", "label", "arguments"];
const EXAMPLE_KEYS: &[&str] = &["match", "not_match"];

/// Reads a whole policy; what cannot be read denies, and is a note.
pub(crate) fn policy(json: &Json) -> (Policy, Vec<Note>) {
    let mut notes = Vec::new();
    let mut policy = Policy::default();
    if matches!(json, Json::Null) {
        return (policy, notes);
    }
    let Some(members) = json.as_object() else {
        deny_everything(&mut policy, &mut notes, "/policy", "it must be an object");
        return (policy, notes);
    };
    for (key, _) in members {
        if !POLICY_KEYS.contains(&key.as_str()) {
            notes.push(unknown_key("/policy", key, POLICY_KEYS));
        }
    }
    if let Some(word) = json.get("default") {
        match word.as_str().and_then(Decision::parse) {
            Some(decision) => policy.default_decision = decision,
            None => {
                policy.default_decision = Decision::Deny;
                notes.push(Note::new(
                    "/policy/default",
                    format!("{word} is not a decision; whatever no rule names is denied"),
                    "write \"allow\", \"ask\" or \"deny\"",
                ));
            }
        }
    }
    match json.get("rules") {
        None => {}
        Some(Json::Array(rules)) => {
            for (index, json) in rules.iter().enumerate() {
                policy.rules.push(rule(json, index, &mut notes));
            }
        }
        Some(_) => deny_everything(&mut policy, &mut notes, "/policy/rules", "it must be a list of rules"),
    }
    (policy, notes)
}

fn deny_everything(policy: &mut Policy, notes: &mut Vec<Note>, place: &str, why: &str) {
    notes.push(Note::new(place, "it cannot be read, so every call is denied", why));
    policy.rules.push(Rule {
        name: place.trim_start_matches('/').to_owned(),
        condition: Condition::default(),
        decision: Decision::Deny,
        reason: None,
        fault: Some(why.to_owned()),
    });
}

fn unknown_key(place: &str, key: &str, known: &[&str]) -> Note {
    Note::new(
        place,
        format!("unknown key `{key}`, which has no effect"),
        format!("known keys: {}", known.join(", ")),
    )
}

fn rule(json: &Json, index: usize, notes: &mut Vec<Note>) -> Rule {
    let place = format!("/policy/rules/{index}");
    let mut faults = Vec::new();
    let mut rule = Rule {
        name: json
            .get("name")
            .and_then(Json::as_str)
            .map_or_else(|| format!("rules[{index}]"), str::to_owned),
        condition: Condition::default(),
        decision: Decision::Deny,
        reason: json.get("reason").and_then(Json::as_str).map(str::to_owned),
        fault: None,
    };
    if let Some(members) = json.as_object() {
        for (key, _) in members {
            if !RULE_KEYS.contains(&key.as_str()) {
                notes.push(unknown_key(&place, key, RULE_KEYS));
            }
        }
    }
    for key in ["name", "reason"] {
        if json.get(key).is_some_and(|value| value.as_str().is_none()) {
            notes.push(Note::new(format!("{place}/{key}"), "it is not used", "it must be text"));
        }
    }
    match json.get("match") {
        _ if json.as_object().is_none() => faults.push("a rule must be an object".to_owned()),
        None => faults.push("`match` is missing; write {} to mean every call".to_owned()),
        Some(wanted) => rule.condition = condition(wanted, &mut faults),
    }
    match json.get("decision") {
        None if json.as_object().is_none() => {}
        None => faults.push("`decision` is missing; write \"allow\", \"ask\" or \"deny\"".to_owned()),
        Some(word) => match word.as_str().and_then(Decision::parse) {
            Some(decision) => rule.decision = decision,
            None => faults.push(format!("`decision` is {word}; write \"allow\", \"ask\" or \"deny\"")),
        },
    }
    if let Some(examples) = json.get("examples") {
        check_examples(examples, &mut rule.condition, &mut faults);
    }
    if !faults.is_empty() {
        let fault = faults.join("; ");
        let named = rule.condition.to_string();
        notes.push(Note::new(
            place,
            format!("{} cannot be read, so {named} is denied", rule.name),
            fault.clone(),
        ));
        rule.decision = Decision::Deny;
        rule.fault = Some(fault);
    }
    rule
}

/// A part that cannot be read stays empty, which is to say that it names everything.
fn condition(json: &Json, faults: &mut Vec<String>) -> Condition {
    let mut condition = Condition::default();
    let Some(members) = json.as_object() else {
        faults.push("`match` must be an object".to_owned());
        return condition;
    };
    for (key, value) in members {
        match key.as_str() {
            "server" => condition.server = globs(value, "match.server", faults),
            "tool" => condition.tool = globs(value, "match.tool", faults),
            "effect" => condition.effect = effects(value, faults),
            "label" => match value.as_str() {
                Some("trusted") => condition.label = Some(Integrity::Trusted),
                Some("untrusted") => condition.label = Some(Integrity::Untrusted),
                _ => faults.push("`match.label` must be \"trusted\" or \"untrusted\"".to_owned()),
            },
            "arguments" => condition.arguments = argument_patterns(value, faults),
            other => faults.push(format!("`match.{other}` is unknown; known: {}", MATCH_KEYS.join(", "))),
        }
    }
    condition
}

/// One text or a list of texts. An empty list would name nothing at all, which nobody means.
fn texts(json: &Json, what: &str, faults: &mut Vec<String>) -> Vec<String> {
    let found = match json {
        Json::String(text) => Some(vec![text.clone()]),
        Json::Array(items) if !items.is_empty() => {
            items.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
        }
        _ => None,
    };
    found.unwrap_or_else(|| {
        faults.push(format!("`{what}` must be text or a list of texts"));
        Vec::new()
    })
}

fn globs(json: &Json, what: &str, faults: &mut Vec<String>) -> Vec<Glob> {
    texts(json, what, faults).into_iter().map(Glob::new).collect()
}

fn effects(json: &Json, faults: &mut Vec<String>) -> Vec<Effect> {
    let mut effects = Vec::new();
    for word in texts(json, "match.effect", faults) {
        match Effect::parse(&word) {
            Some(effect) => effects.push(effect),
            None => {
                faults.push(format!(
                    "`match.effect` has \"{word}\"; known: pure, read, write, irreversible, egress"
                ));
                return Vec::new();
            }
        }
    }
    effects
}

fn argument_patterns(json: &Json, faults: &mut Vec<String>) -> Vec<(String, Vec<Glob>)> {
    let Some(members) = json.as_object() else {
        faults.push("`match.arguments` must be an object of JSON Pointers and patterns".to_owned());
        return Vec::new();
    };
    let mut patterns = Vec::new();
    for (pointer, wanted) in members {
        if pointer.starts_with('/') {
            let globs = globs(wanted, &format!("match.arguments.{pointer}"), faults);
            if !globs.is_empty() {
                patterns.push((pointer.clone(), globs));
            }
        } else {
            faults.push(format!(
                "`match.arguments` has \"{pointer}\"; a JSON Pointer such as \"/path\" must stand there"
            ));
        }
    }
    patterns
}

/// Checks that the names fit as the examples say. Whatever was meant to be met is remembered, for a rule that turns out unreadable.
fn check_examples(json: &Json, condition: &mut Condition, faults: &mut Vec<String>) {
    let Some(members) = json.as_object() else {
        faults.push("`examples` must be an object".to_owned());
        return;
    };
    let mut besides = Vec::new();
    for (key, value) in members {
        let wanted = match key.as_str() {
            "match" => true,
            "not_match" => false,
            other => {
                faults.push(format!("`examples.{other}` is unknown; known: {}", EXAMPLE_KEYS.join(", ")));
                continue;
            }
        };
        for example in texts_or_none(value, &format!("examples.{key}"), faults) {
            let Some((server, tool)) = example.split_once('/') else {
                faults.push(format!("the example \"{example}\" must have the form SERVER/TOOL"));
                continue;
            };
            if condition.names(server, tool) != wanted {
                let verdict = if wanted { "is not met" } else { "is met" };
                faults.push(format!("the example \"{example}\" {verdict} by {condition}"));
                if wanted {
                    besides.push((server.to_owned(), tool.to_owned()));
                }
            }
        }
    }
    condition.besides = besides;
}

/// Like [`texts`], and an empty list is fine.
fn texts_or_none(json: &Json, what: &str, faults: &mut Vec<String>) -> Vec<String> {
    match json {
        Json::Array(items) if items.is_empty() => Vec::new(),
        other => texts(other, what, faults),
    }
}
