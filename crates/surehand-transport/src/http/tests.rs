use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use url::Url;

use super::resolver::Lookup;
use super::*;

/// A server on loopback that answers each path with fixed bytes and writes down what it was asked.
struct FakeServer {
    port: u16,
    seen: Arc<Mutex<Vec<String>>>,
    _tasks: JoinSet<()>,
}

impl FakeServer {
    async fn start(answers: &[(&str, &str)]) -> Self {
        Self::start_with(|_| {
            answers.iter().map(|(path, answer)| ((*path).to_owned(), (*answer).to_owned())).collect()
        })
        .await
    }

    /// The answers may name the port.
    async fn start_with(answers: impl FnOnce(u16) -> HashMap<String, String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let answers = Arc::new(answers(port));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = JoinSet::new();
        let log = seen.clone();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(serve(stream, answers.clone(), log.clone()));
            }
        });
        Self { port, seen, _tasks: tasks }
    }

    fn url(&self, host: &str, path: &str) -> Url {
        Url::parse(&format!("http://{host}:{}{path}", self.port)).unwrap()
    }

    fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

/// Reads one request, head and announced body, answers and closes.
async fn serve(mut stream: TcpStream, answers: Arc<HashMap<String, String>>, seen: Arc<Mutex<Vec<String>>>) {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
        // The greeting of TLS starts with 22; there is no answer to it here.
        if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 || bytes[0] == 22 {
            return;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..head_end]).to_lowercase();
    let length =
        head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
    while bytes.len() < head_end + length && stream.read_buf(&mut bytes).await.unwrap_or(0) > 0 {}
    let request = String::from_utf8_lossy(&bytes).into_owned();
    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
    seen.lock().unwrap().push(request);
    if let Some(answer) = answers.get(&path) {
        drop(stream.write_all(answer.as_bytes()).await);
        if answer.contains("(stay)") {
            std::future::pending::<()>().await;
        }
    }
}

fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

fn redirect(status: u16, target: &str) -> String {
    format!(
        "HTTP/1.1 {status} Elsewhere\r\nLocation: {target}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )
}

fn client() -> HttpClient {
    HttpClient::new(HttpOptions::default())
}

/// Answers each question about a name with the next of its addresses.
struct FakeLookup(Mutex<HashMap<String, Vec<IpAddr>>>);

impl FakeLookup {
    fn new(names: &[(&str, &[&str])]) -> Arc<Self> {
        let parse =
            |addresses: &[&str]| addresses.iter().rev().map(|address| address.parse().unwrap()).collect();
        Arc::new(Self(Mutex::new(
            names.iter().map(|(name, addresses)| ((*name).to_owned(), parse(addresses))).collect(),
        )))
    }
}

impl Lookup for FakeLookup {
    fn lookup(&self, host: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let answer = self.0.lock().unwrap().get_mut(&host).and_then(Vec::pop);
        Box::pin(async move {
            answer.map(|address| vec![address]).ok_or_else(|| io::Error::other("no such name"))
        })
    }
}

fn public_only(url: Url) -> HttpRequest {
    HttpRequest { guard: AddressGuard::PublicOnly, ..HttpRequest::get(url) }
}

#[tokio::test]
async fn a_request_arrives_as_it_was_written_and_the_answer_is_read() {
    let answer = "HTTP/1.1 418 Teapot\r\nContent-Type: Text/Plain; charset=utf-8\r\nConnection: close\r\n\r\nshort and stout";
    let server = FakeServer::start(&[("/pot?a=1", answer)]).await;
    let request = HttpRequest::post(server.url("127.0.0.1", "/pot?a=1"), "tea")
        .header("X-Key", "secret")
        .header("Accept", "*/*");
    assert!(!format!("{request:?}").contains("secret"));
    let response = client().send(request).await.unwrap();
    assert_eq!((response.status, response.is_success()), (418, false));
    assert_eq!(response.media_type().as_deref(), Some("text/plain"));
    assert_eq!(response.collect(100).await.unwrap(), b"short and stout");

    let seen = server.seen().concat();
    let mut lines: Vec<&str> = seen.split("\r\n").collect();
    lines.sort_unstable();
    let host = format!("host: 127.0.0.1:{}", server.port);
    let agent = concat!("user-agent: surehand/", env!("CARGO_PKG_VERSION"));
    assert_eq!(
        lines,
        [
            "",
            "POST /pot?a=1 HTTP/1.1",
            "accept: */*",
            "content-length: 3",
            &host,
            "tea",
            agent,
            "x-key: secret"
        ]
    );
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_whether_or_not_it_is_announced() {
    let unannounced = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n0123456789";
    let server = FakeServer::start(&[("/announced", &ok("0123456789")), ("/not", unannounced)]).await;
    for path in ["/announced", "/not"] {
        let send = || async { client().send(HttpRequest::get(server.url("127.0.0.1", path))).await.unwrap() };
        assert_eq!(send().await.collect(10).await.unwrap(), b"0123456789");
        assert!(matches!(send().await.collect(9).await, Err(HttpError::TooLarge { limit: 9, .. })), "{path}");
        assert_eq!(send().await.excerpt(4).await, "0123");
    }
}

#[tokio::test]
async fn a_silent_peer_is_given_up_before_and_inside_the_answer() {
    let halfway = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n(stay)";
    let server = FakeServer::start(&[("/head", "HTTP/1.1 200 OK\r\nX: (stay)"), ("/body", halfway)]).await;
    let request = |path: &str| HttpRequest {
        idle_timeout: Some(Duration::from_millis(100)),
        ..HttpRequest::get(server.url("127.0.0.1", path))
    };
    let error = client().send(request("/head")).await.unwrap_err();
    assert_eq!(error.to_string(), format!("`http://127.0.0.1:{}` gave no answer within 0.1 s", server.port));
    let error = client().send(request("/body")).await.unwrap().collect(1000).await.unwrap_err();
    assert!(matches!(error, HttpError::Timeout { .. }));
}

#[tokio::test]
async fn an_answer_that_ends_early_is_broken_and_nobody_listening_is_unreachable() {
    let server = FakeServer::start(&[("/cut", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")]).await;
    let response = client().send(HttpRequest::get(server.url("127.0.0.1", "/cut"))).await.unwrap();
    assert!(matches!(response.collect(1000).await, Err(HttpError::Broken { .. })));

    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let error = client()
        .send(HttpRequest::get(Url::parse(&format!("http://{free}/?key=hush")).unwrap()))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("`http://{free}` could not be reached (Connection refused (os error 111))")
    );
}

#[tokio::test]
async fn a_redirect_within_the_origin_keeps_method_body_and_headers_or_turns_into_a_get() {
    let server = FakeServer::start(&[
        ("/keep", &redirect(308, "/end")),
        ("/get", &redirect(303, "/end")),
        ("/end", &ok("here")),
    ])
    .await;
    for (path, method, body) in [("/keep", "POST", "tea"), ("/get", "GET", "")] {
        let request =
            HttpRequest::post(server.url("127.0.0.1", path), "tea").header("Authorization", "Bearer k");
        let response = client().send(request).await.unwrap();
        assert_eq!(response.url, server.url("127.0.0.1", "/end"));
        let last = server.seen().pop().unwrap();
        assert!(
            last.starts_with(&format!("{method} /end ")) && last.ends_with(&format!("\r\n\r\n{body}")),
            "{last}"
        );
        assert!(last.contains("authorization: Bearer k"), "{last}");
    }
}

#[tokio::test]
async fn a_redirect_that_is_not_to_be_followed_is_the_answer() {
    let server = FakeServer::start(&[("/away", &redirect(302, "http://other.example/end?code=1"))]).await;
    let request = HttpRequest {
        redirects: Redirects::HandBack,
        ..HttpRequest::post(server.url("127.0.0.1", "/away"), "hush")
    };
    let response = client().send(request).await.unwrap();
    assert_eq!(
        (response.status, response.header("location")),
        (302, Some("http://other.example/end?code=1"))
    );
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_redirect_to_another_origin_never_carries_a_key() {
    let server = FakeServer::start_with(|port| {
        HashMap::from([
            ("/away".to_owned(), redirect(307, &format!("http://localhost:{port}/end"))),
            ("/end".to_owned(), ok("here")),
        ])
    })
    .await;
    let request = HttpRequest::post(server.url("127.0.0.1", "/away"), "tea")
        .header("Authorization", "Bearer k")
        .header("x-api-key", "k")
        .header("Cookie", "k")
        .header("Content-Type", "text/plain");
    assert_eq!(client().send(request).await.unwrap().collect(10).await.unwrap(), b"here");
    let last = server.seen().pop().unwrap();
    assert!(last.contains("content-type: text/plain") && last.ends_with("tea"), "{last}");
    assert!(["authorization", "x-api-key", "cookie"].iter().all(|name| !last.contains(name)), "{last}");
}

#[tokio::test]
async fn redirects_end_and_never_lead_into_the_users_network() {
    let server = FakeServer::start(&[
        ("/round", &redirect(302, "/round")),
        ("/metadata", &redirect(302, "http://169.254.169.254/latest")),
        ("/private", &redirect(302, "http://home.example/")),
        ("/file", &redirect(302, "file:///etc/passwd")),
    ])
    .await;
    let lookup = FakeLookup::new(&[("home.example", &["192.168.0.1"])]);
    let client = HttpClient::with_lookup(HttpOptions::default(), lookup);
    let mut said = Vec::new();
    for path in ["/round", "/metadata", "/private", "/file"] {
        said.push(
            client.send(HttpRequest::get(server.url("127.0.0.1", path))).await.unwrap_err().to_string(),
        );
    }
    let origin = format!("`http://127.0.0.1:{}`", server.port);
    let expected = [
        format!("{origin} redirects more than 5 times"),
        "`169.254.169.254` leads to an address that is not public, and only public ones are allowed here"
            .to_owned(),
        "`home.example` leads to an address that is not public, and only public ones are allowed here"
            .to_owned(),
        format!("{origin} redirects to a `file` address, which is not followed"),
    ];
    assert_eq!(said, expected);
    assert_eq!(server.seen().len(), 6 + 3);
}

#[tokio::test]
async fn the_guard_judges_every_way_to_write_an_address_and_what_names_resolve_to() {
    let server = FakeServer::start(&[("/", &ok("reached"))]).await;
    let lookup =
        FakeLookup::new(&[("inside.example", &["10.0.0.1"]), ("mapped.example", &["::ffff:127.0.0.1"])]);
    let client = HttpClient::with_lookup(HttpOptions::default(), lookup);
    let hosts = [
        "127.0.0.1",
        "2130706433",
        "0x7f.1",
        "0177.0.0.1",
        "127.1",
        "0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:a9fe:a9fe]",
        "[64:ff9b::7f00:1]",
        "localhost",
        "LOCALHOST.",
        "a.localhost",
        "169.254.169.254",
        "2852039166",
        "inside.example",
        "mapped.example",
    ];
    for host in hosts {
        let error = client.send(public_only(server.url(host, "/"))).await.unwrap_err();
        assert!(matches!(error, HttpError::AddressRefused { .. }), "{host}: {error}");
    }
    assert_eq!(server.seen(), Vec::<String>::new());
}

#[tokio::test]
async fn a_name_that_answers_differently_the_second_time_reaches_nothing() {
    let server = FakeServer::start(&[("/", &ok("reached"))]).await;
    // The first answer is public but not listening within the time; what counts is that the second one is judged again.
    let lookup = FakeLookup::new(&[("rebind.example", &["127.0.0.1", "192.168.7.7", "127.0.0.1"])]);
    let client = HttpClient::with_lookup(HttpOptions::default(), lookup);
    let url = server.url("rebind.example", "/");
    for _ in 0..2 {
        let error = client.send(public_only(url.clone())).await.unwrap_err();
        assert!(matches!(error, HttpError::AddressRefused { .. }), "{error}");
    }
    // A connection that a trusted request opens is never lent to a guarded one.
    assert_eq!(
        client.send(HttpRequest::get(url.clone())).await.unwrap().collect(10).await.unwrap(),
        b"reached"
    );
    assert!(client.send(public_only(url)).await.is_err());
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_proxy_carries_requests_except_to_loopback_and_to_the_exceptions() {
    let proxy = FakeServer::start(&[("http://far.example/x", &ok("by proxy"))]).await;
    let server = FakeServer::start(&[("/x", &ok("direct"))]).await;
    let lookup = FakeLookup::new(&[("near.example", &["127.0.0.1"])]);
    let options = HttpOptions {
        proxy: ProxyOptions {
            all: Some(surehand_model::Secret::new(format!("user:pass@127.0.0.1:{}", proxy.port))),
            no_proxy: Some("near.example".into()),
            ..ProxyOptions::default()
        },
        ..HttpOptions::default()
    };
    let client = HttpClient::with_lookup(options, lookup);
    let mut bodies = Vec::new();
    for url in [
        Url::parse("http://far.example/x").unwrap(),
        server.url("127.0.0.1", "/x"),
        server.url("near.example", "/x"),
    ] {
        bodies.push(client.send(HttpRequest::get(url)).await.unwrap().collect(100).await.unwrap());
    }
    assert_eq!(bodies, [&b"by proxy"[..], b"direct", b"direct"]);
    assert!(proxy.seen()[0].contains("proxy-authorization: Basic dXNlcjpwYXNz"), "{:?}", proxy.seen());
}

#[tokio::test]
async fn what_cannot_be_sent_is_told_without_showing_secrets() {
    let send = async |request: HttpRequest| client().send(request).await.unwrap_err().to_string();
    let url = |text: &str| Url::parse(text).unwrap();
    assert_eq!(
        send(HttpRequest::get(url("ftp://user:pass@host/x"))).await,
        "`ftp://host` is no http or https address"
    );
    let bad = HttpRequest::get(url("http://127.0.0.1/")).header("Authorization", "Bearer hush\n");
    assert_eq!(send(bad).await, "the header `Authorization` has characters that are not allowed");

    let proxy = ProxyOptions {
        all: Some(surehand_model::Secret::new("ftp://hush@proxy".into())),
        ..ProxyOptions::default()
    };
    let client = HttpClient::new(HttpOptions { proxy, ..HttpOptions::default() });
    assert!(!format!("{client:?}").contains("hush"));
    let error = client.send(HttpRequest::get(url("http://host/"))).await.unwrap_err();
    assert_eq!(error.to_string(), "the proxy setting is not usable (`ftp` is no kind of proxy)");
}

#[tokio::test]
async fn an_https_request_checks_certificates_and_says_what_it_met() {
    let server = FakeServer::start(&[]).await;
    let url = Url::parse(&format!("https://127.0.0.1:{}/", server.port)).unwrap();
    let error = client().send(HttpRequest::get(url)).await.unwrap_err();
    assert!(matches!(error, HttpError::Unreachable { .. } | HttpError::NoCertificates { .. }), "{error}");
}
