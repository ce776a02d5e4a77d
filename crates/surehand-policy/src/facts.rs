use surehand_model::{Json, Label, ToolAnnotations};

use crate::Effect;

/// What is known about a call when it is decided. Names are the server's own, never the spelling a model sees.
#[derive(Clone, Copy, Debug)]
pub struct CallFacts<'a> {
    /// The server's name in the configuration.
    pub server: &'a str,
    /// The tool's name as the server spells it.
    pub tool: &'a str,
    /// The server is one of our own, running in this process.
    pub bundled: bool,
    /// What the tool does, where our own card or the operator's says so. Never what the server claims.
    pub effect: Option<Effect>,
    /// What the server claims. Shown to people; no rule is milder for it.
    pub annotations: ToolAnnotations,
    /// The arguments after repair, where there is a call already.
    pub arguments: Option<&'a Json>,
    /// Where the arguments come from, where there is a call already. No label counts as untrusted.
    pub label: Option<&'a Label>,
}

impl<'a> CallFacts<'a> {
    /// Facts about a tool of which nothing else is known.
    pub fn unknown(server: &'a str, tool: &'a str) -> Self {
        Self {
            server,
            tool,
            bundled: false,
            effect: None,
            annotations: ToolAnnotations::default(),
            arguments: None,
            label: None,
        }
    }
}
