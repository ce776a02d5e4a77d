use surehand_model::Json;

/// What stands in place of a secret.
const MASK: &str = "***";

/// Names that say "secret" wherever they stand in a key, written without case and separators.
const SECRET_PARTS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "apikey",
    "accesskey",
    "privatekey",
    "authorization",
    "credential",
    "cookie",
    "bearer",
];

/// Names that say "secret" only as the whole key.
const SECRET_WHOLE: &[&str] = &["pass", "pwd", "auth", "pin", "otp", "jwt", "sessionid", "sid"];

/// How the keys and tokens of widespread services begin. Only long words count.
const SECRET_BEGINNINGS: &[&str] = &[
    "sk-",
    "sk_live_",
    "sk_test_",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "xox",
    "AKIA",
    "ASIA",
    "AIza",
    "eyJ",
    "hf_",
    "npm_",
];

/// How long a word with such a beginning must be.
const SECRET_LENGTH: usize = 16;

/// The same value with everything that looks like a secret replaced by `***`.
///
/// A member is masked whole when its key says so (`password`, `api_key`, `Authorization`, ...); `true`, `false`, `null` stay, and so
/// do numbers under keys such as `max_tokens`. In text, words that begin like a well-known kind of token are masked, so is
/// what follows `Bearer` or `Basic` and the password of a URL. Text that is JSON itself is looked through as well.
pub fn masked(value: &Json) -> Json {
    match value {
        Json::Object(members) => Json::Object(
            members
                .iter()
                .map(|(key, value)| {
                    let kept = if key_is_secret(key, value) { Json::from(MASK) } else { masked(value) };
                    (key.clone(), kept)
                })
                .collect(),
        ),
        Json::Array(items) => Json::Array(items.iter().map(masked).collect()),
        Json::String(text) => Json::String(masked_text(text)),
        Json::Null | Json::Bool(_) | Json::Number(_) => value.clone(),
    }
}

fn key_is_secret(key: &str, value: &Json) -> bool {
    if matches!(value, Json::Null | Json::Bool(_)) {
        return false;
    }
    let folded: String = key.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    SECRET_PARTS.iter().any(|part| folded.contains(part))
        || SECRET_WHOLE.contains(&folded.as_str())
        || (folded.contains("token") && !matches!(value, Json::Number(_)))
}

fn masked_text(text: &str) -> String {
    if text.trim_start().starts_with(['{', '['])
        && let Ok(inner) = Json::parse(text)
    {
        let cleaned = masked(&inner);
        return if cleaned == inner { text.to_owned() } else { cleaned.to_string() };
    }
    let mut out = String::with_capacity(text.len());
    let mut after_scheme = false;
    for piece in text.split_inclusive(is_separator) {
        let word = piece.trim_end_matches(is_separator);
        let separator = &piece[word.len()..];
        let looks_secret = word.len() >= SECRET_LENGTH
            && SECRET_BEGINNINGS.iter().any(|beginning| word.starts_with(beginning));
        if !word.is_empty() && (looks_secret || (after_scheme && word.len() >= SECRET_LENGTH / 2)) {
            out.push_str(MASK);
        } else {
            out.push_str(&without_url_password(word));
        }
        out.push_str(separator);
        if !word.is_empty() {
            after_scheme = word.eq_ignore_ascii_case("bearer") || word.eq_ignore_ascii_case("basic");
        }
    }
    out
}

fn is_separator(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ',' | ';' | '&' | '=' | '(' | ')' | '<' | '>' | '?')
}

/// `scheme://user:password@host` with the password masked.
fn without_url_password(word: &str) -> String {
    let Some((scheme, rest)) = word.split_once("://") else { return word.to_owned() };
    let authority_end = rest.find('/').unwrap_or(rest.len());
    let Some((user_info, host)) = rest[..authority_end].rsplit_once('@') else { return word.to_owned() };
    let Some((user, _)) = user_info.split_once(':') else { return word.to_owned() };
    format!("{scheme}://{user}:{MASK}@{host}{}", &rest[authority_end..])
}

#[cfg(test)]
mod tests {
    use surehand_model::Json;

    use super::masked;

    fn after(text: &str) -> String {
        masked(&Json::parse(text).unwrap()).to_string()
    }

    #[test]
    fn a_member_whose_key_says_secret_is_masked_whole() {
        let table = [
            (r#"{"password":"a"}"#, r#"{"password":"***"}"#),
            (r#"{"db":{"DB_PASSWORD":["a","b"]}}"#, r#"{"db":{"DB_PASSWORD":"***"}}"#),
            (r#"{"headers":{"Authorization":"Basic eA=="}}"#, r#"{"headers":{"Authorization":"***"}}"#),
            (
                r#"{"x-api-key":"1","apiKey":"2","api_key":3}"#,
                r#"{"x-api-key":"***","apiKey":"***","api_key":"***"}"#,
            ),
            (r#"{"pin":1234}"#, r#"{"pin":"***"}"#),
            (r#"{"accessToken":"a","refresh_token":"b"}"#, r#"{"accessToken":"***","refresh_token":"***"}"#),
            (r#"{"client_secret":{"value":"x"}}"#, r#"{"client_secret":"***"}"#),
            (r#"[{"cookie":"a=b"}]"#, r#"[{"cookie":"***"}]"#),
        ];
        for (given, expected) in table {
            assert_eq!(after(given), expected);
        }
    }

    #[test]
    fn what_only_sounds_like_a_secret_stays() {
        for text in [
            r#"{"max_tokens":100}"#,
            r#"{"has_password":true,"token":null}"#,
            r#"{"spinner":"pin","passenger":"Ann","path":"a/b"}"#,
            r#"{"text":"the bearer of news is here","big":123456789012345678901234567890}"#,
            r#"{"url":"https://example.test/a?b=c"}"#,
            r#"{"text":"{ not json","list":"[ 1, 2 ]"}"#,
        ] {
            assert_eq!(after(text), text);
        }
    }

    #[test]
    fn a_token_inside_text_is_masked() {
        let table = [
            (
                r#""curl -H 'Authorization: Bearer abcdefgh12345678'""#,
                r#""curl -H 'Authorization: Bearer ***'""#,
            ),
            (r#""use ghp_0123456789abcdefghij now""#, r#""use *** now""#),
            (r#""postgres://ann:hunter2@db.example.test/x""#, r#""postgres://ann:***@db.example.test/x""#),
            (r#""https://a.test/?key=AIzaSyA0123456789abcdef&q=1""#, r#""https://a.test/?key=***&q=1""#),
            (
                r#"{"body":"{\"user\":\"a\",\"password\":\"b\"}"}"#,
                r#"{"body":"{\"user\":\"a\",\"password\":\"***\"}"}"#,
            ),
        ];
        for (given, expected) in table {
            assert_eq!(after(given), expected);
        }
    }
}
