use surehand_transport::GateRefusal;

use super::metadata::{DpopPolicy, ResourceOptions};
use crate::jose::Algorithm;

/// Why a request is not let in (RFC 6750, section 3.1; RFC 9449, section 7.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Denial {
    /// It shows no token.
    NoToken,
    /// It shows several, or none that can be read at all.
    Request(&'static str),
    /// Its token is not good here.
    Token(String),
    /// Its proof is not good.
    Proof(String),
    /// Its proof lacks this nonce.
    Nonce(String),
    /// Its token is good for less than is needed.
    Scope(Vec<String>),
    /// Nobody can say now whether its token is good.
    Later(String),
}

impl Denial {
    /// As it is answered.
    pub(super) fn refusal(&self, options: &ResourceOptions) -> GateRefusal {
        let (status, error, words) = match self {
            Self::NoToken => (401, None, "a token is needed".to_owned()),
            Self::Request(words) => (400, Some("invalid_request"), (*words).to_owned()),
            Self::Token(words) => (401, Some("invalid_token"), words.clone()),
            Self::Proof(words) => (401, Some("invalid_dpop_proof"), words.clone()),
            Self::Nonce(_) => {
                (401, Some("use_dpop_nonce"), "the proof needs the nonce given here".to_owned())
            }
            Self::Scope(_) => {
                (403, Some("insufficient_scope"), "the token is good for less than this needs".to_owned())
            }
            Self::Later(words) => {
                let headers = vec![("Retry-After".to_owned(), "30".to_owned())];
                return GateRefusal { status: 503, headers, words: words.clone() };
            }
        };
        let scopes = match self {
            Self::Scope(needed) => needed,
            _ => &options.scopes,
        };
        let mut said = Vec::new();
        if let Some(error) = error {
            said.push(("error", error.to_owned()));
            said.push(("error_description", words.clone()));
        }
        if !scopes.is_empty() {
            said.push(("scope", scopes.join(" ")));
        }
        said.push(("resource_metadata", options.metadata_url().into()));
        let bearer = options.dpop == DpopPolicy::Accepted && !matches!(self, Self::Proof(_) | Self::Nonce(_));
        let mut headers = Vec::new();
        // Many clients read one challenge only, the first.
        if bearer {
            headers.push(challenge("Bearer", &said));
        }
        let algorithms: Vec<&str> = Algorithm::ALL.into_iter().map(Algorithm::as_str).collect();
        said.push(("algs", algorithms.join(" ")));
        headers.push(challenge("DPoP", &said));
        if let Self::Nonce(nonce) = self {
            headers.push(("DPoP-Nonce".to_owned(), nonce.clone()));
        }
        GateRefusal { status, headers, words }
    }
}

fn challenge(scheme: &str, said: &[(&str, String)]) -> (String, String) {
    let said: Vec<String> =
        said.iter().map(|(name, value)| format!("{name}=\"{}\"", quotable(value))).collect();
    ("WWW-Authenticate".to_owned(), format!("{scheme} {}", said.join(", ")))
}

/// What may stand between quotes in a challenge (RFC 6750, section 3).
fn quotable(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            '"' | '\\' => '\'',
            ' '..='~' => character,
            _ => '?',
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;
    use crate::resource::TrustedIssuer;

    #[test]
    fn a_challenge_says_where_to_get_what_token() {
        let issuer = TrustedIssuer { issuer: "https://as.example".to_owned(), keys: None };
        let resource = Url::parse("https://h.example/mcp").unwrap();
        let options = ResourceOptions {
            scopes: vec!["a".into(), "b".into()],
            ..ResourceOptions::new(resource, vec![issuer])
        };
        let place = "resource_metadata=\"https://h.example/.well-known/oauth-protected-resource/mcp\"";
        let algs = "algs=\"ES256 RS256 PS256 EdDSA\"";
        let told = |denial: Denial, options: &ResourceOptions| {
            let refusal = denial.refusal(options);
            let values = refusal.headers.into_iter().map(|(_, value)| value).collect::<Vec<_>>();
            (refusal.status, values)
        };
        let both = |said: &str| {
            let [bearer, dpop] = ["Bearer", "DPoP"].map(|scheme| format!("{scheme} {said}{place}"));
            vec![bearer, format!("{dpop}, {algs}")]
        };
        assert_eq!(told(Denial::NoToken, &options), (401, both("scope=\"a b\", ")));
        let odd = Denial::Token("\"no\" \u{e4}\n".to_owned());
        let said = "error=\"invalid_token\", error_description=\"'no' ??\", scope=\"a b\", ";
        assert_eq!(told(odd, &options), (401, both(said)));
        let said = "error=\"insufficient_scope\", error_description=\"the token is good for less than this needs\", scope=\"a b c\", ";
        let needed = Denial::Scope(vec!["a".into(), "b".into(), "c".into()]);
        assert_eq!(told(needed, &options), (403, both(said)));
        let proof = Denial::Proof("old".to_owned());
        let said = "DPoP error=\"invalid_dpop_proof\", error_description=\"old\", scope=\"a b\", ";
        assert_eq!(told(proof, &options), (401, vec![format!("{said}{place}, {algs}")]));
        let nonce = Denial::Nonce("n".to_owned());
        let said = "DPoP error=\"use_dpop_nonce\", error_description=\"the proof needs the nonce given here\", scope=\"a b\", ";
        assert_eq!(told(nonce, &options), (401, vec![format!("{said}{place}, {algs}"), "n".to_owned()]));
        let strict = ResourceOptions { dpop: DpopPolicy::Required, scopes: Vec::new(), ..options };
        assert_eq!(told(Denial::NoToken, &strict), (401, vec![format!("DPoP {place}, {algs}")]));
        assert_eq!(told(Denial::Later("busy".to_owned()), &strict), (503, vec!["30".to_owned()]));
    }
}
