//! A server with one tool.

use surehand_mcp::{BoxFuture, CallFailure, Implementation, ServerHandler, ToolInvocation, ToolOutput};
use surehand_model::{RawJson, Tool};

/// Tells callers who they are.
pub(crate) struct Mirror;

impl ServerHandler for Mirror {
    fn implementation(&self) -> Implementation {
        Implementation { name: "mirror".to_owned(), title: None, version: "1".to_owned() }
    }

    fn tools(&self) -> Vec<Tool> {
        vec![Tool::new("whoami", "Says who asks.", RawJson::parse(r#"{"type":"object"}"#).unwrap())]
    }

    fn call<'a>(&'a self, call: ToolInvocation<'a>) -> BoxFuture<'a, Result<ToolOutput, CallFailure>> {
        let who = call.context.caller().principal.clone();
        Box::pin(async move { Ok(ToolOutput::text(who.unwrap_or_default())) })
    }
}
