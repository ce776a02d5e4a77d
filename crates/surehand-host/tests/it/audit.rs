//! What stands in the audit log, read from the file itself.

use std::fs;

use surehand_host::Verdict;
use surehand_testkit::{FakeServer, FakeTool, ScriptedModel, call, say};

use crate::fixture::Setup;

#[tokio::test]
async fn every_call_leaves_its_intent_and_its_outcome() {
    let tools = FakeServer::new("s", vec![FakeTool::echo("echo")]);
    let ready = Setup::new().reading("s", &tools).open().await;
    let model = ScriptedModel::new([
        call(&[("1", "mcp__s__echo", r#"{"q":"x","password":"hunter2"}"#), ("2", "mcp__s__nope", "{}")]),
        say("done"),
    ]);
    ready.ask(&model, "go").await.unwrap();
    let text = fs::read_to_string(ready.folder.path().join("state/audit.jsonl")).unwrap();
    let mut lines: Vec<String> = text
        .lines()
        .map(|line| {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            let word = |key: &str| record[key].as_str().unwrap_or("-").to_owned();
            format!(
                "{} {} {}/{} {} {}",
                word("call"),
                word("kind"),
                word("server"),
                word("tool"),
                word("decision"),
                record["arguments"]
            )
        })
        .collect();
    lines.sort();
    assert_eq!(
        lines,
        [
            r#"1 intent s/echo allowed {"q":"x","password":"***"}"#,
            "1 outcome s/echo - null",
            "2 intent /mcp__s__nope invalid {}",
        ]
    );
    assert!(!text.contains("hunter2"));
}

#[tokio::test]
async fn what_cannot_be_recorded_does_not_run() {
    let tools = FakeServer::new("s", vec![FakeTool::echo("echo")]);
    let mut setup = Setup::new().reading("s", &tools);
    let blocked = setup.folder.path().join("a-file");
    fs::write(&blocked, "").unwrap();
    setup.settings.audit.file = blocked.join("audit.jsonl");
    let ready = setup.open().await;
    let model = ScriptedModel::new([call(&[("1", "mcp__s__echo", "{}")]), say("done")]);
    let answer = ready.ask(&model, "go").await.unwrap();
    assert_eq!(answer.calls[0].decided.verdict, Verdict::Denied);
    assert_eq!(tools.received(), []);
}
