use surehand_model::Secret;
use url::{Url, form_urlencoded};

use crate::error::AuthError;
use crate::scopes::OFFLINE;
use crate::tokens::excerpt;

/// A login that is about to be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorizationRequest<'a> {
    /// Where a person grants access.
    pub endpoint: &'a Url,
    /// Who asks.
    pub client_id: &'a str,
    /// Where the answer goes, byte for byte as registered.
    pub redirect_uri: &'a str,
    /// What is asked for; possibly empty.
    pub scopes: &'a [String],
    /// What it is for (RFC 8707), byte for byte as the server's metadata say.
    pub resource: Option<&'a str>,
    /// Comes back with the answer.
    pub state: &'a str,
    /// The hash of what redeems the code.
    pub challenge: &'a str,
}

impl AuthorizationRequest<'_> {
    /// The address to open. Parameters that the endpoint already has stay.
    pub fn url(&self) -> Url {
        let mut url = self.endpoint.clone();
        {
            let mut query = url.query_pairs_mut();
            query
                .append_pair("response_type", "code")
                .append_pair("client_id", self.client_id)
                .append_pair("redirect_uri", self.redirect_uri)
                .append_pair("state", self.state)
                .append_pair("code_challenge", self.challenge)
                .append_pair("code_challenge_method", "S256");
            if !self.scopes.is_empty() {
                query.append_pair("scope", &self.scopes.join(" "));
            }
            if let Some(resource) = self.resource {
                query.append_pair("resource", resource);
            }
            // Without it a refresh token is not given to whoever has agreed before (OpenID Connect Core, section 11).
            if self.scopes.iter().any(|scope| scope == OFFLINE) {
                query.append_pair("prompt", "consent");
            }
        }
        url
    }
}

/// What the answer to a login must say to be ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected<'a> {
    /// What was sent along.
    pub state: &'a str,
    /// Who was asked, byte for byte as its metadata say.
    pub issuer: &'a str,
    /// Whether its metadata promise that it says who it is.
    pub names_itself: bool,
}

/// Takes the code out of the query of a redirect.
///
/// # Errors
///
/// [`AuthError::WrongState`] and [`AuthError::WrongIssuer`] before anything else is looked at, then [`AuthError::Denied`].
///
/// Sources: RFC 6749, section 4.1.2; RFC 9207, section 2.4, with issuers compared as text.
pub fn read_redirect(query: &str, expected: Expected<'_>) -> Result<Secret<String>, AuthError> {
    let field = |wanted: &str| {
        form_urlencoded::parse(query.as_bytes())
            .find(|(name, _)| name == wanted)
            .map(|(_, value)| value.into_owned())
    };
    if field("state").as_deref() != Some(expected.state) {
        return Err(AuthError::WrongState);
    }
    let found = field("iss");
    let is_right = match &found {
        Some(found) => found == expected.issuer,
        None => !expected.names_itself,
    };
    if !is_right {
        return Err(AuthError::WrongIssuer { expected: expected.issuer.to_owned(), found });
    }
    if let Some(error) = field("error") {
        let description = excerpt(&field("error_description").unwrap_or_default());
        return Err(AuthError::Denied { error: excerpt(&error), description });
    }
    let code = field("code").filter(|code| !code.is_empty()).map(Secret::new);
    code.ok_or_else(|| AuthError::Unusable {
        what: "authorization endpoint",
        issuer: expected.issuer.to_owned(),
        why: "its answer has neither a code nor an error".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_says_who_asks_for_what_and_how_the_code_is_bound() {
        let endpoint = Url::parse("https://a.example/authorize?tenant=1").unwrap();
        let scopes = ["a".to_owned(), "offline_access".to_owned()];
        let request = AuthorizationRequest {
            endpoint: &endpoint,
            client_id: "c",
            redirect_uri: "http://127.0.0.1:1/callback",
            scopes: &scopes,
            resource: Some("https://h.example"),
            state: "s",
            challenge: "h",
        };
        assert_eq!(
            request.url().as_str(),
            concat!(
                "https://a.example/authorize?tenant=1&response_type=code&client_id=c",
                "&redirect_uri=http%3A%2F%2F127.0.0.1%3A1%2Fcallback&state=s&code_challenge=h&code_challenge_method=S256",
                "&scope=a+offline_access&resource=https%3A%2F%2Fh.example&prompt=consent"
            )
        );
        let bare = AuthorizationRequest { scopes: &[], resource: None, ..request }.url();
        assert!(!bare.as_str().contains("scope") && !bare.as_str().contains("resource"), "{bare}");
    }

    #[test]
    fn an_answer_counts_only_with_the_right_state_and_the_right_issuer() {
        let read = |query: &str, names_itself| {
            let expected = Expected { state: "ok", issuer: "https://a.example", names_itself };
            read_redirect(query, expected)
                .map(|code| code.expose().clone())
                .map_err(|error| error.to_string())
        };
        let foreign = |found: &str| {
            Err(format!(
                "the answer to the login says that it is of {found}, and `https://a.example` was asked"
            ))
        };
        let wrong_state = Err(AuthError::WrongState.to_string());
        let cases = [
            ("code=x&state=ok", false, Ok("x".to_owned())),
            ("code=x&state=ok&iss=https%3A%2F%2Fa.example", false, Ok("x".to_owned())),
            ("code=x&state=ok&iss=https%3A%2F%2Fa.example", true, Ok("x".to_owned())),
            ("code=x&state=ok", true, foreign("nobody")),
            ("code=x&state=ok&iss=https%3A%2F%2Fa.example%2F", true, foreign("`https://a.example/`")),
            ("code=x&state=ok&iss=https%3A%2F%2Fevil.example", false, foreign("`https://evil.example`")),
            ("error=access_denied&state=ok&iss=https://evil.example", false, foreign("`https://evil.example`")),
            ("code=x&state=WRONG", false, wrong_state.clone()),
            ("code=x", false, wrong_state.clone()),
            ("error=access_denied&state=WRONG", false, wrong_state),
            (
                "error=access_denied&error_description=no+way&state=ok",
                false,
                Err("the login was refused: `access_denied` (no way)".to_owned()),
            ),
            (
                "state=ok",
                false,
                Err("the authorization endpoint of `https://a.example` gave no usable answer: its answer has neither a code nor \
                     an error"
                    .to_owned()),
            ),
        ];
        for (query, names_itself, wanted) in cases {
            assert_eq!(read(query, names_itself), wanted, "{query} {names_itself}");
        }
    }
}
