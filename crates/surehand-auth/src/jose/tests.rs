//! The examples of the standards, and what must never pass.

use serde_json::{Map, Value, json};

use super::*;

const P256: &str = r#"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
    "y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0","d":"jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"}"#;
const P256_TOKEN: &str = "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
const JOE: &[u8] = b"{\"iss\":\"joe\",\r\n \"exp\":1300819380,\r\n \"http://example.com/is_root\":true}";
const ED25519: &str = r#"{"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
    "x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;
const ED25519_TOKEN: &str = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";
const RSA: &str = r#"{"kty":"RSA","e":"AQAB","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"}"#;
const RSA_TOKEN: &str = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";

fn members(json: &str) -> Map<String, Value> {
    serde_json::from_str(json).unwrap()
}

fn public(json: &str) -> PublicKey {
    PublicKey::from_jwk(&members(json)).unwrap()
}

fn verified(token: &str, key: &PublicKey) -> Result<Vec<u8>, JoseError> {
    Jws::parse(token)?.verify([key], &Algorithm::ALL)
}

#[test]
fn the_tokens_of_the_standards_are_verified() {
    // RFC 7515, appendices A.2 and A.3; RFC 8037, appendix A.4.
    assert_eq!(verified(P256_TOKEN, &public(P256)), Ok(JOE.to_vec()));
    assert_eq!(verified(RSA_TOKEN, &public(RSA)), Ok(JOE.to_vec()));
    assert_eq!(verified(ED25519_TOKEN, &public(ED25519)), Ok(b"Example of Ed25519 signing".to_vec()));
}

#[test]
fn ed25519_signs_as_the_standard_does() {
    let key = SigningKey::from_jwk(&members(ED25519)).unwrap();
    assert_eq!(sign_jws(&key, Map::new(), b"Example of Ed25519 signing").unwrap(), ED25519_TOKEN);
}

#[test]
fn what_a_key_of_the_standard_signs_is_verified_by_its_public_part() {
    let mut jwk = members(P256);
    jwk.insert("kid".to_owned(), "one".into());
    let key = SigningKey::from_jwk(&jwk).unwrap();
    let header = members(r#"{"typ":"JWT"}"#);
    let token = sign_jws(&key, header, JOE).unwrap();
    let read = Jws::parse(&token).unwrap();
    assert_eq!(Value::Object(read.header.clone()), json!({"typ": "JWT", "alg": "ES256", "kid": "one"}));
    assert_eq!(
        (read.algorithm, read.kid.as_deref(), read.typ.as_deref()),
        (Algorithm::Es256, Some("one"), Some("JWT"))
    );
    assert_eq!(read.verify([&public(RSA), &public(P256)], &[Algorithm::Es256]), Ok(JOE.to_vec()));
}

#[test]
fn keys_are_read_from_pkcs_8_and_sign_in_each_way_they_can() {
    let pems = [
        (include_str!("testdata/p256.pem"), Algorithm::Es256),
        (include_str!("testdata/ed25519.pem"), Algorithm::EdDsa),
        (include_str!("testdata/rsa.pem"), Algorithm::Rs256),
    ];
    for (pem, algorithm) in pems {
        let key = SigningKey::from_pem(pem).unwrap();
        assert_eq!(key.algorithm(), algorithm);
        assert_eq!(verified(&sign_jws(&key, Map::new(), JOE).unwrap(), key.public_key()), Ok(JOE.to_vec()));
    }
    let key = SigningKey::from_pem(pems[2].0).unwrap().with_algorithm(Algorithm::Ps256).unwrap();
    let token = sign_jws(&key, Map::new(), JOE).unwrap();
    assert_eq!(verified(&token, key.public_key()), Ok(JOE.to_vec()));
    let (made, pkcs8) = SigningKey::generate().unwrap();
    assert_eq!(SigningKey::from_pkcs8(pkcs8.expose()).unwrap().public_key(), made.public_key());
}

#[test]
fn keys_that_are_none_are_refused_in_words_and_none_ever_shows() {
    let words = |key: Result<SigningKey, JoseError>| key.unwrap_err().to_string();
    assert_eq!(
        words(SigningKey::from_pem("-----BEGIN EC PRIVATE KEY-----")),
        "the key is not usable: it has no `BEGIN PRIVATE KEY`; `openssl pkcs8 -topk8 -nocrypt` makes one of other keys"
    );
    assert_eq!(
        words(SigningKey::from_pkcs8(b"0")),
        "the key is not usable: it is no P-256, Ed25519 or RSA key as PKCS#8"
    );
    let mut apart = members(P256);
    apart.insert("d".to_owned(), to_base64([1; 32]).into());
    assert_eq!(
        words(SigningKey::from_jwk(&apart)),
        "the key is not usable: its private part does not fit the public one"
    );
    let shown = format!("{:?}", SigningKey::from_jwk(&members(ED25519)).unwrap());
    assert_eq!(
        shown,
        "SigningKey { algorithm: EdDsa, kid: None, thumbprint: \"kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k\", .. }"
    );
}

#[test]
fn a_token_that_is_changed_unsigned_or_signed_otherwise_never_passes() {
    let key = public(P256);
    let [header, payload, signature] = P256_TOKEN.split('.').collect::<Vec<_>>()[..] else { panic!() };
    let with_header = |header: Value| format!("{}.{payload}.{signature}", to_base64(header.to_string()));
    let faults = [
        // Another payload, another header, another key's signature, none at all.
        (format!("{header}.{}.{signature}", to_base64("{\"iss\":\"eve\"}")), JoseError::Signature),
        (with_header(json!({"alg": "ES256", "x": 1})), JoseError::Signature),
        (format!("{header}.{payload}."), JoseError::Signature),
        (RSA_TOKEN.to_owned(), JoseError::Signature),
        (with_header(json!({"alg": "RS256"})), JoseError::Signature),
        (with_header(json!({"alg": "none"})), JoseError::Algorithm("none".to_owned())),
        (format!("{}.{payload}.", to_base64("{\"alg\":\"none\"}")), JoseError::Algorithm("none".to_owned())),
        (with_header(json!({"alg": "HS256"})), JoseError::Algorithm("HS256".to_owned())),
        (with_header(json!({"alg": "es256"})), JoseError::Algorithm("es256".to_owned())),
        (with_header(json!({})), JoseError::Malformed("it has no `alg`")),
        (
            with_header(json!({"alg": "ES256", "crit": ["b64"], "b64": false})),
            JoseError::Malformed("it has critical header members"),
        ),
        (format!("{P256_TOKEN}.x"), JoseError::Malformed("it has not three parts")),
        (format!("{header}.{payload}"), JoseError::Malformed("it has not three parts")),
        (format!("{P256_TOKEN}="), JoseError::Malformed("a part is not base64url")),
        (format!("W10.{payload}.{signature}"), JoseError::Malformed("its header is no JSON object")),
        ("x".repeat(65_537), JoseError::Malformed("it is too long")),
    ];
    for (token, fault) in faults {
        assert_eq!(verified(&token, &key), Err(fault), "{token}");
    }
    let only_rsa = Jws::parse(P256_TOKEN).unwrap().verify([&key], &[Algorithm::Rs256]);
    assert_eq!(only_rsa, Err(JoseError::Algorithm("ES256".to_owned())));
}

#[test]
fn no_character_of_a_token_can_be_another() {
    for (token, key) in [(P256_TOKEN, P256), (ED25519_TOKEN, ED25519)] {
        let key = public(key);
        for at in 0..token.len() {
            for other in ["A", "9", "."] {
                let changed = format!("{}{other}{}", &token[..at], &token[at + 1..]);
                assert_eq!(verified(&changed, &key).is_ok(), changed == token, "{changed}");
            }
        }
    }
}

#[test]
fn a_set_offers_the_keys_that_may_have_signed() {
    let key =
        |json: &str, kid: &str, algorithm| Jwk { key: public(json), kid: Some(kid.to_owned()), algorithm };
    let set = JwkSet {
        keys: vec![key(P256, "a", None), key(RSA, "b", Some(Algorithm::Rs256)), key(RSA, "b", None)],
    };
    let count = |kid, algorithm| set.candidates(kid, algorithm).count();
    assert_eq!(count(None, Algorithm::Es256), 1);
    assert_eq!(count(Some("b"), Algorithm::Es256), 0);
    assert_eq!(count(Some("b"), Algorithm::Rs256), 2);
    assert_eq!(count(Some("b"), Algorithm::Ps256), 1);
    assert_eq!(count(Some("c"), Algorithm::Rs256), 0);
}
