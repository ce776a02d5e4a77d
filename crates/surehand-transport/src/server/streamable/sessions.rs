use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use surehand_mcp::{Id, LogLevel, Negotiated};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How many sessions are kept. When more come, the one that has been idle longest goes; its client is told so and opens anew.
const LIMIT: usize = 10_000;
/// How long an idle session is kept.
const IDLE: Duration = Duration::from_secs(60 * 60);

/// The sessions of the older era: an id that nobody can guess, a revision, and the calls that may still be cancelled.
#[derive(Clone, Debug, Default)]
pub(super) struct Sessions {
    by_id: Arc<Mutex<HashMap<String, Session>>>,
}

#[derive(Debug)]
struct Session {
    negotiated: Negotiated,
    used: Instant,
    calls: HashMap<Id, CancellationToken>,
}

impl Sessions {
    /// A new session's id; none when the system has no randomness to give, and then there is no session.
    pub(super) fn open(&self, negotiated: Negotiated) -> Option<String> {
        let mut random = [0u8; 16];
        getrandom::fill(&mut random).ok()?;
        let id: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut sessions = self.lock();
        if sessions.len() >= LIMIT {
            make_room(&mut sessions);
        }
        sessions.insert(id.clone(), Session { negotiated, used: Instant::now(), calls: HashMap::new() });
        Some(id)
    }

    /// What the handshake of an open session settled on. Using it keeps it.
    pub(super) fn negotiated(&self, id: &str) -> Option<Negotiated> {
        let mut sessions = self.lock();
        let session = sessions.get_mut(id)?;
        if session.calls.is_empty() && session.used.elapsed() > IDLE {
            sessions.remove(id);
            return None;
        }
        session.used = Instant::now();
        Some(session.negotiated.clone())
    }

    /// The least level of log messages that the client wants.
    pub(super) fn set_level(&self, id: &str, level: LogLevel) {
        if let Some(session) = self.lock().get_mut(id) {
            session.negotiated.log_level = Some(level);
        }
    }

    /// Ends a session and its calls. Says whether there was one.
    pub(super) fn close(&self, id: &str) -> bool {
        let closed = self.lock().remove(id);
        closed.iter().flat_map(|session| session.calls.values()).for_each(CancellationToken::cancel);
        closed.is_some()
    }

    /// Notes a call. Says no where one of that id runs already.
    pub(super) fn begin(&self, session: &str, id: &Id, cancel: CancellationToken) -> bool {
        let mut sessions = self.lock();
        let Some(session) = sessions.get_mut(session) else { return true };
        if session.calls.contains_key(id) {
            return false;
        }
        session.calls.insert(id.clone(), cancel);
        true
    }

    /// The call has its answer.
    pub(super) fn end(&self, session: &str, id: &Id) {
        if let Some(session) = self.lock().get_mut(session) {
            session.calls.remove(id);
        }
    }

    /// The client takes the call back.
    pub(super) fn cancel(&self, session: &str, id: &Id) {
        if let Some(call) = self.lock().get(session).and_then(|session| session.calls.get(id)) {
            call.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Session>> {
        self.by_id.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn make_room(sessions: &mut HashMap<String, Session>) {
    sessions.retain(|_, session| !session.calls.is_empty() || session.used.elapsed() <= IDLE);
    if sessions.len() < LIMIT {
        return;
    }
    let oldest = sessions.iter().min_by_key(|(_, session)| session.used).map(|(id, _)| id.clone());
    if let Some(session) = oldest.and_then(|id| sessions.remove(&id)) {
        session.calls.values().for_each(CancellationToken::cancel);
    }
}
