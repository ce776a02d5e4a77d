use schemars::JsonSchema;
use serde::Deserialize;
use surehand_macros::{tool, tools};

#[derive(Deserialize, JsonSchema)]
struct Args {}

struct Forgotten;

impl Forgotten {
    /// The block lacks its mark.
    #[tool]
    async fn read(&self, _args: Args) -> String {
        String::new()
    }
}

struct Changing;

#[tools]
impl Changing {
    /// Wants the value for itself.
    #[tool]
    async fn write(&mut self, _args: Args) -> String {
        String::new()
    }
}

struct Empty;

#[tools]
impl Empty {
    fn nothing() {}
}

fn main() {}
