use std::borrow::Cow;
use std::collections::BTreeSet;

use surehand_model::{CallId, Message, Note, Part, PartKind, ProviderState, Role, ToolCall, ToolResult};

use crate::names::{base36, stable_hash};
use crate::{IdRule, NameTable};

/// A conversation as every provider demands it: each assistant turn that calls is followed by exactly its results, in order.
#[derive(Debug)]
pub(crate) struct History<'a> {
    pub(crate) system: Vec<String>,
    pub(crate) turns: Vec<Turn<'a>>,
    pub(crate) notes: Vec<Note>,
}

#[derive(Debug)]
pub(crate) enum Turn<'a> {
    User(Vec<&'a Part>),
    Assistant(Vec<Said<'a>>),
    Results(Vec<Answer<'a>>),
}

/// One part of an assistant turn; a call comes with its id and name on the wire.
#[derive(Debug)]
pub(crate) struct Said<'a> {
    pub(crate) part: &'a Part,
    pub(crate) call: Option<WireCall<'a>>,
}

#[derive(Clone, Debug)]
pub(crate) struct WireCall<'a> {
    pub(crate) call: &'a ToolCall,
    pub(crate) id: String,
    pub(crate) name: String,
}

#[derive(Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) to: WireCall<'a>,
    pub(crate) result: Cow<'a, ToolResult>,
}

impl Said<'_> {
    /// What this dialect once said about this part under `key`.
    pub(crate) fn state(&self, dialect: &str, key: &str) -> Option<&ProviderState> {
        self.part.state.iter().find(|state| state.dialect == dialect && state.key == key)
    }
}

/// Puts a conversation in order.
///
/// Matching goes turn by turn, so an id that is used again hides nothing. A missing result becomes an error that says so, a late one
/// moves to its call, one that answers nothing is left out. Ids are made to fit `rule` and are unique over the whole conversation.
pub(crate) fn arrange<'a>(messages: &'a [Message], names: &NameTable, rule: IdRule) -> History<'a> {
    let mut history = History { system: Vec::new(), turns: Vec::new(), notes: Vec::new() };
    let mut ids = WireIds { rule, taken: BTreeSet::new(), calls: 0 };
    let mut used: BTreeSet<(usize, usize)> = BTreeSet::new();
    for (at, message) in messages.iter().enumerate() {
        match message.role {
            Role::System => {
                let text = message.joined_text();
                if !text.trim().is_empty() {
                    history.system.push(text);
                }
            }
            Role::User => {
                if !message.parts.is_empty() {
                    history.turns.push(Turn::User(message.parts.iter().collect()));
                }
            }
            Role::Tool => {
                for (position, result) in message.tool_results().enumerate() {
                    if !used.contains(&(at, position)) {
                        history.notes.push(Note::new(
                            format!("message {}", at + 1),
                            format!("the result `{}` was left out", result.id),
                            "it answers no call of the turn before it",
                        ));
                    }
                }
            }
            Role::Assistant => {
                let mut said = Vec::new();
                let mut answers = Vec::new();
                for part in &message.parts {
                    let call = match &part.kind {
                        PartKind::Call(call) => {
                            let wire =
                                WireCall { call, id: ids.give(call, names), name: names.wire(&call.name) };
                            let result =
                                find_result(messages, at, &call.id, &mut used).unwrap_or_else(|| {
                                    history.notes.push(Note::new(
                                        format!("message {}", at + 1),
                                        format!("the call `{}` has no result", call.id),
                                        "the model is told that the run was interrupted",
                                    ));
                                    Cow::Owned(interrupted(call))
                                });
                            answers.push(Answer { to: wire.clone(), result });
                            Some(wire)
                        }
                        _ => None,
                    };
                    said.push(Said { part, call });
                }
                if !said.is_empty() {
                    history.turns.push(Turn::Assistant(said));
                }
                if !answers.is_empty() {
                    history.turns.push(Turn::Results(answers));
                }
            }
        }
    }
    history
}

/// The first unused result for `id` after the message at `at` and before another turn calls under the same id.
fn find_result<'a>(
    messages: &'a [Message],
    at: usize,
    id: &CallId,
    used: &mut BTreeSet<(usize, usize)>,
) -> Option<Cow<'a, ToolResult>> {
    for (later, message) in messages.iter().enumerate().skip(at + 1) {
        if message.role == Role::Assistant && message.calls().any(|call| call.id == *id) {
            return None;
        }
        if message.role != Role::Tool {
            continue;
        }
        for (position, result) in message.tool_results().enumerate() {
            if result.id == *id && used.insert((later, position)) {
                return Some(Cow::Borrowed(result));
            }
        }
    }
    None
}

fn interrupted(call: &ToolCall) -> ToolResult {
    let text =
        "The run was interrupted before this call gave a result. Whether it had any effect is not known.";
    ToolResult { is_error: true, ..ToolResult::text(call.id.clone(), call.name.clone(), text) }
}

/// Ids as one provider takes them, each used once. The same conversation always gives the same ids, so that prefixes stay equal.
struct WireIds {
    rule: IdRule,
    taken: BTreeSet<String>,
    calls: usize,
}

impl WireIds {
    fn give(&mut self, call: &ToolCall, names: &NameTable) -> String {
        let number = self.calls;
        self.calls += 1;
        if self.rule == IdRule::Kimi {
            return format!("functions.{}:{number}", names.wire(&call.name));
        }
        let given = if call.id.0.is_empty() { "call" } else { call.id.0.as_str() };
        for round in 0_u32.. {
            let id = fit_id(given, self.rule, round);
            if self.taken.insert(id.clone()) {
                return id;
            }
        }
        given.to_owned()
    }
}

fn fit_id(given: &str, rule: IdRule, round: u32) -> String {
    let again = if round == 0 { String::new() } else { format!("_{}", round + 1) };
    match rule {
        IdRule::Any | IdRule::Kimi => format!("{given}{again}"),
        IdRule::Word => {
            let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
            if given.chars().all(is_word) {
                return format!("{given}{again}");
            }
            let kept: String = given.chars().map(|c| if is_word(c) { c } else { '_' }).collect();
            format!("{kept}_{}{again}", base36(stable_hash(given, 0), 6))
        }
        IdRule::NineAlphanumeric => {
            if round == 0 && given.len() == 9 && given.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
                return given.to_owned();
            }
            base36(stable_hash(given, round), 9)
        }
    }
}
