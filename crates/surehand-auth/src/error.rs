use std::io;

use surehand_transport::HttpError;
use thiserror::Error;

/// Why there is no token. No variant shows a token, a code or a secret.
#[derive(Debug, Error)]
pub enum AuthError {
    /// The server wants a token and says nowhere who gives it.
    #[error("it wants a login and says nowhere how to log in; asked were {}", tried.join(", "))]
    NoMetadata {
        /// Each address asked, with what came of it.
        tried: Vec<String>,
    },
    /// The server's metadata are about another resource (RFC 9728, section 3.3).
    #[error("its metadata are about `{resource}` and not about `{server}`, so no token is asked for")]
    ResourceMismatch {
        /// The address in use.
        server: String,
        /// The one in the metadata.
        resource: String,
    },
    /// The metadata of the authorization server are somebody else's (RFC 8414, section 3.3).
    #[error("the metadata of the authorization server `{expected}` say that they are of `{found}`")]
    IssuerMismatch {
        /// Whose they should be.
        expected: String,
        /// Whose they are.
        found: String,
    },
    /// The authorization server cannot bind a code to who asked for it.
    #[error(
        "the authorization server `{issuer}` does not offer PKCE with S256, without which codes can be stolen"
    )]
    NoPkce {
        /// Whose metadata.
        issuer: String,
    },
    /// Something needed is not in the metadata.
    #[error("the authorization server `{issuer}` names no {what}")]
    Missing {
        /// Whose metadata.
        issuer: String,
        /// What is missing.
        what: &'static str,
    },
    /// We are nobody to the authorization server.
    #[error(
        "the authorization server `{issuer}` registers nobody by itself; register this client there by hand and put the client id \
         into the configuration"
    )]
    NoRegistration {
        /// Which.
        issuer: String,
    },
    /// The configured client belongs to another authorization server.
    #[error(
        "the configured client id belongs to the authorization server `{owner}`, and the server now names `{issuer}`; it is not \
         shown there"
    )]
    ForeignClient {
        /// Where the client is registered.
        owner: String,
        /// What the server names.
        issuer: String,
    },
    /// An address that secrets must not be sent to.
    #[error("the {what} `{url}` is not usable: it must be https, or this machine")]
    Insecure {
        /// What it is the address of.
        what: &'static str,
        /// The address.
        url: String,
    },
    /// No answer came.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// The authorization server says no.
    #[error("the {what} of `{issuer}` says `{error}`{}", detail(description))]
    Refused {
        /// Which endpoint.
        what: &'static str,
        /// Whose.
        issuer: String,
        /// The code, such as `invalid_grant`.
        error: String,
        /// Its words, possibly empty.
        description: String,
    },
    /// Somebody is in trouble, which may pass. Credentials are kept.
    #[error("the {what} of `{issuer}` cannot be used just now ({why}); try again later")]
    Busy {
        /// Which endpoint.
        what: &'static str,
        /// Whose.
        issuer: String,
        /// What it said.
        why: String,
    },
    /// An answer that is none.
    #[error("the {what} of `{issuer}` gave no usable answer: {why}")]
    Unusable {
        /// Which endpoint.
        what: &'static str,
        /// Whose.
        issuer: String,
        /// What is wrong with it.
        why: String,
    },
    /// The redirect belongs to another login.
    #[error(
        "the browser came back with the `state` of another login, so its answer is not used; log in again"
    )]
    WrongState,
    /// The redirect is of another authorization server (RFC 9207).
    #[error("the answer to the login says that it is of {}, and `{expected}` was asked", found_words(found))]
    WrongIssuer {
        /// Who was asked.
        expected: String,
        /// Who answered, where that is said.
        found: Option<String>,
    },
    /// The person, or the authorization server for them, said no.
    #[error("the login was refused: `{error}`{}", detail(description))]
    Denied {
        /// The code, such as `access_denied`.
        error: String,
        /// Its words, possibly empty.
        description: String,
    },
    /// The token that was just given is refused, so another one of the same kind is no use.
    #[error("the server refuses the token that it was just given: {challenge}")]
    StillRefused {
        /// The server's words.
        challenge: String,
    },
    /// Nobody is there to log in.
    #[error("a login is needed{}{}", detail(why), hint_words(hint))]
    LoginNeeded {
        /// What became of the last one, possibly empty.
        why: String,
        /// What to do, possibly empty.
        hint: String,
    },
    /// The browser or the listener for its answer.
    #[error("{0}")]
    Browser(String),
    /// A key or an assertion cannot be made.
    #[error("{0}")]
    Key(String),
    /// The credentials cannot be kept.
    #[error("credentials in `{path}` cannot be read or written")]
    Store {
        /// The file or folder.
        path: String,
        /// What the system says.
        source: io::Error,
    },
}

fn detail(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!(" ({words})") }
}

fn hint_words(hint: &str) -> String {
    if hint.is_empty() { String::new() } else { format!(": {hint}") }
}

fn found_words(found: &Option<String>) -> String {
    found.as_ref().map_or_else(|| "nobody".to_owned(), |found| format!("`{found}`"))
}
