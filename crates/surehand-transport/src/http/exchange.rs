use std::time::Duration;

use bytes::Bytes;
use reqwest::Method;
use reqwest::header::HeaderMap;
use surehand_model::Secret;
use tokio::time::timeout;
use url::Url;

use super::client::{AddressGuard, origin_of};
use super::error::{HttpError, innermost};

/// What becomes of an answer that points elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Redirects {
    /// The other place is asked.
    #[default]
    Follow,
    /// It is the answer. For requests whose body is meant for nobody else.
    HandBack,
}

/// One request. Plain data; [`get`](Self::get) and [`post`](Self::post) fill in what is usual.
#[derive(Clone, Debug)]
pub struct HttpRequest {
    /// The method.
    pub method: Method,
    /// An absolute `http` or `https` URL.
    pub url: Url,
    /// Headers in order. The values never show: many are keys.
    pub headers: Vec<(String, Secret<String>)>,
    /// The body, sent with its length.
    pub body: Option<Bytes>,
    /// Which addresses may be reached.
    pub guard: AddressGuard,
    /// Whether an answer that sends us on is followed.
    pub redirects: Redirects,
    /// How long the peer may be silent: before the headers of the answer, and between two pieces of its body. The client's own
    /// setting where absent.
    pub idle_timeout: Option<Duration>,
}

impl HttpRequest {
    /// A GET to an address that the user named.
    pub fn get(url: Url) -> Self {
        Self {
            method: Method::GET,
            url,
            headers: Vec::new(),
            body: None,
            guard: AddressGuard::Anywhere,
            redirects: Redirects::Follow,
            idle_timeout: None,
        }
    }

    /// A POST to an address that the user named.
    pub fn post(url: Url, body: impl Into<Bytes>) -> Self {
        Self { method: Method::POST, body: Some(body.into()), ..Self::get(url) }
    }

    /// The same request with one more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), Secret::new(value.to_owned())));
        self
    }

    /// The same request with more headers.
    #[must_use]
    pub fn headers(mut self, headers: impl IntoIterator<Item = (String, Secret<String>)>) -> Self {
        self.headers.extend(headers);
        self
    }
}

/// An answer whose headers have come and whose body is still coming. Dropping it ends the exchange.
#[derive(Debug)]
pub struct HttpResponse {
    /// The status, 200 to 599. A status that tells of a failure is an answer, not an error.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// Where the answer came from, after redirects.
    pub url: Url,
    pub(super) body: reqwest::Response,
    pub(super) idle_timeout: Duration,
    pub(super) max_body: usize,
}

impl HttpResponse {
    /// Whether the status is 200 to 299.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The value of a header, where it is there and is text. `name` is compared without regard to case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The media type without its parameters, in lower case: `text/event-stream`.
    pub fn media_type(&self) -> Option<String> {
        let value = self.header("content-type")?;
        Some(value.split(';').next().unwrap_or(value).trim().to_ascii_lowercase())
    }

    /// The next piece of the body, `None` after the last. May be dropped while it waits; nothing is lost.
    ///
    /// # Errors
    ///
    /// [`HttpError::Timeout`] where nothing comes for too long, [`HttpError::Broken`] where the connection ends early.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, HttpError> {
        match timeout(self.idle_timeout, self.body.chunk()).await {
            Err(_) => Err(HttpError::Timeout { origin: origin_of(&self.url), after: self.idle_timeout }),
            Ok(Err(error)) => {
                Err(HttpError::Broken { origin: origin_of(&self.url), reason: innermost(&error) })
            }
            Ok(Ok(chunk)) => Ok(chunk),
        }
    }

    /// The whole body, of at most `limit` bytes and at most the client's own bound.
    ///
    /// # Errors
    ///
    /// As [`chunk`](Self::chunk), and [`HttpError::TooLarge`], as early as the announced length tells.
    pub async fn collect(mut self, limit: usize) -> Result<Vec<u8>, HttpError> {
        let limit = limit.min(self.max_body);
        let announced = self.body.content_length().unwrap_or_default();
        if announced > limit as u64 {
            return Err(HttpError::TooLarge { origin: origin_of(&self.url), limit });
        }
        let mut body = Vec::with_capacity(usize::try_from(announced).unwrap_or_default());
        while let Some(chunk) = self.chunk().await? {
            if body.len() + chunk.len() > limit {
                return Err(HttpError::TooLarge { origin: origin_of(&self.url), limit });
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    /// The start of the body as text, at most `limit` bytes, for telling what went wrong. Never fails: what cannot be read is
    /// left out.
    pub async fn excerpt(mut self, limit: usize) -> String {
        let mut body = Vec::new();
        while body.len() < limit
            && let Ok(Some(chunk)) = self.chunk().await
        {
            body.extend_from_slice(&chunk[..chunk.len().min(limit - body.len())]);
        }
        String::from_utf8_lossy(&body).into_owned()
    }
}
