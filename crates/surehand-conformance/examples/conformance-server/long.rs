//! Tools whose calls become tasks. The same code is waited for by clients that cannot take one.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use surehand_macros::tool;
use surehand_mcp::{CallFailure, RequestContext, TaskOptions, ToolFailure, ToolOutput, Toolset};

use crate::asking::{ask_name, field, form};

/// Ends in an error of the protocol, which no function of a toolset can.
pub(crate) const PROTOCOL_ERROR_JOB: &str = "protocol_error_job";

pub(crate) fn add(tools: Toolset) -> Toolset {
    tools
        .with(greet)
        .with(slow_compute)
        .with(failing_job)
        .with(protocol_error_job)
        .with(confirm_delete)
        .with(multi_input)
        .with(test_tool_with_task)
}

fn options() -> TaskOptions {
    TaskOptions { ttl_ms: Some(300_000), poll_interval_ms: Some(200), status_message: None }
}

#[derive(Deserialize, JsonSchema)]
struct Greet {
    /// Who is greeted.
    name: String,
}

/// Greets somebody, at once.
#[tool(effect = "pure")]
async fn greet(arguments: Greet) -> String {
    format!("Hello, {}!", arguments.name)
}

#[derive(Deserialize, JsonSchema)]
struct SlowCompute {
    /// How long it takes.
    seconds: f64,
    /// What the result is called.
    #[serde(default)]
    label: String,
}

/// Takes its time.
#[tool(effect = "pure", task = "optional")]
async fn slow_compute(arguments: SlowCompute, context: RequestContext) -> Result<String, ToolFailure> {
    context.begin_task(options())?;
    tokio::time::sleep(Duration::from_secs_f64(arguments.seconds.clamp(0.0, 600.0))).await;
    Ok(format!("{} is computed", arguments.label))
}

/// Fails after a second.
#[tool(effect = "pure", task = "required")]
async fn failing_job(context: RequestContext) -> Result<String, ToolFailure> {
    context.require_task(options())?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    Err(ToolFailure::new("the job failed, as it always does"))
}

/// Ends in an error of the protocol.
#[tool(effect = "pure", task = "optional")]
async fn protocol_error_job() -> ToolOutput {
    ToolOutput::error("this is ended by the server itself")
}

/// What [`PROTOCOL_ERROR_JOB`] does.
pub(crate) async fn end_in_protocol_error(context: RequestContext) -> Result<ToolOutput, CallFailure> {
    context.begin_task(options())?;
    tokio::time::sleep(Duration::from_millis(100)).await;
    Err(CallFailure::Internal("the job broke down, as it always does".to_owned()))
}

#[derive(Deserialize, JsonSchema)]
struct ConfirmDelete {
    /// What is to be deleted.
    filename: String,
}

/// Asks before it pretends to delete a file.
#[tool(effect = "pure", task = "optional")]
async fn confirm_delete(arguments: ConfirmDelete, context: RequestContext) -> Result<String, ToolFailure> {
    context.begin_task(options())?;
    let fields = json!({"confirm": {"type": "boolean"}});
    let question = form(&format!("Delete {}?", arguments.filename), fields, &["confirm"]);
    let answer = context.ask("confirm", question).await?;
    Ok(format!("{}: {answer}", arguments.filename))
}

/// Asks two things at once.
#[tool(effect = "pure", task = "optional")]
async fn multi_input(context: RequestContext) -> Result<String, ToolFailure> {
    context.begin_task(options())?;
    let questions = vec![
        ("first".to_owned(), ask_name("What is the first name?")),
        ("second".to_owned(), ask_name("What is the second name?")),
    ];
    let answers = context.ask_all(questions).await?;
    Ok(format!("{} and {}", field(&answers[0], "name"), field(&answers[1], "name")))
}

/// Asks for a name, and then goes on as a task.
#[tool(effect = "pure", task = "required")]
async fn test_tool_with_task(context: RequestContext) -> Result<String, ToolFailure> {
    let answer = context.ask("user_name", ask_name("What is your name?")).await?;
    context.require_task(options())?;
    tokio::time::sleep(Duration::from_millis(100)).await;
    Ok(format!("Hello, {}!", field(&answer, "name")))
}
