use std::fmt;
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use surehand_mcp::BoxFuture;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;
use url::{Host, Url};

use crate::browser::{Browser, Visit};

/// How long one connection may take; a browser opens some in advance and sends nothing on them.
const CONNECTION: Duration = Duration::from_secs(10);
/// How many connections are served side by side.
const CONNECTIONS: usize = 16;
/// The longest request that is read.
const REQUEST_LIMIT: usize = 32 * 1024;

/// Where a person pastes the address that their browser ended at, for machines that their browser cannot reach. `None` where nothing
/// comes.
pub type Paste = Arc<dyn Fn() -> BoxFuture<'static, Option<String>> + Send + Sync>;

/// Listens on this machine for the redirect of a login, as installed programs do (RFC 8252, section 7.3).
#[derive(Clone)]
pub struct LoopbackBrowser {
    /// How this machine is called in the redirect address: `127.0.0.1` or `localhost`.
    pub host: String,
    /// The port, where the registration fixes one. Otherwise that of the last registration, or any.
    pub port: Option<u16>,
    /// The path of the redirect address: `/callback`.
    pub path: String,
    /// How long a person has.
    pub patience: Duration,
    /// Shows or opens the address. It is `http` or `https`; whatever opens it must not be a shell.
    pub open: Arc<dyn Fn(&Url) + Send + Sync>,
    /// Another way for the answer to come.
    pub paste: Option<Paste>,
}

impl LoopbackBrowser {
    /// `http://127.0.0.1:<any port>/callback`, with five minutes for a person.
    pub fn new(open: Arc<dyn Fn(&Url) + Send + Sync>) -> Self {
        Self {
            host: Ipv4Addr::LOCALHOST.to_string(),
            port: None,
            path: "/callback".to_owned(),
            patience: Duration::from_secs(300),
            open,
            paste: None,
        }
    }

    async fn listen(&self, wanted: Option<&str>) -> Result<Listening, String> {
        if !matches!(self.host.as_str(), "127.0.0.1" | "localhost") {
            return Err(format!("logins come back to this machine only, and `{}` is another", self.host));
        }
        let bind = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
        let listener = match self.port {
            Some(port) => bind(port).await.map_err(|error| match error.kind() {
                io::ErrorKind::AddrInUse => {
                    format!("port {port} is in use, and the login must come back to it; end what uses it and try again")
                }
                _ => format!("port {port} cannot be listened on: {error}"),
            })?,
            None => {
                let earlier = match self.port_of(wanted) {
                    Some(port) => bind(port).await.ok(),
                    None => None,
                };
                match earlier {
                    Some(listener) => listener,
                    None => bind(0).await.map_err(|error| format!("no port can be listened on: {error}"))?,
                }
            }
        };
        let port = listener.local_addr().map_err(|error| error.to_string())?.port();
        let redirect_uri = format!("http://{}:{port}{}", self.host, self.path);
        Ok(Listening { listener, redirect_uri, browser: self.clone() })
    }

    /// The port of an earlier redirect address, if it is one of ours.
    fn port_of(&self, wanted: Option<&str>) -> Option<u16> {
        let url = Url::parse(wanted?).ok()?;
        let is_ours = match url.host()? {
            Host::Ipv4(address) => address.to_string() == self.host,
            Host::Domain(name) => name == self.host,
            Host::Ipv6(_) => false,
        };
        (is_ours && url.path() == self.path).then_some(url.port()).flatten()
    }
}

impl fmt::Debug for LoopbackBrowser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoopbackBrowser")
            .field("host", &self.host)
            .field("port", &self.port)
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl Browser for LoopbackBrowser {
    fn prepare<'a>(&'a self, wanted: Option<&'a str>) -> BoxFuture<'a, Result<Box<dyn Visit>, String>> {
        Box::pin(async move {
            let visit: Box<dyn Visit> = Box::new(self.listen(wanted).await?);
            Ok(visit)
        })
    }
}

/// The open port. It closes when this goes.
struct Listening {
    listener: TcpListener,
    redirect_uri: String,
    browser: LoopbackBrowser,
}

impl Visit for Listening {
    fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    fn go(self: Box<Self>, url: Url) -> BoxFuture<'static, Result<String, String>> {
        Box::pin(async move {
            (self.browser.open)(&url);
            let pasted = async {
                match &self.browser.paste {
                    Some(paste) => match paste().await {
                        Some(text) => text,
                        None => std::future::pending().await,
                    },
                    None => std::future::pending().await,
                }
            };
            let answer = async {
                tokio::select! {
                    query = self.redirected() => Ok(query),
                    text = pasted => query_of(&text),
                }
            };
            match timeout(self.browser.patience, answer).await {
                Ok(answer) => answer,
                Err(_) => Err(format!("nobody logged in within {} s", self.browser.patience.as_secs_f32())),
            }
        })
    }
}

impl Listening {
    /// The query of the first request for our path.
    async fn redirected(&self) -> String {
        let mut connections: JoinSet<Option<String>> = JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept(), if connections.len() < CONNECTIONS => {
                    // A connection that is gone before it is taken is nobody's answer.
                    if let Ok((stream, _)) = accepted {
                        connections.spawn(serve(stream, self.browser.path.clone()));
                    }
                }
                Some(served) = connections.join_next() => {
                    if let Ok(Some(query)) = served {
                        return query;
                    }
                }
            }
        }
    }
}

/// What a person pasted: the whole address, or its query alone.
fn query_of(text: &str) -> Result<String, String> {
    let text = text.trim();
    let query = match Url::parse(text) {
        Ok(url) => url.query().map(str::to_owned),
        Err(_) => Some(text.trim_start_matches('?').to_owned()),
    };
    query
        .filter(|query| query.contains('='))
        .ok_or_else(|| "what was pasted is not the address that the browser ended at".to_owned())
}

async fn serve(mut stream: TcpStream, path: String) -> Option<String> {
    timeout(CONNECTION, async {
        let query = read_query(&mut stream, &path).await;
        let (status, page) = match &query {
            Some(query) if query.split('&').any(|field| field.starts_with("error=")) => {
                ("200 OK", "The login was refused. The program that asked for it knows; this window can be closed.")
            }
            Some(_) => ("200 OK", "The answer has arrived. Go on in the program that asked; this window can be closed."),
            None => ("404 Not Found", "Nothing is here."),
        };
        let body = format!(
            "<!doctype html><meta charset=\"utf-8\"><title>Login</title><p style=\"font-family:sans-serif\">{page}</p>"
        );
        let answer = format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
             Referrer-Policy: no-referrer\r\nContent-Security-Policy: default-src 'none'; style-src 'unsafe-inline'\r\n\
             Connection: close\r\n\r\n{body}",
            body.len()
        );
        // A browser that is gone does without the page.
        let _ = stream.write_all(answer.as_bytes()).await;
        let _ = stream.shutdown().await;
        query
    })
    .await
    .ok()
    .flatten()
}

/// The query of a GET for `path`; `None` for every other request.
async fn read_query(stream: &mut TcpStream, path: &str) -> Option<String> {
    let mut request = Vec::new();
    let mut piece = [0; 2048];
    while !request.windows(4).any(|four| four == b"\r\n\r\n") {
        let read = stream.read(&mut piece).await.ok()?;
        if read == 0 || request.len() + read > REQUEST_LIMIT {
            return None;
        }
        request.extend_from_slice(&piece[..read]);
    }
    let line = request.split(|byte| *byte == b'\r').next()?;
    let mut words = std::str::from_utf8(line).ok()?.split(' ');
    let (method, target) = (words.next()?, words.next()?);
    let (asked, query) = target.split_once('?')?;
    (method == "GET" && asked == path && !query.is_empty()).then(|| query.to_owned())
}
