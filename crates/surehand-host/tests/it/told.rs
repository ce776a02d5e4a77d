//! What a model is told when a call goes wrong: every row, by what the model really read.

use std::sync::Arc;
use std::time::Duration;

use expect_test::{Expect, expect};
use surehand_host::{Approval, ApprovalRequest, Approver, Verdict};
use surehand_mcp::{CallFailure, ToolOutput};
use surehand_model::{ContentBlock, Finish, FinishReason, ModelTurn, PartKind, RawJson, ToolCall};
use surehand_provider::BoxFuture;
use surehand_testkit::{FakeServer, FakeTool, ScriptedModel, call, say};

use crate::fixture::{Person, Setup};

const EDIT: &str = r#"{"type":"object","properties":{"path":{"type":"string"},"line":{"type":"integer"}},"required":["path"],"additionalProperties":false}"#;

fn server() -> Arc<FakeServer> {
    FakeServer::new(
        "s",
        vec![
            FakeTool::new("edit", EDIT, |arguments| async move { Ok(ToolOutput::text(arguments.as_str())) }),
            FakeTool::new("now", r#"{"type":"object","properties":{}}"#, |_| async {
                Ok(ToolOutput::text("noon"))
            }),
            FakeTool::new("hang", r#"{"type":"object"}"#, |_| std::future::pending()),
            FakeTool::new("nothing", r#"{"type":"object"}"#, |_| async { Ok(ToolOutput::default()) }),
            FakeTool::new("json_rpc", r#"{"type":"object"}"#, |_| async {
                Err(CallFailure::Internal("disk is full".into()))
            }),
            FakeTool::new("own_words", r#"{"type":"object"}"#, |_| async {
                Ok(ToolOutput::error("no such city"))
            }),
        ],
    )
}

async fn told_by(setup: Setup, name: &str, arguments: &str, expected: Expect) -> Verdict {
    let ready = setup.open().await;
    let model = ScriptedModel::new([call(&[("c1", name, arguments)]), say("done")]);
    let answer = ready.ask(&model, "go").await.unwrap();
    let text = &model.told()[0].1;
    expected.assert_eq(&format!("is_error={} {text}", answer.calls[0].result.is_error));
    answer.calls[0].decided.verdict
}

#[tokio::test]
async fn wrong_arguments_are_told_all_at_once_by_pointer() {
    let setup = Setup::new().reading("s", &server());
    let verdict = told_by(setup, "mcp__s__edit", r#"{"line":"five","pth":"x"}"#, expect![[r#"is_error=true {"error":"invalid_arguments","tool":"mcp__s__edit","details":[{"path":"/line","expected":"integer","got":"string \"five\"","message":"`/line`: expected integer, got string \"five\"."},{"path":"/pth","expected":"one of the properties \"path\", \"line\"","got":"unknown property \"pth\"","message":"`/pth` is not a property the schema knows. Did you mean \"path\"? Allowed: \"path\", \"line\"."},{"path":"/path","expected":"string","got":"nothing","message":"`/path` is missing: expected string. Is it what you called \"pth\"?"}],"suggestion":"Call mcp__s__edit again with /line, /pth, /path corrected, and everything else as it was."}"#]]).await;
    assert_eq!(verdict, Verdict::Invalid);
}

#[tokio::test]
async fn unreadable_arguments_are_told_as_such_and_never_run_as_empty() {
    let tools = server();
    let setup = Setup::new().reading("s", &tools);
    told_by(setup, "mcp__s__edit", r#"{"path": listt"}"#, expect![[r#"is_error=true {"error":"invalid_arguments","tool":"mcp__s__edit","details":[{"path":"","expected":"one JSON object","got":"{\"path\": listt\"}","message":"not JSON at byte 9: a value must stand here"}],"suggestion":"The arguments are not valid JSON. Call again with one well-formed JSON object."}"#]]).await;
    assert_eq!(tools.received(), []);
}

#[tokio::test]
async fn an_unknown_tool_is_told_with_the_names_that_come_near() {
    told_by(
        Setup::new().reading("s", &server()),
        "mcp__s__edti",
        "{}",
        expect![[
            r#"is_error=true {"error":"unknown_tool","tool":"mcp__s__edti","did_you_mean":["mcp__s__edit"]}"#
        ]],
    )
    .await;
}

#[tokio::test]
async fn a_tool_that_failed_is_told_in_the_servers_own_code_and_words() {
    told_by(
        Setup::new().reading("s", &server()),
        "mcp__s__json_rpc",
        "{}",
        expect![[
            r#"is_error=true {"error":"tool_failed","message":"disk is full","code":-32603,"retryable":true}"#
        ]],
    )
    .await;
}

#[tokio::test]
async fn a_tools_own_error_reaches_the_model_as_the_tool_wrote_it() {
    let setup = Setup::new().reading("s", &server());
    told_by(setup, "mcp__s__own_words", "{}", expect!["is_error=true no such city"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_is_too_slow_is_told_with_its_limit() {
    let mut setup = Setup::new().reading("s", &server());
    setup.settings.servers[0].call_timeout = Duration::from_millis(1500);
    told_by(setup, "mcp__s__hang", "{}", expect![[r#"is_error=true {"error":"timeout","after_seconds":1.5,"suggestion":"Ask for less at once, or try again later. Whether the call had an effect is not known."}"#]]).await;
}

#[tokio::test]
async fn with_nobody_to_ask_a_call_that_asks_is_denied_by_policy() {
    let tools = server();
    let verdict = told_by(Setup::new().unknown("s", &tools), "mcp__s__now", "{}", expect![[r#"is_error=true {"error":"denied","reason":"This call needs a person's approval (No rule is about this tool, and nobody vouches for what it does) and there is nobody to ask.","by":"policy"}"#]]).await;
    assert_eq!(verdict, Verdict::Denied);
    assert_eq!(tools.received(), []);
}

#[tokio::test]
async fn a_person_who_says_no_is_named_as_the_one_who_did() {
    let person = Person::who_says(Approval::Deny { reason: "Not today.".into(), by_person: true });
    let setup = Setup::new().unknown("s", &server()).approver(person);
    told_by(
        setup,
        "mcp__s__now",
        "{}",
        expect![[r#"is_error=true {"error":"denied","reason":"Not today.","by":"person"}"#]],
    )
    .await;
}

#[tokio::test]
async fn nothing_found_is_an_answer_and_not_an_error() {
    told_by(
        Setup::new().reading("s", &server()),
        "mcp__s__nothing",
        "{}",
        expect![[r#"is_error=false {"result":null,"message":"No matching record."}"#]],
    )
    .await;
}

#[tokio::test]
async fn every_way_to_say_no_arguments_runs_a_tool_without_parameters() {
    let tools = server();
    let ready = Setup::new().reading("s", &tools).open().await;
    let ways = ["", "   ", "null", "{}", r#""""#, "[]"];
    let calls: Vec<_> = ways.iter().map(|way| ("", "mcp__s__now", *way)).collect();
    let model = ScriptedModel::new([call(&calls), say("done")]);
    ready.ask(&model, "go").await.unwrap();
    let texts: Vec<String> = model.told().into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, ["noon"; 6]);
    assert_eq!(tools.received(), vec![("now".to_owned(), RawJson::empty_object()); 6]);
}

#[tokio::test]
async fn a_tool_with_required_parameters_is_not_run_with_none() {
    let tools = server();
    told_by(Setup::new().reading("s", &tools), "mcp__s__edit", r#""""#, expect![[r#"is_error=true {"error":"invalid_arguments","tool":"mcp__s__edit","details":[{"path":"/path","expected":"string","got":"nothing","message":"`/path` is missing: expected string."}],"suggestion":"Call mcp__s__edit again with /path corrected, and everything else as it was."}"#]]).await;
    assert_eq!(tools.received(), []);
}

/// A turn whose only call was cut off, or only looks so.
fn cut_off(reason: FinishReason, arguments: &str, truncated: bool) -> ModelTurn {
    let call = ToolCall { truncated, ..ToolCall::new("c1", "mcp__s__edit", arguments) };
    ModelTurn {
        parts: vec![PartKind::Call(call).into()],
        finish: Finish { reason, raw: None },
        ..ModelTurn::default()
    }
}

#[tokio::test]
async fn a_call_that_was_cut_off_is_never_run_even_where_it_looks_whole() {
    let tools = server();
    let ready =
        Setup::new().reading("s", &tools).limits(|limits| limits.max_output_tokens = Some(64)).open().await;
    for (arguments, truncated) in [(r#"{"path":"x.rs","bo"#, true), (r#"{"path":"x.rs"}"#, true)] {
        let model = ScriptedModel::new([cut_off(FinishReason::Length, arguments, truncated), say("done")]);
        ready.ask(&model, "go").await.unwrap();
        expect![[r#"{"error":"invalid_arguments","tool":"mcp__s__edit","details":[{"path":"","expected":"a whole call","got":"a call cut off before its end","message":"The output was cut off at the limit of 64 output tokens, so the call was not run."}],"suggestion":"Send a smaller call: shorter arguments, or the work split over several calls."}"#]]
            .assert_eq(&model.told()[0].1);
    }
    assert_eq!(tools.received(), []);
}

#[tokio::test]
async fn what_the_schema_proves_is_repaired_and_said() {
    let tools = server();
    let ready = Setup::new().reading("s", &tools).open().await;
    let model = ScriptedModel::new([
        call(&[
            ("1", "mcp__s__edit", r#"{"path":"007","line":"5"}"#),
            ("2", "mcp__s__edit", r#"{"path":"k","line":2512292042121000001}"#),
        ]),
        say("done"),
    ]);
    let answer = ready.ask(&model, "go").await.unwrap();
    let mut received: Vec<String> =
        tools.received().iter().map(|(_, arguments)| arguments.to_string()).collect();
    received.sort();
    assert_eq!(received, [r#"{"path":"007","line":5}"#, r#"{"path":"k","line":2512292042121000001}"#]);
    assert_eq!(answer.calls[0].repairs.len(), 1);
    assert_eq!(answer.calls[1].repairs, []);
}

#[tokio::test]
async fn repairs_can_be_switched_off_and_the_model_is_told_instead() {
    let tools = server();
    let mut setup = Setup::new().reading("s", &tools);
    setup.settings.limits.repair_arguments = false;
    let verdict = told_by(setup, "mcp__s__edit", r#"{"path":"007","line":"5"}"#, expect![[r#"is_error=true {"error":"invalid_arguments","tool":"mcp__s__edit","details":[{"path":"/line","expected":"integer","got":"string \"5\"","message":"`/line`: expected integer, got string \"5\"."}],"suggestion":"Call mcp__s__edit again with /line corrected, and everything else as it was."}"#]]).await;
    assert_eq!((verdict, tools.received()), (Verdict::Invalid, vec![]));
}

#[tokio::test]
async fn what_is_sent_is_an_object_even_where_the_schema_would_take_anything() {
    let tools = FakeServer::new(
        "s",
        vec![FakeTool::new("any", "{}", |arguments| async move { Ok(ToolOutput::text(arguments.as_str())) })],
    );
    let ready = Setup::new().reading("s", &tools).open().await;
    let ways = ["", "null", r#""""#, "[]", "5", r#""text""#, "[1]"];
    let calls: Vec<_> = ways.iter().map(|way| ("", "mcp__s__any", *way)).collect();
    let model = ScriptedModel::new([call(&calls), say("done")]);
    let answer = ready.ask(&model, "go").await.unwrap();
    let verdicts: Vec<_> = answer.calls.iter().map(|record| record.decided.verdict).collect();
    let (fine, wrong) = (Verdict::Allowed, Verdict::Invalid);
    assert_eq!(verdicts, [fine, fine, fine, fine, wrong, wrong, wrong]);
    assert_eq!(tools.received(), vec![("any".to_owned(), RawJson::empty_object()); 4]);
}

/// A policy's question that breaks down before anybody answers.
struct Broken;

impl Approver for Broken {
    fn ask<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        panic!("a bug in the dialogue")
    }
}

#[tokio::test]
async fn a_check_that_breaks_down_denies() {
    let tools = server();
    let setup = Setup::new().unknown("s", &tools).approver(Arc::new(Broken));
    let verdict = told_by(setup, "mcp__s__now", "{}", expect![[r#"is_error=true {"error":"denied","reason":"Deciding about this call broke down, so it was not run.","by":"policy"}"#]]).await;
    assert_eq!((verdict, tools.received()), (Verdict::Denied, vec![]));
}

#[tokio::test]
async fn an_image_reaches_the_model_as_an_image() {
    let image = ContentBlock::Image { data: "aGk=".into(), mime_type: "image/png".into() };
    let shown = image.clone();
    let camera = FakeServer::new(
        "cam",
        vec![FakeTool::new("shoot", r#"{"type":"object"}"#, move |_| {
            let image = shown.clone();
            async move { Ok(ToolOutput { content: vec![image], ..ToolOutput::default() }) }
        })],
    );
    let ready = Setup::new().reading("cam", &camera).open().await;
    let model = ScriptedModel::new([call(&[("1", "mcp__cam__shoot", "{}")]), say("done")]);
    ready.ask(&model, "go").await.unwrap();
    let request = model.requests().pop().unwrap();
    let results: Vec<_> = request.messages.iter().flat_map(|message| message.tool_results()).collect();
    assert_eq!(results[0].content, [image]);
}
