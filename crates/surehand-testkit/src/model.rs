use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use surehand_model::{
    Finish, FinishReason, Message, ModelEvent, ModelRequest, ModelTurn, Part, PartKind, Role, ToolCall, Usage,
};
use surehand_provider::{BoxFuture, EventSink, Provider, ProviderError};

/// A model that says what the test wrote down, and checks each request it gets: every call in it is answered exactly once, right
/// behind it and in order, and no result stands without its call. So each test guards that, whatever it is about.
pub struct ScriptedModel {
    turns: Mutex<VecDeque<Result<ModelTurn, ProviderError>>>,
    requests: Mutex<Vec<ModelRequest>>,
}

impl ScriptedModel {
    /// Says these turns, one a request.
    pub fn new(turns: impl IntoIterator<Item = ModelTurn>) -> Self {
        Self::with_failures(turns.into_iter().map(Ok))
    }

    /// Says these turns or fails so, one a request.
    pub fn with_failures(turns: impl IntoIterator<Item = Result<ModelTurn, ProviderError>>) -> Self {
        Self { turns: Mutex::new(turns.into_iter().collect()), requests: Mutex::default() }
    }

    /// Every request it got, oldest first.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What it was told about the calls of its last turn but one: id and text of each result, in order.
    pub fn told(&self) -> Vec<(String, String)> {
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let last =
            requests.last().and_then(|request| request.messages.iter().rev().find(|m| m.role == Role::Tool));
        last.map(|message| {
            message.tool_results().map(|result| (result.id.0.clone(), result.joined_text())).collect()
        })
        .unwrap_or_default()
    }

    /// How many turns it has not said.
    pub fn remaining(&self) -> usize {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

impl Provider for ScriptedModel {
    fn id(&self) -> &str {
        "scripted/model"
    }

    fn answer<'a>(
        &'a self,
        request: &'a ModelRequest,
        sink: EventSink<'a>,
    ) -> BoxFuture<'a, Result<ModelTurn, ProviderError>> {
        Box::pin(async move {
            check(&request.messages).map_err(|message| ProviderError::Script { message })?;
            self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
            let next = self.turns.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            let turn = next.unwrap_or_else(|| {
                Err(ProviderError::Script { message: "the script has no more turns".to_owned() })
            })?;
            for part in &turn.parts {
                if let PartKind::Text(text) = &part.kind {
                    sink(ModelEvent::Text(text.clone()));
                }
            }
            Ok(turn)
        })
    }
}

/// Why a provider would refuse this history.
fn check(messages: &[Message]) -> Result<(), String> {
    for (at, message) in messages.iter().enumerate() {
        let asked: Vec<_> = message.calls().map(|call| &call.id).collect();
        if !asked.is_empty() {
            let answered: Vec<_> = messages
                .get(at + 1)
                .filter(|next| next.role == Role::Tool)
                .map(|next| next.tool_results().map(|result| &result.id).collect())
                .unwrap_or_default();
            if asked != answered {
                return Err(format!("message {at} asks {asked:?} and is answered {answered:?}"));
            }
        }
        let follows_calls = at > 0 && messages[at - 1].calls().next().is_some();
        let orphan = message.role == Role::Tool && !follows_calls;
        if orphan {
            return Err(format!("message {at} answers calls that nobody made"));
        }
    }
    Ok(())
}

/// A turn of words only.
pub fn say(text: &str) -> ModelTurn {
    ModelTurn { parts: vec![Part::text(text)], usage: one_token_each(), ..ModelTurn::default() }
}

/// A turn of calls: id, tool, arguments.
pub fn call(calls: &[(&str, &str, &str)]) -> ModelTurn {
    let parts = calls
        .iter()
        .map(|(id, name, arguments)| PartKind::Call(ToolCall::new(*id, *name, *arguments)).into());
    ModelTurn {
        parts: parts.collect(),
        finish: Finish { reason: FinishReason::ToolCalls, raw: None },
        usage: one_token_each(),
        ..ModelTurn::default()
    }
}

fn one_token_each() -> Usage {
    Usage { input_tokens: 1, output_tokens: 1 }
}
