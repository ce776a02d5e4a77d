use std::fmt;
use std::sync::Arc;

use surehand_model::Secret;
use surehand_transport::Credentials;
use url::Url;

use crate::assertion::{ClientAssertion, assertion_fields, client_credentials_form};
use crate::browser::Browser;
use crate::discovery::Discovery;
use crate::error::AuthError;
use crate::exchange::{GrantWish, SubjectToken, grant_form, jwt_bearer_form, parse_grant};
use crate::identity::{ClientIdentity, Form};
use crate::jose::SigningKey;
use crate::random::identifier;
use crate::reach::Reach;
use crate::tokens::TokenRefusal;

/// How long a signed assertion may be shown, in seconds.
const ASSERTION_LIFETIME: u64 = 300;

/// Gives the token of the moment; an error is in words.
pub type TokenSource = Arc<dyn Fn() -> Result<Secret<String>, String> + Send + Sync>;

/// What tokens are given for.
#[derive(Clone)]
pub enum Grant {
    /// A person logs in. Without a browser nobody can, and only tokens that are kept already are of use.
    Person(Option<Arc<dyn Browser>>),
    /// The client itself, by its secret (MCP extension "OAuth client credentials").
    Client(ClientIdentity),
    /// The client itself, by its signature (`private_key_jwt`).
    SignedClient {
        /// Who it is.
        client_id: String,
        /// What it signs with.
        key: Arc<SigningKey>,
    },
    /// A workload, by the token that its platform gave it (MCP extension "Workload identity federation").
    Workload {
        /// Who it is.
        client_id: String,
        /// What the platform gave it.
        token: TokenSource,
    },
    /// A person whom the identity provider of their company vouches for (MCP extension "Enterprise-managed authorization").
    Enterprise {
        /// Who we are to the server's authorization server.
        identity: ClientIdentity,
        /// Who vouches.
        provider: IdentityProvider,
    },
}

/// The identity provider of a company, and a person's login there.
#[derive(Clone)]
pub struct IdentityProvider {
    /// Where it exchanges tokens. Named by the user, so it may be anywhere.
    pub token_endpoint: Url,
    /// Who we are to it.
    pub client: ClientIdentity,
    /// The person's ID token.
    pub id_token: TokenSource,
}

/// Says which, and nothing of what is in it.
impl fmt::Debug for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Person(_) => "Person",
            Self::Client(_) => "Client",
            Self::SignedClient { .. } => "SignedClient",
            Self::Workload { .. } => "Workload",
            Self::Enterprise { .. } => "Enterprise",
        })
    }
}

/// A token request without a person: what it asks, how it shows who asks, and who that is.
pub(crate) struct Request {
    pub(crate) form: Form,
    pub(crate) shown: (Credentials, Form),
    pub(crate) identity: ClientIdentity,
}

impl Grant {
    /// The request of a grant that needs no person; `None` for one that does.
    pub(crate) async fn request(
        &self,
        reach: &Reach,
        discovery: &Discovery,
        scopes: &[String],
        now: u64,
    ) -> Result<Option<Request>, AuthError> {
        let resource = discovery.resource.as_deref();
        let by = |form: Form, identity: &ClientIdentity| {
            let identity = identity.clone().fit_for(&discovery.server);
            Request { form, shown: identity.show(), identity }
        };
        Ok(Some(match self {
            Self::Person(_) => return Ok(None),
            Self::Client(identity) => by(client_credentials_form(scopes, resource), identity),
            Self::SignedClient { client_id, key } => {
                let id = identifier()?;
                let assertion = ClientAssertion {
                    client_id,
                    issuer: &discovery.issuer,
                    now,
                    lifetime: ASSERTION_LIFETIME,
                    id: &id,
                };
                let signed = assertion.sign(key).map_err(|error| AuthError::Key(error.to_string()))?;
                Request {
                    form: client_credentials_form(scopes, resource),
                    shown: (Vec::new(), assertion_fields(client_id, signed)),
                    identity: ClientIdentity::public(client_id.clone()),
                }
            }
            Self::Workload { client_id, token } => {
                let token = token().map_err(AuthError::Key)?;
                by(jwt_bearer_form(&token, scopes, resource), &ClientIdentity::public(client_id.clone()))
            }
            Self::Enterprise { identity, provider } => {
                let grant = provider.vouch(reach, discovery, scopes).await?;
                by(jwt_bearer_form(&grant, scopes, resource), identity)
            }
        }))
    }
}

impl IdentityProvider {
    async fn vouch(
        &self,
        reach: &Reach,
        discovery: &Discovery,
        scopes: &[String],
    ) -> Result<Secret<String>, AuthError> {
        let resource = discovery.resource.clone().unwrap_or_else(|| reach.server.to_string());
        let id_token = (self.id_token)().map_err(AuthError::Key)?;
        let wish = GrantWish {
            subject: SubjectToken::IdToken(&id_token),
            audience: &discovery.issuer,
            resource: &resource,
            scopes,
        };
        let (headers, fields) = self.client.show();
        let mut form = grant_form(&wish);
        form.extend(fields);
        // The user named it.
        let reach = Reach { server: self.token_endpoint.clone(), ..reach.clone() };
        let answer = reach.post_form("identity provider", &self.token_endpoint, headers, &form).await?;
        parse_grant(answer.status, &answer.body)
            .map_err(|refusal| explain(refusal, "identity provider", self.token_endpoint.as_str()))
    }
}

/// A refusal as an error.
pub(crate) fn explain(refusal: TokenRefusal, what: &'static str, issuer: &str) -> AuthError {
    let issuer = issuer.to_owned();
    let refused = |issuer: String, error: &str, description: String| AuthError::Refused {
        what,
        issuer,
        error: error.to_owned(),
        description,
    };
    match refusal {
        TokenRefusal::Grant(words) => refused(issuer, "invalid_grant", words),
        TokenRefusal::Client(words) => refused(issuer, "invalid_client", words),
        TokenRefusal::Other(error, words) => refused(issuer, &error, words),
        TokenRefusal::Busy(why) => AuthError::Busy { what, issuer, why },
        TokenRefusal::Unusable(why) => AuthError::Unusable { what, issuer, why },
        TokenRefusal::Nonce => {
            AuthError::Unusable { what, issuer, why: "it asks for another nonce again and again".to_owned() }
        }
    }
}
