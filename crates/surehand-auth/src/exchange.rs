//! Tokens for somebody whom another server vouches for.
//!
//! A company's identity provider exchanges a person's ID token for a grant (ID-JAG) to one authorization server, which gives a
//! token for it (RFC 8693 and 7523, MCP extension "Enterprise-managed authorization"). A workload shows the token that its
//! platform gave it at once (MCP extension "Workload identity federation").

use serde_json::Value;
use surehand_model::Secret;

use crate::assertion::{field, push_target};
use crate::identity::Form;
use crate::tokens::{TokenRefusal, parse_tokens};

const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";

/// What a person's login is shown with to the identity provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubjectToken<'a> {
    /// An ID token of OpenID Connect.
    IdToken(&'a Secret<String>),
    /// A refresh token of the identity provider, for when the ID token is over.
    RefreshToken(&'a Secret<String>),
    /// An assertion of SAML 2.0, in base64url.
    Saml2(&'a Secret<String>),
}

/// What the grant is to be good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrantWish<'a> {
    /// Who the person is.
    pub subject: SubjectToken<'a>,
    /// The issuer of the authorization server that will take the grant.
    pub audience: &'a str,
    /// The MCP server, as its metadata name it.
    pub resource: &'a str,
    /// The scopes to ask for, possibly none.
    pub scopes: &'a [String],
}

/// The fields that ask the identity provider for a grant.
pub fn grant_form(wish: &GrantWish<'_>) -> Form {
    let (kind, subject) = match wish.subject {
        SubjectToken::IdToken(token) => ("urn:ietf:params:oauth:token-type:id_token", token),
        SubjectToken::RefreshToken(token) => ("urn:ietf:params:oauth:token-type:refresh_token", token),
        SubjectToken::Saml2(token) => ("urn:ietf:params:oauth:token-type:saml2", token),
    };
    let mut form = vec![
        field("grant_type", TOKEN_EXCHANGE),
        field("requested_token_type", ID_JAG),
        field("audience", wish.audience),
        ("subject_token".to_owned(), subject.clone()),
        field("subject_token_type", kind),
    ];
    push_target(&mut form, wish.scopes, Some(wish.resource));
    form
}

/// Reads what the identity provider gave. It calls the grant `access_token`, which it is not (RFC 8693, section 2.2.1).
///
/// # Errors
///
/// [`TokenRefusal`], also where it gave another kind of token.
pub fn parse_grant(status: u16, body: &[u8]) -> Result<Secret<String>, TokenRefusal> {
    let tokens = parse_tokens(status, body, 0)?;
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let kind = body.get("issued_token_type").and_then(Value::as_str);
    if kind != Some(ID_JAG) {
        let kind = kind.unwrap_or("nothing said of its kind");
        return Err(TokenRefusal::Unusable(format!("it gave another kind of token ({kind})")));
    }
    Ok(tokens.access_token)
}

/// The fields that turn a grant, or the token of a workload, into an access token. Without `scopes` and `resource` the grant's own
/// hold.
pub fn jwt_bearer_form(assertion: &Secret<String>, scopes: &[String], resource: Option<&str>) -> Form {
    let mut form = vec![field("grant_type", JWT_BEARER), ("assertion".to_owned(), assertion.clone())];
    push_target(&mut form, scopes, resource);
    form
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_is_asked_for_by_audience_and_resource() {
        let token = Secret::new("id".to_owned());
        let wish = GrantWish {
            subject: SubjectToken::IdToken(&token),
            audience: "https://as.example",
            resource: "https://h.example/mcp",
            scopes: &["a".to_owned()],
        };
        assert_eq!(
            grant_form(&wish),
            [
                field("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
                field("requested_token_type", "urn:ietf:params:oauth:token-type:id-jag"),
                field("audience", "https://as.example"),
                field("subject_token", "id"),
                field("subject_token_type", "urn:ietf:params:oauth:token-type:id_token"),
                field("scope", "a"),
                field("resource", "https://h.example/mcp"),
            ]
        );
        let kind = |subject| grant_form(&GrantWish { subject, ..wish })[4].1.expose().clone();
        let words = [SubjectToken::RefreshToken(&token), SubjectToken::Saml2(&token)].map(kind);
        assert_eq!(
            words,
            ["urn:ietf:params:oauth:token-type:refresh_token", "urn:ietf:params:oauth:token-type:saml2"]
        );
    }

    #[test]
    fn only_a_grant_is_taken_for_one() {
        let given = |status, body: &str| parse_grant(status, body.as_bytes());
        let jag = "urn:ietf:params:oauth:token-type:id-jag";
        let good = format!(r#"{{"access_token":"g","issued_token_type":"{jag}","token_type":"N_A"}}"#);
        assert_eq!(given(200, &good), Ok(Secret::new("g".to_owned())));
        let other = "urn:ietf:params:oauth:token-type:access_token";
        assert_eq!(
            given(200, &good.replace(jag, other)),
            Err(TokenRefusal::Unusable(format!("it gave another kind of token ({other})")))
        );
        let words = "it gave another kind of token (nothing said of its kind)".to_owned();
        let silent = r#"{"access_token":"g","token_type":"Bearer"}"#;
        assert_eq!(given(200, silent), Err(TokenRefusal::Unusable(words)));
        assert_eq!(given(400, r#"{"error":"invalid_grant"}"#), Err(TokenRefusal::Grant(String::new())));
    }

    #[test]
    fn an_assertion_is_turned_into_a_token_with_what_the_grant_says_unless_told_otherwise() {
        let assertion = Secret::new("j".to_owned());
        let bare =
            vec![field("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"), field("assertion", "j")];
        assert_eq!(jwt_bearer_form(&assertion, &[], None), bare);
        let full = jwt_bearer_form(&assertion, &["a".to_owned()], Some("https://h.example/mcp"));
        let rest = [field("scope", "a"), field("resource", "https://h.example/mcp")];
        assert_eq!(full, [bare, rest.to_vec()].concat());
    }
}
