use std::sync::{Arc, PoisonError};

use surehand_model::Secret;
use surehand_transport::Credentials;
use tokio::sync::{OwnedMutexGuard, oneshot};
use url::Url;

use super::Shared;
use crate::dpop::{DpopKey, DpopRequest};
use crate::error::AuthError;
use crate::grant::explain;
use crate::held::{BoundKey, Held, Source};
use crate::identity::Form;
use crate::random::identifier;
use crate::reach::{push, shown};
use crate::store::Record;
use crate::tokens::{TokenRefusal, Tokens, parse_tokens, refresh_form};

/// What came of a renewal.
pub(super) enum Renewed {
    /// New tokens, kept already.
    Tokens(Arc<Held>),
    /// Only a login helps. Says why, where there is something to say.
    Over(String),
}

/// Whoever has it works on new tokens.
pub(super) type Turn = OwnedMutexGuard<()>;

impl Shared {
    /// Renews, and goes on with it where the caller is dropped: a refresh token may be good for once only, so what it was turned
    /// into must not be lost. It ends by itself, since every wait in it does.
    pub(super) async fn renew_to_the_end(
        self: &Arc<Self>,
        turn: Turn,
        held: Arc<Held>,
    ) -> (Turn, Result<Renewed, AuthError>) {
        let (done, outcome) = oneshot::channel();
        {
            let shared = self.clone();
            let mut renewals = self.renewals.lock().unwrap_or_else(PoisonError::into_inner);
            while renewals.try_join_next().is_some() {}
            renewals.spawn(async move {
                let renewed = shared.renew(&held).await;
                // Fails where nobody waits any more; the tokens are kept already.
                let _ = done.send((turn, renewed));
            });
        }
        match outcome.await {
            Ok(outcome) => outcome,
            // Only where the program ends.
            Err(_) => {
                let ended = AuthError::Busy {
                    what: "token endpoint",
                    issuer: shown(&self.options.reach.server),
                    why: "the program ends".to_owned(),
                };
                (self.turn.clone().lock_owned().await, Err(ended))
            }
        }
    }

    /// Turns the refresh token into new tokens, or takes those that another process got meanwhile. The caller has the turn.
    async fn renew(&self, held: &Held) -> Result<Renewed, AuthError> {
        if held.tokens.refresh_token.is_none() {
            return Ok(Renewed::Over(String::new()));
        }
        let record = self.record(held);
        let _lock = self.options.store.lock(record).await?;
        let kept = self.options.store.read(record)?.as_ref().and_then(Held::read);
        if let Some(kept) = &kept
            && kept.tokens.access_token != held.tokens.access_token
            && !kept.is_over(self.now())
        {
            let kept = Arc::new(kept.clone());
            self.lock().held = Some(kept.clone());
            return Ok(Renewed::Tokens(kept));
        }
        // A refresh token may be good for once only, so the one in the store is the one that counts.
        let newest = kept.unwrap_or_else(|| held.clone());
        let Some(refresh_token) = newest.tokens.refresh_token.clone() else {
            return Ok(Renewed::Over(String::new()));
        };
        let mut form = refresh_form(&refresh_token);
        if let Some(resource) = &newest.resource {
            push(&mut form, "resource", resource);
        }
        let request = TokenRequest {
            endpoint: &newest.token_endpoint,
            form,
            shown: newest.identity.show(),
            key: newest.key.as_deref(),
        };
        match self.ask_for_tokens(request).await? {
            Ok(tokens) => {
                let tokens = Tokens {
                    refresh_token: tokens.refresh_token.clone().or(Some(refresh_token)),
                    scopes: tokens.scopes.clone().or_else(|| newest.tokens.scopes.clone()),
                    ..tokens
                };
                Ok(Renewed::Tokens(self.keep(Held { tokens, source: Source::Refresh, ..newest })?))
            }
            Err(TokenRefusal::Busy(why)) => {
                Err(explain(TokenRefusal::Busy(why), "token endpoint", &newest.issuer))
            }
            Err(refusal) => {
                match &refusal {
                    TokenRefusal::Grant(_) => self.options.store.remove(record)?,
                    TokenRefusal::Client(_) => {
                        self.options.store.remove(record)?;
                        self.options.store.remove(Record::Client(&newest.issuer))?;
                    }
                    _ => {}
                }
                self.drop_held();
                let why = explain(refusal, "token endpoint", &newest.issuer).to_string();
                Ok(Renewed::Over(why))
            }
        }
    }

    /// Asks a token endpoint, once more with its nonce where it wants one. The inner result is its answer.
    pub(super) async fn ask_for_tokens(
        &self,
        request: TokenRequest<'_>,
    ) -> Result<Result<Tokens, TokenRefusal>, AuthError> {
        let TokenRequest { endpoint, key, .. } = request;
        let (own, fields) = request.shown;
        let mut form = request.form;
        form.extend(fields);
        let mut is_repeated = false;
        loop {
            let mut headers = own.clone();
            if let Some(key) = key {
                let proof = DpopRequest {
                    method: "POST",
                    url: endpoint,
                    now: self.now(),
                    id: &identifier()?,
                    access_token: None,
                    nonce: self.nonces.of(endpoint).as_deref(),
                }
                .prove_with(&key.key)?;
                headers.push(("DPoP".to_owned(), proof));
            }
            let reach = &self.options.reach;
            let answer = reach.post_form("token endpoint", endpoint, headers, &form).await?;
            let is_new_nonce = self.nonces.learn(endpoint, answer.nonce.as_deref());
            match parse_tokens(answer.status, &answer.body, self.now()) {
                Err(TokenRefusal::Nonce) if key.is_some() && is_new_nonce && !is_repeated => {
                    is_repeated = true
                }
                answer => return Ok(answer),
            }
        }
    }
}

/// One question to a token endpoint.
pub(super) struct TokenRequest<'a> {
    pub(super) endpoint: &'a Url,
    pub(super) form: Form,
    /// Who asks: headers, and fields of the form.
    pub(super) shown: (Credentials, Form),
    /// What the tokens are to be bound to.
    pub(super) key: Option<&'a BoundKey>,
}

impl DpopRequest<'_> {
    pub(super) fn prove_with(&self, key: &DpopKey) -> Result<Secret<String>, AuthError> {
        key.prove(self).map(Secret::new).map_err(|error| AuthError::Key(error.to_string()))
    }
}
