//! A whole MCP server: one tool, on standard input and output. Any MCP client can start it.
use schemars::JsonSchema;
use serde::Deserialize;
use surehand_macros::tool;
use surehand_mcp::{ToolFailure, Toolset};
use surehand_transport::{ServeError, serve_stdio};
use tokio_util::sync::CancellationToken;

#[derive(Deserialize, JsonSchema)]
struct GetWeather {
    /// City name, for example "Beijing".
    city: String,
}

/// Current weather for a city (天气).
#[tool(effect = "reads", open_world)]
async fn get_weather(args: GetWeather) -> Result<String, ToolFailure> {
    match args.city.as_str() {
        "Atlantis" => Err(ToolFailure::not_found("Atlantis has sunk.").suggest("Name a city above the sea.")),
        city => Ok(format!("It is sunny in {city}, 22 °C.")),
    }
}

#[tokio::main]
async fn main() -> Result<(), ServeError> {
    let server = Toolset::new("weather", "1.0").with(get_weather);
    serve_stdio(server.into_handler(), CancellationToken::new()).await
}
