//! What becomes of tokens that are over.

use std::sync::Arc;

use surehand_auth::{CredentialStore, Grant, OAuth, OAuthOptions};
use surehand_transport::{Authorizer, Challenge, Credentials, Method, Retry};

use crate::world::{USUAL, World};

/// A client whose access token `a1` is over and whose refresh token is `r1`; with nobody to log in again.
async fn expired(world: &World) -> OAuth {
    world.challenge(&world.client(), "Bearer").await.unwrap();
    world.clock.advance(4000);
    world.fake.asked();
    OAuth::new(OAuthOptions { grant: Grant::Person(None), ..world.options() })
}

const REFRESHED: &str =
    "POST /as/token grant_type=refresh_token&refresh_token=r1&resource=BASE%2Fmcp&client_id=c1";

#[tokio::test]
async fn a_token_that_is_over_is_renewed_before_it_is_shown_and_the_new_refresh_token_is_kept() {
    let cases = [
        ("200\n{\"access_token\":\"a2\",\"token_type\":\"bearer\"}", "r1"),
        ("200\n{\"access_token\":\"a2\",\"expires_in\":\"3600\",\"refresh_token\":\"r2\"}", "r2"),
    ];
    for (answer, next) in cases {
        let world = World::new(&USUAL).await;
        let oauth = expired(&world).await;
        world.fake.set("POST /as/token", &[answer]);
        assert_eq!(world.shown(&oauth).await, Ok(Some("Bearer a2".to_owned())));
        assert_eq!(world.fake.asked(), [REFRESHED]);
        // Another process goes on with what this one got.
        let other = world.client();
        assert_eq!(world.refuse(&other, 401, "Bearer", Some("Bearer a1"), 0).await, Ok(Retry::Again));
        assert_eq!(world.fake.asked(), [""; 0]);
        world.fake.set("POST /as/token", &["200\n{\"access_token\":\"a3\"}"]);
        assert_eq!(world.refuse(&other, 401, "Bearer", Some("Bearer a2"), 0).await, Ok(Retry::Again));
        assert_eq!(world.fake.asked().last(), Some(&REFRESHED.replace("r1", next)));
    }
}

#[tokio::test]
async fn a_refresh_token_that_is_dead_is_forgotten_and_a_login_is_asked_for_once() {
    let cases = [
        ("400\n{\"error\":\"invalid_grant\"}", "says `invalid_grant`", false),
        ("200\n{\"error\":\"invalid_grant\"}", "says `invalid_grant`", false),
        (
            "400\n{\"error\":\"invalid_request\",\"error_description\":\"refresh_token is invalid\"}",
            "says `invalid_grant` (refresh_token is invalid)",
            false,
        ),
        ("401\n{\"error\":\"invalid_client\"}", "says `invalid_client` (invalid_client)", true),
    ];
    for (answer, words, is_registered_anew) in cases {
        let world = World::new(&USUAL).await;
        let oauth = expired(&world).await;
        world.fake.set("POST /as/token", &[answer]);
        assert_eq!(world.refuse(&oauth, 401, "Bearer", Some("Bearer a1"), 0).await, {
            let why = format!("the token endpoint of `BASE/as` {words}");
            Err(format!("a login is needed ({why}): surehand mcp login h"))
        });
        assert_eq!(world.fake.asked().iter().filter(|line| line.starts_with("POST")).count(), 1, "{answer}");
        assert_eq!(world.shown(&oauth).await, Ok(None));
        assert_eq!((oauth.has_tokens().unwrap(), world.client().has_tokens().unwrap()), (false, false));

        world.fake.set("POST /as/token", &["200\n{\"access_token\":\"a2\"}"]);
        world.challenge(&world.client(), "Bearer").await.unwrap();
        let registered = world.fake.asked().iter().any(|line| line.starts_with("POST /as/register"));
        assert_eq!(registered, is_registered_anew, "{answer}");
    }
}

#[tokio::test]
async fn a_token_endpoint_in_trouble_costs_nothing_but_the_request() {
    let world = World::new(&USUAL).await;
    let oauth = expired(&world).await;
    world.fake.set("POST /as/token", &["503\nbusy"]);
    let words = world.shown(&oauth).await.unwrap_err().replace(&world.fake.base, "BASE");
    assert_eq!(words, "the token endpoint of `BASE/as` cannot be used just now (HTTP 503); try again later");
    world.fake.set("POST /as/token", &["200\n{\"access_token\":\"a2\"}"]);
    assert_eq!(world.shown(&oauth).await, Ok(Some("Bearer a2".to_owned())));
}

#[tokio::test]
async fn a_token_without_an_end_is_used_until_it_is_refused() {
    let world = World::new(&USUAL).await;
    world.fake.set("POST /as/token", &["200\n{\"access_token\":\"a1\",\"refresh_token\":\"r1\"}"]);
    let oauth = expired(&world).await;
    assert_eq!(world.shown(&oauth).await, Ok(Some("Bearer a1".to_owned())));
    world.fake.set("POST /as/token", &["200\n{\"access_token\":\"a2\"}"]);
    assert_eq!(world.refuse(&oauth, 401, "Bearer", Some("Bearer a1"), 0).await, Ok(Retry::Again));
    assert_eq!(world.fake.asked().last().map(String::as_str), Some(REFRESHED));
}

#[tokio::test]
async fn processes_that_share_a_store_renew_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::new(&USUAL).await;
    world.store = Arc::new(CredentialStore::folder(folder.path()));
    let first = expired(&world).await;
    world.store = Arc::new(CredentialStore::folder(folder.path()));
    let second = world.client();
    world.fake.set(
        "POST /as/token",
        &["200\n{\"access_token\":\"a2\",\"expires_in\":3600,\"refresh_token\":\"r2\"}"],
    );
    let shown = tokio::join!(world.shown(&first), world.shown(&second), world.shown(&first));
    let wanted = Ok(Some("Bearer a2".to_owned()));
    assert_eq!(shown, (wanted.clone(), wanted.clone(), wanted));
    assert_eq!(world.fake.asked(), [REFRESHED]);
}

#[tokio::test]
async fn a_renewal_that_nobody_waits_for_any_more_is_kept_all_the_same() {
    let world = World::new(&USUAL).await;
    let oauth = expired(&world).await;
    world.fake.set(
        "POST /as/token",
        &["200\n{\"access_token\":\"a2\",\"expires_in\":3600,\"refresh_token\":\"r2\"}"],
    );
    world.fake.hold("POST /as/token");
    tokio::select! {
        biased;
        shown = world.shown(&oauth) => panic!("{shown:?}"),
        () = world.fake.wait_for("POST /as/token") => {}
    }
    // The caller is gone; who comes next waits for what was begun.
    let (shown, ()) = tokio::join!(world.shown(&oauth), async { world.fake.let_go() });
    assert_eq!(shown, Ok(Some("Bearer a2".to_owned())));
    assert_eq!(world.fake.asked(), [REFRESHED]);
}

#[tokio::test]
async fn a_login_asked_for_anew_leaves_the_old_tokens_until_there_are_new_ones() {
    let world = World::new(&USUAL).await;
    world.challenge(&world.client(), "Bearer").await.unwrap();
    let anew = world.client();
    anew.start_over();
    assert_eq!((world.shown(&anew).await, anew.has_tokens().unwrap()), (Ok(None), false));
    *world.person.answer.lock().unwrap() = "error=access_denied".to_owned();
    world.challenge(&anew, "Bearer").await.unwrap_err();
    assert_eq!(world.shown(&world.client()).await, Ok(Some("Bearer a1".to_owned())));
    anew.start_over();
    *world.person.answer.lock().unwrap() = "code=x2".to_owned();
    world.fake.set("POST /as/token", &["200\n{\"access_token\":\"a2\"}"]);
    world.challenge(&anew, "Bearer").await.unwrap();
    assert_eq!(world.shown(&anew).await, Ok(Some("Bearer a2".to_owned())));
    assert_eq!(world.shown(&world.client()).await, Ok(Some("Bearer a2".to_owned())));
}

#[tokio::test]
async fn a_nonce_that_a_neighbour_learned_first_is_still_a_reason_to_ask_again() {
    let world = World::new(&USUAL).await;
    world.fake.set("POST /as/token", &["200\n{\"access_token\":\"a1\",\"token_type\":\"DPoP\"}"]);
    let oauth = world.client();
    world.challenge(&oauth, "DPoP").await.unwrap();
    let credentials = async || oauth.headers(&Method::POST, &world.server()).await.unwrap();
    let refuse = async |presented: Credentials| {
        oauth
            .challenged(Challenge {
                status: 401,
                authenticate: vec!["DPoP error=\"use_dpop_nonce\"".to_owned()],
                nonce: Some("n1".to_owned()),
                refused_before: 0,
                presented,
            })
            .await
    };
    let (first, second) = (credentials().await, credentials().await);
    assert_eq!((first.len(), first[0].1.expose().as_str()), (2, "DPoP a1"));
    assert_eq!(refuse(first).await, Ok(Retry::Again));
    assert_eq!(refuse(second).await, Ok(Retry::Again));
    assert_eq!(refuse(credentials().await).await, Ok(Retry::GiveUp));
    // The key is kept with the token that is bound to it.
    let next = world.client();
    let kept = next.headers(&Method::POST, &world.server()).await.unwrap();
    assert_eq!((kept.len(), kept[0].1.expose().as_str()), (2, "DPoP a1"));
}
