use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PSS_2048_8192_SHA256,
    RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde_json::{Map, Value, json};

use super::{Algorithm, JoseError, from_base64, hash, to_base64};

/// How many keys of a set are read.
const KEYS_OF_A_SET: usize = 100;

/// A public key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PublicKey {
    /// A point of the curve P-256, each coordinate big-endian.
    P256 {
        /// The first coordinate.
        x: [u8; 32],
        /// The second one.
        y: [u8; 32],
    },
    /// An RSA key of 2048 to 8192 bits, big-endian without leading zeros.
    Rsa {
        /// The modulus.
        n: Vec<u8>,
        /// The exponent.
        e: Vec<u8>,
    },
    /// An Ed25519 key.
    Ed25519 {
        /// The key as RFC 8032 writes it.
        x: [u8; 32],
    },
}

impl PublicKey {
    /// Reads the public members of a JWK. Private ones are ignored.
    ///
    /// # Errors
    ///
    /// [`JoseError::Key`].
    pub fn from_jwk(jwk: &Map<String, Value>) -> Result<Self, JoseError> {
        let text = |name: &str| jwk.get(name).and_then(Value::as_str).unwrap_or_default();
        let bytes = |name: &'static str| {
            from_base64(text(name)).ok_or_else(|| JoseError::Key(format!("its `{name}` is not base64url")))
        };
        let coordinate = |name: &'static str| {
            <[u8; 32]>::try_from(bytes(name)?)
                .map_err(|_| JoseError::Key(format!("its `{name}` has not 32 bytes")))
        };
        match (text("kty"), text("crv")) {
            ("EC", "P-256") => Ok(Self::P256 { x: coordinate("x")?, y: coordinate("y")? }),
            ("OKP", "Ed25519") => Ok(Self::Ed25519 { x: coordinate("x")? }),
            ("RSA", _) => {
                let (n, e) = (bytes("n")?, bytes("e")?);
                let (n, e) = (without_zeros(&n).to_vec(), without_zeros(&e).to_vec());
                if !(256..=1024).contains(&n.len()) || e.is_empty() || e.len() > 8 {
                    return Err(JoseError::Key("an RSA key has 2048 to 8192 bits".to_owned()));
                }
                Ok(Self::Rsa { n, e })
            }
            (kind, curve) => Err(JoseError::Key(format!("`{kind}` `{curve}` is of no known kind"))),
        }
    }

    /// As a JWK: the members that make the key, in the order in which the thumbprint wants them.
    pub fn to_jwk(&self) -> Value {
        match self {
            Self::P256 { x, y } => {
                json!({"crv": "P-256", "kty": "EC", "x": to_base64(x), "y": to_base64(y)})
            }
            Self::Rsa { n, e } => json!({"e": to_base64(e), "kty": "RSA", "n": to_base64(n)}),
            Self::Ed25519 { x } => json!({"crv": "Ed25519", "kty": "OKP", "x": to_base64(x)}),
        }
    }

    /// The thumbprint with SHA-256, in base64url (RFC 7638).
    pub fn thumbprint(&self) -> String {
        hash(self.to_jwk().to_string().as_bytes())
    }

    /// Whether a key of this kind signs in this way.
    pub fn takes(&self, algorithm: Algorithm) -> bool {
        match self {
            Self::P256 { .. } => algorithm == Algorithm::Es256,
            Self::Rsa { .. } => matches!(algorithm, Algorithm::Rs256 | Algorithm::Ps256),
            Self::Ed25519 { .. } => algorithm == Algorithm::EdDsa,
        }
    }

    /// Whether the signature is this key's over these bytes.
    pub fn verifies(&self, algorithm: Algorithm, signed: &[u8], signature: &[u8]) -> bool {
        if !self.takes(algorithm) {
            return false;
        }
        let verified = match self {
            Self::P256 { x, y } => {
                let mut point = [4_u8; 65];
                point[1..33].copy_from_slice(x);
                point[33..].copy_from_slice(y);
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(signed, signature)
            }
            Self::Ed25519 { x } => UnparsedPublicKey::new(&ED25519, x).verify(signed, signature),
            Self::Rsa { n, e } => {
                let parameters = match algorithm {
                    Algorithm::Ps256 => &RSA_PSS_2048_8192_SHA256,
                    _ => &RSA_PKCS1_2048_8192_SHA256,
                };
                RsaPublicKeyComponents { n, e }.verify(parameters, signed, signature)
            }
        };
        verified.is_ok()
    }
}

fn without_zeros(bytes: &[u8]) -> &[u8] {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    bytes.get(zeros..).unwrap_or_default()
}

/// A public key with what its owner says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jwk {
    /// The key.
    pub key: PublicKey,
    /// Its name within the set.
    pub kid: Option<String>,
    /// The one algorithm it is meant for.
    pub algorithm: Option<Algorithm>,
}

impl Jwk {
    /// Reads one key that is meant for signatures.
    ///
    /// # Errors
    ///
    /// [`JoseError::Key`] where it is of an unknown kind or meant for something else.
    pub fn read(jwk: &Map<String, Value>) -> Result<Self, JoseError> {
        let text = |name: &str| jwk.get(name).and_then(Value::as_str);
        let verifies = |operations: &Vec<Value>| operations.iter().any(|operation| operation == "verify");
        let is_for_signatures = text("use").is_none_or(|purpose| purpose == "sig")
            && jwk.get("key_ops").and_then(Value::as_array).is_none_or(verifies);
        if !is_for_signatures {
            return Err(JoseError::Key("it is not meant for signatures".to_owned()));
        }
        let key = PublicKey::from_jwk(jwk)?;
        let algorithm = match text("alg") {
            None => None,
            Some(name) => match Algorithm::parse(name).filter(|algorithm| key.takes(*algorithm)) {
                Some(algorithm) => Some(algorithm),
                None => return Err(JoseError::Key(format!("it is meant for `{name}`"))),
            },
        };
        Ok(Self { key, kid: text("kid").map(str::to_owned), algorithm })
    }

    /// As it stands in a set, with `use`.
    pub fn write(&self) -> Value {
        let mut jwk = self.key.to_jwk();
        if let Value::Object(members) = &mut jwk {
            members.insert("use".to_owned(), "sig".into());
            members.extend(self.kid.iter().map(|kid| ("kid".to_owned(), kid.as_str().into())));
            members.extend(self.algorithm.map(|algorithm| ("alg".to_owned(), algorithm.as_str().into())));
        }
        jwk
    }
}

/// The keys with which somebody signs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JwkSet {
    /// In the order of the document.
    pub keys: Vec<Jwk>,
}

impl JwkSet {
    /// Reads the first 100 keys of a set. Those that cannot be used are left out, for a set may hold what newer readers need.
    ///
    /// # Errors
    ///
    /// [`JoseError::Key`] where the document is no set.
    pub fn parse(json: &[u8]) -> Result<Self, JoseError> {
        let document: Value =
            serde_json::from_slice(json).map_err(|error| JoseError::Key(format!("no JSON: {error}")))?;
        let keys = document.get("keys").and_then(Value::as_array);
        let keys = keys.ok_or_else(|| JoseError::Key("the set has no `keys`".to_owned()))?;
        let read = |key: &Value| key.as_object().and_then(|key| Jwk::read(key).ok());
        Ok(Self { keys: keys.iter().take(KEYS_OF_A_SET).filter_map(read).collect() })
    }

    /// As the document reads.
    pub fn write(&self) -> Value {
        json!({"keys": self.keys.iter().map(Jwk::write).collect::<Vec<_>>()})
    }

    /// The keys that may have signed a token of this header: of its name where it gives one, and of a kind that fits.
    pub fn candidates<'a>(
        &'a self,
        kid: Option<&'a str>,
        algorithm: Algorithm,
    ) -> impl Iterator<Item = &'a PublicKey> {
        self.keys
            .iter()
            .filter(move |key| kid.is_none_or(|kid| key.kid.as_deref() == Some(kid)))
            .filter(move |key| key.algorithm.is_none_or(|only| only == algorithm))
            .map(|key| &key.key)
            .filter(move |key| key.takes(algorithm))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_rsa_key_has_the_thumbprint_of_rfc_7638() {
        let key = r#"{"kty":"RSA","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw","e":"AQAB","alg":"RS256","kid":"2011-04-29"}"#;
        let set = JwkSet::parse(format!("{{\"keys\":[{key}]}}").as_bytes()).unwrap();
        let [key] = &set.keys[..] else { panic!("one key") };
        assert_eq!(key.key.thumbprint(), "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs");
        assert_eq!((key.kid.as_deref(), key.algorithm), (Some("2011-04-29"), Some(Algorithm::Rs256)));
        assert_eq!(JwkSet::parse(set.write().to_string().as_bytes()), Ok(set));
    }

    #[test]
    fn an_ed25519_key_has_the_thumbprint_of_rfc_8037() {
        let key = json!({"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"});
        let key = PublicKey::from_jwk(key.as_object().unwrap()).unwrap();
        assert_eq!(key.thumbprint(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
    }

    #[test]
    fn keys_for_other_uses_and_of_other_kinds_are_left_out() {
        let x = to_base64([7_u8; 32]);
        let good = json!({"kty":"OKP","crv":"Ed25519","x":x,"kid":"good","key_ops":["verify"]});
        let set = json!({"keys": [
            {"kty":"OKP","crv":"Ed25519","x":x,"use":"enc"},
            {"kty":"OKP","crv":"Ed25519","x":x,"key_ops":["sign"]},
            {"kty":"OKP","crv":"Ed25519","x":x,"alg":"ES256"},
            {"kty":"OKP","crv":"X25519","x":x},
            {"kty":"OKP","crv":"Ed25519","x":"AA"},
            {"kty":"RSA","n":"AQAB","e":"AQAB"},
            {"kty":"oct","k":"AQAB"},
            "no key",
            good,
        ]});
        let keys = JwkSet::parse(set.to_string().as_bytes()).unwrap().keys;
        let expected =
            Jwk { key: PublicKey::Ed25519 { x: [7; 32] }, kid: Some("good".to_owned()), algorithm: None };
        assert_eq!(keys, [expected]);
        assert!(JwkSet::parse(b"[]").is_err());
    }
}
