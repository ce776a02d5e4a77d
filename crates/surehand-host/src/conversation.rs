//! A conversation that every provider accepts, whatever happened to it.
//!
//! Providers refuse a history in which a call has no result, a result has no call, or the two do not stand next to each other. A
//! program that was killed, a turn that was cancelled or a store that was cut leaves exactly such histories. [`mend`] makes the
//! history that is *sent* valid; what is stored is never rewritten.

use std::collections::HashSet;

use surehand_model::{CallId, Message, Note, Part, PartKind, Role, ToolResult};

/// What was said so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conversation {
    /// Oldest first, without the system prompt.
    pub messages: Vec<Message>,
}

impl Conversation {
    /// A conversation that begins with what a person says.
    pub fn from_question(text: impl Into<String>) -> Self {
        let mut conversation = Self::default();
        conversation.say(text);
        conversation
    }

    /// A person says something.
    pub fn say(&mut self, text: impl Into<String>) {
        self.messages.push(Message::text(Role::User, text));
    }
}

/// Gives every call its result right behind it, in the order of the calls, and leaves out results that answer nothing.
///
/// Ids are matched turn by turn, so an id that is used again in every turn hides no gap: a call takes the first result of its id
/// that stands before the next message with a call of the same id. A call without one gets a result that says the run was
/// interrupted and that its effect is not known.
///
/// A history that is valid already comes back as it is, without notes.
pub fn mend(messages: &[Message]) -> (Vec<Message>, Vec<Note>) {
    let mut notes = Vec::new();
    let mut used: HashSet<(usize, usize)> = HashSet::new();
    let mut mended: Vec<Message> = Vec::with_capacity(messages.len());

    for (at, message) in messages.iter().enumerate() {
        if message.role == Role::Tool {
            continue;
        }
        let mut message = message.clone();
        message.parts.retain(|part| !matches!(part.kind, PartKind::Result(_)));
        let ids: Vec<(CallId, String)> =
            message.calls().map(|call| (call.id.clone(), call.name.clone())).collect();
        if message.parts.is_empty() {
            continue;
        }
        mended.push(message);
        if ids.is_empty() {
            continue;
        }
        let results = ids
            .into_iter()
            .map(|(id, name)| match find_result(messages, at, &id, &mut used) {
                Some((found_at, result)) => {
                    if found_at > at + 1 {
                        notes.push(Note::new(
                            "conversation",
                            format!("result of call {id}"),
                            "it stood after a later message and was moved to its call",
                        ));
                    }
                    Part::from(PartKind::Result(result))
                }
                None => {
                    notes.push(Note::new(
                        "conversation",
                        format!("call {id} of {name}"),
                        "the run was interrupted before its result; its effect is not known",
                    ));
                    Part::from(PartKind::Result(interrupted(id, name)))
                }
            })
            .collect();
        mended.push(Message { role: Role::Tool, parts: results });
    }

    for (at, message) in messages.iter().enumerate() {
        for (index, part) in message.parts.iter().enumerate() {
            if let PartKind::Result(result) = &part.kind
                && !used.contains(&(at, index))
            {
                notes.push(Note::new(
                    "conversation",
                    format!("result for {}", result.id),
                    "no call asked for it; it was left out",
                ));
            }
        }
    }
    (mended, notes)
}

/// The first unused result of `id` after message `from` and before the next assistant message that uses the id again.
fn find_result(
    messages: &[Message],
    from: usize,
    id: &CallId,
    used: &mut HashSet<(usize, usize)>,
) -> Option<(usize, ToolResult)> {
    for (at, message) in messages.iter().enumerate().skip(from + 1) {
        if message.calls().any(|call| &call.id == id) {
            return None;
        }
        for (index, part) in message.parts.iter().enumerate() {
            if let PartKind::Result(result) = &part.kind
                && &result.id == id
                && used.insert((at, index))
            {
                return Some((at, result.clone()));
            }
        }
    }
    None
}

fn interrupted(id: CallId, name: String) -> ToolResult {
    let text = r#"{"error":"tool_failed","message":"The run was interrupted before this call was answered. Whether it had an effect is not known.","retryable":false}"#;
    ToolResult { is_error: true, ..ToolResult::text(id, name, text) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use surehand_model::ToolCall;

    fn calls(ids: &[&str]) -> Message {
        let parts = ids.iter().map(|id| PartKind::Call(ToolCall::new(*id, "a", "{}")).into()).collect();
        Message { role: Role::Assistant, parts }
    }

    fn results(ids: &[&str]) -> Message {
        Message::results(
            ids.iter().map(|id| ToolResult::text((*id).into(), "a", format!("result of {id}"))).collect(),
        )
    }

    fn user(text: &str) -> Message {
        Message::text(Role::User, text)
    }

    fn shape(messages: &[Message]) -> Vec<String> {
        messages
            .iter()
            .map(|message| {
                let mut words: Vec<String> =
                    message.calls().map(|call| format!("call {}", call.id)).collect();
                words.extend(message.tool_results().map(|result| {
                    format!("{} {}", if result.is_error { "lost" } else { "result" }, result.id)
                }));
                if words.is_empty() { message.joined_text() } else { words.join(", ") }
            })
            .collect()
    }

    #[test]
    fn a_valid_history_is_sent_as_it_is() {
        let history = [user("check"), calls(&["t1", "t2"]), results(&["t1", "t2"]), user("and?")];
        assert_eq!(mend(&history), (history.to_vec(), vec![]));
    }

    #[test]
    fn a_call_cut_off_from_its_result_gets_one_that_says_so() {
        let (mended, notes) = mend(&[user("check"), calls(&["t1", "t2"]), results(&["t1"]), user("go on")]);
        assert_eq!(shape(&mended), ["check", "call t1, call t2", "result t1, lost t2", "go on"]);
        assert_eq!(notes.len(), 1);
    }

    #[test]
    fn an_orphan_result_is_left_out_and_said() {
        let (mended, notes) = mend(&[user("check"), results(&["t9"]), user("go on")]);
        assert_eq!(shape(&mended), ["check", "go on"]);
        assert_eq!(
            notes,
            [Note::new("conversation", "result for t9", "no call asked for it; it was left out")]
        );
    }

    #[test]
    fn a_late_result_is_moved_to_its_call() {
        let late = [user("check"), calls(&["t1", "t2"]), results(&["t1"]), user("well?"), results(&["t2"])];
        let (mended, notes) = mend(&late);
        assert_eq!(shape(&mended), ["check", "call t1, call t2", "result t1, result t2", "well?"]);
        assert_eq!(notes.len(), 1);
    }

    #[test]
    fn an_id_used_again_in_every_turn_hides_no_gap() {
        let history =
            [user("1"), calls(&["call_0"]), user("2"), calls(&["call_0"]), results(&["call_0"]), user("3")];
        let (mended, _) = mend(&history);
        assert_eq!(
            shape(&mended),
            ["1", "call call_0", "lost call_0", "2", "call call_0", "result call_0", "3"]
        );
    }

    #[test]
    fn results_stand_in_the_order_of_their_calls() {
        let (mended, notes) = mend(&[user("x"), calls(&["a", "b"]), results(&["b", "a"])]);
        assert_eq!(shape(&mended), ["x", "call a, call b", "result a, result b"]);
        assert_eq!(notes, []);
    }
}
