use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use surehand_model::Secret;

/// A proof that whoever redeems a code is who asked for it. Source: RFC 7636, method S256.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pkce {
    /// 43 characters, told only to the token endpoint.
    pub verifier: Secret<String>,
    /// Its hash, told to the authorization endpoint.
    pub challenge: String,
}

impl Pkce {
    /// From 32 random bytes.
    pub fn new(random: [u8; 32]) -> Self {
        let verifier = URL_SAFE_NO_PAD.encode(random);
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
        Self { verifier: Secret::new(verifier), challenge }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7636, appendix B.
    #[test]
    fn verifier_and_challenge_are_those_of_the_specification() {
        let random = [
            116, 24, 223, 180, 151, 153, 224, 37, 79, 250, 96, 125, 216, 173, 187, 186, 22, 212, 37, 77, 105,
            214, 191, 240, 91, 88, 5, 88, 83, 132, 141, 121,
        ];
        let pkce = Pkce::new(random);
        assert_eq!(pkce.verifier.expose(), "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
        assert_eq!(pkce.challenge, "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }
}
