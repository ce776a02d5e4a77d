use serde_json::{Value, json};
use surehand_model::Secret;

use crate::identity::{ClientAuthentication, ClientIdentity};
use crate::metadata::ServerMetadata;

/// The body of a request to be registered. Sources: RFC 7591, section 2; MCP 2026-07-28, "Dynamic client registration".
pub fn registration_body(
    client_name: &str,
    redirect_uri: &str,
    scopes: &[String],
    metadata: &ServerMetadata,
) -> String {
    let mut grants = vec!["authorization_code"];
    if ServerMetadata::lists(metadata.grant_types_supported.as_ref(), "refresh_token", true) {
        grants.push("refresh_token");
    }
    let mut body = json!({
        "client_name": client_name,
        "redirect_uris": [redirect_uri],
        "grant_types": grants,
        "response_types": ["code"],
        "token_endpoint_auth_method": ClientAuthentication::wish(metadata).as_str(),
        "application_type": "native",
    });
    if !scopes.is_empty() {
        body["scope"] = Value::from(scopes.join(" "));
    }
    body.to_string()
}

/// Reads what a registration gave. Where it does not say how to show who we are, the metadata decide.
///
/// # Errors
///
/// What is wrong with it, in words.
pub fn parse_registration(text: &[u8], metadata: &ServerMetadata) -> Result<ClientIdentity, String> {
    let value: Value = serde_json::from_slice(text).map_err(|_| "it is no JSON".to_owned())?;
    let field = |name: &str| {
        value.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let client_id = field("client_id").ok_or("it has no `client_id`")?;
    let secret = field("client_secret").map(Secret::new);
    let method = match field("token_endpoint_auth_method") {
        None => ClientAuthentication::choose(secret.is_some(), metadata),
        Some(word) => ClientAuthentication::parse(&word)
            .ok_or_else(|| format!("it wants `{word}`, which a registered client here cannot do"))?,
    };
    if secret.is_none() && method != ClientAuthentication::None {
        return Err(format!("it wants `{}` and gives no secret", method.as_str()));
    }
    Ok(ClientIdentity { client_id, secret, method })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_registration_says_that_it_is_of_an_installed_program_and_wants_to_refresh() {
        let metadata = ServerMetadata {
            token_endpoint_auth_methods_supported: Some(vec!["client_secret_post".to_owned()]),
            ..ServerMetadata::default()
        };
        let scopes = ["a".to_owned(), "b".to_owned()];
        let body = registration_body("Surehand", "http://127.0.0.1:1/callback", &scopes, &metadata);
        assert_eq!(
            body,
            concat!(
                r#"{"client_name":"Surehand","redirect_uris":["http://127.0.0.1:1/callback"],"#,
                r#""grant_types":["authorization_code","refresh_token"],"response_types":["code"],"#,
                r#""token_endpoint_auth_method":"client_secret_post","application_type":"native","scope":"a b"}"#
            )
        );
        let metadata = ServerMetadata {
            grant_types_supported: Some(vec!["authorization_code".to_owned()]),
            ..ServerMetadata::default()
        };
        let body = registration_body("Surehand", "http://127.0.0.1:1/callback", &[], &metadata);
        assert!(
            body.contains(r#""grant_types":["authorization_code"],"#) && !body.contains("scope"),
            "{body}"
        );
    }

    #[test]
    fn what_a_registration_gives_is_taken_as_far_as_it_can_be_used() {
        let metadata = ServerMetadata::default();
        let parse = |text: &str| parse_registration(text.as_bytes(), &metadata);
        assert_eq!(parse(r#"{"client_id":"c","client_secret":""}"#), Ok(ClientIdentity::public("c")));
        let secret = Some(Secret::new("s".to_owned()));
        let with = |method| ClientIdentity { client_id: "c".to_owned(), secret: secret.clone(), method };
        assert_eq!(parse(r#"{"client_id":"c","client_secret":"s"}"#), Ok(with(ClientAuthentication::Basic)));
        assert_eq!(
            parse(r#"{"client_id":"c","client_secret":"s","token_endpoint_auth_method":"none"}"#),
            Ok(with(ClientAuthentication::None))
        );
        assert_eq!(parse("<html>"), Err("it is no JSON".to_owned()));
        assert_eq!(parse("{}"), Err("it has no `client_id`".to_owned()));
        assert_eq!(
            parse(r#"{"client_id":"c","token_endpoint_auth_method":"client_secret_basic"}"#),
            Err("it wants `client_secret_basic` and gives no secret".to_owned())
        );
    }
}
