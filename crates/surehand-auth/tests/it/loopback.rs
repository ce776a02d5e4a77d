//! How the answer to a login comes back to this machine.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use surehand_auth::{Browser, LoopbackBrowser};
use surehand_transport::{HttpClient, HttpOptions, HttpRequest};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

fn browser() -> (LoopbackBrowser, Arc<Mutex<Vec<Url>>>) {
    let opened = Arc::new(Mutex::new(Vec::new()));
    let log = opened.clone();
    (LoopbackBrowser::new(Arc::new(move |url| log.lock().unwrap().push(url.clone()))), opened)
}

fn login() -> Url {
    Url::parse("https://a.example/authorize?state=s").unwrap()
}

async fn get(url: &str) -> (u16, String) {
    let request = HttpRequest::get(Url::parse(url).unwrap());
    let response = HttpClient::new(HttpOptions::default()).send(request).await.unwrap();
    (response.status, String::from_utf8(response.collect(10_000).await.unwrap()).unwrap())
}

#[tokio::test]
async fn the_redirect_is_taken_whatever_else_knocks_and_then_the_port_is_closed() {
    let (browser, opened) = browser();
    let visit = browser.prepare(None).await.unwrap();
    let redirect_uri = visit.redirect_uri().to_owned();
    let url = Url::parse(&redirect_uri).unwrap();
    assert_eq!((url.host_str(), url.path()), (Some("127.0.0.1"), "/callback"));
    let address = format!("127.0.0.1:{}", url.port().unwrap());
    let knocking = async {
        // A browser opens connections in advance and says nothing on them.
        let silent = TcpStream::connect(&address).await.unwrap();
        assert_eq!(get(&format!("http://{address}/favicon.ico")).await.0, 404);
        assert_eq!(get(&format!("http://{address}/callback")).await.0, 404);
        let (status, page) = get(&format!("{redirect_uri}?code=<b>&state=s")).await;
        assert_eq!(
            (status, page.contains("The answer has arrived"), page.contains("<b>")),
            (200, true, false)
        );
        drop(silent);
    };
    let (answer, ()) = tokio::join!(visit.go(login()), knocking);
    assert_eq!(answer, Ok("code=%3Cb%3E&state=s".to_owned()));
    assert_eq!(*opened.lock().unwrap(), [login()]);
    assert!(TcpStream::connect(&address).await.is_err());
}

#[tokio::test]
async fn the_port_of_an_earlier_registration_is_taken_again_if_it_is_free() {
    let (browser, _) = browser();
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = taken.local_addr().unwrap().port();
    let earlier = format!("http://127.0.0.1:{port}/callback");
    let uri = |visit: Box<dyn surehand_auth::Visit>| visit.redirect_uri().to_owned();
    assert_ne!(uri(browser.prepare(Some(&earlier)).await.unwrap()), earlier);
    drop(taken);
    assert_eq!(uri(browser.prepare(Some(&earlier)).await.unwrap()), earlier);
    let foreign = earlier.replace("callback", "other");
    assert!(uri(browser.prepare(Some(&foreign)).await.unwrap()).ends_with("/callback"));
}

#[tokio::test]
async fn a_fixed_port_that_is_in_use_is_an_error_at_once() {
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = taken.local_addr().unwrap().port();
    let fixed = |host: &str| LoopbackBrowser { host: host.to_owned(), port: Some(port), ..browser().0 };
    assert_eq!(
        fixed("localhost").prepare(None).await.err(),
        Some(format!(
            "port {port} is in use, and the login must come back to it; end what uses it and try again"
        ))
    );
    assert_eq!(
        fixed("h.example").prepare(None).await.err(),
        Some("logins come back to this machine only, and `h.example` is another".to_owned())
    );
    drop(taken);
    let visit = fixed("localhost").prepare(None).await.unwrap();
    assert_eq!(visit.redirect_uri(), format!("http://localhost:{port}/callback"));
}

#[tokio::test]
async fn the_answer_may_be_pasted_instead() {
    let pasted = |text: &'static str| LoopbackBrowser {
        paste: Some(Arc::new(move || Box::pin(async move { Some(text.to_owned()) }))),
        ..browser().0
    };
    let answer = async |text| pasted(text).prepare(None).await.unwrap().go(login()).await;
    assert_eq!(
        answer(" http://127.0.0.1:1/callback?code=x&state=s \n").await,
        Ok("code=x&state=s".to_owned())
    );
    assert_eq!(answer("?code=x&state=s").await, Ok("code=x&state=s".to_owned()));
    assert_eq!(
        answer("what?").await,
        Err("what was pasted is not the address that the browser ended at".to_owned())
    );
}

#[tokio::test(start_paused = true)]
async fn a_login_that_nobody_comes_back_from_ends() {
    let browser = LoopbackBrowser {
        patience: Duration::from_secs(300),
        paste: Some(Arc::new(|| Box::pin(async { None }))),
        ..browser().0
    };
    let visit = browser.prepare(None).await.unwrap();
    assert_eq!(visit.go(login()).await, Err("nobody logged in within 300 s".to_owned()));
}
