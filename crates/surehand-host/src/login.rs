//! Logins to servers behind an address.

use std::path::Path;
use std::sync::Arc;

use surehand_auth::{AuthError, Browser, CredentialStore, Grant, OAuth, OAuthOptions, PreRegistered, Reach};
use surehand_mcp::Implementation;
use surehand_model::Note;
use surehand_transport::{Authorizer, Client, ClientOptions, HttpClient, HttpTarget, OpenError, Target};
use thiserror::Error;

use crate::clock::WallClock;
use crate::config::{Launch, ServerSettings};

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
    Some(Arc::new(oauth(settings, parts).ok()?))
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
        grant: Grant::Person(parts.browser),
        issuer: None,
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
