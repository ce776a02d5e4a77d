use schemars::JsonSchema;
use serde::Deserialize;
use surehand_macros::tool;
use surehand_mcp::Toolset;

#[derive(Deserialize, JsonSchema)]
struct Args {}

/// Its result is nothing a model could read.
#[tool]
async fn odd(_args: Args) -> std::time::Duration {
    std::time::Duration::ZERO
}

fn main() {
    Toolset::new("x", "1").with(5);
}
