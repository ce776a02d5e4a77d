use surehand_model::{
    Finish, FinishReason, ModelEvent, ModelTurn, Note, Part, PartKind, ProviderState, ToolCall, Usage,
};

use crate::DecodeError;

/// How much of one answer is held, in bytes of text and arguments together.
const ANSWER_LIMIT: usize = 64 * 1024 * 1024;

/// Puts a turn together, part after part. Texts that follow each other become one part.
#[derive(Debug, Default)]
pub(crate) struct TurnBuilder {
    pub(crate) parts: Vec<Part>,
    pub(crate) usage: Usage,
    pub(crate) model: Option<String>,
    pub(crate) notes: Vec<Note>,
    held: usize,
}

impl TurnBuilder {
    /// Counts what is about to be held.
    pub(crate) fn hold(&mut self, bytes: usize) -> Result<(), DecodeError> {
        self.held = self.held.saturating_add(bytes);
        if self.held > ANSWER_LIMIT { Err(DecodeError::TooLarge { limit: ANSWER_LIMIT }) } else { Ok(()) }
    }

    pub(crate) fn text(&mut self, text: &str, events: &mut Vec<ModelEvent>) {
        if text.is_empty() {
            return;
        }
        events.push(ModelEvent::Text(text.to_owned()));
        match self.parts.last_mut() {
            Some(Part { kind: PartKind::Text(known), state }) if state.is_empty() => known.push_str(text),
            _ => self.parts.push(Part::text(text)),
        }
    }

    pub(crate) fn reasoning(&mut self, text: &str, events: &mut Vec<ModelEvent>) {
        if text.is_empty() {
            return;
        }
        events.push(ModelEvent::Reasoning(text.to_owned()));
        match self.parts.last_mut() {
            Some(Part { kind: PartKind::Reasoning(known), state }) if state.is_empty() => {
                known.push_str(text)
            }
            _ => self.parts.push(PartKind::Reasoning(text.to_owned()).into()),
        }
    }

    pub(crate) fn part(&mut self, kind: PartKind, state: Vec<ProviderState>) {
        self.parts.push(Part { kind, state });
    }

    /// Ends the turn. Calls of a turn that was cut off at a limit are marked as such, every one: which of them the model meant to
    /// go on with cannot be known.
    pub(crate) fn finish(mut self, reason: Option<FinishReason>, raw: Option<String>) -> ModelTurn {
        let calls = self.parts.iter().any(|part| matches!(part.kind, PartKind::Call(_)));
        let reason = match reason {
            // Whether the model waits for results is told by its calls, whatever it says.
            None | Some(FinishReason::Stop | FinishReason::ToolCalls) if calls => FinishReason::ToolCalls,
            None | Some(FinishReason::ToolCalls) => FinishReason::Stop,
            Some(reason) => reason,
        };
        for part in &mut self.parts {
            if let PartKind::Call(call) = &mut part.kind {
                call.truncated |= reason == FinishReason::Length;
            }
        }
        ModelTurn {
            parts: self.parts,
            finish: Finish { reason, raw: raw.filter(|raw| !raw.is_empty()) },
            usage: self.usage,
            model: self.model,
            notes: self.notes,
        }
    }
}

/// The events that end a stream: each whole call. Notes are in the turn.
pub(crate) fn call_events(turn: &ModelTurn) -> Vec<ModelEvent> {
    turn.parts
        .iter()
        .filter_map(|part| match &part.kind {
            PartKind::Call(call) => Some(ModelEvent::Call(ToolCall::clone(call))),
            _ => None,
        })
        .collect()
}
