//! Whole runs against programs nobody here wrote: two MCP servers, and a fake of the providers' endpoints that asks for three
//! calls at once. What counts is what the fake was sent, not what we print.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::home::Home;

/// What `cargo xtask test` installed, first on the search path so that the right Node.js is found too.
fn tools() -> PathBuf {
    #[expect(clippy::disallowed_methods, reason = "the test command says where it installed the peers")]
    let told = std::env::var_os("SUREHAND_TEST_TOOLS").map(PathBuf::from);
    let folder = told
        .unwrap_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/test-tools")));
    let folder = folder.join("bin");
    assert!(folder.is_dir(), "the peers are not installed in {}: run `cargo xtask test`", folder.display());
    folder.canonicalize().unwrap()
}

/// The fake, listening on loopback until it is dropped.
struct FakeProviders {
    child: Child,
    address: String,
}

impl FakeProviders {
    fn start(home: &Home, fixtures: &Value) -> Self {
        home.write("fixtures.json", &fixtures.to_string());
        #[expect(clippy::disallowed_methods, reason = "starts a peer of the test")]
        let mut child = Command::new(tools().join("llmock"))
            .args(["--port", "0", "--fixtures"])
            .arg(home.path("fixtures.json"))
            .env("PATH", search_path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = lines
            .map(Result::unwrap)
            .find_map(|line| line.split_once("http://").map(|(_, address)| address.trim().to_owned()))
            .expect("the fake says where it listens");
        Self { child, address }
    }

    /// Every request it was sent, oldest first.
    fn journal(&self) -> Vec<Value> {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "GET /v1/_requests HTTP/1.0\r\nHost: {}\r\n\r\n", self.address).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        serde_json::from_str(body).unwrap()
    }
}

impl Drop for FakeProviders {
    fn drop(&mut self) {
        let _gone_already = self.child.kill();
        let _gone_already = self.child.wait();
    }
}

pub(crate) fn search_path() -> String {
    format!("{}:/usr/bin:/bin", tools().display())
}

/// A home with the two servers in its configuration, and a file for one of them to read.
fn home_with_servers() -> Home {
    let home = Home::new();
    home.write("work/note.txt", "the note says 42");
    let servers = json!({"mcpServers": {
        "clock": {"command": "mcp-server-time"},
        "fs": {"command": "mcp-server-filesystem", "args": [home.path("work")]},
    }});
    home.write("servers.json", &servers.to_string());
    home
}

fn three_at_once(home: &Home) -> Value {
    let convert =
        json!({"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}).to_string();
    let calls = json!([
        {"name": "mcp__clock__convert_time", "arguments": convert},
        {"name": "mcp__fs__read_text_file", "arguments": json!({"path": home.path("work/note.txt")}).to_string()},
        {"name": "mcp__clock__get_current_time", "arguments": r#"{"timezone":"Nowhere/Land"}"#},
    ]);
    json!({"fixtures": [
        {"match": {"userMessage": "three", "hasToolResult": true}, "response": {"content": "All three are answered."}},
        {"match": {"userMessage": "three", "hasToolResult": false}, "response": {"toolCalls": calls}},
    ]})
}

fn ask_over(model: &str, key: &str, base: &str, path: &str) {
    let home = home_with_servers();
    let fake = FakeProviders::start(&home, &three_at_once(&home));
    let (search_path, address) = (search_path(), format!("http://{}{path}", fake.address));
    let environment = [("PATH", search_path.as_str()), (key, "k"), (base, address.as_str())];
    let servers = home.path("servers.json");
    let arguments = [
        "ask",
        "--config",
        servers.to_str().unwrap(),
        "--model",
        model,
        "--approve",
        "always",
        "--output",
        "json",
        "three",
    ];
    let ran = home.run_with(&arguments, "", &environment);
    assert_eq!(ran.code, 0, "{}", ran.stderr);

    let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(answer["answer"], "All three are answered.");
    assert_eq!(answer["turns"], 2);
    let tools: Vec<_> = answer["calls"].as_array().unwrap().iter().map(|call| call["tool"].clone()).collect();
    assert_eq!(tools, ["convert_time", "read_text_file", "get_current_time"]);

    let journal = fake.journal();
    assert_eq!(journal.len(), 2, "one request to ask, one to hand the results back");
    let told = what_the_fake_was_told(&journal[1]["body"]);
    assert_eq!(told.len(), 3);
    for ((asked, answered, words), part) in told.iter().zip(["21:00", "the note says 42", "Nowhere/Land"]) {
        assert_eq!(asked, answered, "each call is answered under its own id");
        assert!(words.contains(part), "{part:?} is not in {words:?}");
    }
}

/// Id asked under, id answered under, words: as the fake read them out of whatever wire it was sent.
fn what_the_fake_was_told(body: &Value) -> Vec<(String, String, String)> {
    let messages = body["messages"].as_array().unwrap();
    let asked = messages.iter().find_map(|message| message["tool_calls"].as_array()).unwrap();
    let answered = messages.iter().filter(|message| message["role"] == "tool");
    asked
        .iter()
        .zip(answered)
        .map(|(call, result)| (text(&call["id"]), text(&result["tool_call_id"]), text(&result["content"])))
        .collect()
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[test]
fn three_calls_at_once_are_answered_under_their_ids_over_openai_chat_completions() {
    ask_over("openai/test", "OPENAI_API_KEY", "OPENAI_BASE_URL", "/v1");
}

#[test]
fn three_calls_at_once_are_answered_under_their_ids_over_anthropic_messages() {
    ask_over("anthropic/test", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "");
}

#[test]
fn three_calls_at_once_are_answered_under_their_ids_over_gemini() {
    ask_over("gemini/test", "GEMINI_API_KEY", "GEMINI_BASE_URL", "");
}
