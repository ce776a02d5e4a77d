use serde::Deserialize;
use serde_json::{Map, Value};
use surehand_local::LocalProvider;
use surehand_model::{Message, ModelRequest, Role, Tool, ToolCall};
use surehand_provider::Provider;
use surehand_transport::{HttpClient, HttpOptions};

use crate::arguments::Arguments;
use crate::bfcl::is_valid;
use crate::score::are_right;
use crate::{Bar, Fault};

#[derive(Deserialize)]
struct Question {
    question: String,
    calls: Vec<Expected>,
}

#[derive(Deserialize)]
struct Expected {
    name: String,
    arguments: Map<String, Value>,
}

/// Our own questions about the bundled servers: right is exactly the expected calls, in any order, and no other.
pub(crate) async fn bars(provider: &LocalProvider, arguments: &Arguments) -> Result<Vec<Bar>, Fault> {
    let tools = bundled_tools();
    let mut valid = true;
    let mut right = Vec::new();
    for (name, text) in [
        ("zh", include_str!("../../tests/data/questions.zh.jsonl")),
        ("en", include_str!("../../tests/data/questions.en.jsonl")),
        ("none", include_str!("../../tests/data/questions.none.jsonl")),
    ] {
        let mut count = 0;
        let mut total = 0;
        for line in text.lines() {
            let question: Question = serde_json::from_str(line)?;
            let calls = ask(provider, &question.question, &tools).await?;
            valid &= calls.iter().all(|call| is_valid(call, &tools));
            let is_right = same_calls(&calls, &question.calls);
            total += 1;
            count += usize::from(is_right);
            if !is_right {
                let said: Vec<String> =
                    calls.iter().map(|call| format!("{}({})", call.name, call.raw_arguments)).collect();
                println!("  {} missed: {said:?}", question.question);
            }
        }
        println!("questions {name}: {count}/{total} right");
        right.push(count);
    }
    let cities = ask(provider, "上海、北京、广州天气", &tools).await?;
    let named: Vec<String> = cities
        .iter()
        .filter(|call| call.name == "get_weather")
        .filter_map(|call| Some(call.arguments_or_empty().to_value().get("city")?.as_str()?.to_owned()))
        .collect();
    println!("上海、北京、广州天气: {named:?}");
    let is_three = cities.len() == 3
        && named.len() == 3
        && ["上海", "北京", "广州"].iter().all(|city| named.iter().any(|name| name == city));
    let mut bars = vec![
        Bar::at_least("own questions, every call valid", f64::from(valid), 1.0),
        Bar::at_least("上海、北京、广州天气: exactly three calls", f64::from(is_three), 1.0),
    ];
    if arguments.is_large() {
        bars.push(Bar::at_least("own questions, Chinese, of 20", right[0] as f64, 16.0));
        bars.push(Bar::at_least("own questions, English, of 20", right[1] as f64, 18.0));
        bars.push(Bar::at_most(
            "questions without need that made a call, of 20",
            20.0 - right[2] as f64,
            6.0,
        ));
    }
    Ok(bars)
}

async fn ask(provider: &LocalProvider, question: &str, tools: &[Tool]) -> Result<Vec<ToolCall>, Fault> {
    let mut request = ModelRequest::new("", vec![Message::text(Role::User, question)], tools.to_vec());
    // What it says without a call is not looked at here.
    request.max_output_tokens = Some(1);
    let turn = provider.answer(&request, &mut |_| ()).await?;
    Ok(turn.to_message().calls().cloned().collect())
}

fn same_calls(calls: &[ToolCall], expected: &[Expected]) -> bool {
    let fits = |call: &ToolCall, expected: &Expected| {
        call.name == expected.name && are_right(&call.arguments_or_empty().to_value(), &expected.arguments)
    };
    calls.len() == expected.len()
        && expected.iter().all(|expected| calls.iter().any(|call| fits(call, expected)))
}

/// The tools of the three bundled servers, as they would be offered.
pub(crate) fn bundled_tools() -> Vec<Tool> {
    let time = surehand_server_time::server(surehand_server_time::Options::default());
    let weather = surehand_server_weather::server(surehand_server_weather::Options::new(HttpClient::new(
        HttpOptions::default(),
    )));
    let files = surehand_server_files::server(surehand_server_files::Options {
        roots: Vec::new(),
        limits: surehand_server_files::Limits::default(),
    });
    [time, weather, files].iter().flat_map(|server| server.tools()).collect()
}
