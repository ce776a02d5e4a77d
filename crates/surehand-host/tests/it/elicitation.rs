//! A server that asks the person while its tool runs: what it hears, and which timers run meanwhile.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use surehand_host::config::Launch;
use surehand_host::{ApproveAll, HostEvent, Respondent, ServerQuestion, Stop};
use surehand_mcp::ElicitAnswer;
use surehand_provider::BoxFuture;
use surehand_testkit::{ScriptedModel, call, say};

use crate::fixture::{Setup, server_settings};

/// Asks in the middle of each call, and gives back what it heard.
const SERVER: &str = r#"while read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
    case "$line" in
    *server/discover*) printf '%s\n' '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32601,"message":"?"}}';;
    *\"initialize\"*) printf '%s\n' '{"jsonrpc":"2.0","id":'"$id"',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}}';;
    *tools/list*) printf '%s\n' '{"jsonrpc":"2.0","id":'"$id"',"result":{"tools":[{"name":"book","inputSchema":{"type":"object"}}]}}';;
    *tools/call*) waiting=$id
        printf '%s\n' '{"jsonrpc":"2.0","id":"ask","method":"elicitation/create","params":{"message":"Where\u001b[2J to?","requestedSchema":{"type":"object","properties":{"city":{"type":"string","default":"Bern"}}}}}';;
    *\"id\":\"ask\"*) printf '%s\n' '{"jsonrpc":"2.0","id":'"$waiting"',"result":{"content":[],"structuredContent":'"$line"'}}';;
    esac
done"#;

/// Says yes after a while.
struct Person {
    thinks: Duration,
    asked: Mutex<Vec<ServerQuestion>>,
}

impl Respondent for Person {
    fn respond<'a>(&'a self, question: &'a ServerQuestion) -> BoxFuture<'a, ElicitAnswer> {
        Box::pin(async move {
            self.asked.lock().unwrap().push(question.clone());
            tokio::time::sleep(self.thinks).await;
            ElicitAnswer::Accept(Vec::new())
        })
    }
}

fn setup() -> Setup {
    let mut setup = Setup::new().approver(Arc::new(ApproveAll));
    let launch = Launch::Child {
        command: "/bin/sh".to_owned(),
        args: vec!["-c".to_owned(), SERVER.to_owned()],
        env: Vec::new(),
        cwd: None,
    };
    setup.settings.servers.push(server_settings("trips", launch));
    setup
}

fn model() -> ScriptedModel {
    ScriptedModel::new([call(&[("1", "mcp__trips__book", "{}")]), say("done")])
}

/// What the server heard in the first call of the run.
fn heard(answer: &surehand_host::Answer) -> String {
    let result =
        answer.calls[0].result.structured.clone().map(|structured| structured.to_value()["result"].clone());
    result.unwrap_or_default().to_string()
}

#[tokio::test]
async fn a_server_hears_the_answer_and_neither_the_call_nor_the_run_times_out_meanwhile() {
    let person = Arc::new(Person { thinks: Duration::from_millis(3_500), asked: Mutex::default() });
    let mut setup =
        setup().respondent(person.clone()).limits(|limits| limits.timeout = Some(Duration::from_secs(3)));
    setup.settings.servers[0].call_timeout = Duration::from_secs(3);
    let ready = setup.open().await;
    let answer = ready.ask(&model(), "go").await.unwrap();
    assert_eq!(
        (answer.stop, heard(&answer)),
        (Stop::Complete, r#"{"action":"accept","content":{"city":"Bern"}}"#.to_owned())
    );
    let asked = person.asked.lock().unwrap().clone();
    assert_eq!(
        (asked.len(), asked[0].server.as_str(), asked[0].request.message.as_str()),
        (1, "trips", "Where[2J to?")
    );
    let told: Vec<ServerQuestion> = ready
        .seen
        .events()
        .into_iter()
        .filter_map(|event| match event {
            HostEvent::ServerAsked(question) => Some(question),
            _ => None,
        })
        .collect();
    assert_eq!(told, asked);
    ready.host.close().await;
}

#[tokio::test]
async fn with_nobody_there_a_server_is_told_no_at_once() {
    let ready = setup().open().await;
    let answer = ready.ask(&model(), "go").await.unwrap();
    assert_eq!((answer.stop, heard(&answer)), (Stop::Complete, r#"{"action":"decline"}"#.to_owned()));
    ready.host.close().await;
}
