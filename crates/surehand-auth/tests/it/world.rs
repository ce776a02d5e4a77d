//! A client of the fake server: a clock that stands still, a browser that is sent on by the fake itself.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use surehand_auth::{Browser, CredentialStore, Grant, OAuth, OAuthOptions, Reach, Visit};
use surehand_mcp::BoxFuture;
use surehand_model::{Note, Secret};
use surehand_transport::{Authorizer, Challenge, HttpClient, HttpOptions, Method, Retry};
use url::Url;

use crate::fake::Fake;

/// Metadata at the usual places: the server is `BASE/mcp`, its authorization server `BASE/as`.
pub(crate) const USUAL: [(&str, &str); 4] = [
    (
        "GET /.well-known/oauth-protected-resource/mcp",
        "200\n{\"resource\":\"BASE/mcp\",\"authorization_servers\":[\"BASE/as\"]}",
    ),
    (
        "GET /.well-known/oauth-authorization-server/as",
        "200\n{\"issuer\":\"BASE/as\",\"authorization_endpoint\":\"BASE/as/authorize\",\"token_endpoint\":\"BASE/as/token\",\
         \"registration_endpoint\":\"BASE/as/register\",\"code_challenge_methods_supported\":[\"S256\"]}",
    ),
    ("POST /as/register", "201\n{\"client_id\":\"c1\"}"),
    (
        "POST /as/token",
        "200\n{\"access_token\":\"a1\",\"token_type\":\"Bearer\",\"expires_in\":3600,\"refresh_token\":\"r1\"}",
    ),
];

/// A person who always agrees.
pub(crate) struct Person {
    /// The logins that were opened.
    pub(crate) opened: Mutex<Vec<Url>>,
    /// Where the answers go.
    pub(crate) redirect_uri: String,
    /// What comes back beside the state.
    pub(crate) answer: Mutex<String>,
}

impl Person {
    pub(crate) fn new() -> Arc<Self> {
        Self::at("http://127.0.0.1:3118/callback")
    }

    pub(crate) fn at(redirect_uri: &str) -> Arc<Self> {
        Arc::new(Self {
            opened: Mutex::default(),
            redirect_uri: redirect_uri.to_owned(),
            answer: Mutex::new("code=x1".to_owned()),
        })
    }

    /// What the last login asked for.
    pub(crate) fn asked_for(&self, name: &str) -> Option<String> {
        let opened = self.opened.lock().unwrap();
        let value = opened.last()?.query_pairs().find(|(own, _)| own == name)?.1.into_owned();
        Some(value)
    }

    pub(crate) fn logins(&self) -> usize {
        self.opened.lock().unwrap().len()
    }
}

/// The browser of a person.
pub(crate) struct Window(pub(crate) Arc<Person>);

impl Browser for Window {
    fn prepare<'a>(&'a self, _: Option<&'a str>) -> BoxFuture<'a, Result<Box<dyn Visit>, String>> {
        let visit: Box<dyn Visit> = Box::new(Self(self.0.clone()));
        Box::pin(async { Ok(visit) })
    }
}

impl Visit for Window {
    fn redirect_uri(&self) -> &str {
        &self.0.redirect_uri
    }

    fn go(self: Box<Self>, url: Url) -> BoxFuture<'static, Result<String, String>> {
        self.0.opened.lock().unwrap().push(url);
        let (state, answer) = (self.0.asked_for("state").unwrap(), self.0.answer.lock().unwrap().clone());
        Box::pin(async move { Ok(format!("{answer}&state={state}")) })
    }
}

/// The time of day, moved by hand.
#[derive(Clone, Default)]
pub(crate) struct Clock(Arc<AtomicU64>);

impl Clock {
    pub(crate) fn advance(&self, seconds: u64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }
}

/// What one client of the fake is made of.
pub(crate) struct World {
    pub(crate) fake: Fake,
    pub(crate) person: Arc<Person>,
    pub(crate) store: Arc<CredentialStore>,
    pub(crate) clock: Clock,
    pub(crate) notes: Arc<Mutex<Vec<Note>>>,
}

impl World {
    pub(crate) async fn new(answers: &[(&str, &str)]) -> Self {
        Self {
            fake: Fake::start(answers).await,
            person: Person::new(),
            store: Arc::new(CredentialStore::memory()),
            clock: Clock::default(),
            notes: Arc::default(),
        }
    }

    pub(crate) fn server(&self) -> Url {
        Url::parse(&format!("{}/mcp", self.fake.base)).unwrap()
    }

    pub(crate) fn options(&self) -> OAuthOptions {
        let (clock, notes) = (self.clock.0.clone(), self.notes.clone());
        let http = HttpClient::new(HttpOptions::default());
        OAuthOptions {
            reach: Reach { http, server: self.server(), trusted_hosts: Vec::new() },
            store: self.store.clone(),
            grant: Grant::Person(Some(Arc::new(Window(self.person.clone())))),
            issuer: None,
            now: Arc::new(move || clock.load(Ordering::SeqCst)),
            client_name: "Surehand".to_owned(),
            pre_registered: None,
            client_document: None,
            scopes: Vec::new(),
            offline: true,
            login_hint: "surehand mcp login h".to_owned(),
            on_note: Some(Arc::new(move |note| notes.lock().unwrap().push(note))),
        }
    }

    pub(crate) fn client(&self) -> OAuth {
        OAuth::new(self.options())
    }

    /// The `Authorization` that the next request would carry.
    pub(crate) async fn shown(&self, oauth: &OAuth) -> Result<Option<String>, String> {
        let credentials = oauth.headers(&Method::POST, &self.server()).await?;
        Ok(credentials.first().map(|(_, value)| value.expose().clone()))
    }

    /// The server refuses a request that carried `presented`.
    pub(crate) async fn refuse(
        &self,
        oauth: &OAuth,
        status: u16,
        challenge: &str,
        presented: Option<&str>,
        refused_before: usize,
    ) -> Result<Retry, String> {
        let challenge = Challenge {
            status,
            authenticate: vec![challenge.replace("BASE", &self.fake.base)],
            nonce: None,
            refused_before,
            presented: presented
                .map(|value| ("Authorization".to_owned(), Secret::new(value.to_owned())))
                .into_iter()
                .collect(),
        };
        let answer = oauth.challenged(challenge).await;
        answer.map_err(|words| words.replace(&self.fake.base, "BASE"))
    }

    /// The server wants a login of one who shows nothing.
    pub(crate) async fn challenge(&self, oauth: &OAuth, challenge: &str) -> Result<Retry, String> {
        self.refuse(oauth, 401, challenge, None, 0).await
    }
}
