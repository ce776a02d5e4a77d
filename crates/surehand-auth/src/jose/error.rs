use thiserror::Error;

/// What is wrong with a key or a signed token. Never shows the token or a key.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum JoseError {
    /// The key is none that can be used.
    #[error("the key is not usable: {0}")]
    Key(String),
    /// The text is no signed token.
    #[error("this is no signed token: {0}")]
    Malformed(&'static str),
    /// The token is signed in a way that is not taken, or not signed.
    #[error("the algorithm `{0}` is not accepted")]
    Algorithm(String),
    /// The signature does not fit the token and the key.
    #[error("the signature is wrong")]
    Signature,
    /// The system gave no randomness.
    #[error("the system has no randomness to give")]
    Randomness,
    /// The token is genuine, and not for this place or time.
    #[error(transparent)]
    Claim(#[from] ClaimFault),
}

/// Which claim of a token does not hold.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ClaimFault {
    /// Somebody else made the token.
    #[error("the token was issued by somebody else")]
    Issuer,
    /// The token is meant for somebody else.
    #[error("the token is meant for another audience")]
    Audience,
    /// The token's time is over, or it says no time.
    #[error("the token is expired")]
    Expired,
    /// The token's time has not come.
    #[error("the token is not valid yet")]
    Early,
    /// A claim that is needed is not there, or has a wrong shape.
    #[error("the token's `{0}` is missing or of a wrong shape")]
    Shape(&'static str),
}
