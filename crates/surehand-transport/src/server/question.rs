//! Waiting for a client's answer to a question of the server's.

use std::collections::HashMap;
use std::time::Duration;

use surehand_mcp::{CallFailure, RpcError};
use surehand_model::RawJson;
use tokio::sync::oneshot;

/// How long a client may take to answer. People are slow.
const ANSWER_WITHIN: Duration = Duration::from_secs(10 * 60);
/// How many questions one client may be asked at once.
const QUESTIONS: usize = 64;

/// How a client answers: with the result object, or with an error.
pub(super) type Answer = Result<RawJson, RpcError>;

/// The questions to one client that are open.
#[derive(Debug, Default)]
pub(super) struct Questions {
    open: HashMap<u64, oneshot::Sender<Answer>>,
}

impl Questions {
    /// Notes a question under a number of its own. `None` where too many are open.
    pub(super) fn open(&mut self, number: u64) -> Option<oneshot::Receiver<Answer>> {
        if self.open.len() >= QUESTIONS {
            return None;
        }
        let (sender, receiver) = oneshot::channel();
        self.open.insert(number, sender);
        Some(receiver)
    }

    /// The client has answered.
    pub(super) fn answered(&mut self, number: u64, answer: Answer) {
        if let Some(sender) = self.open.remove(&number) {
            // Whoever asked may have gone meanwhile.
            let _ = sender.send(answer);
        }
    }

    /// Nobody waits for the answer any more.
    pub(super) fn take_back(&mut self, number: u64) {
        self.open.remove(&number);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }
}

/// Waits for an answer, not for ever; `give_up` tells the client when it took too long.
///
/// # Errors
///
/// [`CallFailure::Unanswered`].
pub(super) async fn answer_of(
    receiver: oneshot::Receiver<Answer>,
    give_up: impl FnOnce(),
) -> Result<RawJson, CallFailure> {
    match tokio::time::timeout(ANSWER_WITHIN, receiver).await {
        Ok(Ok(Ok(result))) => Ok(result),
        Ok(Ok(Err(error))) => Err(CallFailure::Unanswered(error.to_string())),
        Ok(Err(_)) => unanswered("its session has ended"),
        Err(_) => {
            give_up();
            unanswered("it took too long")
        }
    }
}

pub(super) fn unanswered<T>(words: &str) -> Result<T, CallFailure> {
    Err(CallFailure::Unanswered(words.to_owned()))
}

/// The parameters of `notifications/cancelled` for a question that took too long.
pub(super) fn given_up(number: u64) -> String {
    format!("{{\"requestId\":{number},\"reason\":\"it took too long\"}}")
}
