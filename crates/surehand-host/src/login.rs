//! Logins to servers behind an address.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use surehand_auth::{
    AuthError, Browser, ClientAuthentication, ClientIdentity, CredentialStore, Grant, IdentityProvider,
    JoseError, Jws, OAuth, OAuthOptions, PreRegistered, Reach, SigningKey, TokenSource,
};
use surehand_mcp::{BoxFuture, Implementation};
use surehand_model::{Note, Secret};
use surehand_transport::{
    Authorizer, Challenge, Client, ClientOptions, Credentials, HttpClient, HttpTarget, Method, OpenError,
    Retry, Target,
};
use thiserror::Error;
use url::Url;

use crate::clock::WallClock;
use crate::config::{Launch, LoginGrant, LoginSettings, ServerSettings};

/// What a login needs beside the server's own settings.
#[derive(Clone)]
pub struct LoginParts<'a> {
    /// The folder that holds our state; credentials are in `oauth` beneath it.
    pub state: &'a Path,
    /// The one HTTP client.
    pub http: &'a HttpClient,
    /// The time of day.
    pub clock: WallClock,
    /// Who we say we are.
    pub implementation: Implementation,
    /// Where a person logs in; with none, only what is kept already is of use.
    pub browser: Option<Arc<dyn Browser>>,
    /// Scopes to ask for beside those of the settings.
    pub scopes: Vec<String>,
    /// Told of what is odd and was survived.
    pub on_note: Option<Arc<dyn Fn(Note) + Send + Sync>>,
}

/// Why a login did not come about.
#[derive(Debug, Error)]
pub enum LoginError {
    /// The server is not behind an address, or its own header speaks for us, or logins are switched off.
    #[error("`{server}` is not logged in to: {why}")]
    NotForLogin {
        /// Its name.
        server: String,
        /// Why not.
        why: &'static str,
    },
    /// A file that the entry names is of no use.
    #[error("`{path}` is no use for a login: {why}")]
    File {
        /// The file.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// The credentials cannot be kept or forgotten.
    #[error(transparent)]
    Kept(#[from] AuthError),
    /// The server, the authorization server or the person.
    #[error(transparent)]
    Open(#[from] OpenError),
}

/// How a login ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoggedIn {
    /// Tokens are kept.
    Yes,
    /// The server let us in without.
    NotNeeded,
}

/// Logs in anew, whatever was kept before.
///
/// # Errors
///
/// [`LoginError`].
pub async fn log_in(settings: &ServerSettings, parts: LoginParts<'_>) -> Result<LoggedIn, LoginError> {
    let target = target(settings)?;
    let (http, implementation) = (parts.http.clone(), parts.implementation.clone());
    let oauth = Arc::new(oauth(settings, parts)?);
    oauth.start_over();
    let options = ClientOptions {
        startup_timeout: settings.startup_timeout,
        implementation,
        authorizer: Some(oauth.clone()),
        ..ClientOptions::default()
    };
    let client = Client::open(target, options, &http).await?;
    // Some servers let anybody in and want the login for the first thing that is asked.
    let listed = if oauth.has_tokens()? { Ok(()) } else { client.list_tools().await.map(drop) };
    client.close().await;
    match (oauth.has_tokens()?, listed) {
        (true, _) => Ok(LoggedIn::Yes),
        (false, Ok(())) => Ok(LoggedIn::NotNeeded),
        (false, Err(error)) => {
            let url = settings.shown.target.clone();
            Err(OpenError::LoginFailed { url, why: error.to_string() }.into())
        }
    }
}

/// Whether tokens for a server are kept. They may be over; nobody is asked.
///
/// # Errors
///
/// [`LoginError`].
pub fn is_logged_in(settings: &ServerSettings, parts: LoginParts<'_>) -> Result<bool, LoginError> {
    Ok(oauth(settings, parts)?.has_tokens()?)
}

/// Forgets the tokens for a server. Says whether there were any.
///
/// # Errors
///
/// [`LoginError`].
pub fn log_out(settings: &ServerSettings, parts: LoginParts<'_>) -> Result<bool, LoginError> {
    let oauth = oauth(settings, parts)?;
    let had = oauth.has_tokens()?;
    oauth.forget()?;
    Ok(had)
}

/// Brings the credentials for a server, where a login may be wanted.
pub(crate) fn authorizer(settings: &ServerSettings, parts: LoginParts<'_>) -> Option<Arc<dyn Authorizer>> {
    match oauth(settings, parts) {
        Ok(oauth) => Some(Arc::new(oauth)),
        Err(LoginError::NotForLogin { .. }) => None,
        Err(error) => Some(Arc::new(Unable(error.to_string()))),
    }
}

/// Says why there are no credentials as soon as some are needed.
struct Unable(String);

impl Authorizer for Unable {
    fn headers<'a>(&'a self, _: &'a Method, _: &'a Url) -> BoxFuture<'a, Result<Credentials, String>> {
        Box::pin(async { Err(self.0.clone()) })
    }

    fn challenged<'a>(&'a self, _: Challenge) -> BoxFuture<'a, Result<Retry, String>> {
        Box::pin(async { Err(self.0.clone()) })
    }
}

/// What tokens are given for, by the settings.
fn grant(login: &LoginSettings, browser: Option<Arc<dyn Browser>>) -> Result<Grant, LoginError> {
    let client_id = login.client_id.clone().unwrap_or_default();
    let identity = |client_id: String, secret: &Option<Secret<String>>| match secret {
        None => ClientIdentity::public(client_id),
        Some(_) => ClientIdentity { client_id, secret: secret.clone(), method: ClientAuthentication::Basic },
    };
    Ok(match &login.grant {
        LoginGrant::Person => Grant::Person(browser),
        LoginGrant::Client { private_key_file: None } => {
            Grant::Client(identity(client_id, &login.client_secret))
        }
        LoginGrant::Client { private_key_file: Some(path) } => {
            let unusable = |why: String| LoginError::File { path: path.display().to_string(), why };
            let pem = read(path).map_err(unusable)?;
            let key = SigningKey::from_pem(pem.expose()).map_err(|error| unusable(error.to_string()))?;
            Grant::SignedClient { client_id, key: Arc::new(key) }
        }
        LoginGrant::Workload { token_file } => Grant::Workload { client_id, token: token_in(token_file) },
        LoginGrant::Enterprise { token_endpoint, client_id: own, client_secret, id_token_file } => {
            Grant::Enterprise {
                identity: identity(client_id, &login.client_secret),
                provider: IdentityProvider {
                    token_endpoint: token_endpoint.clone(),
                    client: identity(own.clone(), client_secret),
                    id_token: token_in(id_token_file),
                },
            }
        }
    })
}

/// The token that a file holds at the moment it is needed: whoever gives such tokens renews them. What is no signed token is
/// never sent to anybody, whatever the settings say.
fn token_in(path: &Path) -> TokenSource {
    let path = path.to_owned();
    Arc::new(move || {
        let fault = |why: String| format!("`{}` is no use for a login: {why}", path.display());
        let text = read(&path).map_err(fault)?;
        let token = text.expose().trim();
        match Jws::parse(token) {
            // How it is signed is the business of whoever checks it.
            Ok(_) | Err(JoseError::Algorithm(_)) => Ok(Secret::new(token.to_owned())),
            Err(error) => Err(fault(error.to_string())),
        }
    })
}

/// A small text file.
fn read(path: &Path) -> Result<Secret<String>, String> {
    const LIMIT: u64 = 64 * 1024;
    let mut text = String::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    file.take(LIMIT + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
    if text.len() as u64 > LIMIT { Err("it is too large".to_owned()) } else { Ok(Secret::new(text)) }
}

fn target(settings: &ServerSettings) -> Result<Target, LoginError> {
    let refused = |why| LoginError::NotForLogin { server: settings.name.clone(), why };
    match &settings.launch {
        Launch::Http { url, headers, sse } => {
            let target = HttpTarget { url: url.clone(), headers: headers.clone() };
            Ok(if *sse { Target::Sse(target) } else { Target::Http(target) })
        }
        _ => Err(refused("only servers behind a URL are")),
    }
}

fn oauth(settings: &ServerSettings, parts: LoginParts<'_>) -> Result<OAuth, LoginError> {
    let refused = |why| LoginError::NotForLogin { server: settings.name.clone(), why };
    let Launch::Http { url, headers, .. } = &settings.launch else {
        return Err(refused("only servers behind a URL are"));
    };
    let login = &settings.login;
    if !login.enabled {
        return Err(refused("its entry says \"oauth\": false"));
    }
    if headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization")) {
        return Err(refused("its entry has an `Authorization` header of its own"));
    }
    let mut scopes = login.scopes.clone();
    scopes.extend(parts.scopes);
    let clock = parts.clock;
    Ok(OAuth::new(OAuthOptions {
        reach: Reach {
            http: parts.http.clone(),
            server: url.clone(),
            trusted_hosts: login.trusted_hosts.clone(),
        },
        store: Arc::new(CredentialStore::folder(parts.state.join("oauth"))),
        grant: grant(login, parts.browser)?,
        issuer: login.issuer.clone(),
        now: Arc::new(move || clock() / 1000),
        client_name: parts.implementation.title.unwrap_or(parts.implementation.name),
        pre_registered: login.client_id.clone().map(|client_id| PreRegistered {
            issuer: login.issuer.clone(),
            client_id,
            client_secret: login.client_secret.clone(),
        }),
        client_document: login.client_metadata_url.clone(),
        scopes,
        offline: true,
        login_hint: format!("surehand mcp login {}", settings.name),
        on_note: parts.on_note,
    }))
}
