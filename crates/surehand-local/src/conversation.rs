use surehand_model::{Message, PartKind, Role, ToolCall, ToolResult};

/// The most earlier exchanges that a small model is reminded of.
const REMINDED: usize = 2;
/// How much of each earlier text it is reminded of, in characters.
const REMINDED_LENGTH: usize = 600;

/// A conversation as the embedded model sees it: instructions, what came before, the present question, and what was done for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct View {
    /// The operator's instructions.
    pub(crate) operator: String,
    /// Earlier questions and answers, oldest first.
    pub(crate) before: Vec<(Role, String)>,
    /// The last thing the person said.
    pub(crate) question: String,
    /// The calls made for it so far, one list a round.
    pub(crate) rounds: Vec<Vec<ToolCall>>,
    /// What they gave, in order.
    pub(crate) results: Vec<ToolResult>,
    /// Whether something in the conversation is no text and was left out.
    pub(crate) has_media: bool,
}

impl View {
    pub(crate) fn of(messages: &[Message]) -> Self {
        let operator: Vec<String> = messages
            .iter()
            .filter(|message| message.role == Role::System)
            .map(Message::joined_text)
            .filter(|text| !text.trim().is_empty())
            .collect();
        let last = messages.iter().rposition(|message| message.role == Role::User);
        let (before, after) = match last {
            Some(at) => (&messages[..at], &messages[at + 1..]),
            None => (messages, &[][..]),
        };
        let mut reminded: Vec<(Role, String)> = before
            .iter()
            .filter(|message| matches!(message.role, Role::User | Role::Assistant))
            .map(|message| {
                (message.role, message.joined_text().chars().take(REMINDED_LENGTH).collect::<String>())
            })
            .filter(|(_, text)| !text.trim().is_empty())
            .collect();
        // From a question on, so that nobody answers what nobody asked.
        let from = reminded
            .iter()
            .enumerate()
            .rev()
            .filter(|(_, (role, _))| *role == Role::User)
            .nth(REMINDED - 1)
            .map_or_else(|| reminded.iter().position(|(role, _)| *role == Role::User), |(at, _)| Some(at));
        let before = from.map(|at| reminded.split_off(at)).unwrap_or_default();
        let media =
            |message: &Message| message.parts.iter().any(|part| matches!(part.kind, PartKind::Media(_)));
        Self {
            operator: operator.join("\n"),
            before,
            question: last.map(|at| messages[at].joined_text()).unwrap_or_default(),
            rounds: after
                .iter()
                .map(|message| message.calls().cloned().collect::<Vec<_>>())
                .filter(|calls| !calls.is_empty())
                .collect(),
            results: after.iter().flat_map(Message::tool_results).cloned().collect(),
            has_media: messages.iter().any(media),
        }
    }

    /// Every call made for the present question.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.rounds.iter().flatten()
    }

    /// The question, with the one before it where it is too short to stand alone ("and Shanghai?").
    pub(crate) fn topic(&self) -> String {
        let earlier = self.before.iter().rev().find(|(role, _)| *role == Role::User);
        match earlier {
            Some((_, text)) if self.question.chars().count() <= 16 => format!("{text}\n{}", self.question),
            _ => self.question.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use surehand_model::CallId;

    use super::*;

    #[test]
    fn a_conversation_is_split_at_the_last_question() {
        let call = ToolCall::new("1", "f", "{}");
        let result = ToolResult::text(CallId::from("1"), "f", "42");
        let messages = [
            Message::text(Role::System, "be kind"),
            Message::text(Role::User, "first"),
            Message::text(Role::Assistant, "answer"),
            Message::text(Role::User, "second"),
            Message { role: Role::Assistant, parts: vec![PartKind::Call(call.clone()).into()] },
            Message::results(vec![result.clone()]),
        ];
        let expected = View {
            operator: "be kind".to_owned(),
            before: vec![(Role::User, "first".to_owned()), (Role::Assistant, "answer".to_owned())],
            question: "second".to_owned(),
            rounds: vec![vec![call]],
            results: vec![result],
            has_media: false,
        };
        assert_eq!(View::of(&messages), expected);
        assert_eq!(expected.topic(), "first\nsecond");
    }

    #[test]
    fn only_the_last_two_exchanges_are_remembered() {
        let mut messages = Vec::new();
        for number in 1..=4 {
            messages.push(Message::text(Role::User, format!("q{number}")));
            messages.push(Message::text(Role::Assistant, format!("a{number}")));
        }
        messages.push(Message::text(Role::User, "now"));
        let texts: Vec<String> = View::of(&messages).before.into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts, ["q3", "a3", "q4", "a4"]);
    }
}
