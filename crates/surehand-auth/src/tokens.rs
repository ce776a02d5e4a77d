use serde_json::Value;
use surehand_model::Secret;
use url::form_urlencoded::{self, Serializer};

use crate::identity::Form;

/// What a token endpoint gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tokens {
    /// Shown to the server with each request.
    pub access_token: Secret<String>,
    /// Whether it is bound to a key and goes with a proof (`DPoP`), or is good for whoever bears it.
    pub is_bound: bool,
    /// In Unix seconds; without it, the token is used until it is refused.
    pub expires_at: Option<u64>,
    /// For the next token.
    pub refresh_token: Option<Secret<String>>,
    /// What it is good for, where that was said.
    pub scopes: Option<Vec<String>>,
}

/// Why a token endpoint gave none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenRefusal {
    /// What was presented is worth nothing any more: a code, an assertion, a refresh token.
    Grant(String),
    /// It does not know us.
    Client(String),
    /// It wants a nonce in the proof (RFC 9449, section 8).
    Nonce,
    /// Another error: code and words.
    Other(String, String),
    /// It is in trouble, which may pass.
    Busy(String),
    /// The answer is none.
    Unusable(String),
}

/// Writes a form.
pub fn encode_form(form: &Form) -> String {
    let mut text = Serializer::new(String::new());
    for (name, value) in form {
        text.append_pair(name, value.expose());
    }
    text.finish()
}

/// The fields that redeem a code. Sources: RFC 6749, section 4.1.3; RFC 7636; RFC 8707.
pub fn code_form(code: &Secret<String>, redirect_uri: &str, verifier: &Secret<String>) -> Form {
    let field = |name: &str, value: &str| (name.to_owned(), Secret::new(value.to_owned()));
    vec![
        field("grant_type", "authorization_code"),
        field("code", code.expose()),
        field("redirect_uri", redirect_uri),
        field("code_verifier", verifier.expose()),
    ]
}

/// The fields that turn a refresh token into new tokens.
pub fn refresh_form(refresh_token: &Secret<String>) -> Form {
    vec![
        ("grant_type".to_owned(), Secret::new("refresh_token".to_owned())),
        ("refresh_token".to_owned(), refresh_token.clone()),
    ]
}

/// Reads the answer of a token endpoint. `now` is in Unix seconds.
///
/// Takes numbers written as text, errors that come as a success, and the form that some give instead of JSON.
///
/// # Errors
///
/// [`TokenRefusal`].
///
/// Source: RFC 6749, sections 5.1 and 5.2.
pub fn parse_tokens(status: u16, body: &[u8], now: u64) -> Result<Tokens, TokenRefusal> {
    let fields = read_fields(body);
    let text = |name: &str| {
        fields.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    if let Some(error) = text("error") {
        return Err(refusal(excerpt(&error), excerpt(&text("error_description").unwrap_or_default())));
    }
    match status {
        200..=299 => {}
        429 | 500.. => return Err(TokenRefusal::Busy(format!("HTTP {status}"))),
        _ => return Err(TokenRefusal::Unusable(format!("HTTP {status}"))),
    }
    let access_token =
        text("access_token").ok_or_else(|| TokenRefusal::Unusable("it has no `access_token`".to_owned()))?;
    if access_token.chars().any(|c| !c.is_ascii_graphic()) {
        return Err(TokenRefusal::Unusable("its token has characters that no header may have".to_owned()));
    }
    let lifetime = fields.get("expires_in").and_then(seconds);
    Ok(Tokens {
        access_token: Secret::new(access_token),
        is_bound: text("token_type").is_some_and(|kind| kind.eq_ignore_ascii_case("dpop")),
        expires_at: lifetime.map(|lifetime| now.saturating_add(lifetime)),
        refresh_token: text("refresh_token").map(Secret::new),
        scopes: text("scope").map(|scopes| scopes.split_whitespace().map(str::to_owned).collect()),
    })
}

fn read_fields(body: &[u8]) -> serde_json::Map<String, Value> {
    match serde_json::from_slice(body) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) => serde_json::Map::new(),
        Err(_) => form_urlencoded::parse(body)
            .map(|(name, value)| (name.into_owned(), Value::String(value.into_owned())))
            .collect(),
    }
}

fn seconds(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => text.trim().parse::<f64>().ok(),
        value => value.as_f64(),
    }
    .filter(|seconds| seconds.is_finite() && *seconds >= 0.0)
    // Saturates; no token lives that long.
    .map(|seconds| seconds as u64)
}

fn refusal(error: String, description: String) -> TokenRefusal {
    match error.as_str() {
        "invalid_grant" => TokenRefusal::Grant(description),
        // Some say so of a refresh token that is over.
        "invalid_request"
            if description.contains("refresh_token") || description.contains("refresh token") =>
        {
            TokenRefusal::Grant(description)
        }
        "invalid_client" => TokenRefusal::Client(join(&error, &description)),
        "use_dpop_nonce" => TokenRefusal::Nonce,
        "temporarily_unavailable" | "server_error" | "slow_down" => {
            TokenRefusal::Busy(join(&error, &description))
        }
        _ => TokenRefusal::Other(error, description),
    }
}

/// What somebody else says, on one line and not without end.
pub(crate) fn excerpt(words: &str) -> String {
    const LONGEST: usize = 300;
    let line: String = words.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

fn join(error: &str, description: &str) -> String {
    if description.is_empty() { error.to_owned() } else { format!("{error}: {description}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(access: &str) -> Tokens {
        Tokens {
            access_token: Secret::new(access.to_owned()),
            is_bound: false,
            expires_at: None,
            refresh_token: None,
            scopes: None,
        }
    }

    #[test]
    fn tokens_are_read_whatever_the_spelling_of_their_lifetime() {
        let cases = [
            (r#"{"access_token":"a2","token_type":"bearer"}"#, tokens("a2")),
            (
                r#"{"access_token":"a3","token_type":"Bearer","expires_in":"3600","refresh_token":"r2"}"#,
                Tokens {
                    expires_at: Some(3700),
                    refresh_token: Some(Secret::new("r2".to_owned())),
                    ..tokens("a3")
                },
            ),
            (
                r#"{"access_token":"a4","token_type":"dPoP","expires_in":60.5,"scope":"a b"}"#,
                Tokens {
                    is_bound: true,
                    expires_at: Some(160),
                    scopes: Some(vec!["a".to_owned(), "b".to_owned()]),
                    ..tokens("a4")
                },
            ),
            ("access_token=a5&token_type=bearer&scope=", tokens("a5")),
            (r#"{"access_token":"a6","expires_in":"soon","refresh_token":null}"#, tokens("a6")),
        ];
        for (body, wanted) in cases {
            assert_eq!(parse_tokens(200, body.as_bytes(), 100), Ok(wanted), "{body}");
        }
    }

    #[test]
    fn a_refusal_tells_what_is_worth_nothing_any_more() {
        let cases = [
            (400, r#"{"error":"invalid_grant"}"#, TokenRefusal::Grant(String::new())),
            (200, r#"{"error":"invalid_grant"}"#, TokenRefusal::Grant(String::new())),
            (
                400,
                r#"{"error":"invalid_request","error_description":"refresh_token is invalid"}"#,
                TokenRefusal::Grant("refresh_token is invalid".to_owned()),
            ),
            (401, r#"{"error":"invalid_client"}"#, TokenRefusal::Client("invalid_client".to_owned())),
            (400, r#"{"error":"use_dpop_nonce"}"#, TokenRefusal::Nonce),
            (
                400,
                r#"{"error":"invalid_scope","error_description":"x"}"#,
                TokenRefusal::Other("invalid_scope".to_owned(), "x".to_owned()),
            ),
            (
                400,
                &format!(r#"{{"error":"x","error_description":"a\n  b{}"}}"#, "c".repeat(1000)),
                TokenRefusal::Other("x".to_owned(), format!("a b{}...", "c".repeat(297))),
            ),
            (503, "busy", TokenRefusal::Busy("HTTP 503".to_owned())),
            (302, "", TokenRefusal::Unusable("HTTP 302".to_owned())),
            (200, "<html>", TokenRefusal::Unusable("it has no `access_token`".to_owned())),
            (
                200,
                r#"{"access_token":"a b"}"#,
                TokenRefusal::Unusable("its token has characters that no header may have".to_owned()),
            ),
        ];
        for (status, body, wanted) in cases {
            assert_eq!(parse_tokens(status, body.as_bytes(), 0), Err(wanted), "{status} {body}");
        }
    }
}
