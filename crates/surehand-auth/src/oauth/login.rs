use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use surehand_transport::Retry;
use url::Url;

use super::Shared;
use super::renew::TokenRequest;
use crate::authorization::{AuthorizationRequest, Expected, read_redirect};
use crate::browser::Browser;
use crate::challenge::Demand;
use crate::discovery::Discovery;
use crate::error::AuthError;
use crate::grant::{Grant, Request, explain};
use crate::held::{BoundKey, ClientFile, Held, ServerFile, Source};
use crate::identity::{ClientAuthentication, ClientIdentity};
use crate::metadata::{ServerMetadata, is_same_issuer};
use crate::pkce::Pkce;
use crate::random::random;
use crate::reach::{push, shown};
use crate::registration::{parse_registration, registration_body};
use crate::store::Record;
use crate::tokens::{TokenRefusal, code_form, excerpt};

const AUTHORIZATION: &str = "authorization endpoint";
const TOKEN: &str = "token endpoint";
const REGISTRATION: &str = "registration endpoint";

impl Shared {
    /// Gets tokens by the configured grant. `why` says what became of the ones before. A login that came to nothing is not tried
    /// again by itself.
    pub(super) async fn obtain(
        &self,
        discovery: &Discovery,
        demand: Option<&Demand>,
        scopes: Vec<String>,
        why: String,
    ) -> Result<Retry, AuthError> {
        let hint = || self.options.login_hint.clone();
        if let Some(why) = self.lock().given_up.clone() {
            return Err(AuthError::LoginNeeded { why, hint: hint() });
        }
        if matches!(self.options.grant, Grant::Person(None)) {
            // Where nothing speaks of logins at all, the server's own words tell more.
            if discovery.is_guessed {
                return Ok(Retry::GiveUp);
            }
            return Err(AuthError::LoginNeeded { why, hint: hint() });
        }
        match self.log_in(discovery, demand, scopes).await {
            Ok(held) => {
                self.keep(held)?;
                Ok(Retry::Again)
            }
            Err(error) => {
                if !matches!(error, AuthError::Busy { .. } | AuthError::Http(_) | AuthError::Store { .. }) {
                    self.lock().given_up = Some(error.to_string());
                }
                Err(error)
            }
        }
    }

    async fn log_in(
        &self,
        discovery: &Discovery,
        demand: Option<&Demand>,
        scopes: Vec<String>,
    ) -> Result<Held, AuthError> {
        let issuer = &discovery.issuer;
        let endpoint = discovery.server.token_endpoint.clone();
        let endpoint = endpoint.ok_or_else(|| AuthError::Missing { issuer: issuer.clone(), what: TOKEN })?;
        let key = self.key(discovery, demand)?;
        let Request { form, shown, identity } = match &self.options.grant {
            Grant::Person(Some(browser)) => self.visit(browser.as_ref(), discovery, &scopes).await?,
            grant => {
                self.check_owner(self.options.issuer.as_deref(), issuer)?;
                let request = grant.request(&self.options.reach, discovery, &scopes, self.now()).await?;
                request.ok_or_else(|| AuthError::LoginNeeded { why: String::new(), hint: String::new() })?
            }
        };
        let request = TokenRequest { endpoint: &endpoint, form, shown, key: key.as_deref() };
        let tokens = match self.ask_for_tokens(request).await? {
            Ok(tokens) => tokens,
            Err(refusal) => {
                if matches!(refusal, TokenRefusal::Client(_)) {
                    self.options.store.remove(Record::Client(issuer))?;
                }
                return Err(explain(refusal, TOKEN, issuer));
            }
        };
        let key = key.filter(|_| tokens.is_bound);
        Ok(Held {
            issuer: issuer.clone(),
            resource: discovery.resource.clone(),
            token_endpoint: endpoint,
            identity,
            asked: scopes,
            tokens,
            key,
            source: Source::Grant,
        })
    }

    /// The key that the tokens are to be bound to, where the server asks for bound ones (RFC 9449).
    fn key(
        &self,
        discovery: &Discovery,
        demand: Option<&Demand>,
    ) -> Result<Option<Arc<BoundKey>>, AuthError> {
        if !discovery.wants_bound_tokens && demand.is_none_or(|demand| demand.scheme != "dpop") {
            return Ok(None);
        }
        let known = self.held()?.filter(|held| held.issuer == discovery.issuer);
        if let Some(key) = known.and_then(|held| held.key.clone()) {
            return Ok(Some(key));
        }
        BoundKey::generate().map(|key| Some(Arc::new(key))).map_err(|error| AuthError::Key(error.to_string()))
    }

    /// Takes a person to the login, and makes what they bring back a token request.
    async fn visit(
        &self,
        browser: &dyn Browser,
        discovery: &Discovery,
        scopes: &[String],
    ) -> Result<Request, AuthError> {
        let (issuer, server) = (&discovery.issuer, &discovery.server);
        if !ServerMetadata::lists(server.code_challenge_methods_supported.as_ref(), "S256", false) {
            return Err(AuthError::NoPkce { issuer: issuer.clone() });
        }
        let endpoint = server.authorization_endpoint.as_ref();
        let endpoint =
            endpoint.ok_or_else(|| AuthError::Missing { issuer: issuer.clone(), what: AUTHORIZATION })?;
        // Judges the scheme; where it leads is the browser's business.
        self.options.reach.guard(AUTHORIZATION, endpoint)?;

        let known = self.options.store.read(Record::Client(issuer))?;
        let known = known.as_ref().and_then(ClientFile::read);
        let wanted = known.as_ref().and_then(|known| known.redirect_uri.as_deref());
        let visit = browser.prepare(wanted).await.map_err(AuthError::Browser)?;
        let redirect_uri = visit.redirect_uri().to_owned();
        let identity = self.identity(discovery, known, &redirect_uri, scopes).await?;

        let pkce = Pkce::new(random()?);
        let state = URL_SAFE_NO_PAD.encode(random::<32>()?);
        let request = AuthorizationRequest {
            endpoint,
            client_id: &identity.client_id,
            redirect_uri: &redirect_uri,
            scopes,
            resource: discovery.resource.as_deref(),
            state: &state,
            challenge: &pkce.challenge,
        };
        let query = visit.go(request.url()).await.map_err(AuthError::Browser)?;
        let expected = Expected {
            state: &state,
            issuer,
            names_itself: server.authorization_response_iss_parameter_supported,
        };
        let code = read_redirect(&query, expected)?;
        let mut form = code_form(&code, &redirect_uri, &pkce.verifier);
        if let Some(resource) = &discovery.resource {
            push(&mut form, "resource", resource);
        }
        Ok(Request { form, shown: identity.show(), identity })
    }

    /// Stops where we are known to another authorization server than the one that the server names: whoever it is would get
    /// what we show there, and could show it in our place.
    fn check_owner(&self, settled: Option<&str>, issuer: &str) -> Result<(), AuthError> {
        let owner = match settled {
            Some(owner) => Some(owner.to_owned()),
            None => {
                let text = self.options.store.read(Record::Server(self.options.reach.server.as_str()))?;
                text.as_ref().and_then(ServerFile::read).map(|file| file.issuer)
            }
        };
        match owner.filter(|owner| !is_same_issuer(owner, issuer)) {
            Some(owner) => Err(AuthError::ForeignClient { owner, issuer: issuer.to_owned() }),
            None => Ok(()),
        }
    }

    /// Who we are to the issuer: as settled before, by our description, as registered earlier, or registered now.
    async fn identity(
        &self,
        discovery: &Discovery,
        known: Option<ClientFile>,
        redirect_uri: &str,
        scopes: &[String],
    ) -> Result<ClientIdentity, AuthError> {
        let (issuer, server) = (&discovery.issuer, &discovery.server);
        if let Some(own) = &self.options.pre_registered {
            self.check_owner(own.issuer.as_deref(), issuer)?;
            let secret = own.client_secret.clone();
            let method = ClientAuthentication::choose(secret.is_some(), server);
            return Ok(ClientIdentity { client_id: own.client_id.clone(), secret, method });
        }
        if server.client_id_metadata_document_supported
            && let Some(document) = &self.options.client_document
        {
            return Ok(ClientIdentity::public(document.as_str()));
        }
        if let Some(known) = known.filter(|known| known.redirect_uri.as_deref() == Some(redirect_uri))
            && let Some(identity) = known.identity()
        {
            return Ok(identity);
        }
        let Some(endpoint) = &server.registration_endpoint else {
            return Err(AuthError::NoRegistration { issuer: issuer.clone() });
        };
        self.register(discovery, endpoint, redirect_uri, scopes).await
    }

    async fn register(
        &self,
        discovery: &Discovery,
        endpoint: &Url,
        redirect_uri: &str,
        scopes: &[String],
    ) -> Result<ClientIdentity, AuthError> {
        let (issuer, server) = (&discovery.issuer, &discovery.server);
        let body = registration_body(&self.options.client_name, redirect_uri, scopes, server);
        let answer = self.options.reach.post_json(REGISTRATION, endpoint, body).await?;
        let fault = |why: String| AuthError::Unusable { what: REGISTRATION, issuer: issuer.clone(), why };
        match answer.status {
            200..=299 => {}
            status if discovery.is_guessed => {
                let mut tried = discovery.tried.clone();
                tried.push(format!("{} (HTTP {status})", shown(endpoint)));
                return Err(AuthError::NoMetadata { tried });
            }
            status => {
                let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap_or_default();
                let field = |name: &str| body.get(name).and_then(|text| text.as_str()).map(excerpt);
                return Err(match field("error") {
                    Some(error) => AuthError::Refused {
                        what: REGISTRATION,
                        issuer: issuer.clone(),
                        error,
                        description: field("error_description").unwrap_or_default(),
                    },
                    None => fault(format!("HTTP {status}")),
                });
            }
        }
        let identity = parse_registration(&answer.body, server).map_err(fault)?;
        let file = ClientFile::new(&identity, Some(redirect_uri));
        self.options.store.write(Record::Client(issuer), file.write())?;
        Ok(identity)
    }
}
