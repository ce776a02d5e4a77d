use serde_json::{Map, json};
use url::Url;

use super::*;
use crate::jose::{JoseError, SigningKey, sign_jws};

/// RFC 9449, section 4.1.
const AT_TOKEN_ENDPOINT: &str = "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19.eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2VuIiwiaWF0IjoxNTYyMjYyNjE2fQ.2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg";
/// RFC 9449, section 7.1, with its token.
const AT_RESOURCE: &str = "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19.eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIjoiR0VUIiwiaHR1IjoiaHR0cHM6Ly9yZXNvdXJjZS5leGFtcGxlLm9yZy9wcm90ZWN0ZWRyZXNvdXJjZSIsImlhdCI6MTU2MjI2MjYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNFc05yV0JiMHhXWG9hTnk1OUlpS0NBcWtzbVFFbyJ9.2oW9RP35yRqzhrtNP86L-Ey71EOptxRimPPToA1plemAgR6pxHF8y6-yqyVnmcw6Fy1dqd-jfxSYoMxhAJpLjA";
const TOKEN: &str = "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU";
const THUMBPRINT: &str = "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I";

fn check<'a>(method: &'a str, url: &'a Url, access_token: Option<&'a str>, now: u64) -> DpopCheck<'a> {
    DpopCheck { method, url, access_token, now, max_age: 60, leeway: 5 }
}

#[test]
fn the_proofs_of_the_standard_hold_for_their_requests() {
    let token_endpoint = Url::parse("https://server.example.com/token").unwrap();
    let resource = Url::parse("https://resource.example.org/protectedresource?x=1#y").unwrap();
    let proven = |id: &str| DpopProven { thumbprint: THUMBPRINT.to_owned(), id: id.to_owned(), nonce: None };
    let there = check("POST", &token_endpoint, None, 1_562_262_616);
    assert_eq!(check_dpop(AT_TOKEN_ENDPOINT, &there), Ok(proven("-BwC3ESc6acc2lTc")));
    let here = check("GET", &resource, Some(TOKEN), 1_562_262_683);
    assert_eq!(check_dpop(AT_RESOURCE, &here), Ok(proven("e1j3V_bKic8-LAEB")));
}

#[test]
fn a_proof_holds_for_nothing_but_its_request() {
    let url = Url::parse("https://resource.example.org/protectedresource").unwrap();
    let elsewhere = Url::parse("https://resource.example.org/other").unwrap();
    let now = 1_562_262_618;
    for (check, fault) in [
        (check("POST", &url, Some(TOKEN), now), "htm"),
        (check("GET", &elsewhere, Some(TOKEN), now), "htu"),
        (check("GET", &url, Some("another"), now), "ath"),
        (check("GET", &url, None, now), "ath"),
        (check("GET", &url, Some(TOKEN), now + 66), "iat"),
        (check("GET", &url, Some(TOKEN), now - 6), "iat"),
    ] {
        assert_eq!(check_dpop(AT_RESOURCE, &check), Err(DpopFault::Claim(fault)), "{check:?}");
    }
}

#[test]
fn what_we_prove_holds_and_says_all_there_is_to_say() {
    let (key, _) = SigningKey::generate().unwrap();
    let key = DpopKey::new(key);
    let url = Url::parse("HTTPS://Resource.example.org:443/mcp?q=1#f").unwrap();
    let id = dpop_id([7; 16]);
    let request = DpopRequest {
        method: "POST",
        url: &url,
        now: 1_800_000_000,
        id: &id,
        access_token: Some(TOKEN),
        nonce: Some("n"),
    };
    let proof = key.prove(&request).unwrap();
    let proven = DpopProven {
        thumbprint: key.thumbprint().to_owned(),
        id: "BwcHBwcHBwcHBwcHBwcHBw".to_owned(),
        nonce: Some("n".to_owned()),
    };
    assert_eq!(check_dpop(&proof, &check("POST", &url, Some(TOKEN), 1_800_000_000)), Ok(proven));
    let payload = crate::jose::from_base64(proof.split('.').nth(1).unwrap()).unwrap();
    let expected = r#"{"jti":"BwcHBwcHBwcHBwcHBwcHBw","htm":"POST","htu":"https://resource.example.org/mcp","iat":1800000000,"ath":"fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo","nonce":"n"}"#;
    assert_eq!(String::from_utf8(payload).unwrap(), expected);
}

#[test]
fn a_proof_that_shows_its_private_key_or_is_another_kind_of_token_does_not_hold() {
    let (key, _) = SigningKey::generate().unwrap();
    let url = Url::parse("https://a.example/").unwrap();
    let check = check("GET", &url, None, 100);
    let claims = json!({"jti": "1", "htm": "GET", "htu": "https://a.example", "iat": 100});
    let proof = |header: serde_json::Value, claims: &serde_json::Value| {
        let header: Map<_, _> = header.as_object().unwrap().clone();
        let proof = sign_jws(&key, header, claims.to_string().as_bytes()).unwrap();
        check_dpop(&proof, &check).map(|proven| proven.id)
    };
    let jwk = key.public_key().to_jwk();
    assert_eq!(proof(json!({"typ": "dpop+jwt", "jwk": jwk}), &claims), Ok("1".to_owned()));
    let mut private = jwk.clone();
    private["d"] = "AAAA".into();
    let fault = |name| Err(DpopFault::Claim(name));
    assert_eq!(proof(json!({"typ": "dpop+jwt", "jwk": private}), &claims), fault("jwk"));
    assert_eq!(proof(json!({"typ": "dpop+jwt"}), &claims), fault("jwk"));
    assert_eq!(proof(json!({"typ": "JWT", "jwk": jwk}), &claims), fault("typ"));
    let mut nameless = claims.clone();
    nameless["jti"] = "".into();
    assert_eq!(proof(json!({"typ": "dpop+jwt", "jwk": jwk}), &nameless), fault("jti"));
    let (other, _) = SigningKey::generate().unwrap();
    let foreign = json!({"typ": "dpop+jwt", "jwk": other.public_key().to_jwk()});
    assert_eq!(proof(foreign, &claims), Err(DpopFault::Token(JoseError::Signature)));
}

#[test]
fn each_server_has_its_own_nonce_and_the_same_one_again_is_no_news() {
    let nonces = DpopNonces::default();
    let [a, b] = ["https://a.example/token", "https://b.example/mcp"].map(|url| Url::parse(url).unwrap());
    assert!(nonces.learn(&a, Some("1")));
    assert!(!nonces.learn(&a, Some("1")));
    assert!(!nonces.learn(&a, None));
    assert!(nonces.learn(&b, Some("2")));
    assert_eq!((nonces.of(&a.join("/other").unwrap()), nonces.of(&b)), (Some("1".into()), Some("2".into())));
    assert!(!nonces.learn(&a, Some(&"x".repeat(1_025))));
    for port in 1..100 {
        nonces.learn(&Url::parse(&format!("https://c.example:{port}")).unwrap(), Some("3"));
    }
    assert!(nonces.by_origin.lock().unwrap().len() <= 64);
}
