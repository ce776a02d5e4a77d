//! Tools about what a client declares with each request.

use surehand_macros::tool;
use surehand_mcp::{ClientFeature, RequestContext, ToolFailure, Toolset};

use crate::asking::{ask_name, ask_what_is_possible, field};

pub(crate) fn add(tools: Toolset) -> Toolset {
    tools
        .with(test_missing_capability)
        .with(test_streaming_elicitation)
        .with(test_logging_tool)
        .with(test_input_required_result_capabilities)
}

/// Needs a client with a model.
#[tool(effect = "pure")]
async fn test_missing_capability(context: RequestContext) -> Result<&'static str, ToolFailure> {
    context.require(ClientFeature::Sampling)?;
    Ok("The client has a model.")
}

/// Asks for a name while its answer may be a stream.
#[tool(effect = "reads")]
async fn test_streaming_elicitation(context: RequestContext) -> Result<String, ToolFailure> {
    context.progress(0.0, Some(1.0), None);
    let answer = context.ask("user_name", ask_name("What is your name?")).await?;
    Ok(format!("Hello, {}!", field(&answer, "name")))
}

/// Tells the client's log something, if the client wants to hear it.
#[tool(effect = "pure")]
async fn test_logging_tool(context: RequestContext) -> &'static str {
    let words = surehand_model::RawJson::from_serialize("The logging tool runs.");
    context.log(surehand_mcp::LogLevel::Info, Some("conformance"), &words);
    "The log has been told, if it listens."
}

/// Asks for no more than the client declares.
#[tool(effect = "reads")]
async fn test_input_required_result_capabilities(context: RequestContext) -> Result<String, ToolFailure> {
    let answers = ask_what_is_possible(&context).await?;
    Ok(format!("The client gave {} answers.", answers.len()))
}
