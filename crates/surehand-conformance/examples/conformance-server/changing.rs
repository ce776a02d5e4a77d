//! Tools that change what the server offers, and tell of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use surehand_macros::tools;
use surehand_mcp::{Change, Changes, Prompt};
use surehand_model::{RawJson, Tool};

/// What comes and goes.
#[derive(Default)]
pub(crate) struct Extra {
    tool: AtomicBool,
    prompt: AtomicBool,
    pub(crate) changes: Changes,
}

impl Extra {
    /// The tool that is there every other time.
    pub(crate) fn tool(&self) -> Option<Tool> {
        let schema = || RawJson::parse(r#"{"type":"object"}"#).ok();
        let there = self.tool.load(Ordering::SeqCst);
        there.then(schema).flatten().map(|schema| Tool::new("test_extra_tool", "Comes and goes.", schema))
    }

    /// The prompt that is there every other time.
    pub(crate) fn prompt(&self) -> Option<Prompt> {
        self.prompt.load(Ordering::SeqCst).then(|| Prompt::new("test_extra_prompt", "Comes and goes."))
    }
}

pub(crate) struct Changing {
    pub(crate) extra: Arc<Extra>,
}

#[tools]
impl Changing {
    /// Adds a tool, or takes it away again.
    #[tool(effect = "writes")]
    async fn test_trigger_tool_change(&self) -> &'static str {
        self.extra.tool.fetch_xor(true, Ordering::SeqCst);
        self.extra.changes.announce(&Change::Tools);
        "The set of tools has changed."
    }

    /// Adds a prompt, or takes it away again.
    #[tool(effect = "writes")]
    async fn test_trigger_prompt_change(&self) -> &'static str {
        self.extra.prompt.fetch_xor(true, Ordering::SeqCst);
        self.extra.changes.announce(&Change::Prompts);
        "The set of prompts has changed."
    }
}
