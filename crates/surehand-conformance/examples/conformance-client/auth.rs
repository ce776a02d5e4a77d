use std::error::Error;
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;
use surehand_auth::{
    Browser, ClientAuthentication, ClientIdentity, CredentialStore, Grant, IdentityProvider, OAuth,
    OAuthOptions, PreRegistered, Reach, SigningKey, Visit,
};
use surehand_conformance::Assignment;
use surehand_mcp::BoxFuture;
use surehand_model::Secret;
use surehand_transport::{Authorizer, HttpClient, HttpRequest, Redirects};
use url::Url;

/// Where the answers to logins would go. Nobody listens there: the suite's server says yes at once, and its redirect is read.
const REDIRECT_URI: &str = "http://127.0.0.1:3118/callback";
/// The description that the suite expects of a client known by one.
const DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";

/// Brings the tokens for the scenarios about them.
pub(crate) fn authorizer(
    assignment: &Assignment,
    http: &HttpClient,
) -> Result<Option<Arc<dyn Authorizer>>, Box<dyn Error>> {
    let Some(name) = assignment.scenario.strip_prefix("auth/") else { return Ok(None) };
    let given = Given::read(assignment)?;
    let browser: Arc<dyn Browser> = Arc::new(Obedient { http: http.clone() });
    let mut grant = Grant::Person(Some(browser));
    let mut pre_registered = None;
    match name {
        "pre-registration" => {
            pre_registered = Some(PreRegistered {
                issuer: given.optional("issuer"),
                client_id: given.text("client_id")?,
                client_secret: given.optional("client_secret").map(Secret::new),
            });
        }
        "client-credentials-basic" => grant = Grant::Client(given.client()?),
        "client-credentials-jwt" => {
            let key = SigningKey::from_pem(&given.text("private_key_pem")?)?;
            grant = Grant::SignedClient { client_id: given.text("client_id")?, key: Arc::new(key) };
        }
        "enterprise-managed-authorization" | "cross-app-access-complete-flow" => {
            let id_token = Secret::new(given.text("idp_id_token")?);
            let provider = IdentityProvider {
                token_endpoint: Url::parse(&given.text("idp_token_endpoint")?)?,
                client: ClientIdentity::public(given.text("idp_client_id")?),
                id_token: Arc::new(move || Ok(id_token.clone())),
            };
            grant = Grant::Enterprise { identity: given.client()?, provider };
        }
        "wif-jwt-bearer" => {
            let token = Secret::new(given.text("valid_jwt")?);
            let client_id = given.text("client_id")?;
            grant = Grant::Workload { client_id, token: Arc::new(move || Ok(token.clone())) };
        }
        _ => {}
    }
    Ok(Some(Arc::new(OAuth::new(OAuthOptions {
        reach: Reach { http: http.clone(), server: assignment.url.clone(), trusted_hosts: Vec::new() },
        store: Arc::new(CredentialStore::memory()),
        grant,
        issuer: None,
        now: Arc::new(now),
        client_name: "Surehand conformance client".to_owned(),
        pre_registered,
        // Elsewhere registrations are looked at, which a description would take the place of.
        client_document: (name == "basic-cimd").then(|| Url::parse(DOCUMENT)).transpose()?,
        scopes: Vec::new(),
        offline: true,
        login_hint: String::new(),
        on_note: None,
    }))))
}

/// What the suite hands out for the scenario.
struct Given(Value);

impl Given {
    fn read(assignment: &Assignment) -> Result<Self, Box<dyn Error>> {
        let context = assignment.context.as_ref();
        Ok(Self(
            context.map(|context| serde_json::from_str(context.as_str())).transpose()?.unwrap_or_default(),
        ))
    }

    fn optional(&self, name: &str) -> Option<String> {
        self.0.get(name).and_then(Value::as_str).map(str::to_owned)
    }

    fn text(&self, name: &str) -> Result<String, Box<dyn Error>> {
        self.optional(name).ok_or_else(|| format!("the suite gives no `{name}`").into())
    }

    fn client(&self) -> Result<ClientIdentity, Box<dyn Error>> {
        Ok(ClientIdentity {
            client_id: self.text("client_id")?,
            secret: Some(Secret::new(self.text("client_secret")?)),
            method: ClientAuthentication::Basic,
        })
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place from which the clock is handed on as a value")]
fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// Opens a login and reads where it sends the person.
struct Obedient {
    http: HttpClient,
}

impl Browser for Obedient {
    fn prepare<'a>(&'a self, _: Option<&'a str>) -> BoxFuture<'a, Result<Box<dyn Visit>, String>> {
        let visit: Box<dyn Visit> = Box::new(Self { http: self.http.clone() });
        Box::pin(async { Ok(visit) })
    }
}

impl Visit for Obedient {
    fn redirect_uri(&self) -> &str {
        REDIRECT_URI
    }

    fn go(self: Box<Self>, url: Url) -> BoxFuture<'static, Result<String, String>> {
        Box::pin(async move {
            let request = HttpRequest { redirects: Redirects::HandBack, ..HttpRequest::get(url) };
            let response = self.http.send(request).await.map_err(|error| error.to_string())?;
            let location = response.header("location").and_then(|location| Url::parse(location).ok());
            let query = location.and_then(|location| location.query().map(str::to_owned));
            query.ok_or_else(|| format!("the login answers HTTP {} and leads nowhere", response.status))
        })
    }
}
