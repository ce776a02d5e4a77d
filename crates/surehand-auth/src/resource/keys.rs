use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use surehand_transport::{AddressGuard, HttpClient, HttpRequest};
use url::Url;

use super::Clock;
use super::metadata::{TrustedIssuer, is_here, is_safe};
use crate::jose::{Algorithm, JwkSet};
use crate::metadata::{is_same_issuer, server_metadata_places};

/// In seconds, how long keys are used without a look whether they have changed.
const FRESH: u64 = 10 * 60;
/// In seconds, how long they are used when nothing newer can be had.
const STALE: u64 = 60 * 60;
/// In seconds, how far apart they are asked for at least, whoever shows tokens of keys that nobody knows.
const BETWEEN: u64 = 30;
/// How long each question may take.
const WITHIN: Duration = Duration::from_secs(10);
/// The most bytes of a document.
const LIMIT: usize = 256 * 1024;

/// The keys of one issuer, fetched when first needed and kept a while.
pub(super) struct IssuerKeys {
    trusted: TrustedIssuer,
    http: HttpClient,
    clock: Clock,
    kept: Mutex<Kept>,
    /// One question at a time.
    asking: tokio::sync::Mutex<()>,
}

#[derive(Clone, Debug, Default)]
struct Kept {
    set: Option<Arc<JwkSet>>,
    /// When, in seconds since 1970.
    fetched: Option<u64>,
    /// When they were last asked for.
    tried: Option<u64>,
}

impl IssuerKeys {
    pub(super) fn new(trusted: TrustedIssuer, http: HttpClient, clock: Clock) -> Self {
        Self { trusted, http, clock, kept: Mutex::default(), asking: tokio::sync::Mutex::default() }
    }

    pub(super) fn issuer(&self) -> &str {
        &self.trusted.issuer
    }

    /// The keys in which one for such a token should be. It may be missing all the same.
    ///
    /// # Errors
    ///
    /// In words, why there are no keys at all.
    pub(super) async fn find(&self, kid: Option<&str>, algorithm: Algorithm) -> Result<Arc<JwkSet>, String> {
        let now = (self.clock)();
        // A clock that is set back must not keep anything for ever.
        let age = |then: Option<u64>| then.map_or(u64::MAX, |then| now.abs_diff(then));
        let will_do = |kept: &Kept| {
            let set = kept.set.as_ref()?;
            let is_fresh = age(kept.fetched) < FRESH;
            (is_fresh && set.candidates(kid, algorithm).next().is_some()).then(|| set.clone())
        };
        if let Some(set) = will_do(&self.kept()) {
            return Ok(set);
        }
        let _asking = self.asking.lock().await;
        // Whoever asked before us may have brought what we need.
        if let Some(set) = will_do(&self.kept()) {
            return Ok(set);
        }
        let may_ask = age(self.kept().tried) >= BETWEEN;
        let mut fault = "they could not be had a moment ago".to_owned();
        if may_ask {
            self.kept().tried = Some(now);
            match self.fetch().await {
                Ok(set) => {
                    let set = Arc::new(set);
                    let mut kept = self.kept();
                    kept.set = Some(set.clone());
                    kept.fetched = Some(now);
                    return Ok(set);
                }
                Err(words) => fault = words,
            }
        }
        let kept = self.kept();
        let usable = age(kept.fetched) < STALE;
        kept.set.clone().filter(|_| usable).ok_or(fault)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn fetch(&self) -> Result<JwkSet, String> {
        let (place, guard) = match &self.trusted.keys {
            Some(place) => (place.clone(), AddressGuard::Anywhere),
            None => self.discover().await?,
        };
        JwkSet::parse(&self.read(place, guard).await?).map_err(|error| error.to_string())
    }

    /// Where the issuer says that its keys are, and where that may lead.
    async fn discover(&self) -> Result<(Url, AddressGuard), String> {
        let issuer = Url::parse(&self.trusted.issuer).map_err(|error| error.to_string())?;
        let mut fault = String::new();
        for place in server_metadata_places(&issuer) {
            let text = match self.read(place, AddressGuard::Anywhere).await {
                Ok(text) => text,
                Err(words) => {
                    fault = words;
                    continue;
                }
            };
            let document: Value = serde_json::from_slice(&text).unwrap_or_default();
            let text = |name: &str| document.get(name).and_then(Value::as_str).unwrap_or_default();
            if !is_same_issuer(&self.trusted.issuer, text("issuer")) {
                fault = format!("its metadata are of `{}`", text("issuer"));
                continue;
            }
            let keys = Url::parse(text("jwks_uri")).ok().filter(is_safe);
            let keys = keys.ok_or_else(|| "its metadata name no usable `jwks_uri`".to_owned())?;
            // The issuer was named by whoever runs this server, what it names was not.
            let is_at_home = keys.host() == issuer.host() || is_here(&keys) && is_here(&issuer);
            let guard = if is_at_home { AddressGuard::Anywhere } else { AddressGuard::PublicOnly };
            return Ok((keys, guard));
        }
        Err(fault)
    }

    async fn read(&self, place: Url, guard: AddressGuard) -> Result<Vec<u8>, String> {
        let request = HttpRequest { guard, idle_timeout: Some(WITHIN), ..HttpRequest::get(place) };
        let asked = async {
            let answer = self.http.send(request.header("Accept", "application/json")).await?;
            let status = answer.status;
            Ok::<_, surehand_transport::HttpError>((status, answer.collect(LIMIT).await?))
        };
        match tokio::time::timeout(WITHIN, asked).await {
            Err(_) => Err("they did not come in time".to_owned()),
            Ok(Err(error)) => Err(error.to_string()),
            Ok(Ok((200, body))) => Ok(body),
            Ok(Ok((status, _))) => Err(format!("HTTP {status}")),
        }
    }
}
