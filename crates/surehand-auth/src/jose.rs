//! Signed tokens: keys, compact signatures, claims (RFC 7515, 7517, 7519, 7638, 8037).

mod claims;
mod error;
mod jws;
mod public_key;
mod signing_key;

pub use self::claims::{ClaimRules, Claims};
pub use self::error::{ClaimFault, JoseError};
pub use self::jws::{Jws, sign_jws};
pub use self::public_key::{Jwk, JwkSet, PublicKey};
pub use self::signing_key::SigningKey;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// How a token is signed. There is no `none`, and nothing with a shared secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// ECDSA over P-256 with SHA-256.
    Es256,
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    Rs256,
    /// RSASSA-PSS with SHA-256.
    Ps256,
    /// Ed25519.
    EdDsa,
}

impl Algorithm {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Es256, Self::Rs256, Self::Ps256, Self::EdDsa];

    /// The `alg` value, for example `ES256`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::Rs256 => "RS256",
            Self::Ps256 => "PS256",
            Self::EdDsa => "EdDSA",
        }
    }

    /// Reads an `alg` value. `Ed25519` is the newer word for what `EdDSA` means here (RFC 9864).
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "Ed25519" => Some(Self::EdDsa),
            _ => Self::ALL.into_iter().find(|algorithm| algorithm.as_str() == text),
        }
    }
}

/// Base64 for URLs, without padding.
pub(crate) fn to_base64(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Takes no padding, no other alphabet and no stray bits, so that one value has one spelling.
pub(crate) fn from_base64(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

/// SHA-256, in base64 for URLs.
pub(crate) fn hash(bytes: &[u8]) -> String {
    to_base64(ring::digest::digest(&ring::digest::SHA256, bytes))
}

#[cfg(test)]
mod tests;
