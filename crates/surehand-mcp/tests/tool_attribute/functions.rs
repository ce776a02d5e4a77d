use expect_test::expect;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_macros::tool;
use surehand_mcp::{
    CallFailure, Effect, RequestContext, Structured, ToolCard, ToolFailure, ToolOutput, Toolset,
};

use crate::call;

/// Where the weather is wanted.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct GetWeather {
    /// City name, for example "Beijing".
    city: String,
}

/// Current weather for a city
/// (天气).
///
/// Gives degrees Celsius.
#[tool(effect = "reads", open_world, title = "Weather")]
pub(crate) async fn get_weather(args: GetWeather) -> Result<String, ToolFailure> {
    tokio::task::yield_now().await;
    match args.city.as_str() {
        "Atlantis" => Err(ToolFailure::not_found("No city is called Atlantis.").did_you_mean(["Atlanta"])),
        "Pompeii" => panic!("the sensor melted"),
        city => Ok(format!("It is sunny in {city}.")),
    }
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

/// Adds two whole numbers.
#[tool(effect = "pure", idempotent, name = "math.add")]
fn add(Add { a, b }: Add) -> Structured<Sum> {
    Structured::new(Sum { sum: a.saturating_add(b) })
        .with_text(format!("{a} + {b} = {}", a.saturating_add(b)))
}

/// Says that it is there.
#[tool]
async fn ping() -> &'static str {
    "pong"
}

/// Says in which revision it was asked.
#[tool]
async fn asked_in(context: RequestContext) -> String {
    context.revision().to_string()
}

/// The same, for a city.
#[tool]
fn asked_for(args: GetWeather, context: RequestContext) -> String {
    format!("{} {}", args.city, context.revision())
}

#[tokio::test]
async fn a_tool_may_take_the_way_back_to_its_client_behind_its_arguments_or_alone() {
    let server = Toolset::new("s", "1").with(asked_in).with(asked_for).into_handler();
    assert_eq!(call(&server, "asked_in", "{}").await, Ok(ToolOutput::text("2026-07-28")));
    assert_eq!(
        call(&server, "asked_for", r#"{"city":"Oslo"}"#).await,
        Ok(ToolOutput::text("Oslo 2026-07-28"))
    );
    assert_eq!(asked_in(RequestContext::detached()).await, "2026-07-28");
}

fn server() -> Toolset {
    Toolset::new("weather", "1.0").with(get_weather).with(add).with(ping)
}

#[tokio::test]
async fn a_function_is_a_tool_and_still_a_function() {
    assert_eq!(get_weather(GetWeather { city: "Oslo".to_owned() }).await.unwrap(), "It is sunny in Oslo.");
    assert_eq!(add(Add { a: 1, b: 2 }).await.value.sum, 3);
    assert_eq!(ping().await, "pong");

    let server = server().into_handler();
    assert_eq!(
        call(&server, "get_weather", r#"{"city":"Oslo"}"#).await,
        Ok(ToolOutput::text("It is sunny in Oslo."))
    );
    let sum = call(&server, "math.add", r#"{"a":1,"b":2}"#).await.unwrap();
    assert_eq!(sum.structured.unwrap().as_str(), r#"{"sum":3}"#);
    assert_eq!(sum.content, ToolOutput::text("1 + 2 = 3").content);
    assert_eq!(call(&server, "ping", "{}").await, Ok(ToolOutput::text("pong")));
    assert_eq!(call(&server, "add", "{}").await, Err(CallFailure::UnknownTool("add".to_owned())));
}

#[tokio::test]
async fn failing_calls_leave_their_siblings_alone() {
    let server = server().into_handler();
    let (fine, failed, panicked, wrong) = tokio::join!(
        call(&server, "get_weather", r#"{"city":"Oslo"}"#),
        call(&server, "get_weather", r#"{"city":"Atlantis"}"#),
        call(&server, "get_weather", r#"{"city":"Pompeii"}"#),
        call(&server, "get_weather", r#"{"city":5}"#),
    );
    assert_eq!(fine, Ok(ToolOutput::text("It is sunny in Oslo.")));
    assert_eq!(
        failed,
        Ok(ToolOutput::error(
            r#"{"error":"not_found","message":"No city is called Atlantis.","retryable":false,"did_you_mean":["Atlanta"]}"#
        ))
    );
    assert_eq!(
        panicked,
        Ok(ToolOutput::error(
            r#"{"error":"tool_failed","message":"The tool `get_weather` broke down: the sensor melted","retryable":false}"#
        ))
    );
    let wrong = wrong.unwrap();
    assert!(wrong.is_error);
    let surehand_model::ContentBlock::Text(text) = &wrong.content[0] else { panic!("not text") };
    assert!(
        text.starts_with(r#"{"error":"invalid_arguments","tool":"get_weather","details":[{"path":"/city""#),
        "{text}"
    );
}

#[test]
fn the_definition_comes_from_name_doc_comment_and_types() {
    let tools = surehand_mcp::ServerHandler::tools(&server());
    expect![[r#"
        [
            Tool {
                name: "get_weather",
                title: Some(
                    "Weather",
                ),
                description: "Current weather for a city (天气).\n\nGives degrees Celsius.",
                input_schema: {"type":"object","properties":{"city":{"type":"string","description":"City name, for example \"Beijing\"."}},"required":["city"]},
                output_schema: None,
                annotations: ToolAnnotations {
                    read_only: Some(
                        true,
                    ),
                    destructive: None,
                    idempotent: None,
                    open_world: Some(
                        true,
                    ),
                },
                definition: None,
            },
            Tool {
                name: "math.add",
                title: None,
                description: "Adds two whole numbers.",
                input_schema: {"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]},
                output_schema: Some(
                    {"type":"object","properties":{"sum":{"type":"integer"}},"required":["sum"]},
                ),
                annotations: ToolAnnotations {
                    read_only: Some(
                        true,
                    ),
                    destructive: None,
                    idempotent: Some(
                        true,
                    ),
                    open_world: Some(
                        false,
                    ),
                },
                definition: None,
            },
            Tool {
                name: "ping",
                title: None,
                description: "Says that it is there.",
                input_schema: {"type":"object","properties":{}},
                output_schema: None,
                annotations: ToolAnnotations {
                    read_only: None,
                    destructive: None,
                    idempotent: None,
                    open_world: None,
                },
                definition: None,
            },
        ]
    "#]]
    .assert_debug_eq(&tools);
}

#[test]
fn the_operator_is_told_the_effect_and_the_worst_where_nothing_was_said() {
    let card = |tool: &str, effect| ToolCard { tool: tool.to_owned(), effect };
    assert_eq!(
        server().cards(),
        [
            card("get_weather", Effect::Read),
            card("math.add", Effect::Pure),
            card("ping", Effect::Irreversible)
        ]
    );
}
