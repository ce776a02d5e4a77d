use std::time::Duration;

use bytes::Bytes;
use surehand_model::Secret;
use surehand_transport::{AddressGuard, Credentials, HttpClient, HttpRequest, Redirects, is_loopback_host};
use url::Url;

use crate::error::AuthError;
use crate::identity::Form;
use crate::metadata::origin_text;
use crate::tokens::encode_form;

/// How long the other side may be silent.
const PATIENCE: Duration = Duration::from_secs(30);
/// The most that is read of an answer.
const ANSWER_LIMIT: usize = 256 * 1024;

/// Asks others on the way to a token.
///
/// The server's address comes from the user; every other one comes from the server or from whom it named. Those must be https,
/// or on this machine where the server is too, and lead to public addresses, unless the user trusts their host.
#[derive(Clone, Debug)]
pub struct Reach {
    /// The client for outgoing HTTP.
    pub http: HttpClient,
    /// The server that a token is wanted for.
    pub server: Url,
    /// Hosts that may be private, and may be reached without encryption.
    pub trusted_hosts: Vec<String>,
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The value of `DPoP-Nonce`.
    pub nonce: Option<String>,
    /// The start of the body, at most 256 KiB.
    pub body: Vec<u8>,
}

impl Reach {
    /// Which addresses `url` may lead to.
    ///
    /// # Errors
    ///
    /// [`AuthError::Insecure`] where it must not be used at all.
    pub fn guard(&self, what: &'static str, url: &Url) -> Result<AddressGuard, AuthError> {
        let is_trusted = url.host_str().is_some_and(|host| self.trusted_hosts.iter().any(|own| own == host));
        if url.origin() == self.server.origin() || (is_trusted && matches!(url.scheme(), "http" | "https")) {
            return Ok(AddressGuard::Anywhere);
        }
        let is_local = is_loopback_host(url) && is_loopback_host(&self.server);
        match url.scheme() {
            "https" | "http" if is_local => Ok(AddressGuard::Anywhere),
            "https" => Ok(AddressGuard::PublicOnly),
            _ => Err(AuthError::Insecure { what, url: shown(url) }),
        }
    }

    /// Reads a document.
    ///
    /// # Errors
    ///
    /// [`AuthError::Insecure`], [`AuthError::Http`].
    pub async fn get(&self, what: &'static str, url: &Url) -> Result<Answer, AuthError> {
        let guard = self.guard(what, url)?;
        let request = HttpRequest { guard, ..HttpRequest::get(url.clone()) };
        self.send(request.header("Accept", "application/json")).await
    }

    /// Sends JSON. Nobody but who is asked gets to see it.
    ///
    /// # Errors
    ///
    /// [`AuthError::Insecure`], [`AuthError::Http`].
    pub async fn post_json(&self, what: &'static str, url: &Url, body: String) -> Result<Answer, AuthError> {
        self.post(what, url, "application/json", Vec::new(), body).await
    }

    /// Sends a form. Nobody but who is asked gets to see it.
    ///
    /// # Errors
    ///
    /// [`AuthError::Insecure`], [`AuthError::Http`].
    pub async fn post_form(
        &self,
        what: &'static str,
        url: &Url,
        headers: Credentials,
        form: &Form,
    ) -> Result<Answer, AuthError> {
        self.post(what, url, "application/x-www-form-urlencoded", headers, encode_form(form)).await
    }

    async fn post(
        &self,
        what: &'static str,
        url: &Url,
        media_type: &str,
        headers: Credentials,
        body: impl Into<Bytes>,
    ) -> Result<Answer, AuthError> {
        let guard = self.guard(what, url)?;
        let request =
            HttpRequest { guard, redirects: Redirects::HandBack, ..HttpRequest::post(url.clone(), body) };
        let request = request.header("Accept", "application/json").header("Content-Type", media_type);
        self.send(request.headers(headers)).await
    }

    async fn send(&self, request: HttpRequest) -> Result<Answer, AuthError> {
        let request = HttpRequest { idle_timeout: Some(PATIENCE), ..request };
        let response = self.http.send(request).await?;
        let (status, nonce) = (response.status, response.header("dpop-nonce").map(str::to_owned));
        Ok(Answer { status, nonce, body: response.collect(ANSWER_LIMIT).await? })
    }
}

/// An address for people: without user, password and query.
pub(crate) fn shown(url: &Url) -> String {
    match url.host() {
        Some(_) => format!("{}{}", origin_text(url), url.path()),
        None => format!("{}:", url.scheme()),
    }
}

/// A field of a form.
pub(crate) fn push(form: &mut Form, name: &str, value: &str) {
    form.push((name.to_owned(), Secret::new(value.to_owned())));
}

#[cfg(test)]
mod tests {
    use surehand_transport::HttpOptions;

    use super::*;

    #[test]
    fn what_the_user_did_not_name_must_be_https_and_public_or_on_this_machine_beside_the_server() {
        use AddressGuard::{Anywhere, PublicOnly};
        let reach = |server: &str| Reach {
            http: HttpClient::new(HttpOptions::default()),
            server: Url::parse(server).unwrap(),
            trusted_hosts: vec!["login.corp.example".to_owned()],
        };
        let remote = "https://h.example/mcp";
        let local = "http://127.0.0.1:3000/mcp";
        let private = "http://10.0.0.5/mcp";
        let cases = [
            (remote, "https://a.example/token", Some(PublicOnly)),
            (remote, "https://h.example/token", Some(Anywhere)),
            (remote, "http://h.example/token", None),
            (remote, "http://a.example/token", None),
            (remote, "http://127.0.0.1:9/token", None),
            (remote, "https://127.0.0.1:9/token", Some(PublicOnly)),
            (remote, "http://login.corp.example/token", Some(Anywhere)),
            (remote, "file:///etc/passwd", None),
            (local, "http://localhost:3001/token", Some(Anywhere)),
            (local, "https://a.example/token", Some(PublicOnly)),
            (local, "http://10.0.0.5/token", None),
            (private, "http://10.0.0.5/token", Some(Anywhere)),
            (private, "http://10.0.0.6/token", None),
            (private, "http://127.0.0.1/token", None),
        ];
        for (server, url, wanted) in cases {
            let guard = reach(server).guard("token endpoint", &Url::parse(url).unwrap());
            assert_eq!(guard.ok(), wanted, "{server} {url}");
        }
    }
}
