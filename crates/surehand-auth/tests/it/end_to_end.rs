//! Our client, our resource server, and an authorization server between them.

use std::sync::Arc;

use surehand_auth::{
    CredentialStore, DpopPolicy, Grant, OAuth, OAuthOptions, Reach, ResourceOptions, ResourceServer,
    ScopeNeed, TrustedIssuer,
};
use surehand_model::{ContentBlock, RawJson, Secret};
use surehand_transport::{
    CallOptions, Client, ClientError, ClientOptions, Era, HttpClient, HttpOptions, HttpServer,
    HttpServerOptions, HttpTarget, OpenError, Target, serve_http,
};
use tokio_util::sync::{CancellationToken, DropGuard};
use url::Url;

use crate::issuer::{Giver, Issuer, NOW, key};
use crate::mirror::Mirror;

struct World {
    issuer: Issuer,
    server: Url,
    options: OAuthOptions,
    _served: HttpServer,
    _stop: DropGuard,
}

impl World {
    /// A server that takes only tokens bound to a key, whose proofs need its nonce, and a client that signs.
    async fn open(needs: Vec<ScopeNeed>) -> Self {
        let (ours, theirs) = (key("tokens"), key("robot"));
        let issuer = Issuer::open(&[&ours]).await;
        issuer.give_with(Giver { key: ours, client: theirs.public_key().clone() });
        let http = HttpClient::new(HttpOptions::default());
        // The server must know its address before it has one: one of its own for each test, on which nobody else listens.
        let mut random = [0; 3];
        getrandom::fill(&mut random).unwrap();
        let address = ([127, 100 | random[0], random[1], random[2]], 4711).into();
        let server = Url::parse(&format!("http://{address}/mcp")).unwrap();
        let trusted = TrustedIssuer { issuer: issuer.name.clone(), keys: None };
        let options = ResourceOptions {
            dpop: DpopPolicy::Required,
            nonce_key: Some(Secret::new([7; 32])),
            scopes: vec!["tools".to_owned()],
            needs,
            ..ResourceOptions::new(server.clone(), vec![trusted])
        };
        let gate = ResourceServer::new(options, &http, Arc::new(|| NOW)).unwrap();
        let stop = CancellationToken::new();
        let options =
            HttpServerOptions { listen: address, gate: Some(Arc::new(gate)), ..HttpServerOptions::default() };
        let served = serve_http(Arc::new(Mirror), options, stop.clone()).await.unwrap();
        let options = OAuthOptions {
            reach: Reach { http, server: server.clone(), trusted_hosts: Vec::new() },
            store: Arc::new(CredentialStore::memory()),
            grant: Grant::SignedClient { client_id: "robot".to_owned(), key: Arc::new(theirs) },
            issuer: None,
            now: Arc::new(|| NOW),
            client_name: "test".to_owned(),
            pre_registered: None,
            client_document: None,
            scopes: Vec::new(),
            offline: false,
            login_hint: String::new(),
            on_note: None,
        };
        Self { issuer, server, options, _served: served, _stop: stop.drop_guard() }
    }

    async fn whoami(&self, era: Era) -> Result<Vec<ContentBlock>, OpenError> {
        let http = self.options.reach.http.clone();
        let authorizer = Some(Arc::new(OAuth::new(self.options.clone())) as _);
        let options = ClientOptions { era, authorizer, ..ClientOptions::default() };
        let target = Target::Http(HttpTarget { url: self.server.clone(), headers: Vec::new() });
        let client = Client::open(target, options, &http).await?;
        let called = client.call_tool("whoami", &RawJson::empty_object(), CallOptions::default()).await;
        client.close().await;
        Ok(called.map_err(|error: ClientError| error.to_string()).unwrap().content)
    }
}

#[tokio::test]
async fn a_client_that_signs_gets_a_bound_token_and_uses_it_with_the_nonces_of_both_servers() {
    for era in [Era::Legacy, Era::Modern] {
        let world = World::open(Vec::new()).await;
        let robot = ContentBlock::Text(format!("{}#robot", world.issuer.name));
        assert_eq!(world.whoami(era).await.unwrap(), [robot]);
        assert_eq!(world.issuer.given(), [Err("use_dpop_nonce"), Ok("tools".to_owned())]);
    }
}

#[tokio::test]
async fn a_tool_that_needs_more_gets_a_token_that_is_good_for_all_of_it() {
    for era in [Era::Legacy, Era::Modern] {
        let need = ScopeNeed {
            method: "tools/call".to_owned(),
            subject: Some("whoami".to_owned()),
            scopes: vec!["secrets".to_owned()],
        };
        let world = World::open(vec![need]).await;
        let robot = ContentBlock::Text(format!("{}#robot", world.issuer.name));
        assert_eq!(world.whoami(era).await.unwrap(), [robot]);
        let given = [Err("use_dpop_nonce"), Ok("tools".to_owned()), Ok("tools secrets".to_owned())];
        assert_eq!(world.issuer.given(), given);
    }
}

#[tokio::test]
async fn a_client_shows_nothing_to_an_authorization_server_that_is_not_the_one_settled() {
    let mut world = World::open(Vec::new()).await;
    world.options.issuer = Some("https://as.example".to_owned());
    let words = world.whoami(Era::Modern).await.unwrap_err().to_string();
    let named = &world.issuer.name;
    let said = format!(
        "the configured client id belongs to the authorization server `https://as.example`, and the server now names `{named}`; it is not shown there"
    );
    assert!(words.ends_with(&said), "{words}");
    assert_eq!(world.issuer.given(), []);
}
