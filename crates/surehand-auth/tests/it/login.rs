//! How a login is asked for, and what becomes of it.

use std::sync::Arc;

use futures_util::future::join_all;
use surehand_auth::{CredentialStore, Grant, OAuth, OAuthOptions, PreRegistered, Reach};
use surehand_model::Secret;
use surehand_transport::Retry;
use url::Url;

use crate::world::{Person, USUAL, Window, World};

const PLAIN: &str = "Bearer";

#[tokio::test]
async fn a_login_goes_from_metadata_over_registration_and_browser_to_a_token_that_is_shown() {
    let world = World::new(&USUAL).await;
    let oauth = world.client();
    assert_eq!(world.shown(&oauth).await, Ok(None));
    assert_eq!(world.challenge(&oauth, "Bearer scope=\"a b\"").await, Ok(Retry::Again));
    assert_eq!(world.shown(&oauth).await, Ok(Some("Bearer a1".to_owned())));

    let opened = world.person.opened.lock().unwrap()[0].clone();
    assert_eq!(opened.path(), "/as/authorize");
    let pairs: Vec<(String, String)> = opened.query_pairs().into_owned().collect();
    let names: Vec<&str> = pairs.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "response_type",
            "client_id",
            "redirect_uri",
            "state",
            "code_challenge",
            "code_challenge_method",
            "scope",
            "resource"
        ]
    );
    let resource = world.server().to_string();
    let asked = |name: &str| world.person.asked_for(name).unwrap();
    assert_eq!(
        (asked("client_id"), asked("scope"), asked("resource")),
        ("c1".into(), "a b".into(), resource)
    );
    let asked = world.fake.asked();
    assert_eq!(
        asked[..3],
        [
            "GET /.well-known/oauth-protected-resource/mcp",
            "GET /.well-known/oauth-authorization-server/as",
            "POST /as/register {\"client_name\":\"Surehand\",\"redirect_uris\":[\"http://127.0.0.1:3118/callback\"],\
             \"grant_types\":[\"authorization_code\",\"refresh_token\"],\"response_types\":[\"code\"],\
             \"token_endpoint_auth_method\":\"none\",\"application_type\":\"native\",\"scope\":\"a b\"}",
        ]
    );
    let token = &asked[3];
    let wanted = "POST /as/token grant_type=authorization_code&code=x1&redirect_uri=http%3A%2F%2F127.0.0.1%3A3118%2Fcallback&code_verifier=";
    assert!(token.starts_with(wanted), "{token}");
    assert!(token.ends_with("&resource=BASE%2Fmcp&client_id=c1"), "{token}");
    assert_eq!(asked.len(), 4);
}

#[tokio::test]
async fn requests_refused_side_by_side_lead_to_one_login() {
    let world = World::new(&USUAL).await;
    let oauth = world.client();
    let all = (0..8).map(|_| world.challenge(&oauth, PLAIN));
    assert_eq!((join_all(all).await, world.person.logins()), (vec![Ok(Retry::Again); 8], 1));
}

#[tokio::test]
async fn a_login_that_was_refused_is_not_asked_for_again_by_itself() {
    let world = World::new(&USUAL).await;
    let oauth = world.client();
    *world.person.answer.lock().unwrap() = "error=access_denied&error_description=no".to_owned();
    let denied = "the login was refused: `access_denied` (no)";
    assert_eq!(world.challenge(&oauth, PLAIN).await, Err(denied.to_owned()));
    assert_eq!(
        world.challenge(&oauth, PLAIN).await,
        Err(format!("a login is needed ({denied}): surehand mcp login h"))
    );
    assert_eq!(world.person.logins(), 1);
    oauth.forget().unwrap();
    *world.person.answer.lock().unwrap() = "code=x1".to_owned();
    assert_eq!(world.challenge(&oauth, PLAIN).await, Ok(Retry::Again));
}

#[tokio::test]
async fn with_nobody_there_the_hint_says_what_to_do() {
    let world = World::new(&USUAL).await;
    let oauth = OAuth::new(OAuthOptions { grant: Grant::Person(None), ..world.options() });
    assert_eq!(
        world.challenge(&oauth, PLAIN).await,
        Err("a login is needed: surehand mcp login h".to_owned())
    );
}

#[tokio::test]
async fn where_nothing_speaks_of_logins_the_servers_own_words_stand_and_a_login_tells_what_was_asked() {
    let world = World::new(&[]).await;
    let alone = OAuth::new(OAuthOptions { grant: Grant::Person(None), ..world.options() });
    assert_eq!(world.challenge(&alone, PLAIN).await, Ok(Retry::GiveUp));
    assert_eq!(
        world.challenge(&world.client(), PLAIN).await,
        Err("it wants a login and says nowhere how to log in; asked were \
             BASE/.well-known/oauth-protected-resource/mcp (HTTP 404), BASE/.well-known/oauth-protected-resource (HTTP 404), \
             BASE/.well-known/oauth-authorization-server (HTTP 404), BASE/.well-known/openid-configuration (HTTP 404), \
             BASE/register (HTTP 404)"
            .to_owned())
    );
    assert_eq!(world.person.logins(), 0);
}

#[tokio::test]
async fn a_server_that_refuses_the_token_it_was_just_given_gets_no_second_login() {
    let world = World::new(&USUAL).await;
    let oauth = world.client();
    world.challenge(&oauth, PLAIN).await.unwrap();
    assert_eq!(
        world.refuse(&oauth, 401, "Bearer error=\"invalid_token\"", Some("Bearer a1"), 1).await,
        Err("the server refuses the token that it was just given: Bearer error=\"invalid_token\"".to_owned())
    );
    assert_eq!(world.person.logins(), 1);
}

#[tokio::test]
async fn more_scopes_are_asked_for_together_with_those_before_and_only_if_that_can_help() {
    let world = World::new(&USUAL).await;
    let oauth = world.client();
    world.challenge(&oauth, "Bearer scope=\"basic\"").await.unwrap();
    world.fake.set("POST /as/token", &["200\n{\"access_token\":\"a2\",\"scope\":\"basic write\"}"]);
    let more = "Bearer error=\"insufficient_scope\", scope=\"write\"";
    assert_eq!(world.refuse(&oauth, 403, more, Some("Bearer a1"), 0).await, Ok(Retry::Again));
    assert_eq!(world.person.asked_for("scope"), Some("basic write".to_owned()));
    assert_eq!(world.refuse(&oauth, 403, more, Some("Bearer a2"), 0).await, Ok(Retry::GiveUp));
    assert_eq!(
        world.refuse(&oauth, 403, "Bearer error=\"other\"", Some("Bearer a2"), 0).await,
        Ok(Retry::GiveUp)
    );
    assert_eq!(world.person.logins(), 2);

    let alone = OAuth::new(OAuthOptions { grant: Grant::Person(None), ..world.options() });
    let most = "Bearer error=\"insufficient_scope\", scope=\"admin\"";
    assert_eq!(
        world.refuse(&alone, 403, most, Some("Bearer a2"), 0).await,
        Err("a login is needed (the server wants `admin` beside what was granted): surehand mcp login h"
            .to_owned())
    );
}

#[tokio::test]
async fn a_new_authorization_server_gets_a_new_registration_and_sees_nothing_of_the_old_one() {
    let world = World::new(&USUAL).await;
    let oauth = world.client();
    world.challenge(&oauth, PLAIN).await.unwrap();
    world.fake.asked();
    world.fake.set(
        "GET /.well-known/oauth-protected-resource/mcp",
        &["200\n{\"resource\":\"BASE/mcp\",\"authorization_servers\":[\"BASE/new\"]}"],
    );
    world.fake.add(
        "GET /.well-known/oauth-authorization-server/new",
        "200\n{\"issuer\":\"BASE/new\",\"authorization_endpoint\":\"BASE/new/authorize\",\"token_endpoint\":\"BASE/new/token\",\
         \"registration_endpoint\":\"BASE/new/register\",\"code_challenge_methods_supported\":[\"S256\"]}",
    );
    world.fake.add("POST /new/register", "201\n{\"client_id\":\"c2\"}");
    world.fake.add("POST /new/token", "200\n{\"access_token\":\"n1\"}");
    assert_eq!(world.refuse(&oauth, 401, PLAIN, Some("Bearer a1"), 0).await, Ok(Retry::Again));
    assert_eq!(world.shown(&oauth).await, Ok(Some("Bearer n1".to_owned())));
    let asked = world.fake.asked();
    assert_eq!(asked.len(), 4, "{asked:?}");
    assert!(asked.iter().all(|line| !["c1", "r1", "a1"].iter().any(|old| line.contains(&format!("={old}")))));
}

#[tokio::test]
async fn a_client_id_from_the_configuration_is_shown_to_its_own_authorization_server_only() {
    let world = World::new(&USUAL).await;
    let own = |issuer: Option<String>| PreRegistered {
        issuer,
        client_id: "own".to_owned(),
        client_secret: Some(Secret::new("hush".to_owned())),
    };
    let with = |issuer| OAuth::new(OAuthOptions { pre_registered: Some(own(issuer)), ..world.options() });
    let foreign = with(Some("https://other.example".to_owned()));
    let words = "the configured client id belongs to the authorization server `https://other.example`, and the server now names \
                 `BASE/as`; it is not shown there";
    assert_eq!(world.challenge(&foreign, PLAIN).await, Err(words.to_owned()));

    let unbound = with(None);
    assert_eq!(world.challenge(&unbound, PLAIN).await, Ok(Retry::Again));
    assert!(world.fake.asked().last().unwrap().contains("[Basic b3duOmh1c2g=]"));
    world.fake.set(
        "GET /.well-known/oauth-protected-resource/mcp",
        &["200\n{\"resource\":\"BASE/mcp\",\"authorization_servers\":[\"BASE/new\"]}"],
    );
    world.fake.add(
        "GET /.well-known/oauth-authorization-server/new",
        "200\n{\"issuer\":\"BASE/new\",\"authorization_endpoint\":\"BASE/new/authorize\",\"token_endpoint\":\"BASE/new/token\",\
         \"code_challenge_methods_supported\":[\"S256\"]}",
    );
    let words = "the configured client id belongs to the authorization server `BASE/as`, and the server now names `BASE/new`; it is \
                 not shown there";
    assert_eq!(world.refuse(&unbound, 401, PLAIN, Some("Bearer a1"), 0).await, Err(words.to_owned()));
    assert_eq!(world.person.logins(), 1);
}

#[tokio::test]
async fn a_description_is_used_where_the_authorization_server_reads_them() {
    let world = World::new(&USUAL).await;
    world.fake.set(
        "GET /.well-known/oauth-authorization-server/as",
        &["200\n{\"issuer\":\"BASE/as\",\"authorization_endpoint\":\"BASE/as/authorize\",\"token_endpoint\":\"BASE/as/token\",\
           \"registration_endpoint\":\"BASE/as/register\",\"code_challenge_methods_supported\":[\"S256\"],\
           \"client_id_metadata_document_supported\":true}"],
    );
    let document = Some(Url::parse("https://us.example/client.json").unwrap());
    let oauth = OAuth::new(OAuthOptions { client_document: document, ..world.options() });
    world.challenge(&oauth, PLAIN).await.unwrap();
    assert_eq!(world.person.asked_for("client_id"), Some("https://us.example/client.json".to_owned()));
    assert!(!world.fake.asked().iter().any(|line| line.starts_with("POST /as/register")));
}

#[tokio::test]
async fn a_registration_is_used_again_unless_the_redirect_address_is_another() {
    let world = World::new(&USUAL).await;
    let registrations =
        || world.fake.asked().iter().filter(|line| line.starts_with("POST /as/register")).count();
    let log_in = async |person: Arc<Person>| {
        let grant = Grant::Person(Some(Arc::new(Window(person))));
        let oauth = OAuth::new(OAuthOptions { grant, ..world.options() });
        oauth.forget().unwrap();
        world.challenge(&oauth, PLAIN).await.unwrap();
    };
    log_in(Person::new()).await;
    assert_eq!(registrations(), 1);
    log_in(Person::new()).await;
    assert_eq!(registrations(), 0);
    log_in(Person::at("http://localhost:3118/callback")).await;
    assert_eq!(registrations(), 1);
}

#[tokio::test]
async fn an_authorization_server_without_pkce_or_without_a_way_to_register_is_refused_in_words() {
    let world = World::new(&USUAL).await;
    let place = "GET /.well-known/oauth-authorization-server/as";
    let metadata = "\"issuer\":\"BASE/as\",\"authorization_endpoint\":\"BASE/as/authorize\",\"token_endpoint\":\"BASE/as/token\"";
    world.fake.set(place, &[&format!("200\n{{{metadata}}}")]);
    assert_eq!(
        world.challenge(&world.client(), PLAIN).await,
        Err("the authorization server `BASE/as` does not offer PKCE with S256, without which codes can be stolen".to_owned())
    );
    world.fake.set(place, &[&format!("200\n{{{metadata},\"code_challenge_methods_supported\":[\"S256\"]}}")]);
    assert_eq!(
        world.challenge(&world.client(), PLAIN).await,
        Err("the authorization server `BASE/as` registers nobody by itself; register this client there by hand and put the client \
             id into the configuration"
            .to_owned())
    );
    assert_eq!(world.person.logins(), 0);
}

#[tokio::test]
async fn an_address_that_is_no_web_page_is_never_opened() {
    for endpoint in [
        "file:///etc/passwd",
        "javascript:alert(1)",
        "ms-settings:x",
        "http://a.example/$(id)",
        "http://169.254.169.254/latest",
        "\\\"&calc",
        "-e",
    ] {
        let world = World::new(&USUAL).await;
        let metadata = format!(
            "200\n{{\"issuer\":\"BASE/as\",\"authorization_endpoint\":\"{endpoint}\",\"token_endpoint\":\"BASE/as/token\",\
             \"registration_endpoint\":\"BASE/as/register\",\"code_challenge_methods_supported\":[\"S256\"]}}"
        );
        world.fake.set("GET /.well-known/oauth-authorization-server/as", &[&metadata]);
        let refused = world.challenge(&world.client(), PLAIN).await.unwrap_err();
        assert!(
            refused.starts_with("the authorization endpoint `")
                || refused == "the authorization server `BASE/as` names no authorization endpoint",
            "{refused}"
        );
        assert_eq!(world.person.logins(), 0, "{endpoint}");
        assert!(!world.fake.asked().iter().any(|line| line.starts_with("POST")), "{endpoint}");
    }
}

#[tokio::test]
async fn nothing_that_a_server_names_leads_into_the_machine_unless_the_server_is_there_too() {
    let world = World::new(&USUAL).await;
    let options = world.options();
    let server = Url::parse("https://h.example.test/mcp").unwrap();
    let reach = Reach { server, ..options.reach.clone() };
    let oauth = OAuth::new(OAuthOptions { reach, ..options });
    for (named, words) in [
        (
            "BASE/prm",
            "the address of its metadata `BASE/prm` is not usable: it must be https, or this machine",
        ),
        (
            "http://169.254.169.254/prm",
            "the address of its metadata `http://169.254.169.254/prm` is not usable: it must be https, or this machine",
        ),
        (
            "https://127.0.0.1/prm",
            "`127.0.0.1` leads to an address that is not public, and only public ones are allowed here",
        ),
        (
            "https://2852039166/prm",
            "`169.254.169.254` leads to an address that is not public, and only public ones are allowed here",
        ),
        (
            "https://[::ffff:169.254.169.254]/prm",
            "`[::ffff:a9fe:a9fe]` leads to an address that is not public, and only public ones are allowed here",
        ),
        (
            "https://localhost./prm",
            "`localhost.` leads to an address that is not public, and only public ones are allowed here",
        ),
    ] {
        let challenge = format!("Bearer resource_metadata=\"{named}\"");
        assert_eq!(world.challenge(&oauth, &challenge).await, Err(words.to_owned()), "{named}");
    }
    assert_eq!(world.fake.asked(), [""; 0]);
}

#[tokio::test]
async fn tokens_of_one_process_serve_the_next_and_go_to_no_other_origin() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::new(&USUAL).await;
    world.store = Arc::new(CredentialStore::folder(folder.path().join("oauth")));
    world.challenge(&world.client(), PLAIN).await.unwrap();
    let next = world.client();
    assert_eq!(world.shown(&next).await, Ok(Some("Bearer a1".to_owned())));
    let elsewhere = Url::parse("https://elsewhere.example/mcp").unwrap();
    let shown = surehand_transport::Authorizer::headers(&next, &surehand_transport::Method::POST, &elsewhere);
    assert_eq!(shown.await, Ok(Vec::new()));
    assert!(!format!("{next:?}").contains("a1"));
    next.forget().unwrap();
    assert_eq!(world.shown(&world.client()).await, Ok(None));
}
