mod login;
mod renew;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;
use surehand_mcp::BoxFuture;
use surehand_model::{Note, Secret};
use surehand_transport::{Authorizer, Challenge, Credentials, Method, Retry};
use tokio::task::JoinSet;
use url::Url;

use crate::challenge::{Demand, parse_challenges, token_demand};
use crate::discovery::{Discovery, discover};
use crate::dpop::{DpopNonces, DpopRequest};
use crate::error::AuthError;
use crate::grant::Grant;
use crate::held::{Held, ServerFile, Source};
use crate::random::identifier;
use crate::reach::{Reach, shown};
use crate::scopes::{ScopeWish, choose_scopes, union};
use crate::store::{CredentialStore, Record};
use renew::{Renewed, Turn};

/// How tokens for one server are got and kept.
#[derive(Clone)]
pub struct OAuthOptions {
    /// The server, and how others are asked.
    pub reach: Reach,
    /// Where registrations and tokens are kept.
    pub store: Arc<CredentialStore>,
    /// What tokens are given for.
    pub grant: Grant,
    /// The one authorization server to which a grant without a person is shown. Without it, the first that the server names
    /// counts, and no other after that.
    pub issuer: Option<String>,
    /// The time of day in Unix seconds.
    pub now: Arc<dyn Fn() -> u64 + Send + Sync>,
    /// Who we say we are when we register.
    pub client_name: String,
    /// Who we are, where that was settled before.
    pub pre_registered: Option<PreRegistered>,
    /// Where our description can be read: an https address with a path (OAuth Client ID Metadata Document).
    pub client_document: Option<Url>,
    /// Scopes to ask for beside those that the server names.
    pub scopes: Vec<String>,
    /// Whether tokens are to be renewed without a person.
    pub offline: bool,
    /// What a person can do where a login is needed and nobody is there; possibly empty.
    pub login_hint: String,
    /// Told of what is odd and was survived.
    pub on_note: Option<Arc<dyn Fn(Note) + Send + Sync>>,
}

/// A registration made by hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreRegistered {
    /// Where it was made. Without it, the first authorization server that the server names counts, and no other after that.
    pub issuer: Option<String>,
    /// Who we are there.
    pub client_id: String,
    /// What we prove it with.
    pub client_secret: Option<Secret<String>>,
}

/// Gets, keeps, renews and shows the tokens for one server.
///
/// Requests that are refused side by side lead to one login and one renewal. Processes that share a store renew one after the other,
/// and each takes what the one before got.
pub struct OAuth {
    shared: Arc<Shared>,
}

struct Shared {
    options: OAuthOptions,
    state: Mutex<State>,
    /// One at a time works on new tokens; the others wait for them.
    turn: Arc<tokio::sync::Mutex<()>>,
    nonces: DpopNonces,
    /// Renewals under way, which go on to their end even where nobody waits for them any more.
    renewals: Mutex<JoinSet<()>>,
}

#[derive(Default)]
struct State {
    is_loaded: bool,
    held: Option<Arc<Held>>,
    /// Whether the store counts for nothing until there are new tokens.
    is_fresh: bool,
    /// Why the last login came to nothing. Nobody is asked again until they ask for it.
    given_up: Option<String>,
}

impl fmt::Debug for OAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let server = shown(&self.shared.options.reach.server);
        f.debug_struct("OAuth")
            .field("server", &server)
            .field("grant", &self.shared.options.grant)
            .finish_non_exhaustive()
    }
}

impl OAuth {
    /// Nothing is read or asked yet.
    pub fn new(options: OAuthOptions) -> Self {
        let shared = Shared {
            options,
            state: Mutex::default(),
            turn: Arc::default(),
            nonces: DpopNonces::default(),
            renewals: Mutex::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Whether tokens are kept for the server. They may be over.
    ///
    /// # Errors
    ///
    /// [`AuthError::Store`].
    pub fn has_tokens(&self) -> Result<bool, AuthError> {
        Ok(self.shared.held()?.is_some())
    }

    /// Acts as if nothing were kept, and asks again where a login came to nothing before. What is kept stays until there are new
    /// tokens.
    pub fn start_over(&self) {
        *self.shared.lock() = State { is_loaded: true, is_fresh: true, ..State::default() };
    }

    /// Forgets the tokens for the server. Registrations stay.
    ///
    /// # Errors
    ///
    /// [`AuthError::Store`].
    pub fn forget(&self) -> Result<(), AuthError> {
        let (server, store) = (self.shared.options.reach.server.as_str(), &self.shared.options.store);
        if let Some(file) = self.shared.server_file()? {
            store.remove(file.tokens())?;
        }
        store.remove(Record::Server(server))?;
        *self.shared.lock() = State { is_loaded: true, ..State::default() };
        Ok(())
    }
}

impl Shared {
    /// Who gave the tokens that are kept.
    fn server_file(&self) -> Result<Option<ServerFile>, AuthError> {
        let text = self.options.store.read(Record::Server(self.options.reach.server.as_str()))?;
        Ok(text.as_ref().and_then(ServerFile::read))
    }

    /// The tokens at hand, read from the store the first time.
    fn held(&self) -> Result<Option<Arc<Held>>, AuthError> {
        if !self.lock().is_loaded {
            let held = self.kept()?;
            let mut state = self.lock();
            if !state.is_loaded {
                state.is_loaded = true;
                state.held = held.map(Arc::new);
            }
        }
        Ok(self.lock().held.clone())
    }

    /// The tokens in the store.
    fn kept(&self) -> Result<Option<Held>, AuthError> {
        if self.lock().is_fresh {
            return Ok(None);
        }
        let Some(file) = self.server_file()? else { return Ok(None) };
        let text = self.options.store.read(file.tokens())?;
        Ok(text.as_ref().and_then(Held::read))
    }

    fn keep(&self, held: Held) -> Result<Arc<Held>, AuthError> {
        let held = Arc::new(held);
        {
            let mut state = self.lock();
            *state = State { is_loaded: true, held: Some(held.clone()), ..State::default() };
        }
        let server = self.options.reach.server.as_str();
        let file = ServerFile {
            url: server.to_owned(),
            issuer: held.issuer.clone(),
            resource: held.resource.clone(),
        };
        if let Some(before) = self.server_file()?.filter(|before| *before != file) {
            self.options.store.remove(before.tokens())?;
        }
        self.options.store.write(self.record(&held), held.write())?;
        self.options.store.write(Record::Server(server), file.write())?;
        Ok(held)
    }

    fn record<'a>(&'a self, held: &'a Held) -> Record<'a> {
        Record::Tokens(&held.issuer, held.resource.as_deref().unwrap_or(self.options.reach.server.as_str()))
    }

    fn drop_held(&self) {
        self.lock().held = None;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> u64 {
        (self.options.now)()
    }

    async fn credentials(self: &Arc<Self>, method: &Method, url: &Url) -> Result<Credentials, AuthError> {
        if url.origin() != self.options.reach.server.origin() {
            return Ok(Vec::new());
        }
        let Some(held) = self.usable().await? else { return Ok(Vec::new()) };
        let mut credentials = vec![("Authorization".to_owned(), Secret::new(held.authorization()))];
        if let (true, Some(key)) = (held.tokens.is_bound, &held.key) {
            let request = DpopRequest {
                method: method.as_str(),
                url,
                now: self.now(),
                id: &identifier()?,
                access_token: Some(held.tokens.access_token.expose()),
                nonce: self.nonces.of(url).as_deref(),
            }
            .prove_with(&key.key)?;
            credentials.push(("DPoP".to_owned(), request));
        }
        Ok(credentials)
    }

    /// Tokens that are not over, renewed if need be.
    async fn usable(self: &Arc<Self>) -> Result<Option<Arc<Held>>, AuthError> {
        let Some(held) = self.held()? else { return Ok(None) };
        if !held.is_over(self.now()) {
            return Ok(Some(held));
        }
        let turn = self.turn.clone().lock_owned().await;
        // Somebody may have been quicker.
        let Some(held) = self.held()? else { return Ok(None) };
        if !held.is_over(self.now()) {
            return Ok(Some(held));
        }
        match self.renew_to_the_end(turn, held).await.1? {
            Renewed::Tokens(held) => Ok(Some(held)),
            Renewed::Over(_) => Ok(None),
        }
    }

    async fn refused(self: &Arc<Self>, challenge: Challenge) -> Result<Retry, AuthError> {
        let turn = self.turn.clone().lock_owned().await;
        let demands = parse_challenges(challenge.authenticate.iter().map(String::as_str));
        let demand = token_demand(&demands);
        let error = demand.and_then(|demand| demand.get("error")).unwrap_or_default();
        let presented = |wanted: &str| {
            let found = challenge.presented.iter().find(|(name, _)| name == wanted);
            found.map(|(_, value)| value.expose().as_str())
        };

        self.nonces.learn(&self.options.reach.server, challenge.nonce.as_deref());
        if error == "use_dpop_nonce" {
            // Others may have learned the nonce first; what counts is whether the refused proof had it.
            let had = presented("DPoP").and_then(nonce_of);
            return Ok(if challenge.nonce.is_some() && had != challenge.nonce {
                Retry::Again
            } else {
                Retry::GiveUp
            });
        }
        let presented = presented("Authorization");
        // Others may have got new tokens since the request went out: here, or in another process.
        let now = self.now();
        let is_newer = |held: &Held| !held.is_over(now) && Some(held.authorization().as_str()) != presented;
        if self.held()?.is_some_and(|held| is_newer(&held)) {
            return Ok(Retry::Again);
        }
        if let Some(kept) = self.kept()?.filter(is_newer) {
            self.lock().held = Some(Arc::new(kept));
            return Ok(Retry::Again);
        }
        if challenge.status == 403 {
            return if error == "insufficient_scope" {
                self.step_up(demand, challenge.refused_before).await
            } else {
                Ok(Retry::GiveUp)
            };
        }
        self.replace(turn, demand, &challenge).await
    }

    /// Gets tokens in the place of those that the server refuses, or where there are none.
    async fn replace(
        self: &Arc<Self>,
        turn: Turn,
        demand: Option<&Demand>,
        challenge: &Challenge,
    ) -> Result<Retry, AuthError> {
        let mut turn = turn;
        let discovery = self.discover(demand).await?;
        let mut before = Vec::new();
        let mut why = String::new();
        if let Some(held) = self.held()? {
            if held.issuer == discovery.issuer {
                if held.source == Source::Grant && challenge.refused_before > 0 {
                    let challenge = challenge.authenticate.join(", ");
                    return Err(AuthError::StillRefused { challenge });
                }
                before.clone_from(&held.asked);
                let is_worth_renewing = held.source != Source::Refresh || challenge.refused_before == 0;
                if is_worth_renewing {
                    let renewed;
                    (turn, renewed) = self.renew_to_the_end(turn, held).await;
                    match renewed? {
                        Renewed::Tokens(_) => return Ok(Retry::Again),
                        Renewed::Over(words) => why = words,
                    }
                }
            } else {
                // What one authorization server gave is shown to no other.
                self.options.store.remove(self.record(&held))?;
            }
            self.drop_held();
        }
        let scopes = self.scopes(&before, demand, &discovery);
        let obtained = self.obtain(&discovery, demand, scopes, why).await;
        drop(turn);
        obtained
    }

    /// Gets tokens that are good for more. Source: MCP 2025-11-25, "Step-up authorization flow".
    async fn step_up(&self, demand: Option<&Demand>, refused_before: usize) -> Result<Retry, AuthError> {
        let (Some(held), Some(needed)) = (self.held()?, demand.and_then(Demand::scopes)) else {
            return Ok(Retry::GiveUp);
        };
        let lies_in = |scopes: &[String]| needed.iter().all(|scope| scopes.contains(scope));
        // Who has it all already, or has just asked for it, gets no further by asking again.
        if lies_in(held.granted()) || (refused_before > 0 && lies_in(&held.asked)) {
            return Ok(Retry::GiveUp);
        }
        let discovery = self.discover(demand).await?;
        let before =
            if held.issuer == discovery.issuer { union(&held.asked, held.granted()) } else { Vec::new() };
        let scopes = self.scopes(&before, demand, &discovery);
        let missing: Vec<&str> =
            needed.iter().filter(|scope| !held.granted().contains(scope)).map(String::as_str).collect();
        let why = format!("the server wants `{}` beside what was granted", missing.join("` `"));
        self.obtain(&discovery, demand, scopes, why).await
    }

    async fn discover(&self, demand: Option<&Demand>) -> Result<Discovery, AuthError> {
        let mut preferred = Vec::new();
        preferred.extend(self.options.pre_registered.as_ref().and_then(|own| own.issuer.clone()));
        preferred.extend(self.held()?.map(|held| held.issuer.clone()));
        let discovery = discover(&self.options.reach, demand, &preferred).await?;
        if let Some(listen) = &self.options.on_note {
            discovery.notes.iter().cloned().for_each(|note| listen(note));
        }
        Ok(discovery)
    }

    fn scopes(&self, before: &[String], demand: Option<&Demand>, discovery: &Discovery) -> Vec<String> {
        let challenged = demand.and_then(Demand::scopes);
        choose_scopes(ScopeWish {
            before,
            challenged: challenged.as_deref(),
            listed: discovery.scopes.as_deref(),
            extra: &self.options.scopes,
            known: discovery.server.scopes_supported.as_deref(),
            offline: self.options.offline && matches!(self.options.grant, Grant::Person(_)),
        })
    }
}

impl Authorizer for OAuth {
    fn headers<'a>(&'a self, method: &'a Method, url: &'a Url) -> BoxFuture<'a, Result<Credentials, String>> {
        Box::pin(async move { self.shared.credentials(method, url).await.map_err(|error| words(&error)) })
    }

    fn challenged<'a>(&'a self, challenge: Challenge) -> BoxFuture<'a, Result<Retry, String>> {
        Box::pin(async move { self.shared.refused(challenge).await.map_err(|error| words(&error)) })
    }

    fn renewed_nonce(&self, url: &Url, nonce: &str) {
        self.shared.nonces.learn(url, Some(nonce));
    }
}

/// The nonce in a proof of our own.
fn nonce_of(proof: &str) -> Option<String> {
    let claims = URL_SAFE_NO_PAD.decode(proof.split('.').nth(1)?).ok()?;
    let claims: Value = serde_json::from_slice(&claims).ok()?;
    claims.get("nonce")?.as_str().map(str::to_owned)
}

/// An error with its causes, since only words get through.
fn words(error: &AuthError) -> String {
    let mut words = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        words.push_str(": ");
        words.push_str(&error.to_string());
        cause = error.source();
    }
    words
}
