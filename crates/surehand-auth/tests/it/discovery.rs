//! Who gives tokens, as servers say it, or do not.

use surehand_auth::{AuthError, Discovery, Reach, discover, parse_challenges, token_demand};
use surehand_transport::{HttpClient, HttpOptions};
use url::Url;

use crate::fake::Fake;

const AS: (&str, &str) = (
    "GET /.well-known/oauth-authorization-server",
    "200\n{\"issuer\":\"BASE\",\"token_endpoint\":\"BASE/token\",\"registration_endpoint\":\"BASE/register\"}",
);

async fn ask(fake: &Fake, challenge: &str) -> Result<Discovery, AuthError> {
    let server = Url::parse(&format!("{}/a/mcp", fake.base)).unwrap();
    let reach = Reach { http: HttpClient::new(HttpOptions::default()), server, trusted_hosts: Vec::new() };
    let challenge = challenge.replace("BASE", &fake.base);
    let demands = parse_challenges([challenge.as_str()]);
    discover(&reach, token_demand(&demands), &[]).await
}

async fn found(
    challenge: &str,
    answers: &[(&str, &str)],
) -> (Result<(Option<String>, String, usize), String>, Vec<String>) {
    let fake = Fake::start(answers).await;
    let base = |text: String| text.replace(&fake.base, "BASE");
    let outcome = ask(&fake, challenge).await;
    let outcome = outcome
        .map(|found| (found.resource.map(base), base(found.issuer), found.notes.len()))
        .map_err(|error| base(error.to_string()));
    (outcome, fake.asked())
}

fn about(resource: &str) -> String {
    format!("200\n{{\"resource\":\"{resource}\",\"authorization_servers\":[\"BASE\"]}}")
}

#[tokio::test]
async fn the_address_in_the_challenge_comes_first_and_the_root_last() {
    let at_path = "GET /.well-known/oauth-protected-resource/a/mcp";
    let at_root = "GET /.well-known/oauth-protected-resource";
    let (own, slash) = (about("BASE/a/mcp"), about("BASE/a/mcp/"));
    let resource = |path: &str, notes| Ok((Some(format!("BASE{path}")), "BASE".to_owned(), notes));

    let named = "bearer realm=\"x, y\", error=\"invalid_token\", resource_metadata=\"BASE/prm\"";
    let (outcome, asked) = found(named, &[AS, ("GET /prm", &slash), (at_path, &own)]).await;
    assert_eq!(outcome, resource("/a/mcp/", 1));
    assert_eq!(asked, ["GET /prm", AS.0]);

    let (outcome, asked) = found("Bearer", &[AS, (at_path, &own), (at_root, &slash)]).await;
    assert_eq!(outcome, resource("/a/mcp", 0));
    assert_eq!(asked, [at_path, AS.0]);

    let (outcome, asked) = found("Bearer", &[AS, (at_root, &about("BASE"))]).await;
    assert_eq!(outcome, resource("", 0));
    assert_eq!(asked, [at_path, at_root, AS.0]);
}

#[tokio::test]
async fn metadata_about_another_resource_are_refused_with_both_addresses() {
    let named = "Bearer resource_metadata=\"BASE/prm\"";
    let (outcome, asked) =
        found(named, &[AS, ("GET /prm", &about("https://other.example.test/a/mcp"))]).await;
    assert_eq!(
        outcome,
        Err("its metadata are about `https://other.example.test/a/mcp` and not about `BASE/a/mcp`, so no token is asked for"
            .to_owned())
    );
    assert_eq!(asked, ["GET /prm"]);
}

#[tokio::test]
async fn a_server_without_metadata_of_its_own_is_its_own_authorization_server() {
    let (outcome, asked) = found("Bearer", &[AS]).await;
    assert_eq!(outcome, Ok((None, "BASE".to_owned(), 0)));
    assert_eq!(
        asked,
        [
            "GET /.well-known/oauth-protected-resource/a/mcp",
            "GET /.well-known/oauth-protected-resource",
            "GET /.well-known/oauth-authorization-server"
        ]
    );
    let fake = Fake::start(&[]).await;
    let guessed = ask(&fake, "Bearer").await.unwrap();
    assert!(guessed.is_guessed && guessed.resource.is_none());
    assert_eq!(guessed.server.token_endpoint.map(String::from), Some(format!("{}/token", fake.base)));
    assert_eq!(guessed.tried.len(), 4);
}

#[tokio::test]
async fn metadata_of_another_issuer_count_for_nothing() {
    let prm = about("BASE/a/mcp").replace("\"BASE\"]", "\"BASE/tenant\"]");
    let evil = "200\n{\"issuer\":\"https://evil.example\",\"token_endpoint\":\"https://evil.example/token\"}";
    let right = "200\n{\"issuer\":\"BASE/tenant\"}";
    let prm = ("GET /.well-known/oauth-protected-resource/a/mcp", prm.as_str());
    let first = "GET /.well-known/oauth-authorization-server/tenant";
    let last = "GET /tenant/.well-known/openid-configuration";
    let (outcome, asked) = found("Bearer", &[prm, (first, evil), (last, right)]).await;
    assert_eq!(outcome, Ok((Some("BASE/a/mcp".to_owned()), "BASE/tenant".to_owned(), 0)));
    assert_eq!(asked, [prm.0, first, "GET /.well-known/openid-configuration/tenant", last]);

    let (outcome, _) = found("Bearer", &[prm, (first, evil)]).await;
    assert_eq!(
        outcome,
        Err("the metadata of the authorization server `BASE/tenant` say that they are of `https://evil.example`".to_owned())
    );
}

#[tokio::test]
async fn where_nothing_is_found_each_address_is_named_and_trouble_is_no_proof_of_absence() {
    let prm = ("GET /.well-known/oauth-protected-resource/a/mcp", about("BASE/a/mcp"));
    let (outcome, _) =
        found("Bearer", &[(prm.0, &prm.1), ("GET /.well-known/openid-configuration", "200\n<html>")]).await;
    assert_eq!(
        outcome,
        Err("it wants a login and says nowhere how to log in; asked were BASE/.well-known/oauth-authorization-server (HTTP 404), \
             BASE/.well-known/openid-configuration (no JSON)"
            .to_owned())
    );
    let (outcome, _) = found("Bearer", &[AS, (prm.0, "500\nfell over")]).await;
    assert_eq!(
        outcome,
        Err("the place of metadata of `BASE/.well-known/oauth-protected-resource/a/mcp` cannot be used just now (HTTP 500); try \
             again later"
            .to_owned())
    );
}
