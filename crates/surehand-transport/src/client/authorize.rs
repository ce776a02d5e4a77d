//! Whoever brings the credentials for a server behind an address.

use surehand_mcp::BoxFuture;
use surehand_model::Secret;
use url::Url;

use crate::http::{HeaderMap, Method};

/// Headers that say who asks: names and values.
pub type Credentials = Vec<(String, Secret<String>)>;

/// Gives each request its credentials, and gets better ones where the server wants them.
pub trait Authorizer: Send + Sync {
    /// The headers for one request, possibly none. They take the place of the target's own of the same name. An error ends the
    /// request, in words.
    fn headers<'a>(&'a self, method: &'a Method, url: &'a Url) -> BoxFuture<'a, Result<Credentials, String>>;

    /// Told that the server refused what [`headers`](Self::headers) gave. No time-out of the connection runs meanwhile, for a
    /// person may be at it. An error ends the request, in words.
    fn challenged<'a>(&'a self, challenge: Challenge) -> BoxFuture<'a, Result<Retry, String>>;

    /// Told the value of `DPoP-Nonce` on an answer that is no challenge: the next proof needs it (RFC 9449, section 8.2).
    fn renewed_nonce(&self, url: &Url, nonce: &str) {
        let _ = (url, nonce);
    }
}

/// How a server refused a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    /// 401, or 403 with a challenge.
    pub status: u16,
    /// The values of `WWW-Authenticate`, in order.
    pub authenticate: Vec<String>,
    /// The value of `DPoP-Nonce` (RFC 9449, section 9).
    pub nonce: Option<String>,
    /// How often this request has been refused before.
    pub refused_before: usize,
    /// What [`Authorizer::headers`] gave for the refused request. Who asks side by side tells by it whether better ones have come
    /// meanwhile.
    pub presented: Credentials,
}

/// What follows from a challenge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// The request is sent once more, with new headers.
    Again,
    /// The refusal stands.
    GiveUp,
}

impl Challenge {
    /// Reads it off an answer; `None` where the answer is no challenge.
    pub(crate) fn read(
        status: u16,
        headers: &HeaderMap,
        refused_before: usize,
        presented: &Credentials,
    ) -> Option<Self> {
        let authenticate: Vec<String> = headers
            .get_all("www-authenticate")
            .iter()
            .filter_map(|value| value.to_str().ok().map(str::to_owned))
            .collect();
        if status != 401 && (status != 403 || authenticate.is_empty()) {
            return None;
        }
        let nonce = nonce_of(headers).map(str::to_owned);
        Some(Self { status, authenticate, nonce, refused_before, presented: presented.clone() })
    }
}

/// The value of `DPoP-Nonce`.
pub(crate) fn nonce_of(headers: &HeaderMap) -> Option<&str> {
    headers.get("dpop-nonce").and_then(|value| value.to_str().ok())
}
