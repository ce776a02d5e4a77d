//! Our client with programs that other people wrote.

use std::path::PathBuf;

use surehand_mcp::Revision;
use surehand_model::{RawJson, Secret};
use surehand_sandbox::{Child, ChildSpec, spawn};
use surehand_transport::{
    CallOptions, Client, ClientEvent, ClientOptions, HttpTarget, Line, LineReader, Target,
};
use tokio::net::TcpListener;
use tokio::process::ChildStderr;
use url::Url;

use crate::fixture::{open, text};

/// A program as the tests install it.
fn peer(name: &str, args: &[&str], env: &[(&str, &str)]) -> ChildSpec {
    #[expect(clippy::disallowed_methods, reason = "the test command says where it installed the peers")]
    let told = std::env::var_os("SUREHAND_TEST_TOOLS").map(PathBuf::from);
    let folder = told
        .unwrap_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/test-tools")));
    let folder = folder.join("bin");
    let command = folder.join(name);
    assert!(command.exists(), "`{name}` is not installed: run `cargo xtask test`");
    let path = format!("{}:/usr/bin:/bin", folder.canonicalize().unwrap().display());
    let search = [("PATH", path.as_str())];
    let env = env.iter().chain(&search);
    ChildSpec {
        command: command.to_string_lossy().into_owned(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        env: env.map(|(name, value)| ((*name).to_owned(), Secret::new((*value).to_owned()))).collect(),
        ..ChildSpec::default()
    }
}

/// The protocol's reference server, listening on loopback until it is dropped.
struct Everything {
    port: u16,
    _child: Child,
    /// It ends where nobody takes its words.
    _words: LineReader<ChildStderr>,
}

async fn everything(transport: &str) -> Everything {
    // The port is free at this moment, and the server takes it in the next.
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let mut server =
        spawn(&peer("mcp-server-everything", &[transport], &[("PORT", &port.to_string())])).unwrap();
    let mut words = LineReader::new(server.stderr.take().unwrap(), 1 << 16);
    loop {
        let Some(Line::Text(line)) = words.next_line().await.unwrap() else { panic!("it does not listen") };
        if line.contains("on port") {
            return Everything { port, _child: server, _words: words };
        }
    }
}

async fn echo(client: &Client) {
    assert!(client.server().name.contains("everything"), "{:?}", client.server());
    assert!(client.list_tools().await.unwrap().items.iter().any(|tool| tool.name == "echo"));
    let arguments = RawJson::parse(r#"{"message":"天気"}"#).unwrap();
    let outcome = client.call_tool("echo", &arguments, CallOptions::default()).await.unwrap();
    assert_eq!(text(&outcome), "Echo: 天気");
}

fn target(port: u16, path: &str) -> HttpTarget {
    HttpTarget { url: Url::parse(&format!("http://127.0.0.1:{port}/{path}")).unwrap(), headers: Vec::new() }
}

#[tokio::test]
async fn the_reference_server_is_used_over_the_oldest_transport() {
    let server = everything("sse").await;
    let port = server.port;
    for target in [Target::Sse(target(port, "sse")), Target::Http(target(port, "sse"))] {
        let (client, _) = open(target, ClientOptions::default()).await;
        let client = client.unwrap();
        echo(&client).await;
        client.close().await;
    }
}

#[tokio::test]
async fn the_reference_server_is_used_over_http_and_told_to_have_no_oldest_transport() {
    let server = everything("streamableHttp").await;
    let port = server.port;
    for target in [Target::Http(target(port, "mcp")), Target::Sse(target(port, "mcp"))] {
        let (client, events) = open(target, ClientOptions::default()).await;
        let client = client.unwrap();
        assert_eq!(client.server().revision, Revision::V2025_11_25);
        echo(&client).await;
        client.subscribe("demo://resource/static/document/features.md").await.unwrap();
        client.close().await;
        let odd: Vec<ClientEvent> = events
            .lock()
            .unwrap()
            .iter()
            .filter(|event| matches!(event, ClientEvent::Note(_)))
            .cloned()
            .collect();
        assert_eq!(odd, []);
    }
}

#[tokio::test]
async fn a_bridge_to_a_server_of_the_older_era_is_found_out() {
    let server = everything("streamableHttp").await;
    let port = server.port;
    let home = std::env::temp_dir().join(format!("surehand-bridge-{port}"));
    let url = format!("http://127.0.0.1:{port}/mcp");
    let bridge = peer("mcp-remote", &[&url, "--allow-http"], &[("HOME", &home.to_string_lossy())]);
    let (client, _) = open(Target::Child(bridge), ClientOptions::default()).await;
    let client = client.unwrap();
    assert_eq!(client.server().revision, Revision::V2025_11_25);
    echo(&client).await;
    client.close().await;
    // Where it kept nothing there is nothing to clean up.
    let _ = std::fs::remove_dir_all(home);
}
