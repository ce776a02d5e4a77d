//! A client that shows who it is by signing, and tokens for the client itself (RFC 7523; RFC 6749, section 4.4).

use serde_json::{Map, json};
use surehand_model::Secret;

use crate::identity::Form;
use crate::jose::{JoseError, SigningKey, sign_jws};

const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// What a client says of itself when it signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientAssertion<'a> {
    /// Who it is to the authorization server.
    pub client_id: &'a str,
    /// The issuer of the authorization server, and of no other: whoever gets an assertion could show it there.
    pub issuer: &'a str,
    /// In seconds since 1970.
    pub now: u64,
    /// How long it may be shown, in seconds; five minutes are plenty.
    pub lifetime: u64,
    /// Never used before.
    pub id: &'a str,
}

impl ClientAssertion<'_> {
    /// Signs it (`private_key_jwt`).
    ///
    /// # Errors
    ///
    /// [`JoseError::Randomness`].
    pub fn sign(&self, key: &SigningKey) -> Result<Secret<String>, JoseError> {
        let mut header = Map::new();
        header.insert("typ".to_owned(), "JWT".into());
        let claims = json!({
            "iss": self.client_id,
            "sub": self.client_id,
            "aud": self.issuer,
            "iat": self.now,
            "exp": self.now.saturating_add(self.lifetime),
            "jti": self.id,
        });
        sign_jws(key, header, claims.to_string().as_bytes()).map(Secret::new)
    }
}

/// The fields of a token request that show a signed assertion.
pub fn assertion_fields(client_id: &str, assertion: Secret<String>) -> Form {
    vec![
        field("client_id", client_id),
        field("client_assertion_type", ASSERTION_TYPE),
        ("client_assertion".to_owned(), assertion),
    ]
}

/// The fields that ask for a token for the client itself.
pub fn client_credentials_form(scopes: &[String], resource: Option<&str>) -> Form {
    let mut form = vec![field("grant_type", "client_credentials")];
    push_target(&mut form, scopes, resource);
    form
}

pub(crate) fn push_target(form: &mut Form, scopes: &[String], resource: Option<&str>) {
    if !scopes.is_empty() {
        form.push(field("scope", &scopes.join(" ")));
    }
    form.extend(resource.map(|resource| field("resource", resource)));
}

pub(crate) fn field(name: &str, value: &str) -> (String, Secret<String>) {
    (name.to_owned(), Secret::new(value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jose::{Algorithm, ClaimRules, Claims, Jws};

    #[test]
    fn an_assertion_is_from_and_about_the_client_and_for_one_server_and_a_short_time() {
        let key = SigningKey::from_pem(include_str!("jose/testdata/p256.pem")).unwrap();
        let issuer = "https://as.example";
        let said = ClientAssertion { client_id: "c", issuer, now: 1_000, lifetime: 300, id: "one" };
        let token = said.sign(&key).unwrap();
        let jws = Jws::parse(token.expose()).unwrap();
        assert_eq!(jws.typ.as_deref(), Some("JWT"));
        let claims = jws.verify([key.public_key()], &[Algorithm::Es256]).unwrap();
        let expected =
            r#"{"iss":"c","sub":"c","aud":"https://as.example","iat":1000,"exp":1300,"jti":"one"}"#;
        assert_eq!(String::from_utf8_lossy(&claims), expected);
        let audiences = [issuer.to_owned()];
        let rules = ClaimRules { issuer: "c", audiences: &audiences, now: 1_299, leeway: 0 };
        assert_eq!(Claims::parse(&claims).unwrap().check(&rules), Ok(()));
        assert_eq!(
            assertion_fields("c", token.clone()),
            [
                field("client_id", "c"),
                field("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
                ("client_assertion".to_owned(), token),
            ]
        );
    }

    #[test]
    fn a_token_for_the_client_itself_is_asked_for_with_scopes_and_resource_where_there_are_any() {
        let bare = client_credentials_form(&[], None);
        assert_eq!(bare, [field("grant_type", "client_credentials")]);
        let scopes = ["a".to_owned(), "b".to_owned()];
        assert_eq!(
            client_credentials_form(&scopes, Some("https://h.example/mcp")),
            [
                field("grant_type", "client_credentials"),
                field("scope", "a b"),
                field("resource", "https://h.example/mcp")
            ]
        );
    }
}
