//! An authorization server that has keys and says where.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use serde_json::{Map, Value, json};
use surehand_auth::{Jwk, JwkSet, SigningKey, sign_jws};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

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
}

impl Issuer {
    /// One that publishes these keys.
    pub(crate) async fn open(keys: &[&SigningKey]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let name = format!("http://{}", listener.local_addr().unwrap());
        let told = Arc::new(Mutex::new(Told { issuer: name.clone(), ..Told::default() }));
        let app = Router::new()
            .route("/.well-known/oauth-authorization-server", get(metadata))
            .route("/keys", get(published))
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
    json!({"issuer": issuer, "jwks_uri": format!("{issuer}/keys")}).to_string()
}

async fn published(State(told): State<Arc<Mutex<Told>>>) -> (StatusCode, String) {
    let mut told = told.lock().unwrap();
    told.asked += 1;
    match &told.keys {
        Some(keys) => (StatusCode::OK, keys.to_string()),
        None => (StatusCode::INTERNAL_SERVER_ERROR, String::new()),
    }
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
