//! The embedded model at work, with the small model that `cargo xtask fetch-model` brings.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod answers;
mod calls;

use std::path::PathBuf;

use surehand_local::{LocalModel, LocalOptions, LocalProvider};
use surehand_model::{Message, ModelEvent, ModelRequest, ModelTurn, RawJson, Role, Tool};
use surehand_provider::Provider;

/// The small model's file in the standard folder.
fn model_file() -> PathBuf {
    #[expect(clippy::disallowed_methods, reason = "a test finds the models where the program keeps them")]
    let cache = std::env::var_os("XDG_CACHE_HOME").filter(|dir| !dir.is_empty()).map(PathBuf::from);
    let cache = cache.unwrap_or_else(|| std::env::home_dir().unwrap().join(".cache"));
    let models = cache.join("surehand").join("models");
    let model = LocalModel::find("qwen2.5-coder-0.5b").unwrap();
    assert!(
        model.is_fetched(&models),
        "{} is missing; run `cargo xtask fetch-model`",
        model.path(&models).display()
    );
    model.path(&models)
}

/// The small model, keeping its prefixes in `dir`.
fn provider_in(dir: &std::path::Path) -> LocalProvider {
    let options = LocalOptions { threads: 1, ..LocalOptions::new(dir) };
    LocalProvider::open(&model_file().display().to_string(), &options).unwrap()
}

fn tool(name: &str, description: &str, schema: &str) -> Tool {
    Tool::new(name, description, RawJson::parse(schema).unwrap())
}

fn weather_and_time() -> Vec<Tool> {
    vec![
        tool(
            "get_current_time",
            "Current time and date in a time zone.",
            r#"{"type":"object","properties":{"timezone":{"type":"string","description":"IANA time zone"}},"required":["timezone"]}"#,
        ),
        tool(
            "get_weather",
            "Current weather and forecast for a city.",
            r#"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}"#,
        ),
    ]
}

fn ask(question: &str, tools: Vec<Tool>) -> ModelRequest {
    ModelRequest::new("", vec![Message::text(Role::User, question)], tools)
}

async fn answer(provider: &LocalProvider, request: &ModelRequest) -> (ModelTurn, Vec<ModelEvent>) {
    let mut events = Vec::new();
    let turn = provider.answer(request, &mut |event| events.push(event)).await.unwrap();
    (turn, events)
}

fn calls(turn: &ModelTurn) -> Vec<(String, String)> {
    turn.to_message().calls().map(|call| (call.name.clone(), call.raw_arguments.clone())).collect()
}

fn pair(name: &str, arguments: &str) -> (String, String) {
    (name.to_owned(), arguments.to_owned())
}
