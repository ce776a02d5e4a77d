//! Whom the resource server lets in, and what it tells those whom it does not.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use serde_json::{Value, json};
use surehand_auth::{
    DpopKey, DpopPolicy, DpopRequest, ResourceOptions, ResourceServer, SigningKey, TrustedIssuer, dpop_id,
};
use surehand_model::{ContentBlock, RawJson, Secret};
use surehand_transport::{
    CallOptions, Client, ClientOptions, Era, Gate, HeaderMap, HttpClient, HttpOptions, HttpRequest,
    HttpResponse, HttpServer, HttpServerOptions, HttpTarget, Method, Target, serve_http,
};
use tokio_util::sync::{CancellationToken, DropGuard};
use url::Url;

use crate::issuer::{Issuer, NOW, key, token};
use crate::mirror::Mirror;

/// Clients know the server by this address, whatever it listens on.
const RESOURCE: &str = "https://tools.example/mcp";

struct Served {
    server: HttpServer,
    http: HttpClient,
    _stop: DropGuard,
}

impl Served {
    async fn open(change: impl FnOnce(&mut ResourceOptions), issuer: &Issuer) -> Self {
        let trusted = TrustedIssuer { issuer: issuer.name.clone(), keys: None };
        let mut options = ResourceOptions::new(Url::parse(RESOURCE).unwrap(), vec![trusted]);
        change(&mut options);
        let http = HttpClient::new(HttpOptions::default());
        let gate = ResourceServer::new(options, &http, Arc::new(|| NOW)).unwrap();
        let stop = CancellationToken::new();
        let options = HttpServerOptions { gate: Some(Arc::new(gate)), ..HttpServerOptions::default() };
        let server = serve_http(Arc::new(Mirror), options, stop.clone()).await.unwrap();
        Self { server, http, _stop: stop.drop_guard() }
    }

    /// Begins a session; gives the status and the challenges.
    async fn ask(&self, headers: &[(&str, &str)]) -> (u16, Vec<String>) {
        let answer = self.send(headers).await;
        let challenges = answer.headers.get_all("www-authenticate").iter();
        (answer.status, challenges.map(|value| value.to_str().unwrap().to_owned()).collect())
    }

    async fn send(&self, headers: &[(&str, &str)]) -> HttpResponse {
        let initialize =
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#;
        let url = Url::parse(&format!("http://{}/mcp", self.server.address)).unwrap();
        let mut request = HttpRequest::post(url, initialize).header("Content-Type", "application/json");
        for (name, value) in headers {
            request = request.header(name, value);
        }
        self.http.send(request).await.unwrap()
    }

    async fn show(&self, token: &str) -> (u16, Vec<String>) {
        self.ask(&[("Authorization", &format!("Bearer {token}"))]).await
    }

    /// The status and the first challenge's error with its words.
    async fn fault(&self, token: &str) -> (u16, String) {
        let (status, challenges) = self.show(token).await;
        let first = challenges.into_iter().next().unwrap_or_default();
        let said = first.strip_prefix("Bearer ").unwrap_or_default();
        (status, said.split(", scope=").next().unwrap_or_default().to_owned())
    }
}

fn with(claims: &Value, name: &str, value: Value) -> Value {
    let mut claims = claims.clone();
    claims[name] = value;
    claims
}

#[tokio::test]
async fn a_token_of_a_trusted_issuer_for_this_resource_opens_and_nothing_else_does() {
    let (ours, theirs) = (key("one"), key("one"));
    let issuer = Issuer::open(&[&ours]).await;
    let served = Served::open(|options| options.scopes = vec!["tools".to_owned()], &issuer).await;
    let good = issuer.claims(RESOURCE);
    let jwt = |claims: &Value| token(&ours, "at+jwt", claims);

    // Nothing was asked of the issuer before somebody showed a token of it.
    let place = "resource_metadata=\"https://tools.example/.well-known/oauth-protected-resource/mcp\"";
    let bare = format!("Bearer scope=\"tools\", {place}");
    let dpop = format!("DPoP scope=\"tools\", {place}, algs=\"ES256 RS256 PS256 EdDSA\"");
    assert_eq!(served.ask(&[]).await, (401, vec![bare.clone(), dpop.clone()]));
    assert_eq!(served.ask(&[("Authorization", "Basic YTpi")]).await, (401, vec![bare, dpop]));
    let foreign = with(&good, "iss", "https://evil.example".into());
    let fault = |words: &str| (401, format!("error=\"invalid_token\", error_description=\"{words}\""));
    assert_eq!(served.fault(&jwt(&foreign)).await, fault("the token was issued by somebody else"));
    assert_eq!(issuer.asked(), 0);

    assert_eq!(served.show(&jwt(&good)).await, (200, Vec::new()));
    assert_eq!(served.show(&token(&ours, "JWT", &good)).await, (200, Vec::new()));
    let list = with(&good, "aud", json!(["x", "https://tools.example/mcp/"]));
    assert_eq!(served.show(&jwt(&list)).await, (200, Vec::new()));

    let tampered = {
        let token = jwt(&good);
        let [header, _, signature] = token.split('.').collect::<Vec<_>>()[..] else { panic!("three parts") };
        let changed = jwt(&with(&good, "sub", "eve".into()));
        let payload = changed.split('.').nth(1).unwrap().to_owned();
        format!("{header}.{payload}.{signature}")
    };
    let unsigned = {
        let good = jwt(&good);
        // {"alg":"none"}
        format!("eyJhbGciOiJub25lIn0.{}.", good.split('.').nth(1).unwrap())
    };
    for (token, words) in [
        (tampered, "the signature is wrong"),
        (token(&theirs, "at+jwt", &good), "the signature is wrong"),
        (unsigned, "the algorithm `none` is not accepted"),
        (
            jwt(&with(&good, "aud", "https://tools.example/other".into())),
            "the token is meant for another audience",
        ),
        (jwt(&with(&good, "exp", (NOW - 30).into())), "the token is expired"),
        (jwt(&with(&good, "nbf", (NOW + 31).into())), "the token is not valid yet"),
        (jwt(&with(&good, "sub", "".into())), "the token's `sub` is missing or of a wrong shape"),
        (token(&ours, "oauth-id-jag+jwt", &good), "this is another kind of token"),
        (
            jwt(&with(&good, "cnf", json!({"x5t#S256": "A"}))),
            "the token is bound in a way that cannot be checked here",
        ),
        (jwt(&with(&good, "cnf", json!({"jkt": "A"}))), "the token is bound to a key and needs a proof"),
        ("opaque".to_owned(), "this is no signed token: it has not three parts"),
        (String::new(), "this is no signed token: it has not three parts"),
    ] {
        assert_eq!(served.fault(&token).await, fault(words));
    }

    let (status, challenges) = served.show(&jwt(&with(&good, "scope", "more toolsy".into()))).await;
    let words =
        "error=\"insufficient_scope\", error_description=\"the token is good for less than this needs\"";
    assert_eq!(
        (status, challenges.first().map(String::as_str)),
        (403, Some(format!("Bearer {words}, scope=\"tools\", {place}").as_str()))
    );
    let twice = format!("Bearer {}", jwt(&good));
    let twice = [("Authorization", twice.as_str()), ("Authorization", twice.as_str())];
    assert_eq!(served.ask(&twice).await.0, 400);
}

#[tokio::test]
async fn a_tool_is_told_whose_token_it_was_in_both_eras() {
    let ours = key("one");
    let issuer = Issuer::open(&[&ours]).await;
    let served = Served::open(|_| {}, &issuer).await;
    let token = token(&ours, "at+jwt", &issuer.claims(RESOURCE));
    for era in [Era::Legacy, Era::Modern] {
        let url = Url::parse(&format!("http://{}/mcp", served.server.address)).unwrap();
        let headers = vec![("Authorization".to_owned(), Secret::new(format!("Bearer {token}")))];
        let options = ClientOptions { era, ..ClientOptions::default() };
        let target = Target::Http(HttpTarget { url, headers });
        let client = Client::open(target, options, &served.http).await.unwrap();
        let nothing = RawJson::empty_object();
        let said = client.call_tool("whoami", &nothing, CallOptions::default()).await.unwrap();
        let ann = ContentBlock::Text(format!("{}#ann", issuer.name));
        assert_eq!(said.content, [ann], "{era:?}");
        client.close().await;
    }
}

#[tokio::test]
async fn who_gives_tokens_is_for_everybody_to_read() {
    let issuer = Issuer::open(&[]).await;
    let served = Served::open(|options| options.scopes = vec!["tools".to_owned()], &issuer).await;
    let place = format!("http://{}/.well-known/oauth-protected-resource/mcp", served.server.address);
    let answer = served.http.send(HttpRequest::get(Url::parse(&place).unwrap())).await.unwrap();
    assert_eq!((answer.status, answer.media_type().as_deref()), (200, Some("application/json")));
    let body: Value = serde_json::from_slice(&answer.collect(1_000).await.unwrap()).unwrap();
    assert_eq!(
        body,
        json!({
            "resource": RESOURCE,
            "authorization_servers": [issuer.name],
            "bearer_methods_supported": ["header"],
            "dpop_signing_alg_values_supported": ["ES256", "RS256", "PS256", "EdDSA"],
            "scopes_supported": ["tools"],
        })
    );
}

#[tokio::test]
async fn a_bound_token_opens_with_a_fresh_proof_of_its_key_and_with_nothing_else() {
    let ours = key("one");
    let issuer = Issuer::open(&[&ours]).await;
    let served = Served::open(|options| options.dpop = DpopPolicy::Required, &issuer).await;
    let [mine, other] = [(), ()].map(|()| DpopKey::new(SigningKey::generate().unwrap().0));
    let good = issuer.claims(RESOURCE);
    let bound = token(&ours, "at+jwt", &with(&good, "cnf", json!({"jkt": mine.thumbprint()})));
    let free = token(&ours, "at+jwt", &good);
    let url = Url::parse(RESOURCE).unwrap();
    let prove = |key: &DpopKey, id: u8, method: &str, now: u64, token: &str| {
        let id = dpop_id([id; 16]);
        let request = DpopRequest { method, url: &url, now, id: &id, access_token: Some(token), nonce: None };
        key.prove(&request).unwrap()
    };
    let shown = async |token: &str, proof: &str| {
        let token = format!("DPoP {token}");
        let (status, challenges) = served.ask(&[("Authorization", &token), ("DPoP", proof)]).await;
        let said =
            challenges.first().map(|said| said.split(", resource_metadata").next().unwrap().to_owned());
        (status, said.unwrap_or_default())
    };
    let fault =
        |error: &str, words: &str| (401, format!("DPoP error=\"{error}\", error_description=\"{words}\""));
    let proof = prove(&mine, 1, "POST", NOW, &bound);
    assert_eq!(shown(&bound, &proof).await, (200, String::new()));
    let bad = |words| fault("invalid_dpop_proof", words);
    assert_eq!(shown(&bound, &proof).await, bad("the proof has been used before"));
    let theirs = prove(&other, 2, "POST", NOW, &bound);
    assert_eq!(shown(&bound, &theirs).await, bad("the proof is of another key"));
    let elsewhere = prove(&mine, 3, "GET", NOW, &bound);
    assert_eq!(shown(&bound, &elsewhere).await, bad("the proof's `htm` does not fit the request"));
    let old = prove(&mine, 4, "POST", NOW - 91, &bound);
    assert_eq!(shown(&bound, &old).await, bad("the proof's `iat` does not fit the request"));
    let of_another_token = prove(&mine, 5, "POST", NOW, &free);
    assert_eq!(shown(&bound, &of_another_token).await, bad("the proof's `ath` does not fit the request"));
    assert_eq!(served.ask(&[("Authorization", &format!("DPoP {bound}"))]).await.0, 401);
    let not_bound = fault("invalid_token", "the token is not bound to a key");
    assert_eq!(shown(&free, &of_another_token).await, not_bound);
    // Bearing a bound token is what a thief would do.
    assert_eq!(served.show(&bound).await.0, 401);
}

#[tokio::test]
async fn a_server_may_want_its_nonce_in_each_proof() {
    let ours = key("one");
    let issuer = Issuer::open(&[&ours]).await;
    let served = Served::open(|options| options.nonce_key = Some(Secret::new([7; 32])), &issuer).await;
    let mine = DpopKey::new(SigningKey::generate().unwrap().0);
    let claims = with(&issuer.claims(RESOURCE), "cnf", json!({"jkt": mine.thumbprint()}));
    let bound = token(&ours, "at+jwt", &claims);
    let url = Url::parse(RESOURCE).unwrap();
    let shown = async |id: u8, nonce: Option<&str>| {
        let id = dpop_id([id; 16]);
        let access_token = Some(bound.as_str());
        let request = DpopRequest { method: "POST", url: &url, now: NOW, id: &id, access_token, nonce };
        let headers = [("Authorization", format!("DPoP {bound}")), ("DPoP", mine.prove(&request).unwrap())];
        let answer = served.send(&headers.each_ref().map(|(name, value)| (*name, value.as_str()))).await;
        let nonce = answer.headers.get("dpop-nonce").map(|nonce| nonce.to_str().unwrap().to_owned());
        (answer.status, nonce)
    };
    let (status, nonce) = shown(1, None).await;
    let nonce = nonce.unwrap();
    assert_eq!(status, 401);
    assert_eq!(shown(2, Some("made up")).await, (401, Some(nonce.clone())));
    assert_eq!(shown(3, Some(&nonce)).await, (200, None));
}

#[tokio::test]
async fn new_keys_are_found_and_unknown_ones_are_not_asked_for_again_and_again() {
    let (first, second) = (key("first"), key("second"));
    let issuer = Issuer::open(&[&first]).await;
    let http = HttpClient::new(HttpOptions::default());
    let trusted = TrustedIssuer { issuer: issuer.name.clone(), keys: None };
    let options = ResourceOptions::new(Url::parse(RESOURCE).unwrap(), vec![trusted]);
    let time = Arc::new(AtomicU64::new(NOW));
    let clock = time.clone();
    let gate = ResourceServer::new(options, &http, Arc::new(move || clock.load(Relaxed))).unwrap();
    let later = |seconds| time.fetch_add(seconds, Relaxed);
    let claims = with(&issuer.claims(RESOURCE), "exp", (NOW + 100_000).into());
    let status = async |key: &SigningKey| {
        let mut headers = HeaderMap::new();
        let token = format!("Bearer {}", token(key, "at+jwt", &claims));
        headers.insert("authorization", token.parse().unwrap());
        let admitted = gate.admit(&Method::POST, &headers).await;
        admitted.map(|caller| caller.principal).map_err(|refusal| refusal.status)
    };
    let ann = Ok(Some(format!("{}#ann", issuer.name)));
    assert_eq!((status(&first).await, issuer.asked()), (ann.clone(), 1));
    assert_eq!((status(&first).await, issuer.asked()), (ann.clone(), 1));
    issuer.publish(&[&first, &second]);
    // Asked a moment ago: not again, whoever comes with what key.
    assert_eq!((status(&second).await, issuer.asked()), (Err(401), 1));
    later(30);
    assert_eq!((status(&second).await, issuer.asked()), (ann.clone(), 2));
    assert_eq!((status(&first).await, issuer.asked()), (ann.clone(), 2));
    // Keys are looked at again after a while, and those that were good stay so for a while when nobody answers.
    issuer.fail();
    later(10 * 60);
    assert_eq!((status(&first).await, issuer.asked()), (ann.clone(), 3));
    assert_eq!((status(&first).await, issuer.asked()), (ann, 3));
    later(50 * 60);
    assert_eq!((status(&first).await, issuer.asked()), (Err(503), 4));
    issuer.publish(&[&second]);
    later(30);
    assert_eq!((status(&first).await, issuer.asked()), (Err(401), 5));
}
