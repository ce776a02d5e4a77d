//! Results that a server allows to be kept, on the clock of this connection.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use surehand_mcp::{BoxFuture, CacheKey, CacheTicket, ResultCache, ServerNotice};
use surehand_model::RawJson;
use tokio::time::Instant;
use url::Url;

use super::authorize::{Authorizer, Challenge, Credentials, Retry};
use super::heard::Heard;
use crate::http::Method;

/// One connection has the credentials of one account at a time; with others everything is dropped.
const OWN: &str = "";

/// The results of one connection that are still fresh.
pub(crate) struct Kept {
    cache: Mutex<ResultCache>,
    since: Instant,
    /// Of the credentials last sent.
    credentials: Mutex<Option<u64>>,
}

impl Kept {
    pub(crate) fn new() -> Self {
        Self { cache: Mutex::default(), since: Instant::now(), credentials: Mutex::default() }
    }

    pub(crate) fn get(&self, key: &CacheKey) -> Option<RawJson> {
        self.lock().get(key, Some(OWN), self.now())
    }

    pub(crate) fn ticket(&self, method: &str) -> CacheTicket {
        self.lock().ticket(method)
    }

    pub(crate) fn put(&self, ticket: CacheTicket, key: CacheKey, result: &RawJson) {
        let now = self.now();
        self.lock().put(ticket, key, Some(OWN), result, now);
    }

    pub(crate) fn notice(&self, notice: &ServerNotice) {
        self.lock().notice(notice);
    }

    pub(crate) fn forget(&self, method: &'static str) {
        self.lock().forget(method);
    }

    pub(crate) fn clear(&self) {
        self.lock().clear();
    }

    /// Drops everything where these are not the credentials of the last time.
    fn sends(&self, credentials: &Credentials) {
        let mut hasher = DefaultHasher::new();
        for (name, value) in credentials.iter().filter(|(name, _)| name.eq_ignore_ascii_case("authorization"))
        {
            (name.to_ascii_lowercase(), value.expose()).hash(&mut hasher);
        }
        let now = Some(hasher.finish());
        let before =
            std::mem::replace(&mut *self.credentials.lock().unwrap_or_else(PoisonError::into_inner), now);
        if before.is_some() && before != now {
            self.clear();
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn lock(&self) -> MutexGuard<'_, ResultCache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An authorizer whose credentials are watched.
pub(crate) struct Watched {
    inner: Arc<dyn Authorizer>,
    heard: Arc<Heard>,
}

impl Watched {
    pub(crate) fn over(inner: Arc<dyn Authorizer>, heard: &Arc<Heard>) -> Arc<dyn Authorizer> {
        Arc::new(Self { inner, heard: heard.clone() })
    }
}

impl Authorizer for Watched {
    fn headers<'a>(&'a self, method: &'a Method, url: &'a Url) -> BoxFuture<'a, Result<Credentials, String>> {
        Box::pin(async move {
            let given = self.inner.headers(method, url).await?;
            self.heard.kept.sends(&given);
            Ok(given)
        })
    }

    fn challenged<'a>(&'a self, challenge: Challenge) -> BoxFuture<'a, Result<Retry, String>> {
        self.inner.challenged(challenge)
    }

    fn renewed_nonce(&self, url: &Url, nonce: &str) {
        self.inner.renewed_nonce(url, nonce);
    }
}
