use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use surehand_model::Secret;
use url::Url;

use crate::dpop::DpopKey;
use crate::identity::{ClientAuthentication, ClientIdentity};
use crate::jose::{JoseError, SigningKey};
use crate::store::Record;
use crate::tokens::Tokens;

/// Tokens, and all that is needed to use and to renew them.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) issuer: String,
    pub(crate) resource: Option<String>,
    pub(crate) token_endpoint: Url,
    pub(crate) identity: ClientIdentity,
    /// The scopes asked for, which need not be those given.
    pub(crate) asked: Vec<String>,
    pub(crate) tokens: Tokens,
    /// The key that bound tokens go with.
    pub(crate) key: Option<Arc<BoundKey>>,
    pub(crate) source: Source,
}

/// Where tokens come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Store,
    Refresh,
    /// A person, or a grant of our own.
    Grant,
}

/// A key for proofs, and the same for keeping.
#[derive(Debug)]
pub(crate) struct BoundKey {
    pub(crate) key: DpopKey,
    pkcs8: Secret<Vec<u8>>,
}

impl BoundKey {
    pub(crate) fn generate() -> Result<Self, JoseError> {
        let (key, pkcs8) = SigningKey::generate()?;
        Ok(Self { key: DpopKey::new(key), pkcs8 })
    }

    fn read(pkcs8: Vec<u8>) -> Result<Self, JoseError> {
        let key = DpopKey::new(SigningKey::from_pkcs8(&pkcs8)?);
        Ok(Self { key, pkcs8: Secret::new(pkcs8) })
    }
}

impl Held {
    /// The scopes that the tokens are good for, as far as is known.
    pub(crate) fn granted(&self) -> &[String] {
        self.tokens.scopes.as_deref().unwrap_or(&self.asked)
    }

    /// Whether the access token is over, or will be within half a minute.
    pub(crate) fn is_over(&self, now: u64) -> bool {
        self.tokens.expires_at.is_some_and(|end| end <= now.saturating_add(30))
    }

    /// The header that shows the access token.
    pub(crate) fn authorization(&self) -> String {
        let scheme = if self.tokens.is_bound { "DPoP" } else { "Bearer" };
        format!("{scheme} {}", self.tokens.access_token.expose())
    }

    pub(crate) fn write(&self) -> Secret<String> {
        let file = TokensFile {
            issuer: self.issuer.clone(),
            resource: self.resource.clone(),
            token_endpoint: self.token_endpoint.clone(),
            client: ClientFile::new(&self.identity, None),
            asked: self.asked.clone(),
            access_token: self.tokens.access_token.expose().clone(),
            is_bound: self.tokens.is_bound,
            expires_at: self.tokens.expires_at,
            refresh_token: self.tokens.refresh_token.as_ref().map(|token| token.expose().clone()),
            granted: self.tokens.scopes.clone(),
            key: self.key.as_ref().map(|key| STANDARD.encode(key.pkcs8.expose())),
        };
        // Texts, numbers and lists always become JSON.
        Secret::new(serde_json::to_string(&file).unwrap_or_default())
    }

    /// `None` where the text is of no use, which costs a login.
    pub(crate) fn read(text: &Secret<String>) -> Option<Self> {
        let file: TokensFile = serde_json::from_str(text.expose()).ok()?;
        let key = match file.key {
            Some(key) => Some(Arc::new(BoundKey::read(STANDARD.decode(key).ok()?).ok()?)),
            None => None,
        };
        Some(Self {
            issuer: file.issuer,
            resource: file.resource,
            token_endpoint: file.token_endpoint,
            identity: file.client.identity()?,
            asked: file.asked,
            tokens: Tokens {
                access_token: Secret::new(file.access_token),
                is_bound: file.is_bound,
                expires_at: file.expires_at,
                refresh_token: file.refresh_token.map(Secret::new),
                scopes: file.granted,
            },
            key,
            source: Source::Store,
        })
    }
}

#[derive(Serialize, Deserialize)]
struct TokensFile {
    issuer: String,
    resource: Option<String>,
    token_endpoint: Url,
    client: ClientFile,
    asked: Vec<String>,
    access_token: String,
    is_bound: bool,
    expires_at: Option<u64>,
    refresh_token: Option<String>,
    granted: Option<Vec<String>>,
    key: Option<String>,
}

/// A registration, as kept.
#[derive(Serialize, Deserialize)]
pub(crate) struct ClientFile {
    client_id: String,
    client_secret: Option<String>,
    method: String,
    /// The redirect address that it was made for.
    pub(crate) redirect_uri: Option<String>,
}

impl ClientFile {
    pub(crate) fn new(identity: &ClientIdentity, redirect_uri: Option<&str>) -> Self {
        Self {
            client_id: identity.client_id.clone(),
            client_secret: identity.secret.as_ref().map(|secret| secret.expose().clone()),
            method: identity.method.as_str().to_owned(),
            redirect_uri: redirect_uri.map(str::to_owned),
        }
    }

    pub(crate) fn write(&self) -> Secret<String> {
        // Texts always become JSON.
        Secret::new(serde_json::to_string(self).unwrap_or_default())
    }

    pub(crate) fn read(text: &Secret<String>) -> Option<Self> {
        serde_json::from_str(text.expose()).ok()
    }

    pub(crate) fn identity(&self) -> Option<ClientIdentity> {
        Some(ClientIdentity {
            client_id: self.client_id.clone(),
            secret: self.client_secret.clone().map(Secret::new),
            method: ClientAuthentication::parse(&self.method)?,
        })
    }
}

/// Who gives tokens for a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ServerFile {
    pub(crate) url: String,
    pub(crate) issuer: String,
    pub(crate) resource: Option<String>,
}

impl ServerFile {
    /// Where the tokens are kept.
    pub(crate) fn tokens(&self) -> Record<'_> {
        Record::Tokens(&self.issuer, self.resource.as_deref().unwrap_or(&self.url))
    }

    pub(crate) fn write(&self) -> Secret<String> {
        // Texts always become JSON.
        Secret::new(serde_json::to_string(self).unwrap_or_default())
    }

    pub(crate) fn read(text: &Secret<String>) -> Option<Self> {
        serde_json::from_str(text.expose()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_kept_whole_with_their_key() {
        let held = Held {
            issuer: "https://a.example".to_owned(),
            resource: Some("https://h.example".to_owned()),
            token_endpoint: Url::parse("https://a.example/token").unwrap(),
            identity: ClientIdentity {
                client_id: "c".to_owned(),
                secret: Some(Secret::new("s".to_owned())),
                method: ClientAuthentication::Post,
            },
            asked: vec!["a".to_owned()],
            tokens: Tokens {
                access_token: Secret::new("t".to_owned()),
                is_bound: true,
                expires_at: Some(100),
                refresh_token: Some(Secret::new("r".to_owned())),
                scopes: None,
            },
            key: Some(Arc::new(BoundKey::generate().unwrap())),
            source: Source::Grant,
        };
        let read = Held::read(&held.write()).unwrap();
        assert_eq!(read.write(), held.write());
        assert_eq!(
            (&read.identity, &read.tokens, read.source),
            (&held.identity, &held.tokens, Source::Store)
        );
        assert_eq!(read.key.unwrap().key.thumbprint(), held.key.unwrap().key.thumbprint());
        assert!(Held::read(&Secret::new("{}".to_owned())).is_none());
    }
}
