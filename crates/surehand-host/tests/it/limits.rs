//! Where a run ends: turns, time, tokens, a person's wish.

use std::sync::Arc;
use std::time::Duration;

use surehand_host::{Approval, ApproveAll, Conversation, HostEvent, Stop, Verdict};
use surehand_mcp::ToolOutput;
use surehand_model::{Finish, FinishReason, ModelTurn};
use surehand_provider::ProviderError;
use surehand_testkit::{FakeServer, FakeTool, ScriptedModel, call, say};
use tokio_util::sync::CancellationToken;

use crate::fixture::{Person, Setup};

fn slow() -> Arc<FakeServer> {
    FakeServer::new(
        "s",
        vec![FakeTool::new("wait", r#"{"type":"object"}"#, |_| async {
            tokio::time::sleep(Duration::from_secs(10)).await;
            Ok(ToolOutput::text("ok"))
        })],
    )
}

fn wait(id: &str) -> surehand_model::ModelTurn {
    call(&[(id, "mcp__s__wait", "{}")])
}

#[tokio::test(start_paused = true)]
async fn the_model_is_asked_no_more_often_than_allowed() {
    let ready = Setup::new().reading("s", &slow()).limits(|limits| limits.max_turns = 2).open().await;
    let model = ScriptedModel::new([wait("1"), wait("2"), say("never said")]);
    let answer = ready.ask(&model, "go").await.unwrap();
    assert_eq!((answer.stop, answer.turns, answer.calls.len(), model.remaining()), (Stop::MaxTurns, 2, 2, 1));
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_time_is_up_cancels_its_calls_and_keeps_a_valid_history() {
    let ready = Setup::new()
        .reading("s", &slow())
        .limits(|limits| limits.timeout = Some(Duration::from_secs(5)))
        .open()
        .await;
    let mut conversation = Conversation::from_question("go");
    let model = ScriptedModel::new([wait("1")]);
    let answer = ready.go_on(&model, &mut conversation, &CancellationToken::new()).await.unwrap();
    assert_eq!((answer.stop, answer.calls.len()), (Stop::Timeout, 1));
    let next = ScriptedModel::new([say("fine")]);
    conversation.say("and now?");
    assert_eq!(ready.go_on(&next, &mut conversation, &CancellationToken::new()).await.unwrap().text, "fine");
}

#[tokio::test(start_paused = true)]
async fn the_token_budget_ends_a_run_between_turns() {
    let ready =
        Setup::new().reading("s", &slow()).limits(|limits| limits.budget_tokens = Some(3)).open().await;
    let model = ScriptedModel::new([wait("1"), wait("2"), say("never said")]);
    let answer = ready.ask(&model, "go").await.unwrap();
    assert_eq!((answer.stop, answer.turns), (Stop::Budget, 2));
}

#[tokio::test(start_paused = true)]
async fn cancelling_ends_the_turn_and_not_the_conversation() {
    let ready = Setup::new().reading("s", &slow()).open().await;
    let mut conversation = Conversation::from_question("go");
    let cancel = CancellationToken::new();
    let cancel_later = async {
        tokio::time::sleep(Duration::from_secs(3)).await;
        cancel.cancel();
    };
    let since = tokio::time::Instant::now();
    let model = ScriptedModel::new([call(&[("1", "mcp__s__wait", "{}"), ("2", "mcp__s__wait", "{}")])]);
    let (answer, ()) = tokio::join!(ready.go_on(&model, &mut conversation, &cancel), cancel_later);
    let answer = answer.unwrap();
    assert_eq!((answer.stop, answer.calls.len(), since.elapsed().as_secs()), (Stop::Cancelled, 2, 3));
    conversation.say("go on");
    let next = ScriptedModel::new([say("here I am")]);
    let answer = ready.go_on(&next, &mut conversation, &CancellationToken::new()).await.unwrap();
    assert_eq!(answer.text, "here I am");
}

#[tokio::test(start_paused = true)]
async fn time_a_person_takes_to_think_counts_neither_for_the_call_nor_for_the_run() {
    let tools = slow();
    let person = Person::who_thinks(Duration::from_secs(1000), Approval::Once);
    let ready = Setup::new()
        .unknown("s", &tools)
        .approver(person.clone())
        .limits(|limits| limits.timeout = Some(Duration::from_secs(60)))
        .open()
        .await;
    let answer = ready.ask(&ScriptedModel::new([wait("1"), say("done")]), "go").await.unwrap();
    assert_eq!((answer.stop, answer.calls[0].decided.verdict), (Stop::Complete, Verdict::Approved));
    assert_eq!(answer.calls[0].duration_ms, 10_000);
    assert_eq!(person.asked().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_yes_for_the_session_is_asked_once_even_for_calls_that_wait_in_line() {
    let person = Person::who_thinks(Duration::from_secs(1), Approval::ForSession);
    let ready = Setup::new().unknown("s", &slow()).approver(person.clone()).open().await;
    let model = ScriptedModel::new([
        call(&[("1", "mcp__s__wait", "{}"), ("2", "mcp__s__wait", "{}")]),
        wait("3"),
        say("done"),
    ]);
    let answer = ready.ask(&model, "go").await.unwrap();
    assert_eq!(
        answer.calls.iter().map(|record| record.decided.verdict).collect::<Vec<_>>(),
        [Verdict::Approved; 3]
    );
    assert_eq!(person.asked().len(), 1);
}

#[tokio::test]
async fn a_model_that_keeps_calling_what_cannot_run_is_stopped_with_a_reason() {
    let tools = FakeServer::new("s", vec![FakeTool::echo("search")]);
    let ready = Setup::new().reading("s", &tools).limits(|limits| limits.max_stuck_turns = 3).open().await;
    let model = ScriptedModel::new(
        std::iter::repeat_with(|| call(&[("", "execute_python", r#"{"code":"1"}"#)])).take(5),
    );
    let answer = ready.ask(&model, "go").await.unwrap();
    assert_eq!((answer.stop, answer.turns), (Stop::MaxTurns, 3));
    assert_eq!(answer.detail.as_deref(), Some("3 turns in a row held only calls that cannot be run"));
}

#[tokio::test]
async fn valid_calls_beside_unknown_ones_still_run() {
    let tools = FakeServer::new("s", vec![FakeTool::echo("search"), FakeTool::echo("list_issues")]);
    let ready = Setup::new().reading("s", &tools).open().await;
    let model = ScriptedModel::new([
        call(&[
            ("1", "execute_python", r#"{"code":"1"}"#),
            ("2", "listIssues", "{}"),
            ("3", "functions.search", r#"{"q":"x"}"#),
            ("4", "multi_tool_use.parallel", "{}"),
            ("5", "", "{}"),
            ("6", "search", ""),
        ]),
        say("done"),
    ]);
    let answer = ready.ask(&model, "go").await.unwrap();
    let ran: Vec<(&str, bool)> =
        answer.calls.iter().map(|record| (record.id.0.as_str(), !record.result.is_error)).collect();
    assert_eq!(ran, [("1", false), ("2", false), ("3", true), ("4", false), ("5", false), ("6", true)]);
    assert!(model.told()[1].1.contains("mcp__s__list_issues"), "{}", model.told()[1].1);
}

#[tokio::test]
async fn a_broken_stream_is_asked_for_once_more_and_then_reported() {
    let broken =
        || Err(ProviderError::Broken { provider: "p".into(), message: "the stream ended early".into() });
    let ready = Setup::new().open().await;
    let model = ScriptedModel::with_failures([broken(), Ok(say("second try"))]);
    assert_eq!(ready.ask(&model, "go").await.unwrap().text, "second try");
    let notes = ready.seen.events().into_iter().filter(|event| matches!(event, HostEvent::Note(_))).count();
    assert_eq!(notes, 1);
    let model = ScriptedModel::with_failures([broken(), broken()]);
    let failure = ready.ask(&model, "go").await.unwrap_err();
    assert!(matches!(failure.source, ProviderError::Broken { .. }));
}

#[tokio::test]
async fn approving_everything_runs_what_asks_and_not_what_is_denied() {
    let tools = FakeServer::new("s", vec![FakeTool::echo("fine"), FakeTool::echo("forbidden")]);
    let mut setup = Setup::new().unknown("s", &tools).approver(Arc::new(ApproveAll));
    let rules = r#"{"rules":[{"match":{"tool":"forbidden"},"decision":"deny","reason":"Never."}]}"#;
    setup.settings.policy = Some(surehand_model::Json::parse(rules).unwrap());
    let ready = setup.open().await;
    let model = ScriptedModel::new([
        call(&[("1", "mcp__s__fine", "{}"), ("2", "mcp__s__forbidden", "{}")]),
        say("done"),
    ]);
    let answer = ready.ask(&model, "go").await.unwrap();
    let verdicts: Vec<_> = answer.calls.iter().map(|record| record.decided.verdict).collect();
    assert_eq!(verdicts, [Verdict::Approved, Verdict::Denied]);
    let offered: Vec<String> = model.requests()[0].tools.iter().map(|tool| tool.name.clone()).collect();
    assert_eq!(offered, ["mcp__s__fine"], "what is denied anyway is not shown to the model");
}

#[tokio::test]
async fn an_answer_that_ended_for_another_reason_than_its_end_says_so() {
    let ready = Setup::new().open().await;
    for (reason, raw, expected) in [
        (FinishReason::Stop, "stop", None),
        (FinishReason::Length, "length", Some("the answer was cut off at the model's output limit")),
        (FinishReason::Refused, "content_filter", Some("the model or its provider refused to answer")),
        (
            FinishReason::Other,
            "insufficient_system_resource",
            Some("the model stopped for a reason that is not known here: insufficient_system_resource"),
        ),
    ] {
        let turn = ModelTurn { finish: Finish { reason, raw: Some(raw.to_owned()) }, ..say("half") };
        let answer = ready.ask(&ScriptedModel::new([turn]), "go").await.unwrap();
        assert_eq!(
            (answer.text.as_str(), answer.stop, answer.detail.as_deref()),
            ("half", Stop::Complete, expected)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_its_turn_or_for_a_person_ends_when_the_run_is_cancelled() {
    let tools = slow();
    let mut one_at_a_time = Setup::new().reading("s", &tools);
    one_at_a_time.settings.servers[0].parallel = false;
    let asked = Setup::new()
        .unknown("s", &tools)
        .approver(Person::who_thinks(Duration::from_secs(1000), Approval::Once));
    let (ran, refused) = (Verdict::Allowed, Verdict::Denied);
    for (setup, verdicts) in [(one_at_a_time, [ran, ran]), (asked, [refused, refused])] {
        let ready = setup.open().await;
        let cancel = CancellationToken::new();
        let cancel_later = async {
            tokio::time::sleep(Duration::from_secs(3)).await;
            cancel.cancel();
        };
        let since = tokio::time::Instant::now();
        let model = ScriptedModel::new([call(&[("1", "mcp__s__wait", "{}"), ("2", "mcp__s__wait", "{}")])]);
        let mut conversation = Conversation::from_question("go");
        let (answer, ()) = tokio::join!(ready.go_on(&model, &mut conversation, &cancel), cancel_later);
        let answer = answer.unwrap();
        assert_eq!((answer.stop, since.elapsed().as_secs()), (Stop::Cancelled, 3));
        assert_eq!(answer.calls.iter().map(|record| record.decided.verdict).collect::<Vec<_>>(), verdicts);
        // Each intent that was allowed has its outcome, and the others were refusals.
        let log = std::fs::read_to_string(ready.folder.path().join("state/audit.jsonl")).unwrap();
        let kinds = |kind: &str| log.lines().filter(|line| line.contains(kind)).count();
        let outcomes = if verdicts == [ran, ran] { 2 } else { 0 };
        assert_eq!((kinds(r#""kind":"intent""#), kinds(r#""kind":"outcome""#)), (2, outcomes));
    }
    // Only the first call of the first run had begun.
    assert_eq!(tools.received().len(), 1);
}
