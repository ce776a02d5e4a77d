use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use surehand_mcp::{BoxFuture, CallFailure, Id, Outbox, write_notification, write_request};
use surehand_model::RawJson;

use crate::outgoing::Outgoing;
use crate::server::question::{Answer, Questions, answer_of, given_up, unanswered};

/// The way back to the one client at the other end.
#[derive(Debug)]
pub(super) struct StreamOutbox {
    outgoing: Arc<Outgoing>,
    questions: Arc<Mutex<Questions>>,
    numbers: AtomicU64,
}

impl StreamOutbox {
    pub(super) fn new(outgoing: Arc<Outgoing>) -> Self {
        Self { outgoing, questions: Arc::default(), numbers: AtomicU64::new(1) }
    }

    /// The client has answered a question.
    pub(super) fn answered(&self, id: &Id, answer: Answer) {
        if let Some(number) = id.as_number() {
            lock(&self.questions).answered(number, answer);
        }
    }

    /// Whether the client is being asked something.
    pub(super) fn asks(&self) -> bool {
        !lock(&self.questions).is_empty()
    }
}

impl Outbox for StreamOutbox {
    /// What the client does not read in time is dropped.
    fn notify(&self, message: String) {
        let _ = self.outgoing.push(&message);
    }

    fn request(
        &self,
        method: &'static str,
        params: RawJson,
    ) -> BoxFuture<'static, Result<RawJson, CallFailure>> {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let Some(answer) = lock(&self.questions).open(number) else {
            return Box::pin(async { unanswered("it is being asked too many things already") });
        };
        let question = Question { questions: self.questions.clone(), number };
        if self.outgoing.push(&write_request(&Id::number(number), method, Some(params.as_str()))).is_err() {
            return Box::pin(async { unanswered("it does not read what it is sent") });
        }
        let outgoing = self.outgoing.clone();
        Box::pin(async move {
            let _question = question;
            let give_up = || {
                let _ =
                    outgoing.push(&write_notification("notifications/cancelled", Some(&given_up(number))));
            };
            answer_of(answer, give_up).await
        })
    }
}

/// A question that is open. Dropped, it is no more.
struct Question {
    questions: Arc<Mutex<Questions>>,
    number: u64,
}

impl Drop for Question {
    fn drop(&mut self) {
        lock(&self.questions).take_back(self.number);
    }
}

fn lock(questions: &Mutex<Questions>) -> MutexGuard<'_, Questions> {
    questions.lock().unwrap_or_else(PoisonError::into_inner)
}
