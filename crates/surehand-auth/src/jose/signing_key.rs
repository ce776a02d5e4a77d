use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256, RSA_PSS_SHA256,
    RsaEncoding, RsaKeyPair, RsaPublicKeyComponents,
};
use serde_json::{Map, Value};
use surehand_model::Secret;

use super::{Algorithm, JoseError, PublicKey, from_base64};

/// A private key that signs. It never shows.
pub struct SigningKey {
    pair: Pair,
    public: PublicKey,
    algorithm: Algorithm,
    /// The name under which whoever verifies knows the key; it goes into the header of what is signed.
    pub kid: Option<String>,
}

enum Pair {
    P256(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
    Rsa(RsaKeyPair),
}

impl SigningKey {
    /// Makes a P-256 key. The bytes are the key as PKCS#8, for whoever wants to keep it.
    ///
    /// # Errors
    ///
    /// [`JoseError::Randomness`].
    pub fn generate() -> Result<(Self, Secret<Vec<u8>>), JoseError> {
        let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new())
            .map_err(|_| JoseError::Randomness)?;
        let key = Self::from_pkcs8(document.as_ref())?;
        Ok((key, Secret::new(document.as_ref().to_vec())))
    }

    /// Reads a key as PKCS#8 (P-256, Ed25519 or RSA of at least 2048 bits). An RSA key signs with RS256.
    ///
    /// # Errors
    ///
    /// [`JoseError::Key`].
    pub fn from_pkcs8(der: &[u8]) -> Result<Self, JoseError> {
        let random = SystemRandom::new();
        if let Ok(pair) = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der, &random) {
            return Self::of_p256(pair);
        }
        if let Ok(pair) = Ed25519KeyPair::from_pkcs8_maybe_unchecked(der) {
            return Self::of_ed25519(pair);
        }
        let pair = RsaKeyPair::from_pkcs8(der)
            .map_err(|_| JoseError::Key("it is no P-256, Ed25519 or RSA key as PKCS#8".to_owned()))?;
        let RsaPublicKeyComponents { n, e } = RsaPublicKeyComponents::<Vec<u8>>::from(pair.public());
        let public = PublicKey::Rsa { n, e };
        Ok(Self { pair: Pair::Rsa(pair), public, algorithm: Algorithm::Rs256, kid: None })
    }

    /// Reads a key as PEM (`BEGIN PRIVATE KEY`).
    ///
    /// # Errors
    ///
    /// [`JoseError::Key`].
    pub fn from_pem(pem: &str) -> Result<Self, JoseError> {
        const BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
        const END: &str = "-----END PRIVATE KEY-----";
        let body = pem.split_once(BEGIN).and_then(|(_, rest)| rest.split_once(END));
        let Some((body, _)) = body else {
            let words =
                "it has no `BEGIN PRIVATE KEY`; `openssl pkcs8 -topk8 -nocrypt` makes one of other keys";
            return Err(JoseError::Key(words.to_owned()));
        };
        let body: String = body.split_whitespace().collect();
        let der = STANDARD.decode(body).map_err(|_| JoseError::Key("the PEM is not base64".to_owned()))?;
        Self::from_pkcs8(&der)
    }

    /// Reads a JWK with `d` (P-256 or Ed25519). Its `kid` is kept.
    ///
    /// # Errors
    ///
    /// [`JoseError::Key`], also where the private part does not belong to the public one.
    pub fn from_jwk(jwk: &Map<String, Value>) -> Result<Self, JoseError> {
        let public = PublicKey::from_jwk(jwk)?;
        let private = jwk.get("d").and_then(Value::as_str).and_then(from_base64);
        let private = private.ok_or_else(|| JoseError::Key("it has no private part `d`".to_owned()))?;
        let apart = |_| JoseError::Key("its private part does not fit the public one".to_owned());
        let mut key = match &public {
            PublicKey::P256 { x, y } => {
                let point = [&[4], &x[..], &y[..]].concat();
                let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
                let random = SystemRandom::new();
                let pair =
                    EcdsaKeyPair::from_private_key_and_public_key(algorithm, &private, &point, &random);
                Self::of_p256(pair.map_err(apart)?)?
            }
            PublicKey::Ed25519 { x } => {
                Self::of_ed25519(Ed25519KeyPair::from_seed_and_public_key(&private, x).map_err(apart)?)?
            }
            PublicKey::Rsa { .. } => {
                return Err(JoseError::Key("private RSA keys are taken as PKCS#8 only".to_owned()));
            }
        };
        key.kid = jwk.get("kid").and_then(Value::as_str).map(str::to_owned);
        Ok(key)
    }

    fn of_p256(pair: EcdsaKeyPair) -> Result<Self, JoseError> {
        let point = pair.public_key().as_ref();
        let halves = point.get(1..33).zip(point.get(33..65));
        let halves = halves.and_then(|(x, y)| Some((x.try_into().ok()?, y.try_into().ok()?)));
        let (x, y) = halves.ok_or_else(|| JoseError::Key("its point is odd".to_owned()))?;
        let public = PublicKey::P256 { x, y };
        Ok(Self { pair: Pair::P256(pair), public, algorithm: Algorithm::Es256, kid: None })
    }

    fn of_ed25519(pair: Ed25519KeyPair) -> Result<Self, JoseError> {
        let x = pair.public_key().as_ref().try_into();
        let x = x.map_err(|_| JoseError::Key("its public part is odd".to_owned()))?;
        let public = PublicKey::Ed25519 { x };
        Ok(Self { pair: Pair::Ed25519(pair), public, algorithm: Algorithm::EdDsa, kid: None })
    }

    /// The same key, signing in another way that it can.
    ///
    /// # Errors
    ///
    /// [`JoseError::Key`] where it cannot.
    pub fn with_algorithm(mut self, algorithm: Algorithm) -> Result<Self, JoseError> {
        if !self.public.takes(algorithm) {
            return Err(JoseError::Key(format!("it cannot sign with {}", algorithm.as_str())));
        }
        self.algorithm = algorithm;
        Ok(self)
    }

    /// The public part.
    pub fn public_key(&self) -> &PublicKey {
        &self.public
    }

    /// How it signs.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Signs bytes.
    ///
    /// # Errors
    ///
    /// [`JoseError::Randomness`].
    pub fn sign(&self, bytes: &[u8]) -> Result<Vec<u8>, JoseError> {
        let random = SystemRandom::new();
        match &self.pair {
            Pair::P256(pair) => {
                Ok(pair.sign(&random, bytes).map_err(|_| JoseError::Randomness)?.as_ref().to_vec())
            }
            Pair::Ed25519(pair) => Ok(pair.sign(bytes).as_ref().to_vec()),
            Pair::Rsa(pair) => {
                let padding: &dyn RsaEncoding = match self.algorithm {
                    Algorithm::Ps256 => &RSA_PSS_SHA256,
                    _ => &RSA_PKCS1_SHA256,
                };
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(padding, &random, bytes, &mut signature).map_err(|_| JoseError::Randomness)?;
                Ok(signature)
            }
        }
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey")
            .field("algorithm", &self.algorithm)
            .field("kid", &self.kid)
            .field("thumbprint", &self.public.thumbprint())
            .finish_non_exhaustive()
    }
}
