use serde_json::{Map, Value};

use super::{Algorithm, Claims, JoseError, PublicKey, SigningKey, from_base64, to_base64};

/// The most bytes a token may have: what comes in headers is smaller anyhow.
const LIMIT: usize = 64 * 1024;

/// Signs a payload in the compact form. `alg` and, where the key has a name, `kid` are added behind the header's own members.
///
/// # Errors
///
/// [`JoseError::Randomness`].
pub fn sign_jws(
    key: &SigningKey,
    mut header: Map<String, Value>,
    payload: &[u8],
) -> Result<String, JoseError> {
    header.insert("alg".to_owned(), key.algorithm().as_str().into());
    header.extend(key.kid.iter().map(|kid| ("kid".to_owned(), kid.as_str().into())));
    let mut token = to_base64(Value::Object(header).to_string());
    token.push('.');
    token.push_str(&to_base64(payload));
    let signature = key.sign(token.as_bytes())?;
    token.push('.');
    token.push_str(&to_base64(signature));
    Ok(token)
}

/// A signed token that has been taken apart and **not verified**.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jws<'a> {
    /// How it says it is signed.
    pub algorithm: Algorithm,
    /// Which key it says it is signed with.
    pub kid: Option<String>,
    /// What it says it is, for example `at+jwt`.
    pub typ: Option<String>,
    /// All of its header.
    pub header: Map<String, Value>,
    payload: Vec<u8>,
    signed: &'a str,
    signature: Vec<u8>,
}

impl<'a> Jws<'a> {
    /// Takes the compact form apart.
    ///
    /// # Errors
    ///
    /// [`JoseError::Malformed`], and [`JoseError::Algorithm`] for `none` and everything else that is not in [`Algorithm`].
    pub fn parse(token: &'a str) -> Result<Self, JoseError> {
        if token.len() > LIMIT {
            return Err(JoseError::Malformed("it is too long"));
        }
        let mut parts = token.split('.');
        let (Some(header), Some(payload), Some(signature), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(JoseError::Malformed("it has not three parts"));
        };
        let decode = |part| from_base64(part).ok_or(JoseError::Malformed("a part is not base64url"));
        let signed = &token[..header.len() + 1 + payload.len()];
        let header: Map<String, Value> = serde_json::from_slice(&decode(header)?)
            .map_err(|_| JoseError::Malformed("its header is no JSON object"))?;
        // Whoever lists members here wants them understood, and we understand none (RFC 7515, section 4.1.11).
        if header.contains_key("crit") {
            return Err(JoseError::Malformed("it has critical header members"));
        }
        let text = |name: &str| header.get(name).and_then(Value::as_str);
        let algorithm = text("alg").ok_or(JoseError::Malformed("it has no `alg`"))?;
        let algorithm =
            Algorithm::parse(algorithm).ok_or_else(|| JoseError::Algorithm(algorithm.to_owned()))?;
        Ok(Self {
            algorithm,
            kid: text("kid").map(str::to_owned),
            typ: text("typ").map(str::to_owned),
            payload: decode(payload)?,
            signature: decode(signature)?,
            signed,
            header,
        })
    }

    /// What the token says of itself, **not verified**: good for finding the key, and for nothing else.
    ///
    /// # Errors
    ///
    /// [`JoseError::Claim`] where the payload is none of claims.
    pub fn unverified_claims(&self) -> Result<Claims, JoseError> {
        Ok(Claims::parse(&self.payload)?)
    }

    /// The payload, once one of the keys has signed it in a way that is allowed.
    ///
    /// # Errors
    ///
    /// [`JoseError::Algorithm`] and [`JoseError::Signature`].
    pub fn verify<'k>(
        self,
        keys: impl IntoIterator<Item = &'k PublicKey>,
        allowed: &[Algorithm],
    ) -> Result<Vec<u8>, JoseError> {
        if !allowed.contains(&self.algorithm) {
            return Err(JoseError::Algorithm(self.algorithm.as_str().to_owned()));
        }
        let is_signed =
            keys.into_iter().any(|key| key.verifies(self.algorithm, self.signed.as_bytes(), &self.signature));
        if is_signed { Ok(self.payload) } else { Err(JoseError::Signature) }
    }
}
