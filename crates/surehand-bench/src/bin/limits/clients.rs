//! Our client against hostile servers.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use surehand_model::{ContentBlock, RawJson};
use surehand_transport::{
    CallOptions, Client, ClientError, ClientOptions, Era, HttpClient, HttpOptions, HttpTarget, Target,
};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::{Finding, Scenario, peak_of};

const fn scenario(name: &'static str, what: &'static str, bar: u64) -> Scenario {
    Scenario { name, what, bar }
}

/// 32 MiB is the limit of a message: its bytes, the copy that a growing buffer makes, and what was read ahead.
pub(crate) const ALL: &[Scenario] = &[
    scenario("stdio endless line", "client, stdio: a line that never ends", 80),
    scenario("stdio 100 MB", "client, stdio: a result of 100 MB", 80),
    scenario("stdio 100,000 deep", "client, stdio: JSON 100,000 deep", 24),
    scenario("stdio 1 GiB of stderr", "client, stdio: 1 GiB of stderr before the answer", 16),
    scenario("stdio never answers", "client, stdio: a call is never answered", 16),
    scenario("stdio answers twice", "client, stdio: a call is answered twice", 16),
    scenario("http endless event", "client, HTTP: an event that never ends", 80),
    scenario("http endless small events", "client, HTTP: small events without end", 24),
    scenario("http 100 MB", "client, HTTP: a JSON body of 100 MB", 80),
    scenario("http 100 MB event", "client, HTTP: an event of 100 MB", 80),
    scenario("http 100,000 deep", "client, HTTP: JSON 100,000 deep", 24),
    scenario("http never answers", "client, HTTP: a call is never answered", 24),
    scenario("http answers twice", "client, HTTP: a call is answered twice", 24),
];

/// What a call must come to.
fn expected(name: &str) -> &'static [&'static str] {
    match name {
        "endless line" | "100 MB" | "100 MB event" | "endless event" => {
            &["limit", "larger than", "more than"]
        }
        "100,000 deep" => &["nested deeper than"],
        "1 GiB of stderr" => &["answered: done"],
        "answers twice" => &["answered: first"],
        _ => &["no answer within"],
    }
}

pub(crate) async fn run(name: &str) -> Finding {
    match name.split_once(' ') {
        Some(("stdio", name)) => stdio(name).await,
        Some((_, name)) => http(name).await,
        None => panic!("no scenario"),
    }
}

async fn call(client: &Client, tool: &str, within: Duration) -> String {
    let options = CallOptions { timeout: within, ..CallOptions::default() };
    match client.call_tool(tool, &RawJson::empty_object(), options).await {
        Ok(outcome) => match &outcome.content[..] {
            [ContentBlock::Text(text)] if text.len() < 100 => format!("answered: {text}"),
            _ => "answered with something else".to_owned(),
        },
        Err(ClientError::Timeout { after }) => format!("no answer within {} s", after.as_secs_f64()),
        Err(error) => error.to_string(),
    }
}

/// How long the harmful call may take: the silent server is not waited for, and 1 GiB takes its time.
fn patience(name: &str) -> Duration {
    match name {
        "never answers" | "endless small events" => Duration::from_secs(1),
        _ => Duration::from_secs(60),
    }
}

fn options() -> ClientOptions {
    ClientOptions { era: Era::Legacy, ..ClientOptions::default() }
}

/// Whether a line over the limit is one of its own, so that only the connection can end.
fn costs_the_connection(name: &str) -> bool {
    matches!(name, "endless line" | "100 MB")
}

async fn stdio(name: &str) -> Finding {
    let http = HttpClient::new(HttpOptions::default());
    let (harmful, pids) = child_target(name, "harmful");
    let (other, _) = child_target("never answers", "other");
    let client = Client::open(harmful, options(), &http).await.unwrap();
    let other = Client::open(other, options(), &http).await.unwrap();
    let (told, beside) = tokio::join!(call(&client, "harm", patience(name)), async {
        if costs_the_connection(name) {
            "answered: plain".to_owned()
        } else {
            call(&client, "plain", patience(name)).await
        }
    });
    // The same connection serves on where it can; another one always does.
    let after = if costs_the_connection(name) {
        "answered: plain".to_owned()
    } else {
        call(&client, "plain", Duration::from_secs(5)).await
    };
    let elsewhere = call(&other, "plain", Duration::from_secs(5)).await;
    let others_live = [beside, after, elsewhere].iter().all(|told| told == "answered: plain");
    let others_live = others_live || name == "1 GiB of stderr" && told == "answered: done";
    if !costs_the_connection(name) {
        client.close().await;
    }
    let is_gone = gone(&pids).await;
    let peak = peak_of("self");
    let is_told_right = expected(name).iter().any(|words| told.contains(words));
    Finding { told, is_told_right, is_gone, others_live, peak }
}

/// The hostile server as a child; the second is the file with the ids of its processes.
fn child_target(name: &str, role: &str) -> (Target, PathBuf) {
    let pids = std::env::temp_dir().join(format!("surehand-limits-{}-{role}", std::process::id()));
    let args = ["hostile", name, &pids.to_string_lossy()].map(str::to_owned).to_vec();
    let command = std::env::current_exe().unwrap().to_string_lossy().into_owned();
    let spec = surehand_sandbox::ChildSpec { command, args, ..Default::default() };
    (Target::Child(spec), pids)
}

/// Whether every process that is named in the file has ended, soon.
async fn gone(pids: &Path) -> bool {
    let text = std::fs::read_to_string(pids).unwrap();
    let is_running = |id: &str| {
        std::fs::read_to_string(format!("/proc/{id}/stat"))
            .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z'))
    };
    let begun = Instant::now();
    while text.split(' ').any(is_running) {
        if begun.elapsed() > Duration::from_secs(20) {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let _ = std::fs::remove_file(pids);
    true
}

struct HostileServer {
    child: Child,
    address: String,
}

impl HostileServer {
    fn start(name: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let mut child = command.args(["hostile-http", name]).stdout(Stdio::piped()).spawn().unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        Self { child, address: address.trim().to_owned() }
    }

    fn target(&self) -> Target {
        let url = format!("http://{}/mcp", self.address).parse().unwrap();
        Target::Http(HttpTarget { url, headers: Vec::new() })
    }
}

impl Drop for HostileServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn http(name: &str) -> Finding {
    let http = HttpClient::new(HttpOptions::default());
    let server = HostileServer::start(name);
    let client = Client::open(server.target(), options(), &http).await.unwrap();
    let (told, beside) =
        tokio::join!(call(&client, "harm", patience(name)), call(&client, "plain", patience(name)));
    let after = call(&client, "plain", Duration::from_secs(5)).await;
    let others_live = [beside, after].iter().all(|told| told == "answered: plain");
    // What ends by itself leaves nothing behind; all else must have been hung up on.
    let must_end = matches!(
        name,
        "endless event" | "endless small events" | "never answers" | "100 MB" | "100 MB event"
    );
    let is_gone = !must_end || hung_up(&server.address).await;
    let peak = peak_of("self");
    let is_told_right = expected(name).iter().any(|words| told.contains(words));
    Finding { told, is_told_right, is_gone, others_live, peak }
}

/// Whether the server has noticed, soon, that nobody reads its answer.
async fn hung_up(address: &str) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(10) {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"GET /gone HTTP/1.1\r\n\r\n").await.unwrap();
        let mut answer = [0; 1_000];
        let length = stream.read(&mut answer).await.unwrap();
        if !answer[..length].ends_with(b"\r\n\r\n") && !answer[..length].ends_with(b"0") {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    false
}
