//! The oldest transport, HTTP+SSE: one stream brings everything that the server says, and its first event names where to post.
//!
//! Source: MCP 2024-11-05, "HTTP with SSE".

use surehand_mcp::{OpeningFault, Revision};
use url::Url;

use super::super::super::error::OpenError;
use super::super::super::questions::Pending;
use super::super::super::shown;
use super::stream::{Place, Reading};
use super::{Failure, Poster};
use crate::http::HttpResponse;

/// The stream of the oldest transport.
#[derive(Clone, Debug)]
pub(in super::super) enum Stream {
    /// That transport is not spoken.
    None,
    /// It brings what the server says.
    Open {
        /// Where messages are posted.
        endpoint: Url,
        /// Tells this stream from those before it.
        number: u64,
    },
    /// It ended, and with it what the server knew.
    Lost,
}

impl Poster {
    /// Whether the oldest transport is spoken.
    pub(in super::super) fn is_oldest(&self) -> bool {
        !matches!(*self.shared.oldest.borrow(), Stream::None)
    }

    /// Opens the stream and begins to read it. Messages go where its first event says.
    ///
    /// # Errors
    ///
    /// [`OpenError`] where the address has no such stream, or where it names a place of another origin.
    pub(in super::super) async fn open_oldest(&self) -> Result<(), OpenError> {
        let response = match self.get(None, &Place::start()).await {
            Ok(response) => response,
            Err(failure) => return Err(failure.into_open_error(self)),
        };
        if response.media_type().as_deref() != Some("text/event-stream") {
            let kind = response.media_type().unwrap_or_else(|| "nothing".to_owned());
            return Err(unusable(format!("{} answers GET with {kind} and no stream of events", self.url())));
        }
        let mut reading = Reading::new(response, self.shared.limits.bytes);
        let endpoint = self.endpoint(&mut reading).await?;
        let number = self.opened() + 1;
        self.shared.oldest.send_replace(Stream::Open { endpoint, number });
        self.has_opened();
        self.spawn(self.clone().pump(reading, number));
        Ok(())
    }

    /// Waits until the stream is lost.
    pub(in super::super) async fn lost_oldest(&self) {
        // The sender lives as long as this.
        let _ = self.shared.oldest.subscribe().wait_for(|stream| matches!(stream, Stream::Lost)).await;
    }

    /// The place that the first event names. It must be of the stream's own origin: whoever answers there gets the credentials.
    async fn endpoint(&self, reading: &mut Reading) -> Result<Url, OpenError> {
        loop {
            while let Some(event) = reading.ready.pop_front() {
                if event.event != "endpoint" {
                    continue;
                }
                let base = &reading.response.url;
                let Ok(endpoint) = base.join(event.data.trim()) else {
                    return Err(unusable("what it names is no address".to_owned()));
                };
                if endpoint.origin() != base.origin() {
                    return Err(unusable(format!(
                        "it names {}, which is of another origin",
                        shown(&endpoint)
                    )));
                }
                return Ok(endpoint);
            }
            match reading.more().await {
                Ok(true) => {}
                Ok(false) => return Err(unusable("the stream ended before it came".to_owned())),
                Err(failure) => return Err(failure.into_open_error(self)),
            }
        }
    }

    /// Reads the stream to its end. Whoever still waits then waits in vain.
    async fn pump(self, reading: Reading, number: u64) {
        let mut pending = Pending::new(self.shared.questions.clone());
        let revision = Some(Revision::WITHOUT_HEADER);
        let mut heed = |text: &str, pending: &mut Pending| {
            self.hear(text, revision, pending);
            None
        };
        let mut place = Place::start();
        tokio::select! {
            _ = self.events(reading, revision, &mut pending, &mut place, &mut heed) => {}
            // Another stream has taken its place.
            () = self.opened_after(number) => return,
        }
        let waiting = self.elsewhere().abandon();
        // Lost first, so that whoever is woken asks on a new stream.
        self.shared.oldest.send_if_modified(|stream| {
            let is_this = matches!(stream, Stream::Open { number: open, .. } if *open == number);
            if is_this {
                *stream = Stream::Lost;
            }
            is_this
        });
        drop(waiting);
    }

    /// Some servers answer the post itself; what they say there counts too.
    pub(super) async fn take_aside(&self, response: HttpResponse) -> Result<(), Failure> {
        if response.media_type().as_deref() == Some("application/json") {
            let body = response.collect(self.shared.limits.bytes).await?;
            let text = String::from_utf8_lossy(&body);
            if surehand_mcp::parse_message(&text, self.shared.limits).is_ok() {
                // What it asks here, it asks where no stream is read; it is told so.
                self.hear(
                    &text,
                    Some(Revision::WITHOUT_HEADER),
                    &mut Pending::new(self.shared.questions.clone()),
                );
            }
        }
        Ok(())
    }
}

fn unusable(what: String) -> OpenError {
    OpenError::Protocol(OpeningFault::Unusable { method: "endpoint", what })
}
