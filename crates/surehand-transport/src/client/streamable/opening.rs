//! The opening over an address, in whichever era and over whichever transport is spoken there.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use surehand_mcp::{
    Ask, Era, ErrorCode, Id, Implementation, Opened, Opening, OpeningFault, OpeningOutcome, OpeningRequest,
    OpeningStep, write_notification, write_request,
};
use surehand_model::{Note, RawJson};

use super::super::error::OpenError;
use super::super::questions::Questions;
use super::post::{Asked, Failure, Poster};
use super::routing_headers;

/// Opens sessions over one poster.
pub(super) struct Opener<'a> {
    pub(super) poster: &'a Poster,
    pub(super) next: &'a AtomicU64,
    pub(super) who: &'a Implementation,
    pub(super) questions: &'a Arc<Questions>,
}

impl Opener<'_> {
    /// Finds out the era. An address that takes no handshake by POST may be one of the oldest transport, which is asked for then.
    ///
    /// Source: MCP 2025-03-26, "Backwards Compatibility".
    pub(super) async fn open(&self, era: Era) -> Result<Opened, OpenError> {
        let mut turned_away = false;
        let failure = match self.drive(era, &mut turned_away).await {
            Err(OpenError::Protocol(fault)) if turned_away => fault,
            outcome => return outcome,
        };
        match self.open_oldest().await {
            Ok(mut opened) => {
                let why = "the address takes no messages itself and names another one for them";
                opened.notes.push(Note::new("initialize", "the oldest transport, HTTP+SSE, is spoken", why));
                Ok(opened)
            }
            // What the address said first tells more than that it is not the oldest transport either.
            Err(OpenError::Unreachable { .. } | OpenError::Protocol(_)) => Err(explain(failure)),
            Err(error) => Err(error),
        }
    }

    /// Opens the stream of the oldest transport, and a session over it.
    pub(super) async fn open_oldest(&self) -> Result<Opened, OpenError> {
        self.poster.open_oldest().await?;
        self.drive(Era::Legacy, &mut false).await
    }

    /// Opens the stream of the oldest transport where there is one; elsewhere finds out the era as for any other address.
    pub(super) async fn open_oldest_first(&self, era: Era) -> Result<Opened, OpenError> {
        let failure = match self.open_oldest().await {
            Err(failure @ (OpenError::Unreachable { .. } | OpenError::Protocol(_)))
                if !self.poster.is_oldest() =>
            {
                failure
            }
            outcome => return outcome,
        };
        let mut opened = self.drive(era, &mut false).await.map_err(|_| failure)?;
        let why = "the address has no stream of the oldest transport";
        opened.notes.push(Note::new("initialize", "Streamable HTTP is spoken", why));
        Ok(opened)
    }

    /// Asks what the opening wants asked until it is through. Tells in `turned_away` whether the address answered the handshake as
    /// one that takes no messages by POST.
    async fn drive(&self, era: Era, turned_away: &mut bool) -> Result<Opened, OpenError> {
        let poster = self.poster;
        let (mut opening, mut request) = Opening::start(era, self.who.clone(), self.questions.capabilities());
        loop {
            let outcome = match self.ask(&request).await {
                Ok(result) => OpeningOutcome::Answered(result),
                Err(failure) => {
                    *turned_away = matches!(request.ask, Ask::Initialize(_)) && takes_no_messages(&failure);
                    failure.into_outcome(poster)?
                }
            };
            match opening.outcome(request.ask, outcome) {
                OpeningStep::Ask(next) | OpeningStep::Reopen(next) => request = next,
                OpeningStep::Opened(opened) => {
                    if let Some(method) = opened.notify {
                        let message = write_notification(method, None);
                        let told = poster.tell(message, opened.server.revision).await;
                        told.map_err(|failure| failure.into_open_error(poster))?;
                    }
                    // A stream of the oldest transport counts from its start.
                    if !poster.is_oldest() {
                        poster.has_opened();
                    }
                    return Ok(*opened);
                }
                OpeningStep::Failed(fault) => return Err(fault.into()),
                // One question at a time is asked here, and it has its answer.
                OpeningStep::Wait => return Err(OpeningFault::Gone.into()),
            }
        }
    }

    async fn ask(&self, request: &OpeningRequest) -> Result<RawJson, Failure> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let message = write_request(&Id::number(id), request.method, Some(request.params.as_str()));
        let revision = request.header_revision();
        let headers =
            revision.map(|revision| routing_headers(revision, request.method, None)).unwrap_or_default();
        self.poster.ask(message, Asked { id, revision, headers, on_progress: None }).await
    }
}

/// Whether an answer to a handshake means that the address takes none. 400, 404 and 405 are what today's text names; every client
/// error was what the earlier ones did. An error that only a stateless server gives is no such answer.
fn takes_no_messages(failure: &Failure) -> bool {
    match failure {
        Failure::Foreign(status, _) => (400..500).contains(status),
        Failure::Rpc(400..500, error) => !matches!(
            error.code,
            ErrorCode::HEADER_MISMATCH | ErrorCode::MISSING_CAPABILITY | ErrorCode::UNSUPPORTED_REVISION
        ),
        _ => false,
    }
}

fn explain(fault: OpeningFault) -> OpenError {
    match fault {
        OpeningFault::Refused { method, error }
            if error.code == ErrorCode::INTERNAL && error.message.is_empty() =>
        {
            OpenError::Protocol(OpeningFault::Unusable { method, what: "an error without words".to_owned() })
        }
        fault => fault.into(),
    }
}
