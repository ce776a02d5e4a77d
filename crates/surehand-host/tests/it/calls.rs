//! Calls of one turn: side by side, each answered once, in order, whatever happens.

use std::time::Duration;

use surehand_host::Stop;
use surehand_mcp::{CallFailure, ToolOutput};
use surehand_model::{Note, RawJson};
use surehand_testkit::{FakeServer, FakeTool, ScriptedModel, call, say};

use crate::fixture::Setup;

const CITY: &str = r#"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}"#;

fn city_of(arguments: &RawJson) -> String {
    arguments.to_value()["city"].as_str().unwrap_or_default().to_owned()
}

fn pair(id: &str, text: &str) -> (String, String) {
    (id.to_owned(), text.to_owned())
}

#[tokio::test(start_paused = true)]
async fn three_cities_in_one_question_are_three_calls_three_answers_and_one_reply() {
    let weather = FakeServer::new(
        "weather",
        vec![FakeTool::new("get_weather", CITY, |arguments| async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok(ToolOutput::text(format!("{}：晴", city_of(&arguments))))
        })],
    );
    let ready = Setup::new().reading("weather", &weather).open().await;
    let model = ScriptedModel::new([
        call(&[
            ("a", "mcp__weather__get_weather", r#"{"city":"上海"}"#),
            ("b", "mcp__weather__get_weather", r#"{"city":"北京"}"#),
            ("c", "mcp__weather__get_weather", r#"{"city":"广州"}"#),
        ]),
        say("三座城市都是晴天。"),
    ]);
    let since = tokio::time::Instant::now();
    let answer = ready.ask(&model, "上海、北京、广州今天天气怎么样？").await.unwrap();
    assert!(
        since.elapsed() < Duration::from_millis(1100),
        "three calls of one second took {:?}",
        since.elapsed()
    );
    assert_eq!(model.told(), [pair("a", "上海：晴"), pair("b", "北京：晴"), pair("c", "广州：晴")]);
    assert_eq!((answer.text.as_str(), answer.stop, answer.turns), ("三座城市都是晴天。", Stop::Complete, 2));
}

#[tokio::test(start_paused = true)]
async fn results_that_arrive_in_another_order_are_never_swapped() {
    let slow = FakeServer::new(
        "s",
        vec![FakeTool::new("wait", r#"{"type":"object"}"#, |arguments| async move {
            let value = arguments.to_value();
            tokio::time::sleep(Duration::from_millis(value["ms"].as_u64().unwrap_or(0))).await;
            Ok(ToolOutput::text(value["n"].to_string()))
        })],
    );
    let ready = Setup::new().reading("s", &slow).open().await;
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    for _ in 0..1000 {
        let delays: Vec<u64> = (0..6)
            .map(|_| {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                random % 50
            })
            .collect();
        let written: Vec<(String, String)> = delays
            .iter()
            .enumerate()
            .map(|(n, ms)| (format!("id{n}"), format!(r#"{{"ms":{ms},"n":{n}}}"#)))
            .collect();
        let calls: Vec<(&str, &str, &str)> =
            written.iter().map(|(id, arguments)| (id.as_str(), "mcp__s__wait", arguments.as_str())).collect();
        let model = ScriptedModel::new([call(&calls), say("done")]);
        ready.ask(&model, "go").await.unwrap();
        let expected: Vec<_> = (0..6).map(|n| pair(&format!("id{n}"), &n.to_string())).collect();
        assert_eq!(model.told(), expected, "with delays {delays:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn thirty_two_calls_of_a_second_take_about_a_second() {
    let slow = FakeServer::new(
        "s",
        vec![FakeTool::new("wait", r#"{"type":"object"}"#, |_| async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok(ToolOutput::text("ok"))
        })],
    );
    let ready = Setup::new().reading("s", &slow).open().await;
    let ids: Vec<String> = (0..32).map(|n| n.to_string()).collect();
    let calls: Vec<_> = ids.iter().map(|id| (id.as_str(), "mcp__s__wait", "{}")).collect();
    let model = ScriptedModel::new([call(&calls), say("done")]);
    let since = tokio::time::Instant::now();
    ready.ask(&model, "go").await.unwrap();
    assert!(since.elapsed() < Duration::from_millis(1500), "took {:?}", since.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_server_marked_so_gets_one_call_at_a_time() {
    let slow = FakeServer::new(
        "s",
        vec![FakeTool::new("wait", r#"{"type":"object"}"#, |_| async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok(ToolOutput::text("ok"))
        })],
    );
    let mut setup = Setup::new().reading("s", &slow);
    setup.settings.servers[0].parallel = false;
    let ready = setup.open().await;
    let model = ScriptedModel::new([
        call(&[("1", "mcp__s__wait", ""), ("2", "mcp__s__wait", ""), ("3", "mcp__s__wait", "")]),
        say("done"),
    ]);
    let since = tokio::time::Instant::now();
    ready.ask(&model, "go").await.unwrap();
    assert_eq!(since.elapsed().as_secs(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_server_that_takes_one_call_at_a_time_gets_them_in_the_order_of_the_model() {
    let pages = FakeServer::new("s", vec![FakeTool::echo("step")]);
    let mut setup = Setup::new().reading("s", &pages);
    setup.settings.servers[0].parallel = false;
    let ready = setup.open().await;
    let steps: Vec<(String, String)> =
        (0..100).map(|step| (step.to_string(), format!(r#"{{"step":{step}}}"#))).collect();
    let calls: Vec<_> = steps.iter().map(|(id, step)| (id.as_str(), "mcp__s__step", step.as_str())).collect();
    ready.ask(&ScriptedModel::new([call(&calls), say("done")]), "go").await.unwrap();
    let received: Vec<String> =
        pages.received().iter().map(|(_, arguments)| arguments.as_str().to_owned()).collect();
    let made: Vec<String> = steps.into_iter().map(|(_, step)| step).collect();
    assert_eq!(received, made);
}

#[tokio::test(start_paused = true)]
async fn a_failing_a_slow_and_an_unknown_tool_and_a_panic_never_hurt_their_siblings() {
    let mixed = FakeServer::new(
        "s",
        vec![
            FakeTool::echo("fine"),
            FakeTool::new("broken", r#"{"type":"object"}"#, |_| async { panic!("a bug in the tool") }),
            FakeTool::new("slow", r#"{"type":"object"}"#, |_| async {
                tokio::time::sleep(Duration::from_secs(3600)).await;
                Ok(ToolOutput::text("never"))
            }),
            FakeTool::new("failing", r#"{"type":"object"}"#, |_| async {
                Ok(ToolOutput::error("no such city: Atlantis"))
            }),
            FakeTool::new("refusing", r#"{"type":"object"}"#, |_| async {
                Err(CallFailure::Internal("disk is full".into()))
            }),
        ],
    );
    let ready = Setup::new().reading("s", &mixed).open().await;
    let model = ScriptedModel::new([
        call(&[
            ("1", "mcp__s__broken", "{}"),
            ("2", "mcp__s__slow", "{}"),
            ("3", "mcp__s__missing", "{}"),
            ("4", "mcp__s__failing", "{}"),
            ("5", "mcp__s__refusing", "{}"),
            ("6", "mcp__s__fine", r#"{"n":1.10}"#),
        ]),
        say("done"),
    ]);
    let answer = ready.ask(&model, "go").await.unwrap();
    let told = model.told();
    let ids: Vec<&str> = told.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["1", "2", "3", "4", "5", "6"]);
    let kinds: Vec<String> = told
        .iter()
        .map(|(_, text)| match serde_json::from_str::<serde_json::Value>(text) {
            Ok(value) if value["error"].is_string() => value["error"].as_str().unwrap_or_default().to_owned(),
            _ => text.clone(),
        })
        .collect();
    assert_eq!(
        kinds,
        ["tool_failed", "timeout", "unknown_tool", "no such city: Atlantis", "tool_failed", r#"{"n":1.10}"#]
    );
    assert_eq!(answer.stop, Stop::Complete);
}

#[tokio::test(start_paused = true)]
async fn the_same_id_twice_in_a_turn_is_still_two_answers() {
    let echo = FakeServer::new("s", vec![FakeTool::echo("echo")]);
    let ready = Setup::new().reading("s", &echo).open().await;
    let model = ScriptedModel::new([
        call(&[
            ("x", "mcp__s__echo", r#"{"n":1}"#),
            ("x", "mcp__s__echo", r#"{"n":2}"#),
            ("", "mcp__s__echo", r#"{"n":3}"#),
        ]),
        say("done"),
    ]);
    let answer = ready.ask(&model, "go").await.unwrap();
    let texts: Vec<String> = model.told().into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, [r#"{"n":1}"#, r#"{"n":2}"#, r#"{"n":3}"#]);
    let why = "it stood twice in one turn; the second call got an id of its own";
    assert_eq!(answer.skipped, [Note::new("model", "call id x", why)]);
}

#[tokio::test]
async fn an_id_that_is_made_is_none_that_the_model_gave() {
    let echo = FakeServer::new("s", vec![FakeTool::echo("echo")]);
    let ready = Setup::new().reading("s", &echo).open().await;
    let model = ScriptedModel::new([
        call(&[("call_1_1", "mcp__s__echo", r#"{"n":1}"#), ("", "mcp__s__echo", r#"{"n":2}"#)]),
        say("done"),
    ]);
    ready.ask(&model, "go").await.unwrap();
    assert_eq!(model.told(), [pair("call_1_1", r#"{"n":1}"#), pair("call_1_2", r#"{"n":2}"#)]);
}
