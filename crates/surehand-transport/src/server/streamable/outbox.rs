//! The way back to a client while one of its requests runs.

use std::sync::Arc;

use surehand_mcp::{BoxFuture, CallFailure, Id, Outbox, write_notification, write_request};
use surehand_model::RawJson;

use super::events::Events;
use super::session_id::SessionKey;
use super::sessions::Sessions;
use crate::server::question::{answer_of, given_up, unanswered};

/// For a request of the stateless era, which is never asked anything on the way.
pub(super) struct PlainOutbox {
    pub(super) events: Arc<Events>,
}

impl Outbox for PlainOutbox {
    fn notify(&self, message: String) {
        self.events.push(&message);
    }

    fn request(&self, _: &'static str, _: RawJson) -> BoxFuture<'static, Result<RawJson, CallFailure>> {
        Box::pin(async { unanswered("nothing is asked on the way in this revision") })
    }
}

/// For a request of a session.
pub(super) struct SessionOutbox {
    pub(super) events: Arc<Events>,
    /// The client reads the events of this request; else only what it opened itself.
    pub(super) streams: bool,
    pub(super) sessions: Sessions,
    pub(super) session: SessionKey,
}

impl SessionOutbox {
    fn stream(&self) -> Option<Arc<Events>> {
        if self.streams { Some(self.events.clone()) } else { self.sessions.general_stream(self.session) }
    }
}

impl Outbox for SessionOutbox {
    fn notify(&self, message: String) {
        if let Some(events) = self.stream() {
            events.push(&message);
        }
    }

    fn request(
        &self,
        method: &'static str,
        params: RawJson,
    ) -> BoxFuture<'static, Result<RawJson, CallFailure>> {
        let Some(events) = self.stream() else {
            return Box::pin(async move { unanswered("it reads no stream on which it could be asked") });
        };
        let Some((number, answer)) = self.sessions.ask(self.session) else {
            return Box::pin(async move { unanswered("it is being asked too many things already") });
        };
        let question = Question { sessions: self.sessions.clone(), session: self.session, number };
        let id = Id::number(number);
        if !events.push(&write_request(&id, method, Some(params.as_str()))) {
            return Box::pin(async move { unanswered("it does not read what it is sent") });
        }
        Box::pin(async move {
            let _question = question;
            let give_up = || {
                events.push(&write_notification("notifications/cancelled", Some(&given_up(number))));
            };
            answer_of(answer, give_up).await
        })
    }

    fn pause_stream(&self) {
        if self.streams {
            self.events.pause();
        }
    }
}

/// A question that is open. Dropped, it is no more.
struct Question {
    sessions: Sessions,
    session: SessionKey,
    number: u64,
}

impl Drop for Question {
    fn drop(&mut self) {
        self.sessions.take_back(self.session, self.number);
    }
}
