//! An authorization server that has keys and says where, and gives tokens bound to a key to one client that signs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, post};
use serde_json::{Map, Value, json};
use surehand_auth::{
    Algorithm, ClaimRules, Claims, DpopCheck, Jwk, JwkSet, Jws, PublicKey, SigningKey, check_dpop, sign_jws,
};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use url::Url;

/// Its time.
pub(crate) const NOW: u64 = 1_800_000_000;

pub(crate) struct Issuer {
    pub(crate) name: String,
    told: Arc<Mutex<Told>>,
    _serving: JoinSet<()>,
}

#[derive(Default)]
struct Told {
    issuer: String,
    keys: Option<Value>,
    asked: usize,
    giver: Option<Arc<Giver>>,
    given: Vec<Result<String, &'static str>>,
}

/// What a token endpoint needs.
pub(crate) struct Giver {
    /// Signs the tokens.
    pub(crate) key: SigningKey,
    /// The one client's.
    pub(crate) client: PublicKey,
}

/// What the token endpoint wants in each proof.
const NONCE: &str = "from the authorization server";

impl Issuer {
    /// One that publishes these keys.
    pub(crate) async fn open(keys: &[&SigningKey]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let name = format!("http://{}", listener.local_addr().unwrap());
        let told = Arc::new(Mutex::new(Told { issuer: name.clone(), ..Told::default() }));
        let app = Router::new()
            .route("/.well-known/oauth-authorization-server", get(metadata))
            .route("/keys", get(published))
            .route("/token", post(give))
            .with_state(told.clone());
        let mut serving = JoinSet::new();
        serving.spawn(async move { axum::serve(listener, app).await.unwrap() });
        let issuer = Self { name, told, _serving: serving };
        issuer.publish(keys);
        issuer
    }

    pub(crate) fn publish(&self, keys: &[&SigningKey]) {
        let jwk =
            |key: &&SigningKey| Jwk { key: key.public_key().clone(), kid: key.kid.clone(), algorithm: None };
        self.told.lock().unwrap().keys = Some(JwkSet { keys: keys.iter().map(jwk).collect() }.write());
    }

    /// Gives tokens from now on.
    pub(crate) fn give_with(&self, giver: Giver) {
        self.told.lock().unwrap().giver = Some(Arc::new(giver));
    }

    /// What came of each token request: the scopes given, or the error.
    pub(crate) fn given(&self) -> Vec<Result<String, &'static str>> {
        self.told.lock().unwrap().given.clone()
    }

    /// Answers 500 from now on.
    pub(crate) fn fail(&self) {
        self.told.lock().unwrap().keys = None;
    }

    /// How often its keys were asked for.
    pub(crate) fn asked(&self) -> usize {
        self.told.lock().unwrap().asked
    }

    /// Claims of a good token for a resource.
    pub(crate) fn claims(&self, resource: &str) -> Value {
        json!({"iss": self.name, "sub": "ann", "aud": resource, "exp": NOW + 60, "iat": NOW, "scope": "tools more"})
    }
}

async fn metadata(State(told): State<Arc<Mutex<Told>>>) -> String {
    let issuer = told.lock().unwrap().issuer.clone();
    json!({
        "issuer": issuer,
        "jwks_uri": format!("{issuer}/keys"),
        "token_endpoint": format!("{issuer}/token"),
        "token_endpoint_auth_methods_supported": ["private_key_jwt"],
        "dpop_signing_alg_values_supported": ["ES256"],
    })
    .to_string()
}

async fn published(State(told): State<Arc<Mutex<Told>>>) -> (StatusCode, String) {
    let mut told = told.lock().unwrap();
    told.asked += 1;
    match &told.keys {
        Some(keys) => (StatusCode::OK, keys.to_string()),
        None => (StatusCode::INTERNAL_SERVER_ERROR, String::new()),
    }
}

async fn give(
    State(told): State<Arc<Mutex<Told>>>,
    headers: HeaderMap,
    body: String,
) -> (StatusCode, [(&'static str, &'static str); 1], String) {
    let form: HashMap<String, String> = url::form_urlencoded::parse(body.as_bytes()).into_owned().collect();
    let mut told = told.lock().unwrap();
    let giver = told.giver.clone().unwrap();
    let given = judge(&told.issuer, &giver, &headers, &form);
    told.given
        .push(given.as_ref().map(|_| form.get("scope").cloned().unwrap_or_default()).map_err(|error| *error));
    let (status, body) = match given {
        Ok(token) => (StatusCode::OK, json!({"access_token": token, "token_type": "DPoP", "expires_in": 60})),
        Err(error) => (StatusCode::BAD_REQUEST, json!({"error": error})),
    };
    (status, [("dpop-nonce", NONCE)], body.to_string())
}

fn judge(
    issuer: &str,
    giver: &Giver,
    headers: &HeaderMap,
    form: &HashMap<String, String>,
) -> Result<String, &'static str> {
    let field = |name: &str| form.get(name).map(String::as_str).unwrap_or_default();
    if field("grant_type") != "client_credentials" {
        return Err("unsupported_grant_type");
    }
    let assertion = Jws::parse(field("client_assertion")).map_err(|_| "invalid_client")?;
    let claims = assertion.verify([&giver.client], &Algorithm::ALL).map_err(|_| "invalid_client")?;
    let audiences = [issuer.to_owned()];
    let rules = ClaimRules { issuer: "robot", audiences: &audiences, now: NOW, leeway: 0 };
    Claims::parse(&claims).unwrap().check(&rules).map_err(|_| "invalid_client")?;
    let url = Url::parse(&format!("{issuer}/token")).unwrap();
    let check = DpopCheck { method: "POST", url: &url, access_token: None, now: NOW, max_age: 60, leeway: 0 };
    let proof = headers.get("dpop").and_then(|proof| proof.to_str().ok()).unwrap_or_default();
    let proven = check_dpop(proof, &check).map_err(|_| "invalid_dpop_proof")?;
    if proven.nonce.as_deref() != Some(NONCE) {
        return Err("use_dpop_nonce");
    }
    let claims = json!({
        "iss": issuer,
        "sub": "robot",
        "aud": field("resource"),
        "exp": NOW + 60,
        "scope": field("scope"),
        "cnf": {"jkt": proven.thumbprint},
    });
    Ok(token(&giver.key, "at+jwt", &claims))
}

pub(crate) fn key(kid: &str) -> SigningKey {
    let (mut key, _) = SigningKey::generate().unwrap();
    key.kid = Some(kid.to_owned());
    key
}

pub(crate) fn token(key: &SigningKey, typ: &str, claims: &Value) -> String {
    let mut header = Map::new();
    header.insert("typ".to_owned(), typ.into());
    sign_jws(key, header, claims.to_string().as_bytes()).unwrap()
}
