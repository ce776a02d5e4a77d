use std::fmt;

use surehand_mcp::BoxFuture;
use surehand_transport::{Caller, Gate, GateDocument, GateRefusal, HeaderMap, HttpClient, Method};

use super::Clock;
use super::challenge::Denial;
use super::keys::IssuerKeys;
use super::metadata::{DpopPolicy, ResourceFault, ResourceOptions};
use super::proofs::{ProofUse, UsedProofs};
use crate::dpop::{DpopCheck, OwnNonces, check_dpop};
use crate::jose::{ClaimFault, ClaimRules, Claims, JoseError, Jws};

/// How old a proof may be, in seconds.
const PROOF_AGE: u64 = 60;

/// Lets in whoever shows a token that a trusted issuer made for this resource, and publishes who they are.
///
/// Tokens are signed JWTs (RFC 9068); the token is never handed on. The caller's principal is `issuer#subject`, which nobody
/// else can have, for an issuer has no `#`.
pub struct ResourceServer {
    options: ResourceOptions,
    audiences: Vec<String>,
    keys: Vec<IssuerKeys>,
    proofs: UsedProofs,
    nonces: Option<OwnNonces>,
    clock: Clock,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scheme {
    Bearer,
    Dpop,
}

impl ResourceServer {
    /// Nothing is fetched yet.
    ///
    /// # Errors
    ///
    /// [`ResourceFault`].
    pub fn new(options: ResourceOptions, http: &HttpClient, clock: Clock) -> Result<Self, ResourceFault> {
        options.check()?;
        let keys = options
            .issuers
            .iter()
            .map(|trusted| IssuerKeys::new(trusted.clone(), http.clone(), clock.clone()));
        Ok(Self {
            audiences: options.accepted_audiences(),
            keys: keys.collect(),
            proofs: UsedProofs::new(PROOF_AGE + 2 * options.leeway),
            nonces: options.nonce_key.as_ref().map(OwnNonces::new),
            clock,
            options,
        })
    }

    async fn judge(&self, method: &Method, headers: &HeaderMap) -> Result<Caller, Denial> {
        let (scheme, token) = shown(headers)?;
        let claims = self.genuine(token).await?;
        self.bound(scheme, token, &claims, method, headers)?;
        let granted = claims.scopes();
        if !self.options.scopes.iter().all(|scope| granted.contains(scope)) {
            return Err(Denial::Scope(self.options.scopes.clone()));
        }
        let issuer = claims.issuer.as_deref().unwrap_or_default();
        let subject = claims.subject.as_deref().filter(|subject| !subject.is_empty());
        let subject = subject.ok_or_else(|| token_fault(&ClaimFault::Shape("sub").into()))?;
        Ok(Caller { principal: Some(format!("{issuer}#{subject}")), scopes: granted })
    }

    /// The claims of a token that is signed by whom it says, and meant for here and now.
    async fn genuine(&self, token: &str) -> Result<Claims, Denial> {
        let read = || {
            let jws = Jws::parse(token)?;
            let issuer = jws.unverified_claims()?.issuer.ok_or(ClaimFault::Issuer)?;
            Ok::<_, JoseError>((jws, issuer))
        };
        let (jws, issuer) = read().map_err(|fault| token_fault(&fault))?;
        // Other tokens of the same issuer, such as a grant or a logout, are signed with the same keys.
        let is_access_token = jws.typ.as_deref().is_none_or(|kind| {
            ["JWT", "at+jwt", "application/at+jwt"].iter().any(|known| known.eq_ignore_ascii_case(kind))
        });
        if !is_access_token {
            return Err(Denial::Token("this is another kind of token".to_owned()));
        }
        // Keys are asked for only where they are of somebody we trust.
        let trusted = self.keys.iter().find(|keys| keys.issuer() == issuer);
        let trusted = trusted.ok_or_else(|| token_fault(&ClaimFault::Issuer.into()))?;
        let keys = trusted.find(jws.kid.as_deref(), jws.algorithm).await;
        let keys = keys.map_err(|words| {
            Denial::Later(format!(
                "the keys of `{issuer}` cannot be had, so no token of it can be checked: {words}"
            ))
        })?;
        let (kid, algorithm) = (jws.kid.clone(), jws.algorithm);
        let check = || {
            let candidates = keys.candidates(kid.as_deref(), algorithm);
            let claims = Claims::parse(&jws.verify(candidates, &self.options.algorithms)?)?;
            let rules = ClaimRules {
                issuer: trusted.issuer(),
                audiences: &self.audiences,
                now: (self.clock)(),
                leeway: self.options.leeway,
            };
            claims.check(&rules)?;
            Ok::<_, JoseError>(claims)
        };
        check().map_err(|fault| token_fault(&fault))
    }

    /// Whether whoever shows a token has the key that it is bound to.
    fn bound(
        &self,
        scheme: Scheme,
        token: &str,
        claims: &Claims,
        method: &Method,
        headers: &HeaderMap,
    ) -> Result<(), Denial> {
        let Some(key) = claims.bound_to() else {
            if claims.members.contains_key("cnf") {
                return Err(Denial::Token(
                    "the token is bound in a way that cannot be checked here".to_owned(),
                ));
            }
            if scheme == Scheme::Dpop || self.options.dpop == DpopPolicy::Required {
                return Err(Denial::Token("the token is not bound to a key".to_owned()));
            }
            return Ok(());
        };
        // Whoever stole it would show it like this (RFC 9449, section 7.2).
        if scheme == Scheme::Bearer {
            return Err(Denial::Token("the token is bound to a key and needs a proof".to_owned()));
        }
        let mut proofs = headers.get_all("dpop").iter();
        let (Some(Ok(proof)), None) = (proofs.next().map(|proof| proof.to_str()), proofs.next()) else {
            return Err(Denial::Proof("exactly one proof is needed".to_owned()));
        };
        let now = (self.clock)();
        let check = DpopCheck {
            method: method.as_str(),
            url: &self.options.resource,
            access_token: Some(token),
            now,
            max_age: PROOF_AGE,
            leeway: self.options.leeway,
        };
        let proven = check_dpop(proof, &check).map_err(|fault| Denial::Proof(fault.to_string()))?;
        if proven.thumbprint != key {
            return Err(Denial::Proof("the proof is of another key".to_owned()));
        }
        if let Some(nonces) = &self.nonces
            && !proven.nonce.is_some_and(|nonce| nonces.takes(&nonce, now))
        {
            return Err(Denial::Nonce(nonces.give(now)));
        }
        match self.proofs.take(&proven.thumbprint, &proven.id, now) {
            ProofUse::First => Ok(()),
            ProofUse::Again => Err(Denial::Proof("the proof has been used before".to_owned())),
            ProofUse::Full => Err(Denial::Later("too many proofs came at once".to_owned())),
        }
    }
}

impl Gate for ResourceServer {
    fn admit<'a>(
        &'a self,
        method: &'a Method,
        headers: &'a HeaderMap,
    ) -> BoxFuture<'a, Result<Caller, GateRefusal>> {
        Box::pin(
            async move { self.judge(method, headers).await.map_err(|denial| denial.refusal(&self.options)) },
        )
    }

    fn permit(&self, caller: &Caller, method: &str, subject: Option<&str>) -> Result<(), GateRefusal> {
        let needed = self.options.needed(method, subject);
        if needed.iter().all(|scope| caller.scopes.contains(scope)) {
            return Ok(());
        }
        Err(Denial::Scope(needed).refusal(&self.options))
    }

    fn documents(&self) -> Vec<GateDocument> {
        let path = self.options.metadata_url().path().to_owned();
        vec![GateDocument { path, body: self.options.metadata().to_string() }]
    }
}

impl fmt::Debug for ResourceServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResourceServer").field("options", &self.options).finish_non_exhaustive()
    }
}

/// The one token of a request. Only the header counts; a token in an address ends up in logs.
fn shown(headers: &HeaderMap) -> Result<(Scheme, &str), Denial> {
    let mut values = headers.get_all("authorization").iter();
    let Some(value) = values.next() else { return Err(Denial::NoToken) };
    if values.next().is_some() {
        return Err(Denial::Request("there are several `Authorization` headers"));
    }
    let value = value.to_str().map_err(|_| Denial::Request("`Authorization` cannot be read"))?;
    let (scheme, token) = value.trim().split_once(' ').unwrap_or((value, ""));
    let scheme = match scheme.to_ascii_lowercase().as_str() {
        "bearer" => Scheme::Bearer,
        "dpop" => Scheme::Dpop,
        _ => return Err(Denial::NoToken),
    };
    Ok((scheme, token.trim()))
}

fn token_fault(fault: &JoseError) -> Denial {
    Denial::Token(fault.to_string())
}
