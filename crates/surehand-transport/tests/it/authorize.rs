//! How an authorizer's credentials reach a server, and what a refusal makes of them.

use std::sync::{Arc, Mutex};

use surehand_mcp::BoxFuture;
use surehand_model::Secret;
use surehand_transport::{
    Authorizer, Challenge, Client, ClientOptions, Credentials, Era, HttpTarget, Method, OpenError, Retry,
    Target,
};
use url::Url;

use crate::fake::Fake;
use crate::fixture::open;

const DISCOVERED: &str = "200 content-type: application/json\n{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{\"tools\":{}}}}";
const REFUSED: &str = "401 www-authenticate: Bearer scope=\"a\"; dpop-nonce: n1";

struct Counting(Mutex<Vec<Challenge>>, Retry, Mutex<Vec<String>>);

impl Authorizer for Counting {
    fn headers<'a>(&'a self, _: &'a Method, _: &'a Url) -> BoxFuture<'a, Result<Credentials, String>> {
        let token = format!("token{}", self.0.lock().unwrap().len());
        Box::pin(async move { Ok(vec![("x-mine".to_owned(), Secret::new(token))]) })
    }

    fn challenged<'a>(&'a self, challenge: Challenge) -> BoxFuture<'a, Result<Retry, String>> {
        self.0.lock().unwrap().push(challenge);
        Box::pin(async move { Ok(self.1) })
    }

    fn renewed_nonce(&self, _: &Url, nonce: &str) {
        self.2.lock().unwrap().push(nonce.to_owned());
    }
}

async fn opened(fake: &Fake, retry: Retry) -> (Result<Client, OpenError>, Arc<Counting>) {
    let authorizer = Arc::new(Counting(Mutex::default(), retry, Mutex::default()));
    let url = Url::parse(&format!("http://{}/mcp", fake.address)).unwrap();
    let headers = vec![("X-Mine".to_owned(), Secret::new("configured".to_owned()))];
    let options =
        ClientOptions { era: Era::Auto, authorizer: Some(authorizer.clone()), ..ClientOptions::default() };
    (open(Target::Http(HttpTarget { url, headers }), options).await.0, authorizer)
}

fn asked(token: &str) -> String {
    format!(
        "POST mcp-protocol-version=2026-07-28 mcp-method=server/discover x-mine={token} [server/discover]"
    )
}

#[tokio::test]
async fn a_refused_request_is_sent_again_with_new_credentials() {
    let fake = Fake::start(&[REFUSED, DISCOVERED]).await;
    let (client, authorizer) = opened(&fake, Retry::Again).await;
    client.unwrap();
    assert_eq!(fake.asked(), [asked("token0"), asked("token1")]);
    let challenge = Challenge {
        status: 401,
        authenticate: vec!["Bearer scope=\"a\"".to_owned()],
        nonce: Some("n1".to_owned()),
        refused_before: 0,
        presented: vec![("x-mine".to_owned(), Secret::new("token0".to_owned()))],
    };
    assert_eq!(*authorizer.0.lock().unwrap(), [challenge]);
}

#[tokio::test]
async fn a_server_that_refuses_for_ever_gets_three_authorizations_and_no_more() {
    let fake = Fake::start(&[REFUSED; 9]).await;
    let (client, _) = opened(&fake, Retry::Again).await;
    assert!(matches!(client.err().unwrap(), OpenError::LoginNeeded { .. }));
    assert_eq!(fake.asked(), ["token0", "token1", "token2", "token3"].map(asked));
}

#[tokio::test]
async fn a_refusal_stands_where_the_authorizer_gives_up() {
    let fake = Fake::start(&[REFUSED, DISCOVERED]).await;
    let (client, _) = opened(&fake, Retry::GiveUp).await;
    assert!(matches!(client.err().unwrap(), OpenError::LoginNeeded { .. }));
    assert_eq!(fake.asked(), [asked("token0")]);
}

#[tokio::test]
async fn a_nonce_on_an_answer_is_for_the_next_proof() {
    let renewing = DISCOVERED.replace("200 ", "200 dpop-nonce: n2; ");
    let fake = Fake::start(&[REFUSED, &renewing]).await;
    let (client, authorizer) = opened(&fake, Retry::Again).await;
    client.unwrap();
    assert_eq!(*authorizer.2.lock().unwrap(), ["n2"]);
}

struct Failing;

impl Authorizer for Failing {
    fn headers<'a>(&'a self, _: &'a Method, _: &'a Url) -> BoxFuture<'a, Result<Credentials, String>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn challenged<'a>(&'a self, _: Challenge) -> BoxFuture<'a, Result<Retry, String>> {
        Box::pin(async { Err("nobody is there to log in".to_owned()) })
    }
}

#[tokio::test]
async fn what_the_authorizer_says_is_not_told_as_the_servers_words() {
    let fake = Fake::start(&[REFUSED]).await;
    let url = Url::parse(&format!("http://{}/mcp", fake.address)).unwrap();
    let options = ClientOptions { authorizer: Some(Arc::new(Failing)), ..ClientOptions::default() };
    let client = open(Target::Http(HttpTarget { url: url.clone(), headers: Vec::new() }), options).await.0;
    assert_eq!(
        client.err().unwrap().to_string(),
        format!("the login to {url} did not come about: nobody is there to log in")
    );
}
