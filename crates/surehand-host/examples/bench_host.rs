//! What the host costs, as figures and ratios of one run. Started by `cargo xtask bench host`, which hands in the release binary.
//!
//! `bench_host SUREHAND_BINARY`. Exits 1 when a bar is missed.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a benchmark that cannot run must say so at once"
)]
#![expect(clippy::print_stdout, reason = "the table is what this program is for")]
#![expect(
    clippy::disallowed_methods,
    reason = "it starts and times whole processes, and reads its own arguments"
)]
#![expect(clippy::disallowed_types, reason = "whole processes run in real time")]

use std::hint::black_box;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use surehand_host::{Agent, Conversation, Host, NobodyWatches, RunLimits, ToolRunner};
use surehand_mcp::ToolOutput;
use surehand_model::{Json, ModelRequest, ModelTurn, RawJson};
use surehand_provider::{BoxFuture, EventSink, Provider, ProviderError};
use surehand_schema::Validator;
use surehand_testkit::{FakeServer, FakeTool, call, say};
use tokio_util::sync::CancellationToken;

#[path = "../tests/it/fixture.rs"]
#[allow(dead_code, reason = "shared with the integration tests, which use all of it")]
mod fixture;

const SCHEMA: &str = r#"{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city"]}"#;
const ARGUMENTS: &str = r#"{"city":"Shanghai","days":3}"#;
const RESULT: &str = r#"{"city":"Shanghai","temperature":21.5,"condition":"sunny","humidity":0.61}"#;

/// Turns with calls before the answer, in one run of the loop.
const TURNS: usize = 20;
const RUNS: usize = 100;

fn main() -> ExitCode {
    let Some(binary) = std::env::args().nth(1).and_then(|path| std::fs::canonicalize(path).ok()) else {
        println!("usage: bench_host SUREHAND_BINARY, the path of a release build");
        return ExitCode::from(2);
    };
    let mut rows = Rows::default();
    loop_cost(&mut rows);
    start_up(&binary, &mut rows);
    first_request(&binary, &mut rows);
    side_by_side(&binary, 3, 1.2, &mut rows);
    side_by_side(&binary, 32, 1.5, &mut rows);
    let size = std::fs::metadata(&binary).unwrap().len();
    rows.add("release binary, MB", size as f64 / 1e6, "< 40 without the model", size < 40_000_000);
    rows.print()
}

#[derive(Default)]
struct Rows(Vec<(String, String, String, bool)>);

impl Rows {
    fn add(&mut self, what: &str, figure: f64, bar: &str, holds: bool) {
        self.0.push((what.to_owned(), format!("{figure:.2}"), bar.to_owned(), holds));
    }

    fn print(&self) -> ExitCode {
        println!("| what | figure | bar | |");
        println!("| --- | ---: | --- | --- |");
        for (what, figure, bar, holds) in &self.0 {
            println!("| {what} | {figure} | {bar} | {} |", if *holds { "ok" } else { "MISSED" });
        }
        if self.0.iter().all(|row| row.3) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// A model whose turns cost nothing to make.
struct InstantModel {
    turn: ModelTurn,
}

impl Provider for InstantModel {
    fn id(&self) -> &str {
        "instant/model"
    }

    fn answer<'a>(
        &'a self,
        request: &'a ModelRequest,
        _: EventSink<'a>,
    ) -> BoxFuture<'a, Result<ModelTurn, ProviderError>> {
        // The system prompt, the question, and two messages a turn.
        let asked = (request.messages.len() - 2) / 2;
        let turn = if asked >= TURNS { say("done") } else { self.turn.clone() };
        Box::pin(async move { Ok(turn) })
    }
}

fn loop_cost(rows: &mut Rows) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let server = FakeServer::new(
        "s",
        vec![FakeTool::new("weather", SCHEMA, |_| async { Ok(ToolOutput::text(RESULT)) })],
    );
    let mut setup = fixture::Setup::new().reading("s", &server);
    setup.settings.audit.enabled = false;
    let ready = runtime.block_on(setup.open());
    let model = InstantModel { turn: call(&[("a", "mcp__s__weather", ARGUMENTS)]) };
    let run = |host: &Arc<Host>| {
        let agent = Agent {
            provider: &model,
            model: "model".into(),
            tools: Arc::clone(host) as Arc<dyn ToolRunner>,
            observer: Arc::new(NobodyWatches),
            limits: RunLimits::default(),
            system_prompt: Some("Use the tools.".into()),
        };
        let mut conversation = Conversation::from_question("How is the weather?");
        let answer = runtime.block_on(agent.answer(&mut conversation, &CancellationToken::new())).unwrap();
        assert_eq!(answer.calls.len(), TURNS);
    };
    run(&ready.host);
    by_hand();
    // In turn, so that both see the same machine.
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        ours.push(cpu(|| run(&ready.host)) / TURNS as f64);
        theirs.push(cpu(by_hand) / TURNS as f64);
    }
    let (ours, theirs) = (median(ours), median(theirs));
    rows.add("the loop, CPU microseconds a turn", ours, "< 200", ours < 200.0);
    rows.add("the same JSON work by hand, CPU microseconds a turn", theirs, "for comparison", true);
    rows.add("the loop against by hand", ours / theirs, "<= 3", ours / theirs <= 3.0);
}

/// What a careful programmer would do without a host, once a turn: read the arguments, validate them, send a `tools/call` to the
/// tool and read it there, write the result and read it here, and add both to the history. Neither side writes the request to the
/// model: that is the dialect's work.
fn by_hand() {
    thread_local! {
        static VALIDATOR: Validator = Validator::new(&RawJson::parse(SCHEMA).unwrap()).unwrap();
    }
    let mut history: Vec<serde_json::Value> = vec![
        serde_json::json!({"role": "system", "content": "Use the tools."}),
        serde_json::json!({"role": "user", "content": "How is the weather?"}),
    ];
    for turn in 0..TURNS {
        let arguments = Json::parse(ARGUMENTS).unwrap();
        assert!(VALIDATOR.with(|validator| validator.check(&arguments)).is_empty());
        let value: serde_json::Value = serde_json::from_str(ARGUMENTS).unwrap();
        let sent = serde_json::json!({"jsonrpc": "2.0", "id": turn, "method": "tools/call", "params": {"name": "weather", "arguments": value}});
        let sent = serde_json::to_vec(&sent).unwrap();
        black_box(serde_json::from_slice::<serde_json::Value>(&sent).unwrap());
        let result = serde_json::json!({"jsonrpc": "2.0", "id": turn, "result": {"content": [{"type": "text", "text": RESULT}]}});
        let result = serde_json::to_vec(&result).unwrap();
        let result: serde_json::Value = serde_json::from_slice(&result).unwrap();
        let text = result["result"]["content"][0]["text"].clone();
        history.push(serde_json::json!({"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "mcp__s__weather", "arguments": ARGUMENTS}}]}));
        history.push(serde_json::json!({"role": "tool", "tool_call_id": "a", "content": text}));
    }
    black_box(history);
}

/// CPU microseconds that this process spends on `work`.
fn cpu(work: impl FnOnce()) -> f64 {
    let before = process_cpu();
    work();
    (process_cpu() - before).as_secs_f64() * 1e6
}

fn process_cpu() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// A command of ours in an empty home.
fn surehand(binary: &Path, home: &Path) -> Command {
    let mut command = Command::new(binary);
    command
        .env_clear()
        .env("HOME", home)
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .current_dir(home)
        .stdin(Stdio::null());
    command
}

fn start_up(binary: &Path, rows: &mut Rows) {
    let home = tempfile::tempdir().unwrap();
    let mut taken = Vec::new();
    for _ in 0..21 {
        let since = Instant::now();
        let output = surehand(binary, home.path()).arg("tools").output().unwrap();
        taken.push(since.elapsed().as_secs_f64() * 1e3);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let taken = median(taken);
    rows.add("`surehand tools` with three bundled servers, ms", taken, "< 50", taken < 50.0);
}

/// How long after the slowest server is ready the first model request arrives. The slow server is this program itself, as a child
/// that answers `initialize` late and tells when; the model is a socket that tells when it is first asked.
fn first_request(binary: &Path, rows: &mut Rows) {
    let home = tempfile::tempdir().unwrap();
    let slow = home.path().join("slow.sh");
    std::fs::write(&slow, SLOW_SERVER).unwrap();
    let mut late = Vec::new();
    for _ in 0..5 {
        let ready = home.path().join("ready");
        let _ = std::fs::remove_file(&ready);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let servers = serde_json::json!({"mcpServers": {
            "slow": {"command": "/bin/sh", "args": [slow, "0.5", ready]},
            "quick": {"command": "/bin/sh", "args": [slow, "0.1", home.path().join("quick")]},
        }});
        std::fs::write(home.path().join("servers.json"), servers.to_string()).unwrap();
        let mut child = surehand(binary, home.path())
            .args(["ask", "--config", "servers.json", "--model", "openai/test", "hello"])
            .env("OPENAI_API_KEY", "test")
            .env("OPENAI_BASE_URL", format!("http://{address}/v1"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (mut socket, _) = listener.accept().unwrap();
        let mut line = String::new();
        BufReader::new(&socket).read_line(&mut line).unwrap();
        let asked = std::time::SystemTime::now();
        let answered = std::fs::metadata(&ready).unwrap().modified().unwrap();
        late.push(asked.duration_since(answered).unwrap_or_default().as_secs_f64() * 1e3);
        let _ =
            socket.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}");
        drop(socket);
        let _ = child.wait();
        let _ = child.stderr.take().map(|mut stderr| stderr.read_to_end(&mut Vec::new()));
    }
    let late = median(late);
    rows.add("first model request after the slowest server is ready, ms", late, "< 20", late < 20.0);
}

/// A whole run of `ask` with `count` calls of one second each in one turn, against the same run without a call.
fn side_by_side(binary: &Path, count: usize, bar: f64, rows: &mut Rows) {
    let home = tempfile::tempdir().unwrap();
    let script = home.path().join("slow.sh");
    std::fs::write(&script, SLOW_TOOLS).unwrap();
    let servers = serde_json::json!({"mcpServers": {"slow": {"command": "/bin/sh", "args": [script]}}});
    std::fs::write(home.path().join("servers.json"), servers.to_string()).unwrap();
    let calls: Vec<_> = (0..count)
        .map(|n| serde_json::json!({"id": n.to_string(), "name": "wait", "arguments": {"n": n}}))
        .collect();
    let answer = serde_json::json!({"text": "done"});
    let asks = format!("{}\n{answer}\n", serde_json::json!({"tool_calls": calls}));
    std::fs::write(home.path().join("calls.jsonl"), asks).unwrap();
    std::fs::write(home.path().join("none.jsonl"), format!("{answer}\n")).unwrap();
    let run = |model: &str| {
        let since = Instant::now();
        let output = surehand(binary, home.path())
            .args([
                "ask",
                "--config",
                "servers.json",
                "--approve",
                "always",
                "--output",
                "json",
                "--model",
                model,
                "go",
            ])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        (since.elapsed().as_secs_f64(), serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap())
    };
    let mut beyond = Vec::new();
    for _ in 0..3 {
        let (without, _) = run("script:none.jsonl");
        let (with, answer) = run("script:calls.jsonl");
        let told: Vec<_> = answer["calls"]
            .as_array()
            .unwrap()
            .iter()
            .map(|call| call["result"]["content"][0]["text"].clone())
            .collect();
        let expected: Vec<_> = (0..count).map(|n| serde_json::json!(format!("waited {n}"))).collect();
        assert_eq!(told, expected, "answers in the order of the calls");
        beyond.push(with - without);
    }
    let beyond = median(beyond);
    rows.add(
        &format!("{count} calls of 1 s each, s beyond the run without them"),
        beyond,
        &format!("< {bar}"),
        beyond < bar,
    );
}

/// A server whose one tool takes a second, and takes any number of calls at once.
const SLOW_TOOLS: &str = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id": *\([0-9][0-9]*\).*/\1/p')
  case "$line" in
    *'"server/discover"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}\n' "$id" ;;
    *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"slow","version":"1"}}}\n' "$id" ;;
    *'"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"wait","inputSchema":{"type":"object"}}]}}\n' "$id" ;;
    *'"tools/call"'*) (
      n=$(printf '%s' "$line" | sed -n 's/.*"n": *\([0-9][0-9]*\).*/\1/p')
      sleep 1
      printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"waited %s"}]}}\n' "$id" "$n"
    ) & ;;
  esac
done
"#;

/// A server that lists its tools late: `slow.sh SECONDS FILE` touches FILE right before its last start-up answer.
const SLOW_SERVER: &str = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id": *\([0-9][0-9]*\).*/\1/p')
  case "$line" in
    *'"server/discover"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}\n' "$id" ;;
    *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"slow","version":"1"}}}\n' "$id" ;;
    *'"tools/list"'*) sleep "$1"; : > "$2"; printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[]}}\n' "$id" ;;
  esac
done
"#;
