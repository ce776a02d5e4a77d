//! Tools that answer at once, or after telling how far they are.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use surehand_macros::tool;
use surehand_mcp::{Effect, LogLevel, RequestContext, TaskSupport, ToolCard, ToolEntry, ToolOutput, Toolset};
use surehand_model::{ContentBlock, RawJson, ResourceContents, Tool};

use crate::media::{picture, sound};

/// How far apart the suite wants messages of one call.
const PAUSE: Duration = Duration::from_millis(50);

pub(crate) fn add(tools: Toolset) -> Toolset {
    // The suite calls the first tool without arguments.
    tools
        .with(test_simple_text)
        .with(test_image_content)
        .with(test_audio_content)
        .with(test_embedded_resource)
        .with(test_multiple_content_types)
        .with(test_tool_with_logging)
        .with(test_tool_with_progress)
        .with(test_error_handling)
        .with(test_reconnection)
        .with(test_custom_header)
        .with_entry(json_schema_2020_12_tool())
}

/// Gives a text.
#[tool(effect = "pure")]
async fn test_simple_text() -> &'static str {
    "This is a simple text response for testing."
}

/// Gives a picture.
#[tool(effect = "pure")]
async fn test_image_content() -> ToolOutput {
    ToolOutput { content: vec![picture()], ..ToolOutput::default() }
}

/// Gives a sound.
#[tool(effect = "pure")]
async fn test_audio_content() -> ToolOutput {
    ToolOutput { content: vec![sound()], ..ToolOutput::default() }
}

/// Gives a resource, embedded.
#[tool(effect = "pure")]
async fn test_embedded_resource() -> ToolOutput {
    let text = "This is an embedded resource content.";
    let resource = embedded("test://embedded-resource", "text/plain", text.to_owned());
    ToolOutput { content: vec![resource], ..ToolOutput::default() }
}

/// Gives a text, a picture and a resource.
#[tool(effect = "pure")]
async fn test_multiple_content_types() -> ToolOutput {
    let data = json!({"test": "data", "value": 123});
    let content = vec![
        ContentBlock::Text("Multiple content types test:".to_owned()),
        picture(),
        embedded("test://mixed-content-resource", "application/json", data.to_string()),
    ];
    ToolOutput { content, ..ToolOutput::default() }
}

/// Tells the client's log what it does.
#[tool(effect = "pure")]
async fn test_tool_with_logging(context: RequestContext) -> &'static str {
    for (index, words) in
        ["Tool execution started", "Tool processing data", "Tool execution completed"].iter().enumerate()
    {
        if index > 0 {
            tokio::time::sleep(PAUSE).await;
        }
        context.log(LogLevel::Info, None, &RawJson::from_serialize(words));
    }
    "The log has been told."
}

/// Reports how far it is.
#[tool(effect = "pure")]
async fn test_tool_with_progress(context: RequestContext) -> &'static str {
    for progress in [0.0, 50.0, 100.0] {
        if progress > 0.0 {
            tokio::time::sleep(PAUSE).await;
        }
        context.progress(progress, Some(100.0), None);
    }
    "All is done."
}

/// Fails.
#[tool(effect = "pure")]
async fn test_error_handling() -> ToolOutput {
    ToolOutput::error("This tool intentionally returns an error for testing")
}

/// Lets its stream be closed before it answers, where the stream can be taken up again.
#[tool(effect = "pure")]
async fn test_reconnection(context: RequestContext) -> &'static str {
    context.pause_stream();
    tokio::time::sleep(PAUSE).await;
    "Reconnection test completed successfully. If you received this, the client properly reconnected after stream closure."
}

#[derive(Deserialize, JsonSchema)]
struct CustomHeader {
    /// What stands in the header too.
    #[schemars(extend("x-mcp-header" = "Value"))]
    value: String,
}

/// Gives back a value that is in a header of the request too.
#[tool(effect = "pure")]
async fn test_custom_header(arguments: CustomHeader) -> String {
    format!("The value is {}.", arguments.value)
}

fn embedded(uri: &str, mime_type: &str, text: String) -> ContentBlock {
    ContentBlock::Resource(ResourceContents {
        uri: uri.to_owned(),
        mime_type: Some(mime_type.to_owned()),
        text: Some(text),
        blob: None,
    })
}

/// Its schema has words that no type brings along; all must reach the client.
fn json_schema_2020_12_tool() -> ToolEntry {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}}
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"}
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false
    });
    let name = "json_schema_2020_12_tool";
    ToolEntry {
        tool: Tool::new(name, "Takes what its schema describes, and does nothing.", RawJson::from(&schema)),
        card: ToolCard { tool: name.to_owned(), effect: Effect::Pure },
        task: TaskSupport::Forbidden,
        run: Arc::new(|arguments, _| Box::pin(async move { ToolOutput::text(format!("Got {arguments}")) })),
    }
}
