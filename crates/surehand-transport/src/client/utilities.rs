use std::sync::PoisonError;

use surehand_mcp::{
    DISCOVER, Done, Feature, LogLevel, NoParams, Ping, ROOTS_CHANGED, ServerFacts, SetLevel, SetLevelParams,
};

use super::{Client, ClientError, Wire, WireRequest};

impl Client {
    /// Asks whether anybody is there. Both sides may; servers are answered at once.
    ///
    /// # Errors
    ///
    /// [`ClientError`]; [`ClientError::NotOffered`] in a revision that has no such question.
    pub async fn ping(&self) -> Result<(), ClientError> {
        if !self.server.revision.has(Feature::Handshake) {
            return Err(ClientError::NotOffered { what: "an answer to `ping`" });
        }
        self.ask::<Ping>(&NoParams {}, None).await.map(|Done| ())
    }

    /// Asks a stateless server anew who it is; other servers have said so once for all. What it said before is given as long as
    /// it allows. The connection goes on in its revision, whatever is answered.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn discover(&self) -> Result<ServerFacts, ClientError> {
        let revision = self.server.revision;
        if !revision.has(Feature::Discover) {
            return Ok(self.server.clone());
        }
        let request = WireRequest {
            method: DISCOVER,
            params: None,
            subject: None,
            arguments: None,
            timeout: self.request_timeout,
            on_progress: None,
            is_read: true,
        };
        let (result, _) = self.fetch_raw(request).await?;
        Ok(ServerFacts::read_discovery(&result, revision))
    }

    /// Says from which level on the server shall log: its messages come as [`ServerNotice::Log`](surehand_mcp::ServerNotice::Log).
    /// A stateless server is told so with each request from now on.
    ///
    /// # Errors
    ///
    /// [`ClientError::NotOffered`] where the server does not log; [`ClientError`].
    pub async fn set_log_level(&self, level: LogLevel) -> Result<(), ClientError> {
        if !self.server.offers(&["logging"]) {
            return Err(ClientError::NotOffered { what: "to log" });
        }
        if self.server.revision.has(Feature::Stateless) {
            *self.log_level.lock().unwrap_or_else(PoisonError::into_inner) = Some(level);
            return Ok(());
        }
        self.ask::<SetLevel>(&SetLevelParams { level: level.as_str().to_owned() }, None).await.map(|Done| ())
    }

    /// Drops every result that was kept because the server allowed it: the next request for any of them goes out.
    pub fn forget_kept(&self) {
        self.heard.kept.clear();
    }

    /// Tells the server that the folders this client works in are others than before. Does nothing where the server was not told
    /// of any, or asks anew each time.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn roots_changed(&self) -> Result<(), ClientError> {
        if !self.questions.taken().roots || !self.server.revision.has(Feature::Handshake) {
            return Ok(());
        }
        match &self.wire {
            Wire::Child(wire) => wire.notify(ROOTS_CHANGED),
            Wire::Http(wire) => wire.notify(ROOTS_CHANGED).await,
            Wire::InProcess(_) => Ok(()),
        }
    }
}
