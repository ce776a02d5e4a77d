use serde_json::{Map, Value, json};
use url::Url;

use super::{PROOF_TYPE, proven_address};
use crate::jose::{JoseError, SigningKey, hash, sign_jws, to_base64};

/// The key that a client proves to have.
#[derive(Debug)]
pub struct DpopKey {
    key: SigningKey,
    thumbprint: String,
}

/// One request to prove the key for.
#[derive(Clone, Copy, Debug)]
pub struct DpopRequest<'a> {
    /// The method, in capitals.
    pub method: &'a str,
    /// The address; query and fragment are left out of the proof.
    pub url: &'a Url,
    /// In seconds since 1970.
    pub now: u64,
    /// Never used before, see [`dpop_id`].
    pub id: &'a str,
    /// The token that goes with the request; none at a token endpoint.
    pub access_token: Option<&'a str>,
    /// What the server last gave out for its proofs, if it gives out any.
    pub nonce: Option<&'a str>,
}

/// The name of a proof, from 128 random bits.
pub fn dpop_id(random: [u8; 16]) -> String {
    to_base64(random)
}

impl DpopKey {
    /// Proves with this key. Its `kid` is not told: a proof carries the whole public key.
    pub fn new(mut key: SigningKey) -> Self {
        key.kid = None;
        let thumbprint = key.public_key().thumbprint();
        Self { key, thumbprint }
    }

    /// Names the key, for example as `dpop_jkt` of an authorization request.
    pub fn thumbprint(&self) -> &str {
        &self.thumbprint
    }

    /// The value of the header `DPoP` for one request. A proof serves once; a request sent again needs a new one.
    ///
    /// # Errors
    ///
    /// [`JoseError::Randomness`].
    pub fn prove(&self, request: &DpopRequest<'_>) -> Result<String, JoseError> {
        let mut header = Map::new();
        header.insert("typ".to_owned(), PROOF_TYPE.into());
        header.insert("jwk".to_owned(), self.key.public_key().to_jwk());
        let mut claims = json!({
            "jti": request.id,
            "htm": request.method,
            "htu": proven_address(request.url).as_str(),
            "iat": request.now,
        });
        if let Value::Object(claims) = &mut claims {
            let token = request.access_token.map(|token| hash(token.as_bytes()));
            claims.extend(token.map(|hash| ("ath".to_owned(), hash.into())));
            claims.extend(request.nonce.map(|nonce| ("nonce".to_owned(), nonce.into())));
        }
        sign_jws(&self.key, header, claims.to_string().as_bytes())
    }
}
