use schemars::JsonSchema;
use serde::Deserialize;
use surehand_macros::tool;

#[derive(Deserialize, JsonSchema)]
struct Args {}

#[tool]
async fn silent(_args: Args) -> String {
    String::new()
}

/// Takes no object.
#[tool]
async fn greet(name: String) -> String {
    name
}

/// Takes two arguments.
#[tool]
async fn add(_a: Args, _b: Args) -> String {
    String::new()
}

/// Has an effect nobody knows.
#[tool(effect = "read")]
async fn look(_args: Args) -> String {
    String::new()
}

/// Has an option nobody knows.
#[tool(efect = "reads")]
async fn see(_args: Args) -> String {
    String::new()
}

/// Answers nothing.
#[tool]
async fn hush(_args: Args) {}

fn main() {}
