use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use surehand_model::ContentBlock;
use surehand_sandbox::ChildSpec;
use surehand_transport::{
    CallOptions, CallOutcome, Client, ClientEvent, ClientOptions, Era, HttpClient, HttpOptions, HttpServer,
    HttpServerOptions, HttpTarget, OpenError, Target, serve_http,
};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::echo::Echo;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    InProcess,
    Child,
    Http,
}

/// Each wire in each era; in-process there is only one.
pub(crate) const ALL: [(Wire, Era); 5] = [
    (Wire::InProcess, Era::Auto),
    (Wire::Child, Era::Legacy),
    (Wire::Child, Era::Auto),
    (Wire::Http, Era::Legacy),
    (Wire::Http, Era::Auto),
];

/// A client of the echo server. Whatever serves it ends with this.
pub(crate) struct Connected {
    pub(crate) client: Client,
    pub(crate) name: String,
    _server: Option<HttpServer>,
}

pub(crate) fn http() -> HttpClient {
    HttpClient::new(HttpOptions::default())
}

pub(crate) async fn connect(wire: Wire, era: Era) -> Connected {
    let mut served = None;
    let target = match wire {
        Wire::InProcess => Target::InProcess(Echo::handler()),
        Wire::Child => Target::Child(echo_process()),
        Wire::Http => {
            let server = serve_http(Echo::handler(), HttpServerOptions::default(), CancellationToken::new())
                .await
                .unwrap();
            served.insert(server).target()
        }
    };
    let options = ClientOptions { era, ..ClientOptions::default() };
    let client = Client::open(target, options, &http()).await.unwrap();
    Connected { client, name: format!("{wire:?} {era:?}"), _server: served }
}

pub(crate) trait Targeted {
    fn target(&self) -> Target;
}

impl Targeted for HttpServer {
    fn target(&self) -> Target {
        http_target(&format!("http://{}/mcp", self.address))
    }
}

pub(crate) fn http_target(url: &str) -> Target {
    Target::Http(HttpTarget { url: Url::parse(url).unwrap(), headers: Vec::new() })
}

/// `examples/echo.rs`, which is built with the tests.
pub(crate) fn echo_process() -> ChildSpec {
    let test = std::env::current_exe().unwrap();
    let path: PathBuf = test.parent().unwrap().parent().unwrap().join("examples/echo");
    assert!(
        path.exists(),
        "`{}` is not built: run `cargo build --examples -p surehand-transport`",
        path.display()
    );
    ChildSpec { command: path.to_string_lossy().into_owned(), ..ChildSpec::default() }
}

/// A server written in the shell.
pub(crate) fn shell(script: &str) -> ChildSpec {
    ChildSpec {
        command: "/bin/sh".to_owned(),
        args: vec!["-c".to_owned(), script.to_owned()],
        search_path: "/usr/bin:/bin".into(),
        ..ChildSpec::default()
    }
}

/// Everything a connection tells beside answers.
pub(crate) type Events = Arc<Mutex<Vec<ClientEvent>>>;

pub(crate) async fn open(target: Target, mut options: ClientOptions) -> (Result<Client, OpenError>, Events) {
    let events = Events::default();
    let heard = events.clone();
    options.on_event = Some(Arc::new(move |event| heard.lock().unwrap().push(event)));
    (Client::open(target, options, &http()).await, events)
}

pub(crate) fn within(timeout: Duration) -> CallOptions<'static> {
    CallOptions { timeout, ..CallOptions::default() }
}

pub(crate) fn text(outcome: &CallOutcome) -> &str {
    match &outcome.content[..] {
        [ContentBlock::Text(text)] => text,
        other => panic!("{other:?}"),
    }
}
