use surehand_mcp::{Done, Feature, NoParams, Ping, ROOTS_CHANGED};

use super::{Client, ClientError, Wire};

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
