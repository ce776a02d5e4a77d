use serde_json::Value;
use thiserror::Error;
use url::Url;

use super::{PROOF_TYPE, proven_address};
use crate::jose::{Algorithm, Claims, JoseError, Jws, PublicKey, hash};

/// What a proof must be about.
#[derive(Clone, Copy, Debug)]
pub struct DpopCheck<'a> {
    /// The method of the request.
    pub method: &'a str,
    /// The address of the request, as clients know it.
    pub url: &'a Url,
    /// The token that came with the request; none at a token endpoint.
    pub access_token: Option<&'a str>,
    /// In seconds since 1970.
    pub now: u64,
    /// How old a proof may be, in seconds.
    pub max_age: u64,
    /// How far clocks may be apart, in seconds.
    pub leeway: u64,
}

/// A proof that holds. Whoever took it still has to see that its id is new, its nonce the wanted one, and its key the token's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DpopProven {
    /// Of the key that was proven.
    pub thumbprint: String,
    /// The name of the proof.
    pub id: String,
    /// What the proof says the server gave out.
    pub nonce: Option<String>,
}

/// Why a proof does not hold.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum DpopFault {
    /// It is no proof, or one of another key.
    #[error("the proof is not valid: {0}")]
    Token(#[from] JoseError),
    /// It is about something else.
    #[error("the proof's `{0}` does not fit the request")]
    Claim(&'static str),
}

/// Checks the value of the header `DPoP` (RFC 9449, section 4.3).
///
/// # Errors
///
/// [`DpopFault`].
pub fn check_dpop(proof: &str, check: &DpopCheck<'_>) -> Result<DpopProven, DpopFault> {
    let jws = Jws::parse(proof)?;
    if jws.typ.as_deref() != Some(PROOF_TYPE) {
        return Err(DpopFault::Claim("typ"));
    }
    let jwk = jws.header.get("jwk").and_then(Value::as_object).ok_or(DpopFault::Claim("jwk"))?;
    // A private key that has been shown proves nothing any more.
    if ["d", "p", "q", "k"].iter().any(|private| jwk.contains_key(*private)) {
        return Err(DpopFault::Claim("jwk"));
    }
    let key = PublicKey::from_jwk(jwk)?;
    let claims = Claims::parse(&jws.verify([&key], &Algorithm::ALL)?).map_err(JoseError::from)?;
    let text = |name: &str| claims.members.get(name).and_then(Value::as_str);
    if text("htm") != Some(check.method) {
        return Err(DpopFault::Claim("htm"));
    }
    let address = text("htu").and_then(|address| Url::parse(address).ok());
    if address.is_none_or(|address| proven_address(&address) != proven_address(check.url)) {
        return Err(DpopFault::Claim("htu"));
    }
    if text("ath") != check.access_token.map(|token| hash(token.as_bytes())).as_deref() {
        return Err(DpopFault::Claim("ath"));
    }
    let (now, leeway) = (check.now as f64, check.leeway as f64);
    let is_fresh = |issued: f64| issued <= now + leeway && now - issued <= check.max_age as f64 + leeway;
    if !claims.issued.is_some_and(is_fresh) {
        return Err(DpopFault::Claim("iat"));
    }
    let id = claims.id.clone().filter(|id| !id.is_empty() && id.len() <= 256);
    Ok(DpopProven {
        thumbprint: key.thumbprint(),
        id: id.ok_or(DpopFault::Claim("jti"))?,
        nonce: text("nonce").map(str::to_owned),
    })
}
